"""What is told about a release in several places is one number: every loss, every risk.

The result, its certificate, its report, its own evaluation, a comparison, and `evaluate` with the job, with the
certificate, or (for a frame) with the same settings.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import shoal
from fuzzing.cases import Case
from fuzzing.check import Finding
from fuzzing.frames import FRAMES, as_frame, write_file
from fuzzing.run import job_settings
from shoal.cli.main import main
from shoal.comparison.compare_algorithms import run_task
from shoal.comparison.frontier import Task
from shoal.job.job import Job

NOT_FOR_FRAMES = ("input", "output", "certificate", "key", "report", "public_certificate", "order")
KNOWN_TO_EVALUATE = (
    *("quasi", "sensitive", "class_column", "person", "hierarchies"),
    *("scales", "orders", "missing", "date_formats", "priorities"),
)


def other_numbers(case: Case, folder: Path) -> list[Finding]:
    """Every place that tells another number than the result. Raises what the run raises."""
    settings = job_settings(case, folder)
    ends = [case["way"].get(side, "csv") for side in ("input", "output")]
    settings["input"], settings["output"] = str(folder / f"table.{ends[0]}"), str(folder / f"release.{ends[1]}")
    settings["certificate"], settings["report"] = folder / "certificate.json", folder / "report.html"
    if settings.get("suppressed") != "drop":  # else no row of the file is that of a record
        settings["key"] = folder / "key.csv"
    write_file(case["columns"], Path(settings["input"]))
    job = Job.make(threads=1, **settings)
    result = shoal.run(job)
    told = _told(result)
    findings = _compare("certificate", told, json.loads(settings["certificate"].read_text())["loss"])
    findings += _in_report(settings["report"].read_text(), result.metrics["gcp"])
    findings += _compare("result.evaluate", told, _told_by(result.evaluate().as_dict()))
    findings += _in_comparison(job, told)
    if "key" in settings:
        findings += _by_command(job, settings, told, folder)
    return findings + _of_frame(case, settings)


def _told(result: Any) -> dict[str, float]:
    risks = {f"{side} {name}": value for side, of in result.risk.items() for name, value in of.items()}
    return {**result.metrics, **risks}


def _told_by(evaluation: Mapping[str, Any]) -> dict[str, float]:
    sides = ("before", "after")
    risks = {f"{side} {name}": value for side in sides for name, value in evaluation["risk"][side].items()}
    return {**evaluation["scores"]["totals"], **risks}


def _compare(place: str, told: Mapping[str, Any], found: Mapping[str, Any]) -> list[Finding]:
    return [
        ("another number", f"{place} says that {name} is {found[name]}, the result says {value}")
        for name, value in told.items()
        if name in found and isinstance(value, int | float) and not math.isclose(value, found[name], rel_tol=1e-9)
    ]


def _in_report(page: str, gcp: float) -> list[Finding]:
    shown = re.findall(r'<div class="name">Loss \(GCP\)</div><div class="value">([0-9.]+)<', page)
    if not shown or any(abs(float(text) - gcp) > 6e-4 for text in shown) or "could not be read" in page:
        return [("another number", f"the report shows {shown}, the loss is {gcp}")]
    return []


def _in_comparison(job: Job, told: Mapping[str, float]) -> list[Finding]:
    if job.k is None or set(job.keep) & set(job.quasi):  # a comparison publishes nothing: it keeps no column
        return []
    places = dict.fromkeys(("output", "report", "certificate", "key", "public_certificate"))
    record = run_task(job.model_copy(update=places), Task(job.algorithm, job.k, job.seed), False)
    named = {"after highest": record["highest_risk"], "after average": record["average_risk"]}
    return _compare("compare", told, {**record, **named})


def _by_command(job: Job, settings: dict[str, Any], told: Mapping[str, float], folder: Path) -> list[Finding]:
    job.save(folder / "job.yaml")
    with_job, with_key = ["--job", str(folder / "job.yaml")], ["--key", str(settings["key"])]
    findings = _compare("evaluate --job", told, _evaluated(job, [*with_job, *with_key]))
    if settings.get("hierarchies") or settings.get("date_formats"):  # these a certificate cannot tell
        return findings
    words = [word for text in settings.get("missing", ()) for word in ("--missing", text)]
    words += ["--person", settings["person"]] if "person" in settings else []
    words += ["--certificate", str(settings["certificate"]), *with_key]
    return findings + _compare("evaluate --certificate", told, _evaluated(job, words))


def _evaluated(job: Job, words: list[str]) -> dict[str, float]:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.suppress(SystemExit):
        main(["evaluate", str(job.input), str(job.output), *words, "--json"])
    return _told_by(json.loads(screen.getvalue()))


def _of_frame(case: Case, settings: dict[str, Any]) -> list[Finding]:
    """The same of a frame, evaluated with its certificate and settings."""
    frame = as_frame(case["columns"], FRAMES[case["number"] % len(FRAMES)])
    asked = {name: value for name, value in settings.items() if name not in NOT_FOR_FRAMES}
    if "class" in asked:
        asked["class_column"] = asked.pop("class")
    try:
        result = shoal.anonymize(frame, threads=1, **asked)
    except shoal.InputError:
        return []  # the file says otherwise than the frame what a column is
    if asked.get("suppressed") == "drop":
        return []
    known = {name: asked[name] for name in KNOWN_TO_EVALUATE if name in asked}
    found = shoal.evaluate(frame, result.release, certificate=result.certificate, **known)
    return _compare("shoal.evaluate", _told(result), _told_by(found.as_dict()))
