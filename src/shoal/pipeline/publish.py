"""stage, verify, evaluate, commit: from released values to a verified result and, if places are named, to files.

The files wait beside their places until everything about them has been checked. The release is moved first, then what
speaks about it; an older certificate or report goes before that, so that none is ever about a file that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shoal.algorithms.base import Clustering
from shoal.job.job import Job
from shoal.pipeline.certificate import certificate_text, frame_hash
from shoal.pipeline.judge import evaluate, evaluate_fully, verify
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.prices_file import prices_bytes
from shoal.pipeline.purpose import Purpose, kept_records
from shoal.pipeline.result import Holder, Result
from shoal.pipeline.summarize import Judged, make_result
from shoal.progress import Watch
from shoal.tables.distinct import with_categories
from shoal.tables.formats.atomic import StagedFiles
from shoal.tables.formats.files import read_back, write_table

Places = Mapping[str, Path]  # where each file of a run goes; "release" first, for it is moved first


def places_of(job: Job) -> dict[str, Path]:
    wanted = (
        *(("release", job.output), ("certificate", job.certificate)),
        *(("report", job.report), ("prices", job.prices)),
    )
    return {name: path for name, path in wanted if path is not None}


@dataclass(frozen=True, eq=False)
class _Staged:
    """The release as it will be published, and its hash: for a file its bytes, read back from the disk."""

    frame: pl.DataFrame
    sha256: str


def publish(
    prepared: Prepared,
    clustering: Clustering,
    released: pl.DataFrame,
    purpose: Purpose,
    places: Places,
    watch: Watch,
) -> Result:
    """Check what was released, say what it is worth, and put the files into their places; or write nothing."""
    with StagedFiles(places) as files, ThreadPoolExecutor(max_workers=1) as meanwhile:
        measuring = meanwhile.submit(prepared.plan.domains, prepared.frame)
        staged = _stage(prepared, released, files.waiting.get("release"), watch)
        with watch.stage("verify"):
            scoring = meanwhile.submit(evaluate, prepared, measuring, staged.frame)
            verification = verify(prepared, staged.frame, kept_records(prepared.job, clustering))
            watch.show("verify", verification)
        with watch.stage("evaluate"):
            scores = scoring.result()
            watch.show("evaluate", scores)
        judged = Judged(clustering, released, staged.sha256, verification, scores, measuring.result())
        holder = Holder(
            evaluate=lambda progress: evaluate_fully(prepared, released, judged.domains, progress),
            publish=lambda elsewhere: publish(prepared, clustering, released, purpose, elsewhere, Watch()),
        )
        result = make_result(prepared, judged, places.get("release"), watch.seconds, holder)
        _write_texts(prepared, released, purpose, result, files.waiting, watch)
        if "prices" in files.waiting:
            files.waiting["prices"].write_bytes(prices_bytes(clustering.proof, prepared.table, prepared.source.sha256))
        watch.end_if_refused()
        files.commit()
    return result


def _stage(prepared: Prepared, released: pl.DataFrame, waiting: Path | None, watch: Watch) -> _Staged:
    """Quasi-identifiers come as categories: who looks at them looks for equal texts, which takes longest."""
    if waiting is None:
        return _Staged(with_categories(released, prepared.job.quasi), frame_hash(released))
    with watch.stage("write"):
        write_table(released, waiting, prepared.source.file)
    with watch.stage("verify"):
        written = read_back(waiting, prepared.source.file, prepared.job.quasi)
        return _Staged(written.frame, written.sha256)


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
    if "certificate" in waiting:
        texts["certificate"] = certificate_text(result.certificate)
    for name, text in texts.items():
        waiting[name].write_text(text, encoding="utf-8")
    if "job" in waiting:
        prepared.job_to_repeat().save(waiting["job"])
