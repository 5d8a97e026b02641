"""A dry run: everything that a run checks before it clusters, and how large its table is; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.encode.stored import StoredRows
from shoal.errors import InputError, Problem, RequirementError
from shoal.job.draft import Draft
from shoal.pipeline.counted import prepare_counted
from shoal.pipeline.earlier import look_before
from shoal.pipeline.engines import open_engine
from shoal.pipeline.estimate import Rehearsal
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.publish import open_places
from shoal.pipeline.sources import ReadSource
from shoal.progress import Watch
from shoal.safe_groups.capped import impossible_with_caps


def rehearse(draft: Draft, read: ReadSource, watch: Watch) -> Rehearsal:
    """With the table in memory. Raises every problem, and what no release of this table can keep."""
    before = look_before(draft.job)
    problems = [*draft.problems, *before.problems]
    with open_places(draft.job, read, problems):
        prepared = prepare(replace(draft, problems=tuple(problems)), read, watch)
    refuse_caps(prepared)
    table = prepared.table
    made = (prepared.job, prepared.algorithm, prepared.requirement, "local")
    return Rehearsal(*made, table.records, int(table.rows), table.width, len(prepared.frame.columns))


def rehearse_elsewhere(draft: Draft, watch: Watch, frame: Any = None) -> Rehearsal:
    """The same for an engine that holds the records elsewhere: it counts the distinct rows, and no more."""
    if draft.job.input is None and frame is None:
        raise InputError([*draft.problems, Problem("no-input", "the job names no input", hint="give 'input'")])
    if draft.problems:
        raise InputError(dict.fromkeys(draft.problems))
    with open_engine(draft.job, frame) as engine:
        prepared, _, encoded = prepare_counted(draft, engine, watch)
        counted = prepared.counted  # rows that are stored may stand in several files
        rows = counted.files.rows if isinstance(counted, StoredRows) else counted.counts.shape[0]
    made = (prepared.job, prepared.algorithm, prepared.requirement, draft.job.engine)
    distinct = rows if encoded is None else int(encoded.table.rows)
    return Rehearsal(*made, counted.records, distinct, len(prepared.job.quasi), len(prepared.schema))


def refuse_caps(prepared: Prepared) -> None:
    """Raise RequirementError where columns may not be lifted as high as the requirement needs."""
    unmet = impossible_with_caps(prepared.requirement, prepared.table, prepared.job.suppression_limit)
    if unmet:
        raise RequirementError(unmet)
