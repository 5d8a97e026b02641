"""stage, verify, evaluate, commit: from released values to a verified result and, if places are named, to files.

The files wait beside their places until everything about them has been checked. The release is moved first, then what
speaks about it; an older certificate or report goes before that, so that none is ever about a file that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.algorithms.base import Clustering
from shoal.errors import InputError, InternalError, Problem
from shoal.job.job import Job
from shoal.pipeline.certificate import frame_hash
from shoal.pipeline.judge import evaluate, evaluate_fully, verify
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.prices_file import prices_bytes
from shoal.pipeline.public_certificate import certificate_texts
from shoal.pipeline.purpose import Purpose, kept_records
from shoal.pipeline.result import Holder, Result
from shoal.pipeline.row_key import write_key
from shoal.pipeline.sources import ReadSource
from shoal.pipeline.summarize import Judged, make_result
from shoal.progress import ProgressCallback, Watch
from shoal.tables.distinct import with_categories
from shoal.tables.fixed_order import in_fixed_order
from shoal.tables.formats.atomic import StagedFiles
from shoal.tables.formats.files import read_back, write_table
from shoal.tables.formats.sql.address import SqlAddress
from shoal.tables.formats.sql.tables import SqlTarget
from shoal.tables.row_order import RowNumbers, inverse, published_order

if TYPE_CHECKING:
    from shoal.reports.frontier import Comparison

PRIVATE = (
    "report",
    "key",
    "job",
    "details",
    "prices",
)  # what tells more than may be published: for the owner's eyes alone
# Where each part of a run goes; "release" first, for it is moved first. It may be an open table of a database.
Places = Mapping[str, Path | SqlTarget]


def private_files(job: Job) -> tuple[str, ...]:
    """What its owner alone may read. So is a certificate that has a public version beside it."""
    return PRIVATE if job.public_certificate is None else (*PRIVATE, "certificate")


@contextmanager
def open_places(job: Job, read: ReadSource, problems: list[Problem]) -> Iterator[dict[str, Path | SqlTarget]]:
    """The places that a job names. A table of a database is opened and locked before any work; what speaks against it
    is added to the problems. The input is read by then: some databases are not read and written at the same time."""
    with ExitStack() as opened:
        places: dict[str, Path | SqlTarget] = {}
        if isinstance(job.output, SqlAddress):
            with suppress(InputError):  # told by whoever needs it
                read()
            try:
                places["release"] = opened.enter_context(SqlTarget(job.output, replace=job.replace))
            except InputError as error:
                problems += error.problems
        yield {**places, **places_of(job)}


def places_of(job: Job) -> dict[str, Path]:
    wanted = (
        *(("release", job.output), ("certificate", job.certificate), ("public_certificate", job.public_certificate)),
        *(("report", job.report), ("prices", job.prices), ("key", job.key)),
    )
    return {name: path for name, path in wanted if isinstance(path, Path)}


@dataclass(frozen=True, eq=False)
class _Staged:
    """The release as it will be published, and its hash: for a file its bytes, read back from the disk.

    The frame has the order of the input, whatever the order of the file: what comes after compares record with record.
    """

    frame: pl.DataFrame
    sha256: str
    order: RowNumbers  # which record each row of the file is


def publish(
    prepared: Prepared,
    clustering: Clustering,
    released: pl.DataFrame,
    purpose: Purpose,
    places: Places,
    watch: Watch,
) -> Result:
    """Check what was released, say what it is worth, and put the files into their places; or write nothing."""
    named = {name: place for name, place in places.items() if isinstance(place, Path)}
    target = next((place for place in places.values() if isinstance(place, SqlTarget)), None)
    with StagedFiles(named, private_files(prepared.job)) as files:
        waiting = target or files.waiting.get("release")
        judged, order = _checked(prepared, clustering, released, purpose, waiting, watch)
        holder = _holder(prepared, judged, purpose)
        result = make_result(prepared, judged, target or named.get("release"), watch.seconds, holder)
        _write_texts(prepared, released, purpose, result, files.waiting, watch)
        _write_prices_and_key(prepared, clustering, order, files.waiting)
        watch.end_if_refused()
        files.commit(target.commit if target is not None else None)
    return result


def _checked(
    prepared: Prepared,
    clustering: Clustering,
    released: pl.DataFrame,
    purpose: Purpose,
    waiting: Path | SqlTarget | None,
    watch: Watch,
) -> tuple[Judged, RowNumbers]:
    """Stage, verify, evaluate; and which record each row of what was staged is."""
    with ThreadPoolExecutor(max_workers=1) as meanwhile:
        measuring = meanwhile.submit(prepared.plan.domains, prepared.frame)
        staged = _stage(prepared, released, waiting, watch)
        with watch.stage("verify"):
            kept = kept_records(prepared.job, clustering)
            scoring = meanwhile.submit(evaluate, prepared, measuring, staged.frame, kept)
            verification = verify(prepared, staged.frame, kept)
            together = purpose.verify(prepared, staged.frame)
            watch.show("verify", verification)
        with watch.stage("evaluate"):
            measured = scoring.result()
            watch.show("evaluate", measured.scores)
        domains = measuring.result()
    return Judged(clustering, released, staged.sha256, verification, measured, domains, together), staged.order


def _holder(prepared: Prepared, judged: Judged, purpose: Purpose) -> Holder:
    """What a result can still do for whoever holds the data."""
    clustering, released = judged.clustering, judged.released
    kept = kept_records(prepared.job, clustering)
    return Holder(
        evaluate=lambda progress: evaluate_fully(prepared, released, judged.domains, kept, progress),
        frontier=lambda ks, progress: _try_other_k(prepared, ks, progress),
        publish=lambda elsewhere: publish(prepared, clustering, released, purpose, elsewhere, Watch()),
    )


def _try_other_k(prepared: Prepared, ks: Sequence[int], progress: ProgressCallback) -> Comparison:
    from shoal.pipeline.again import try_other_k

    return try_other_k(prepared, ks, progress)


def _stage(prepared: Prepared, released: pl.DataFrame, waiting: Path | SqlTarget | None, watch: Watch) -> _Staged:
    """Quasi-identifiers come as categories: who looks at them looks for equal texts, which takes longest."""
    as_it_came = np.arange(released.height, dtype=np.int64)
    if waiting is None:
        return _Staged(with_categories(released, prepared.job.quasi), frame_hash(released), as_it_came)
    with watch.stage("write"):
        order = as_it_came if prepared.job.order == "input" else published_order(released)
        if isinstance(waiting, SqlTarget):
            return _stage_in_database(prepared, released, waiting, order)
        write_table(released[order], waiting, prepared.source.file)
    with watch.stage("verify"):
        written = read_back(waiting, prepared.source.file, prepared.job.quasi)
        if written.frame.height != released.height:
            raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
        return _Staged(written.frame[inverse(order)], written.sha256, order)


def _stage_in_database(prepared: Prepared, released: pl.DataFrame, target: SqlTarget, order: RowNumbers) -> _Staged:
    """What the database gives back has no order of its own: rows are matched by their values, which must be ours."""
    file = prepared.source.file
    given_back = target.stage(released[order], file.sql if file is not None else None)
    if given_back.height != released.height:
        raise InternalError(Problem("records-lost", "the database gave back another number of records"))
    aligned = given_back[published_order(given_back)][inverse(published_order(released))]
    sha256 = frame_hash(in_fixed_order(given_back, target.address.key))
    return _Staged(with_categories(aligned, prepared.job.quasi), sha256, order)


def _write_texts(
    prepared: Prepared,
    released: pl.DataFrame,
    purpose: Purpose,
    result: Result,
    waiting: Mapping[str, Path],
    watch: Watch,
) -> None:
    """Certificate, report and the like, where they wait to be moved into place."""
    texts = purpose.documents(prepared, released, result, waiting.keys(), watch)
    texts.update(certificate_texts(prepared.job, result.certificate, waiting.keys()))
    for name, text in texts.items():
        waiting[name].write_text(text, encoding="utf-8")
    if "job" in waiting:
        prepared.job_to_repeat().save(waiting["job"])


def _write_prices_and_key(
    prepared: Prepared, clustering: Clustering, order: RowNumbers, waiting: Mapping[str, Path]
) -> None:
    if "prices" in waiting:
        waiting["prices"].write_bytes(prices_bytes(clustering.proof, prepared.table, prepared.source.sha256))
    if "key" in waiting:
        write_key(order, waiting["key"])
