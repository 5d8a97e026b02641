"""stage, verify, evaluate, commit, for a release that an engine writes: judged from counts of what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering
from shoal.encode.counted import CountedRows
from shoal.encode.stored import StoredRows
from shoal.engines.base import Engine, Written
from shoal.errors import InternalError, Problem
from shoal.evaluation.risk.crowds import Crowds
from shoal.evaluation.risk.risk import exempt_classes
from shoal.job.job import Job
from shoal.job.plan import Plan
from shoal.metrics.score import Scores
from shoal.models.base import Requirement
from shoal.pipeline.certificate import Facts, make_certificate
from shoal.pipeline.judge import accept
from shoal.pipeline.public_certificate import certificate_texts
from shoal.pipeline.publish import places_of, private_files
from shoal.pipeline.result import Result
from shoal.pipeline.summarize import csv_form, sum_up_losses, told_notes
from shoal.progress import Watch
from shoal.recode.block_plan import AnyPlan
from shoal.recode.release import RecodeOptions
from shoal.released.domain import Domain, make_domains
from shoal.tables.formats.atomic import StagedFiles
from shoal.tables.types import has_text
from shoal.verification.check import Verification, verify_release
from shoal.verification.classes import find_classes, fully_suppressed


class Grouped(Protocol):
    """The groups of a counted table: what was meant to be written, and what it was made from."""

    @property
    def clustering(self) -> Clustering:
        """What the search tells besides groups: a lower bound, notes."""

    @property
    def missing_cells(self) -> Mapping[str, int]:
        """How many records lack a value, per quasi-identifier."""

    def rows(self) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """The quasi-identifiers as they were meant to be written, with counts; a row may be there several times."""

    def sizes(self) -> NDArray[np.int64]:
        """(rows of the input,) how many records share each, in any order."""

    def scores(self, shown: pl.DataFrame, written: CountedRows, domains: Mapping[str, Domain]) -> Scores:
        """The metrics; `shown` are the rows as they read in what was written."""


@dataclass(frozen=True, eq=False)
class CountedInput:
    """A counted table that passed all checks, with everything that was decided about it."""

    job: Job
    algorithm: Algorithm
    requirement: Requirement
    engine: Engine
    schema: dict[str, pl.DataType]
    counted: CountedRows | StoredRows
    plan: Plan
    population: pl.DataFrame | None = None

    @property
    def kept(self) -> list[str]:
        """The columns of the release."""
        dropped = set(self.plan.dropped)
        return [name for name in self.schema if name not in dropped]

    @property
    def recode_options(self) -> RecodeOptions:
        return RecodeOptions(self.job.recoding, {column.name: column.recoding for column in self.plan.quasi})


def publish_counted(prepared: CountedInput, grouped: Grouped, plan: AnyPlan, watch: Watch) -> Result:
    """Let the engine write, check what was written, say what it is worth, and put the files into their places."""
    hidden = [name for name in prepared.counted.names if name not in plan.kept]
    own = prepared.engine.own_place()
    places = {name: path for name, path in places_of(prepared.job).items() if name != "release" or own is None}
    with StagedFiles(places, private_files(prepared.job)) as files:
        waiting = own.waiting if own is not None else files.waiting["release"]
        with watch.stage("write"):
            prepared.engine.release(plan, waiting, hidden, prepared.job.order, watch.passing("write"))
        judged = _judged(prepared, grouped, waiting, hidden, watch)
        result = _result(prepared, grouped, judged, watch)
        for name, text in certificate_texts(prepared.job, result.certificate, files.waiting.keys()).items():
            files.waiting[name].write_text(text, encoding="utf-8")
        watch.end_if_refused()
        files.commit(own.publish if own is not None else None)
    given_back = prepared.engine.published()
    return result if given_back is None else replace(result, release=given_back)


@dataclass(frozen=True, eq=False)
class _Judged:
    """What was written, with what was found about it."""

    written: Written
    verification: Verification
    scores: Scores
    domains: Mapping[str, Domain]


def _judged(prepared: CountedInput, grouped: Grouped, waiting: Path, hidden: list[str], watch: Watch) -> _Judged:
    with watch.stage("verify"):
        known = _known_columns(prepared)
        written = prepared.engine.released_counts(waiting, prepared.counted.names, known, watch.passing("verify"))
        meant, counts = grouped.rows()
        shown = prepared.engine.as_written(meant, waiting)
        _refuse_other_rows(prepared, shown, counts, written.counted)
        verification = _verify(prepared, hidden, written.counted)
        watch.show("verify", verification)
    with watch.stage("evaluate"):
        domains = _domains(prepared)
        scores = grouped.scores(shown, written.counted, domains)
        watch.show("evaluate", scores)
    return _Judged(written, verification, scores, domains)


def _known_columns(prepared: CountedInput) -> list[str]:
    """What somebody may know of a record besides its quasi-identifiers: the kept columns that have texts."""
    kept = [name for name in prepared.plan.kept if has_text(prepared.schema[name])]
    return [*prepared.job.quasi, *kept] if kept else []


def _refuse_other_rows(
    prepared: CountedInput, shown: pl.DataFrame, counts: NDArray[np.int64], written: CountedRows
) -> None:
    """What was written must be what was meant, row by row: the metrics are about the rows that were meant."""
    names = list(prepared.job.quasi)
    meant = shown.with_columns(count=pl.Series(counts)).group_by(names).agg(pl.col("count").sum())
    found = written.frame(names).with_columns(count=pl.Series(written.counts))
    found = found.group_by(names).agg(pl.col("count").sum())
    if not meant.sort(names).equals(found.sort(names), null_equal=True):
        raise InternalError(Problem("check-failed", "what was written is not what was to be released; nothing is kept"))


def _verify(prepared: CountedInput, hidden: list[str], written: CountedRows) -> Verification:
    job, plan = prepared.job, prepared.plan
    verification = verify_release(
        written.frame([name for name in written.names if name not in hidden]),
        job.quasi,
        prepared.requirement.models,
        plan.knowledge(prepared.population, written.frame(hidden) if hidden else None),
        suppression_limit=job.suppression_limit,
        counts=written.counts,
    )
    return accept(verification)


def _domains(prepared: CountedInput) -> dict[str, Domain]:
    counted, plan = prepared.counted, prepared.plan
    made: dict[str, Domain] = {}
    for column in plan.quasi:
        values = counted.values[column.name]
        made |= make_domains(
            values.to_frame(column.name),
            [column.attribute],
            plan.hierarchies,
            plan.missing,
            weights=counted.value_counts(column.name),
        )
    return made


def _result(
    prepared: CountedInput,
    grouped: Grouped,
    judged: _Judged,
    watch: Watch,
) -> Result:
    written, verification = judged.written, judged.verification
    job, plan, own = prepared.job, prepared.plan, prepared.engine.own_place()
    place = job.output if isinstance(job.output, Path) else None
    losses = sum_up_losses(judged.scores, grouped.clustering.lower_bound, plan)
    records = prepared.counted.records
    facts = Facts(
        hashes={"input": prepared.engine.sha256, "release": written.sha256},
        records={"input": records, "released": records, "suppressed": verification.suppressed_records},
        verification=verification.as_dict(),
        missing_cells=dict(grouped.missing_cells),
        loss=losses.summary,
        alone_with_kept=written.alone,
        row_order=job.order,
        class_based=prepared.algorithm.class_based,
        notes=told_notes(grouped.clustering, job.order, own.notes if own is not None else (), plan),
        csv=csv_form(prepared.engine.like, place if not written.files else None),
        database=dict(own.database) if own is not None else {},
        files=dict(written.files),
    )
    certificate = make_certificate(job, plan, prepared.requirement, judged.domains, facts)
    return Result(
        release=job.output,
        groups=np.zeros(0, dtype=np.int32),
        certificate=certificate,
        metrics=losses.metrics,
        per_attribute=losses.per_attribute,
        risk=_risk(prepared, grouped, written.counted),
        seconds=watch.seconds,
        verification=verification,
        details=grouped.clustering.details,
    )


def _risk(prepared: CountedInput, grouped: Grouped, written: CountedRows) -> dict[str, dict[str, float]]:
    """As of whole tables; every class is that of a written row, or of one that was counted."""
    job, counted = prepared.job, prepared.counted

    def crowds(rows: CountedRows, limit: float) -> Crowds:
        frame = rows.frame(job.quasi)
        classes = find_classes(frame, job.quasi, rows.counts)
        suppressed = np.zeros(classes.count, dtype=np.bool_)
        suppressed[classes.of_record[fully_suppressed(frame, job.quasi)]] = True
        exempt = exempt_classes(suppressed, classes.sizes, limit)
        if job.person is None:
            return Crowds.of_records(classes.sizes, exempt)
        persons = rows.values[job.person].gather(rows.of(job.person))
        return Crowds.of_persons(classes, persons, job.missing, exempt)

    if job.person is None:
        before = Crowds.of_records(grouped.sizes())
    else:
        assert isinstance(counted, CountedRows)  # with persons, rows are never stored
        before = crowds(counted, 0.0)
    return {"before": before.in_short(), "after": crowds(written, job.suppression_limit).in_short()}
