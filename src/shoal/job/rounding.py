"""Where the ranges of a column end: at values of people, or at whole units (`tables/rounding.py`)."""

from __future__ import annotations

from shoal.errors import Problem
from shoal.job.job import Job
from shoal.tables.distinct import CodedColumn
from shoal.tables.rounding import EXACT, cheapest_unit, unit_problem
from shoal.tables.schema import Scale


def plan_rounding(
    job: Job, name: str, column: CodedColumn, scale: Scale, has_hierarchy: bool, problems: list[Problem]
) -> str | None:
    """The unit of a quasi-identifier: as the job says, else the cheapest one for dates and times; None for none."""
    given = job.round.get(name)
    speaks_against = _not_rounded(job, name, scale, has_hierarchy)
    if given is None:
        persons = job.person is not None
        return None if speaks_against else cheapest_unit(column.values, column.counts(), scale, job.missing, persons)
    if given == EXACT:
        return None
    wrong = speaks_against or unit_problem(given, scale)
    if wrong:
        problems.append(Problem("bad-rounding", wrong, name, "e.g. --round birth=month,age=5, or 'exact'"))
        return None
    return given


def _not_rounded(job: Job, name: str, scale: Scale, has_hierarchy: bool) -> str:
    """Why a column has no ends to be rounded; empty if it has."""
    if not scale.is_numeric:
        return "numbers, dates and times are rounded; this is a category"
    if has_hierarchy:
        return "it has a hierarchy, which says already where its groups end"
    if job.column_recoding(name) in ("mean", "midpoint", "nodes"):
        return f"with the recoding '{job.column_recoding(name)}' it has no ranges to be rounded"
    if name in job.caps():
        return "it has a highest level, and is not rounded besides"
    return ""
