"""The two ways in: a frame with keywords, or a job that names files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.algorithms.base import Algorithm
from shoal.algorithms.registry import name_and_parameters
from shoal.cluster_release.cut import Range
from shoal.cluster_release.framework import publish_clusters
from shoal.cluster_release.result import ClusterRelease
from shoal.cluster_release.settings import (
    ClusterSettings,
    Qids,
    masking_parameters,
    required_models,
    split_rule_problems,
    thresholds,
)
from shoal.cluster_release.sweep import Sweep
from shoal.cluster_release.versions import Version, make_versions, write_versions
from shoal.errors import InputError, Problem
from shoal.evaluation.usefulness.clustering.clusterers import Clusterer
from shoal.evaluation.usefulness.clustering.features import DEFAULT_ENCODING, Encoding
from shoal.job.checks import input_files
from shoal.job.draft import resolve
from shoal.job.job import Job, as_tuple
from shoal.models.base import Model, Requirement
from shoal.models.registry import parse_model
from shoal.pipeline.sources import begin_reading, frame_source
from shoal.progress import ProgressCallback, Watch, silent
from shoal.reports.charts.draw import check_pictures
from shoal.tables.formats.atomic import check_different, check_outputs
from shoal.tables.schema import Scale

DEFAULT_ALGORITHM = "tdr"
# A number with a taxonomy is generalized by it, as the paper says; one without gets intervals that are grown.
BY_TAXONOMY = "nodes"


def publish_for_clustering(
    frame: Any,
    *,
    quasi: Sequence[str] | str,
    clusters: int = 6,
    h: int | None = 50,
    qids: Qids | None = None,
    models: Sequence[Model | str] | Model | str = (),
    sensitive: Sequence[str] | str = (),
    identifiers: Sequence[str] | str = (),
    keep: Sequence[str] | str = (),
    keep_rest: bool = False,
    drop_rest: bool = False,
    allow: Sequence[str] | str = (),
    person: str | None = None,
    suppression_limit: float = 0.0,
    hierarchies: Mapping[str, Any] | str | Path | None = None,
    scales: Mapping[str, Scale | str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str] | str = (),
    cluster_on: Sequence[str] | str | None = None,
    clusterer: str | Clusterer = "kmeans",
    masked_clusterer: str | Clusterer | None = None,
    encoding: Encoding = DEFAULT_ENCODING,
    mode: str = "information",
    algorithm: Algorithm | str | None = None,
    interval_text: str = "closed",
    ranges: Mapping[str, Range] | None = None,
    release_labels: bool = False,
    split_rule: str = "possible",
    sweep: Sequence[int] | Sweep = (),
    seed: int = 0,
    threads: int | None = None,
    output: str | Path | None = None,
    certificate: str | Path | None = None,
    report: str | Path | None = None,
    progress: ProgressCallback = silent,
) -> ClusterRelease:
    """Mask a table so that its clusters survive, and say how well they did.

    `h` is the threshold of the one QID of all quasi-identifiers; `qids` (columns, threshold), ... replaces it. With
    None there is no such threshold, only what the `models` ask for.
    `cluster_on` are the columns to cluster on: all but the identifiers by default, sensitive ones included.
    `masked_clusterer` is the recipient's if it is another one. `algorithm` masks with another algorithm than TDR, whose
    `mode` is information (guided by the clusters) or distort. Groups that break a model are mended as in every other
    release. `ranges` states the ends of domains for half-open intervals: {"age": (1, 99)}.
    `split_rule` of TDR is `possible` (ours) or `paper`, which may choose splits that can never be done.
    `sweep` are other thresholds (of every QID) for which only the quality is found out; a `Sweep` also has numbers of
    clusters, clusterers and modes, and every combination is tried.
    The other settings are those of `shoal.anonymize`.
    """
    problems: list[Problem] = []
    name, parameters = name_and_parameters(algorithm if algorithm is not None else DEFAULT_ALGORITHM)
    job = Job.make(
        quasi=as_tuple(quasi),
        sensitive=as_tuple(sensitive),
        identifiers=as_tuple(identifiers),
        keep=as_tuple(keep),
        keep_rest=keep_rest,
        drop_rest=drop_rest,
        allow=as_tuple(allow),
        person=person,
        suppression_limit=suppression_limit,
        hierarchies=dict(hierarchies) if isinstance(hierarchies, Mapping) else (hierarchies or {}),
        scales=scales or {},
        orders=orders or {},
        missing=as_tuple(missing),
        algorithm=name,
        parameters={**masking_parameters(name, mode, split_rule), **_without_class(parameters)},
        recoding=BY_TAXONOMY,
        seed=seed,
        threads=threads,
        output=output,
        certificate=certificate,
        report=report,
    )
    settings = ClusterSettings(
        clusters=clusters,
        clusterer=clusterer,
        recipient=masked_clusterer,
        cluster_on=as_tuple(cluster_on) if cluster_on is not None else None,
        encoding=encoding,
        interval_text=interval_text,
        ranges=ranges or {},
        release_labels=release_labels,
        sweep=sweep if isinstance(sweep, Sweep) else tuple(sweep),
    )
    problems += split_rule_problems(name, split_rule)
    wanted = required_models(h, qids, parsed(as_tuple(models), problems), problems)
    draft = resolve(job, wanted, problems)
    return publish_clusters(draft, lambda: frame_source(frame, job), settings, Watch(progress))


def publish_file(
    job: Job,
    settings: ClusterSettings,
    *,
    mode: str = "information",
    split_rule: str = "possible",
    details: Path | None = None,
    charts: Path | None = None,
    earlier: Sequence[Problem] = (),
    watch: Watch | None = None,
) -> ClusterRelease:
    """The same from the input of a job to its files; every problem of the call is raised together.

    The job's k holds for all quasi-identifiers together, besides the QIDs among its models. It is 50 if neither it nor
    a model that counts records or persons is given.
    """
    problems = list(earlier)
    masking, wanted = _masking_job(job, mode, split_rule, problems)
    if job.output is None:
        problems.append(Problem("no-output", "no output is named", hint="-o release.csv"))
    problems += check_outputs((details,), input_files(job, Requirement.of(wanted)))
    problems += check_different((*job.outputs(), details, charts))
    if charts is not None:
        problems += check_pictures(charts)
    read = begin_reading(masking)
    made = publish_clusters(resolve(masking, wanted, problems), read, settings, watch or Watch(), details)
    if charts is not None:
        made.save_charts(charts)
    return made


def publish_versions(
    frame: Any,
    *,
    quasi: Sequence[str] | str,
    clusters: Sequence[int] = (2, 6, 10),
    folder: str | Path | None = None,
    room: int = 1,
    mode: str = "information",
    clustering: ClusterSettings | None = None,
    **settings: Any,
) -> list[Version]:
    """One version of a frame for each number of clusters, masked by TDR, all of them safe together.

    `settings` are those of a job: `k`, `models`, `sensitive`, `drop_rest`, `hierarchies`, `seed` and so on. Versions
    that others follow have classes of at least `room` times k. With a `folder` the versions are written there, with
    their certificates and a series file.
    """
    names = {
        name: as_tuple(settings.pop(name))
        for name in ("sensitive", "identifiers", "keep", "models")
        if name in settings
    }
    problems: list[Problem] = []
    job = Job.make(quasi=as_tuple(quasi), algorithm=DEFAULT_ALGORITHM, **names, **settings)
    masking, wanted = _masking_job(job, mode, "possible", problems)
    place = Path(folder) if folder is not None else None
    if place is not None:
        problems += _folder_problems(place)
    source = frame_source(frame, masking)
    versions = make_versions(
        resolve(masking, wanted, problems), lambda: source, clustering or ClusterSettings(), clusters, Watch(), room
    )
    if place is not None:
        write_versions(versions, place, None)
    return versions


def publish_versions_file(
    job: Job,
    settings: ClusterSettings,
    clusters: Sequence[int],
    folder: Path,
    *,
    room: int = 1,
    mode: str = "information",
    split_rule: str = "possible",
    earlier: Sequence[Problem] = (),
    watch: Watch | None = None,
) -> list[Version]:
    """One version of the job's table for each number of clusters, safe together, in a folder with a series file.

    Everything is made and checked before the first file is written.
    """
    problems = list(earlier)
    masking, wanted = _masking_job(job.model_copy(update={"output": None}), mode, split_rule, problems)
    problems += _folder_problems(folder)
    versions = make_versions(
        resolve(masking, wanted, problems), begin_reading(masking), settings, clusters, watch or Watch(), room
    )
    write_versions(versions, folder, job.input if isinstance(job.input, Path) else None)
    return versions


def _folder_problems(folder: Path) -> list[Problem]:
    if folder.exists() and not folder.is_dir():
        return [Problem("not-a-folder", f"'{folder}' is no folder", hint="-o versions")]
    if folder.is_dir() and any(folder.iterdir()):
        message = f"the folder '{folder}' is not empty"
        return [Problem("would-overwrite", message, hint="versions that are out are followed by --series")]
    return []


def _masking_job(job: Job, mode: str, split_rule: str, problems: list[Problem]) -> tuple[Job, tuple[Model, ...]]:
    """The job as it masks, without its conditions, and these as models."""
    problems += split_rule_problems(job.algorithm, split_rule)
    h, qids, others = thresholds(job.k, job.quasi, parsed(job.models, problems))
    wanted = required_models(h, qids, others, problems)
    changed = {
        "k": None,
        "models": (),
        "recoding": BY_TAXONOMY,
        "parameters": {**masking_parameters(job.algorithm, mode, split_rule), **job.parameters},
    }
    return job.model_copy(update=changed), wanted


def parsed(models: Sequence[Model | str], problems: list[Problem]) -> list[Model]:
    found: list[Model] = []
    for model in models:
        try:
            found.append(parse_model(model) if isinstance(model, str) else model)
        except InputError as error:
            problems += error.problems
    return found


def _without_class(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The class that guides the masking is the cluster, whatever the object was made with."""
    return {name: value for name, value in parameters.items() if name != "class_column"}
