"""One run in a process of its own: from a job to a verified release, its certificate and its reports.

The first line of the input names the folder of the run. Further lines may ask to end the search with the best it has
found ("best"); when the input ends, so does the process.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import shoal
from shoal.errors import ShoalError
from shoal.evaluation.summary import BESIDE_GCP
from shoal.job.job import Job
from shoal.progress import Progress, ProgressCallback, StopRequest, Watch
from shoal.web.files import read_json, write_json, write_private
from shoal.web.frontier_job import fill_frontier
from shoal.web.settings import PROOF, PUBLIC_CERTIFICATE
from shoal.web.sweep_job import sweep_quality
from shoal.web.worker import Voice, problems_of


def run_job(voice: Voice) -> None:
    folder = Path(json.loads(sys.stdin.readline())["folder"])
    stop = StopRequest()
    Thread(target=_listen, args=(stop,), daemon=True).start()
    try:
        _do(voice, folder, stop)
    except ShoalError as error:
        voice.say(event="failed", problems=problems_of(error), exit_code=error.exit_code)
    except Exception as error:
        voice.say(event="failed", problems=problems_of(error), exit_code=1)


def _do(voice: Voice, folder: Path, stop: StopRequest) -> None:
    """A sweep, a frontier, or a release: what the state of the run asks for."""
    started = time.perf_counter()
    progress = _tell_progress(voice, started)
    job, state = Job.load(folder / "job.yaml"), read_json(folder / "run.json")
    found: dict[str, Any] = {}
    if state.get("frontier") is not None:
        fill_frontier(job, state, voice)
    elif state.get("sweep") is not None:
        found = {"rows": sweep_quality(job, state["sweep"], Watch(progress, None, stop))}
    else:
        published = job.output is not None  # else only its numbers are wanted
        result = shoal.run(job, watch=Watch(progress, _Keep(folder, job) if published else None, stop))
        if published:
            _write_reports(folder, result, progress)
        found = {"early": stop.asked, **_headline(result)}
    voice.say(event="done", seconds=time.perf_counter() - started, **found)


def _tell_progress(voice: Voice, started: float) -> ProgressCallback:
    def progress(event: Progress) -> None:
        seconds = time.perf_counter() - started
        if event.bound is not None:
            voice.say(event="bound", seconds=seconds, bound=event.bound)
        else:
            voice.say(event="progress", seconds=seconds, stage=event.stage, fraction=event.fraction, loss=event.loss)

    return progress


class _Keep:
    """Keeps what was released of each record, in the order of the table."""

    def __init__(self, folder: Path, job: Job) -> None:
        self.folder, self.job = folder, job

    def __call__(self, step: str, value: Any) -> None:
        if step == "recode":
            from shoal.web.look_answers import keep_for_looking

            keep_for_looking(self.folder, value, self.job)


def _listen(stop: StopRequest) -> None:
    for line in sys.stdin:
        if json.loads(line).get("order") == "best":
            stop.ask()
    os._exit(1)  # the server is gone: nothing is written, for outputs are moved into place at the end only


def _write_reports(folder: Path, result: Any, progress: Any) -> None:
    """Both versions of the report from one evaluation, the certificate to publish, and what the page shows."""
    from shoal.pipeline.certificate import certificate_text, sealed
    from shoal.pipeline.public_certificate import public_part, with_salt
    from shoal.reports.report import build_report

    progress(Progress("report", 0.0))
    evaluation, summary = result.evaluate().as_dict(), result.summary()
    write_private(folder / "report.html", build_report(summary, evaluation))
    write_private(folder / "public-report.html", build_report(summary, evaluation, public=True))
    proof = with_salt(result.certificate)
    write_private(folder / PROOF, certificate_text(proof))
    write_private(folder / PUBLIC_CERTIFICATE, certificate_text(sealed(public_part(proof))))
    write_json(folder / "evaluation.json", evaluation)
    write_json(folder / "summary.json", summary)
    progress(Progress("report", 1.0))


def _headline(result: Any) -> dict[str, Any]:
    """The numbers that the list of runs shows."""
    metrics, certificate = result.metrics, result.certificate
    return {
        "loss": metrics["gcp"],
        "bound": metrics.get("lower_bound"),
        "weighted_loss": metrics.get("weighted_gcp"),
        "above_best": metrics.get("at_most_above_best"),
        "beside_the_loss": {name: metrics[name] for name in BESIDE_GCP if name in metrics},
        "highest_risk": result.risk["after"]["highest"],
        "average_risk": result.risk["after"]["average"],
        "classes": certificate["classes"],
        "smallest_class": certificate["smallest_class"],
        "suppressed": certificate["records"]["suppressed"],
        "records": certificate["records"]["released"],
        "stages": result.seconds,
    }
