"""The frontier that fills by itself: what each k costs, and with which algorithm, from one process in the background.

A large table is drawn from once, and the points say so. Nothing is released; only numbers are kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from shoal.comparison.compare_algorithms import for_comparison
from shoal.comparison.frontier import Task, grid
from shoal.errors import ShoalError
from shoal.job.job import Job
from shoal.pipeline.run import run_frame
from shoal.pipeline.sources import begin_reading
from shoal.web.settings import make_job, with_algorithm
from shoal.web.worker import Voice, problems_of

LESS_URGENT = 15  # of the 19 steps by which a process can stand back


def fill_frontier(job: Job, state: Mapping[str, Any], voice: Voice) -> None:
    """Say a point for every task that is not done yet."""
    os.nice(LESS_URGENT)
    wanted = state["frontier"]
    frame = begin_reading(job)().frame
    voice.say(event="table", records=min(frame.height, wanted["largest"]), of=frame.height)
    if frame.height > wanted["largest"]:
        frame = frame.sample(wanted["largest"], seed=0)
    done = {(point["algorithm"], point["k"]) for point in state["points"]}
    for task in grid(wanted["algorithms"], wanted["ks"]):
        if (task.algorithm, task.k) not in done:
            voice.say(event="point", point=_point(job, state["settings"], task, frame))


def _point(job: Job, settings: Mapping[str, Any], task: Task, frame: Any) -> dict[str, Any]:
    started = time.perf_counter()
    point: dict[str, Any] = {"algorithm": task.algorithm, "k": task.k}
    try:
        assert job.input is not None
        changed = make_job(with_algorithm(settings, task.algorithm, task.k), job.input, None, job.population)
        result = run_frame(for_comparison(changed, task.algorithm).model_copy(update={"input": None}), frame)
    except ShoalError as error:
        return {**point, "problems": problems_of(error)}
    return {
        **point,
        "loss": result.metrics["gcp"],
        "bound": result.metrics.get("lower_bound"),
        "highest_risk": result.risk["after"]["highest"],
        "seconds": time.perf_counter() - started,
    }
