"""What looks like a mistake of whoever wrote the job: refused where it is one, told where it may be meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import Problem
from shoal.hierarchies.files import files_of_no_column
from shoal.job.job import Job
from shoal.tables.distinct import CodedColumn
from shoal.tables.near_forms import near_form
from shoal.tables.scales import TEXT_LIKE, is_missing
from shoal.tables.schema import Role, Scale

if TYPE_CHECKING:
    from shoal.job.plan import ColumnPlan

MANY = 50  # values of a category without a hierarchy from which on it is told


def taken_for_categories(job: Job, columns: Sequence[ColumnPlan], coded: Mapping[str, CodedColumn]) -> list[Problem]:
    """Quasi-identifiers that are nearly numbers or dates, and of which nobody has said what they are."""
    problems = []
    for column in _flat(columns):
        values = coded[column.name].values
        if column.name in job.scales or not isinstance(values.dtype, TEXT_LIKE):
            continue
        found = near_form(values, job.missing)
        if found is not None:
            message = (
                f"nearly all of its values are {found.what}, but not all; "
                "as a category, its sets would list them exactly"
            )
            way = f"{found.hint.replace('COLUMN', column.name)}; or keep it one: --scale {column.name}=category"
            problems.append(Problem("nearly-another-scale", message, column.name, way))
    return problems


def doubtful(job: Job, columns: Sequence[ColumnPlan], coded: Mapping[str, CodedColumn]) -> tuple[str, ...]:
    """Sentences for the certificate and the screen, without a value of the data."""
    notes = []
    for column in _flat(columns):
        count = len(coded[column.name].values)
        if count > MANY:
            notes.append(
                f"WARNING: '{column.name}' is a category of {count:,} values without a hierarchy: released sets list "
                "its values exactly, and a small loss does not mean that little is told"
            )
    unused = [text for text in job.missing if not _occurs(text, coded)]
    if unused:
        notes.append(f"{len(unused)} of {len(job.missing)} texts that mean 'missing' occur in no column that matters")
    if isinstance(job.hierarchies, Path):
        left = files_of_no_column(job.hierarchies, coded)
        if left:
            notes.append(f"files in the folder of hierarchies that belong to no column: {', '.join(left)}")
    return tuple(notes)


def _flat(columns: Sequence[ColumnPlan]) -> list[ColumnPlan]:
    return [
        column
        for column in columns
        if column.role is Role.QUASI_IDENTIFYING and column.scale is Scale.CATEGORY and column.hierarchy is None
    ]


def _occurs(text: str, coded: Mapping[str, CodedColumn]) -> bool:
    return any(
        bool((is_missing(column.values, (text,)) & ~is_missing(column.values)).any())
        for column in coded.values()
        if isinstance(column.values.dtype, TEXT_LIKE)
    )
