"""The privacy-utility frontier: the same table with several algorithms and several k, in parallel and resumable.

`compare` is given a function that does one task and returns a record of numbers. Every finished record is one line of a
JSON-lines file, written at once, so an interrupted comparison goes on where it stopped. A record carries the
fingerprint of the comparison (input and settings, given by the caller), so records of another one are not reused. The
function and the tasks must be importable and picklable: each task runs in a process of its own pool.
"""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem, ShoalError
from shoal.progress import Progress, ProgressCallback, silent
from shoal.reports.charts import specs
from shoal.reports.frontier import Comparison
from shoal.reports.page import Page, paragraph, section, share, table
from shoal.tables.formats.atomic import check_output

Record = dict[str, Any]
MEASURES = (
    ("gcp", "loss (GCP)", ".3f", "Mean width of a released cell: 0 is exact, 1 is nothing left."),
    ("average_risk", "average risk", ".1%", "Share of all records that an attacker gets right on average."),
    ("query_error", "median query error", ".1%", "Half of the random counting queries are off by less than this."),
    ("accuracy", "accuracy", ".1%", "Predictions right on untouched originals after training on the release."),
    ("seconds", "seconds", ".1f", "Time to make the release."),
)


@dataclass(frozen=True, order=True)
class Task:
    """One run of a comparison."""

    algorithm: str
    k: int
    seed: int = 0


Runner = Callable[[Task], Record]


def grid(algorithms: Sequence[str], ks: Sequence[int], seed: int = 0) -> list[Task]:
    """Every algorithm with every k, small k last: the quick ones come first."""
    return [Task(algorithm, k, seed) for k in sorted(set(ks), reverse=True) for algorithm in dict.fromkeys(algorithms)]


def compare(
    run: Runner,
    tasks: Iterable[Task],
    *,
    fingerprint: str,
    results: Path | None = None,
    processes: int = 1,
    progress: ProgressCallback = silent,
) -> Comparison:
    """Do all tasks that are not done yet; the records in the order of the tasks.

    A task that fails with one of our own errors gives a record with its reasons under `error`, and the others go on.
    """
    problems = results_problems(results) if results is not None else []
    if problems:
        raise InputError(problems)
    wanted = list(dict.fromkeys(tasks))
    done = {task: record for task, record in _read_results(results, fingerprint).items() if task in set(wanted)}
    missing = [task for task in wanted if task not in done]

    def keep(task: Task, record: Record) -> None:
        done[task] = {**asdict(task), **record}
        _append(results, {**done[task], "fingerprint": fingerprint})
        progress(Progress("compare", len(done) / len(wanted), note=f"{task.algorithm}, k = {task.k}"))

    progress(Progress("compare", len(done) / max(1, len(wanted))))
    if processes <= 1 or len(missing) <= 1:
        for task in missing:
            keep(task, _attempt(run, task))
    else:
        _in_processes(run, missing, processes, keep)
    return Comparison(done[task] for task in wanted)


def _attempt(run: Runner, task: Task) -> Record:
    try:
        return run(task)
    except ShoalError as error:
        return {"error": [problem.as_dict() for problem in error.problems]}


def _in_processes(run: Runner, tasks: Sequence[Task], processes: int, keep: Callable[[Task, Record], None]) -> None:
    # Not forked: threads of the parent (polars, numba) would be lost in the child and could block it for ever.
    pool = ProcessPoolExecutor(min(processes, len(tasks)), mp_context=multiprocessing.get_context("spawn"))
    try:
        running: dict[Future[Record], Task] = {pool.submit(_attempt, run, task): task for task in tasks}
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                keep(running.pop(future), future.result())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def results_problems(results: Path, inputs: Iterable[Path] = ()) -> list[Problem]:
    """What speaks against keeping finished runs in this file: lines are added to it, so it must hold nothing else."""
    problems = check_output(results, inputs)
    if problems or not results.is_file():
        return problems
    try:
        lines = results.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = ["unreadable"]
    if all(line.startswith("{") for line in lines if line):  # a line that was cut off begins like the others
        return []
    message = f"'{results}' holds something else than finished runs"
    return [Problem("not-results", message, hint="name a new file, or one that an earlier comparison made")]


def _read_results(results: Path | None, fingerprint: str) -> dict[Task, Record]:
    """The finished records of this comparison; a last line that was cut off is ignored, failures are tried again."""
    found: dict[Task, Record] = {}
    if results is None or not results.is_file():
        return found
    for line in results.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.pop("fingerprint", None) == fingerprint and "error" not in record:
            found[Task(record["algorithm"], record["k"], record["seed"])] = record
    return found


def _append(results: Path | None, record: Record) -> None:
    if results is None:
        return
    cut_off = results.is_file() and results.stat().st_size > 0 and not results.read_bytes().endswith(b"\n")
    with results.open("a", encoding="utf-8") as file:
        file.write(("\n" if cut_off else "") + json.dumps(record) + "\n")


def record_of(evaluation: Mapping[str, Any], seconds: float) -> Record:
    """The few numbers of an evaluation (as a dict) that a comparison shows."""
    models = evaluation.get("models") or {}
    trained = [row["accuracy"] for row in models.get("results", ()) if row["trained"] == "release"]
    queries = evaluation.get("queries") or {}
    return {
        "gcp": evaluation["scores"]["totals"]["gcp"],
        "discernibility": evaluation["scores"]["totals"]["discernibility"],
        "smallest_class": evaluation["risk"]["after"]["smallest_class"],
        "highest_risk": evaluation["risk"]["after"]["highest"],
        "average_risk": evaluation["risk"]["after"]["average"],
        "query_error": queries.get("median_error"),
        "accuracy": max(trained, default=None),
        "seconds": seconds,
    }


def frontier_charts(records: Sequence[Record]) -> list[tuple[str, str, dict[str, Any]]]:
    """A chart over k for every measure that the records have: title, meaning, spec."""
    fine = [record for record in records if "error" not in record]
    charts = []
    for name, title, form, meaning in MEASURES:
        shown = [record for record in fine if record.get(name) is not None]
        if shown:
            scale = {"zero": False} if name == "accuracy" else None
            charts.append((title, meaning, specs.frontier(shown, name, title, form, scale=scale)))
    both = [record for record in fine if record.get("gcp") is not None and record.get("average_risk")]
    if both:
        meaning = "What a lower risk costs: the further left and down a line runs, the better the algorithm."
        charts.insert(0, ("privacy and usefulness", meaning, specs.tradeoff(both, "gcp", "loss (GCP)")))
    return charts


def chart_files(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """The same charts by names that files can have."""
    return {re.sub(r"\W+", "-", title).strip("-"): spec for title, _, spec in frontier_charts(records)}


def comparison_report(records: Sequence[Record], title: str = "Comparison of algorithms") -> str:
    """The frontier as one offline HTML page: a chart per measure, and the table."""
    page = Page(title)
    page.heading("loss, risk and usefulness over k")
    for name, meaning, spec in frontier_charts(records):
        headline = name[:1].upper() + name[1:]
        chart = page.chart(spec, f"{headline}: a line for each algorithm, a point for each k.")
        page.add(section(headline, meaning, chart))
    header = ["Algorithm", "k", "Loss (GCP)", "Highest risk", "Average risk", "Query error", "Accuracy", "Seconds"]
    rows = [_row(record) for record in sorted(records, key=lambda record: (record["algorithm"], record["k"]))]
    meanings = [
        f"{title[:1].upper()}{title[1:]}: {meaning[:1].lower()}{meaning[1:]}" for _, title, _, meaning in MEASURES
    ]
    meanings.insert(1, "Highest risk: chance to recognise the most exposed record.")
    explained = paragraph(" ".join(meanings))
    runs = table(header, rows, numbers=range(1, 8))
    page.add(section("All runs", "One line for each algorithm and k.", explained, runs))
    return page.html()


def _decimals(value: float | None, digits: int) -> str:
    return "not known" if value is None else f"{value:,.{digits}f}"


def _row(record: Record) -> list[str]:
    start = [str(record["algorithm"]), str(record["k"])]
    if "error" in record:
        return [*start, "failed: " + ", ".join(problem["reason"] for problem in record["error"]), *[""] * 5]
    return [
        *start,
        _decimals(record.get("gcp"), 4),
        share(record.get("highest_risk")),
        share(record.get("average_risk")),
        share(record.get("query_error")),
        share(record.get("accuracy")),
        _decimals(record.get("seconds"), 1),
    ]
