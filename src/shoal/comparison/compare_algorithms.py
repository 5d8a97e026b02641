"""Algorithms side by side on one table: loss, risk, time and memory, each run in a process of its own."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import pickle
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.algorithms.registry import algorithm_class, algorithm_names
from shoal.comparison.frontier import Record, Task, compare, grid, record_of, results_problems
from shoal.errors import InputError, Problem, ShoalError
from shoal.evaluation.summary import BESIDE_GCP
from shoal.hierarchies.files import find_hierarchy_files
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.job.checks import needs_classes
from shoal.job.job import Job
from shoal.job.plan import make_plan
from shoal.models.k_anonymity import KAnonymity
from shoal.models.registry import parse_models
from shoal.pipeline.certificate import job_hash
from shoal.pipeline.run import check, run
from shoal.progress import ProgressCallback, silent
from shoal.reports.frontier import Comparison
from shoal.tables.formats.files import read_table, sha256_of_file

USEFULNESS_PARTS: tuple[str, ...] = ("risk", "queries", "models")


@dataclass(frozen=True)
class OneRun:
    """Runs one task of a comparison; picklable, so that a new process can do it."""

    job: Job
    usefulness: bool = False  # also query errors and, with a class column, accuracy

    def __call__(self, task: Task) -> Record:
        """In a fresh process, so that the peak of memory is this run's own."""
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            record: Record = pool.submit(run_task, self.job, task, self.usefulness).result()
        return record


def run_task(job: Job, task: Task, usefulness: bool) -> Record:
    """One release and its numbers. What is timed is the whole run, from reading to evaluation."""
    settings = for_comparison(job, task.algorithm).model_copy(update={"k": task.k, "seed": task.seed, "threads": None})
    start = time.perf_counter()
    result = run(settings)
    seconds = time.perf_counter() - start
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    record: Record = {
        "gcp": result.metrics["gcp"],
        "discernibility": result.metrics["discernibility"],
        "smallest_class": result.certificate["smallest_class"],
        "class_based": result.certificate["class_based"],
        "highest_risk": result.risk["after"]["highest"],
        "average_risk": result.risk["after"]["average"],
        "seconds": seconds,
        "cluster_seconds": result.seconds["cluster"],
        "peak_megabytes": kilobytes / 1024,
    }
    beside = ("weighted_gcp", *BESIDE_GCP)
    record.update({name: result.metrics[name] for name in beside if name in result.metrics})
    if usefulness:
        record.update(_usefulness(settings, result, seconds))
    return record


def for_comparison(job: Job, name: str) -> Job:
    """Priorities are left out where they cannot act, so that all algorithms can stand side by side.

    Nothing is published, so columns that no number depends on are dropped, and no kept column has to be allowed.
    """
    takes = not job.priorities or name not in algorithm_names() or algorithm_class(name).takes_priorities
    changes: dict[str, Any] = {"algorithm": name, "keep": (), "keep_rest": False, "drop_rest": True}
    changes["allow"] = (job.class_column,) if job.class_column is not None else ()
    return job.model_copy(update={**changes, **({} if takes else {"priorities": {}})})


def without_priorities(job: Job, algorithms: Sequence[str]) -> list[str]:
    """The algorithms of a comparison that run without the priorities of the job."""
    return [name for name in dict.fromkeys(algorithms) if job.priorities and not for_comparison(job, name).priorities]


def not_by_classes(job: Job, algorithms: Sequence[str]) -> list[str]:
    """The algorithms of a comparison that make no classes, if the job asks for something that needs classes."""
    try:
        models = parse_models(job.models)
    except InputError:
        return []  # told with all other problems
    if not needs_classes(job, models):
        return []
    known = [name for name in dict.fromkeys(algorithms) if name in algorithm_names()]
    return [name for name in known if not algorithm_class(name).class_based]


def _usefulness(job: Job, result: Any, seconds: float) -> Record:
    from shoal.evaluation.evaluate import evaluate_release
    from shoal.evaluation.options import EvaluationOptions

    assert job.input is not None
    original = read_table(job.input, job.csv_options()).frame
    parts = USEFULNESS_PARTS if job.class_column is not None else USEFULNESS_PARTS[:-1]
    options = EvaluationOptions(
        k=job.k, class_column=job.class_column, parts=parts, class_based=result.certificate["class_based"]
    )
    plan = make_plan(job, original)
    found = evaluate_release(original, result.release, job.quasi, options, domains=plan.domains(original))
    record = record_of(found.as_dict(), seconds)
    return {name: record[name] for name in ("query_error", "accuracy")}


def compare_algorithms(
    job: Job,
    algorithms: Sequence[str],
    ks: Sequence[int],
    *,
    usefulness: bool = False,
    results: Path | None = None,
    processes: int = 1,
    progress: ProgressCallback = silent,
    earlier: Sequence[Problem] = (),
) -> Comparison:
    """Every algorithm with every k. Problems of the job are raised before any run; a run that fails says why.

    `earlier` are problems the caller has already found; they are raised together with all others.
    """
    problems = [*earlier, *_bad_ks(ks)]
    if results is not None:
        problems += results_problems(results, [job.input] if isinstance(job.input, Path) else [])
    if not algorithms:
        problems.append(Problem("no-algorithm", "no algorithm is named", hint="see 'shoal algorithms'"))
    largest = max(ks, default=2)  # no k at all is among the earlier problems
    for name in dict.fromkeys(algorithms):
        try:
            check(for_comparison(job, name).model_copy(update={"k": largest}))
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
        except ShoalError:
            continue  # what a single run cannot meet is told in its line
    if problems:
        raise InputError(dict.fromkeys(problems))
    tasks = grid(algorithms, ks, job.seed)
    work = OneRun(job, usefulness)
    fingerprint = comparison_fingerprint(job, usefulness)
    return compare(work, tasks, fingerprint=fingerprint, results=results, processes=processes, progress=progress)


def _bad_ks(ks: Sequence[int]) -> list[Problem]:
    problems = []
    for k in dict.fromkeys(ks):
        try:
            KAnonymity(k)
        except ValueError as error:
            problems.append(Problem("bad-k", str(error)))
    return problems


def comparison_fingerprint(job: Job, usefulness: bool = False) -> str:
    """A hash of all that decides the numbers of a comparison besides algorithm, k and seed: files by their bytes."""
    assert job.input is not None
    content = {
        "job": job.public(),
        "models": list(job.models),
        "hierarchies": _hierarchy_hashes(job),
        "input": sha256_of_file(job.input) if isinstance(job.input, Path) else read_table(job.input).sha256,
        "population": sha256_of_file(job.population) if job.population is not None else None,
        "usefulness": usefulness,
    }
    return job_hash(content)


def _hierarchy_hashes(job: Job) -> dict[str, Any]:
    """A file's bytes, a tree's digest, or the description itself."""
    specs: Mapping[str, Any]
    if isinstance(job.hierarchies, Path):
        looked_at = [column for model in parse_models(job.models) for column in model.columns()]
        specs = find_hierarchy_files(job.hierarchies, [*job.quasi, *job.sensitive, *looked_at])
    else:
        specs = job.hierarchies
    return {name: _spec_hash(spec) for name, spec in specs.items()}


def _spec_hash(spec: Any) -> str:
    if isinstance(spec, Hierarchy):
        return spec.digest()
    if isinstance(spec, str | Path) and Path(spec).is_file():
        return sha256_of_file(Path(spec))
    return hashlib.sha256(json.dumps(spec, default=_object_hash).encode()).hexdigest()


def _object_hash(given: Any) -> str:
    """For frames and the like; a process of its own gets them as these bytes too."""
    return hashlib.sha256(pickle.dumps(given)).hexdigest()
