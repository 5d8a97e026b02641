"""What a run gives back, put together: the frame of the caller, the certificate, the losses and the risks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.algorithms.base import Clustering
from shoal.errors import Problem, VerificationError
from shoal.evaluation.summary import loss_summary
from shoal.job.plan import Plan
from shoal.metrics.score import Scores
from shoal.pipeline.certificate import INPUT_ORDER, Facts, make_certificate
from shoal.pipeline.judge import Measured
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import kept_records
from shoal.pipeline.result import Holder, Result
from shoal.released.domain import Domain
from shoal.tables.formats.files import Format, ReadTable, format_of, written_options
from shoal.tables.formats.sql.tables import SqlTarget
from shoal.tables.frames.frames import as_shown
from shoal.tables.types import has_text
from shoal.verification.check import Verification
from shoal.verification.classes import find_classes

Place = Path | SqlTarget  # where a release goes: a file, or a table of a database


@dataclass(frozen=True, eq=False)
class Judged:
    """A release with what was found about it."""

    clustering: Clustering
    released: pl.DataFrame  # in the order of the input
    sha256: str  # of what is published
    verification: Verification
    measured: Measured
    domains: Mapping[str, Domain]
    together: Mapping[str, Any]  # what was checked with earlier releases; empty if there are none


def make_result(
    prepared: Prepared, judged: Judged, place: Place | None, seconds: dict[str, float], holder: Holder
) -> Result:
    """`place` is where the release goes, if it goes into a file."""
    losses = sum_up_losses(judged.measured.scores, judged.clustering.lower_bound, prepared.plan)
    return Result(
        release=_restored(prepared, judged),
        groups=judged.clustering.groups,
        certificate=_certificate(prepared, judged, losses.summary, place),
        metrics=losses.metrics,
        per_attribute=losses.per_attribute,
        risk=judged.measured.risk,
        seconds=seconds,
        verification=judged.verification,
        details=judged.clustering.details,
        holder=holder,
    )


@dataclass(frozen=True)
class Losses:
    """The losses of a release, as a result and its certificate tell them."""

    summary: dict[str, Any]
    metrics: dict[str, float]
    per_attribute: dict[str, dict[str, float]]


def sum_up_losses(scores: Scores, lower_bound: float | None, plan: Plan) -> Losses:
    loss = loss_summary(scores, lower_bound, {column.name: column.weight for column in plan.quasi})
    metrics = dict(scores.totals)
    metrics.update({name: value for name, value in loss.items() if isinstance(value, float)})
    per_attribute: dict[str, dict[str, float]] = {column.name: {} for column in plan.quasi}
    for metric, parts in scores.per_attribute.items():
        for name, value in parts.items():
            per_attribute[name][metric] = value
    return Losses(loss, metrics, per_attribute)


def _certificate(prepared: Prepared, judged: Judged, loss: dict[str, Any], place: Place | None) -> dict[str, Any]:
    plan = prepared.plan
    facts = Facts(
        hashes={"input": prepared.source.sha256, "release": judged.sha256},
        records=_records(prepared, judged),
        verification=judged.verification.as_dict(),
        missing_cells=dict(prepared.codebook.missing_cells),
        loss=loss,
        alone_with_kept=_alone_with_kept(prepared, judged.released),
        row_order=prepared.job.order if place is not None else "input",
        class_based=prepared.algorithm.class_based,
        notes=told_notes(
            judged.clustering,
            prepared.job.order if place is not None else "released",
            place.notes if isinstance(place, SqlTarget) else (),
            plan,
        ),
        csv=csv_form(prepared.source.file, place),
        database=_database(place),
        together=dict(judged.together),
    )
    return make_certificate(prepared.job, plan, prepared.requirement, judged.domains, facts)


def _records(prepared: Prepared, judged: Judged) -> dict[str, int]:
    records, released = prepared.frame.height, judged.released.height
    counted = {"input": records, "released": released, "suppressed": judged.verification.suppressed_records}
    return {**counted, "dropped": records - released} if prepared.job.suppressed == "drop" else counted


def told_notes(clustering: Clustering, order: str, of_place: Sequence[str], plan: Plan) -> list[str]:
    """What a reader should know besides numbers; `order` is that of the rows of a file or table."""
    notes = [*clustering.details.get("notes", ()), *plan.notes, *of_place]
    return [*notes, INPUT_ORDER] if order == "input" else notes


def _alone_with_kept(prepared: Prepared, released: pl.DataFrame) -> int:
    """Records that no other one is like for whoever knows the kept columns besides the quasi-identifiers."""
    kept = [name for name in prepared.plan.kept if has_text(released.schema[name])]
    if not kept:
        return 0
    return int(np.count_nonzero(find_classes(released, [*prepared.job.quasi, *kept]).sizes == 1))


def _database(place: Place | None) -> dict[str, str]:
    return place.public() if isinstance(place, SqlTarget) else {}


def csv_form(like: ReadTable | None, place: Place | None) -> dict[str, Any]:
    """How a text file is written, so that nobody has to find it out again."""
    if not isinstance(place, Path) or format_of(place) is not Format.CSV:
        return {}
    options = written_options(place, like)
    return {"delimiter": options.delimiter, "quote": options.quote, "header": options.header}


def _restored(prepared: Prepared, judged: Judged) -> Any:
    """The release as the caller gets it. In each quasi-identifier the same records must look alike as in the check."""
    released = judged.released
    if prepared.source.restore is None:
        return released
    kept = kept_records(prepared.job, judged.clustering)
    returned = prepared.source.restore.restore(released, None if kept is None else np.flatnonzero(kept))
    shown = as_shown(returned)
    changed = [name for name in prepared.job.quasi if not _same_classes(released[name], shown[name])]
    if changed:
        message = "the frame to give back tells other records apart than those that were checked"
        raise VerificationError([Problem("check-failed", message, name) for name in changed])
    return returned


def _same_classes(checked: pl.Series, shown: pl.Series) -> bool:
    if checked.dtype == shown.dtype and not checked.dtype.is_float() and checked.equals(shown, null_equal=True):
        return True
    before, after = (find_classes(column.to_frame("q"), ["q"]).of_record for column in (checked, shown))
    return np.array_equal(before, after)
