"""One measured run in a process of its own: processor seconds per stage, peak memory and loss, as JSON on one line.

    python -m benchmarks.one_run JOB.json WARM.json

JOB is the job to measure; WARM is the same on a small table and runs first, so that neither compiling nor loading
compiled code is measured. Processor time is that of one thread: other work on the machine disturbs it least.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import shoal
from shoal.errors import ShoalError

STAGES = ("read", "encode", "cluster", "recode", "verify", "evaluate")


def measured(job: shoal.Job) -> dict[str, Any]:
    """Run a job; a stage ends when the pipeline shows what it made."""
    ends: dict[str, float] = {}
    start, wall = time.process_time(), time.perf_counter()
    result = shoal.run(job, trace=lambda stage, _: ends.setdefault(stage, time.process_time()))
    times = [start, *(ends[stage] for stage in STAGES)]
    return {
        "stages": {stage: after - before for stage, before, after in zip(STAGES, times, times[1:], strict=False)},
        "processor_seconds": time.process_time() - start,
        "seconds": time.perf_counter() - wall,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1024 * 1024 if sys.platform == "darwin" else 1024),
        "gcp": result.metrics["gcp"],
        "smallest_class": result.certificate["smallest_class"],
    }


def main() -> None:
    job, warm = (shoal.Job.load(Path(name)) for name in sys.argv[1:3])
    try:
        shoal.run(warm)
        found = measured(job)
    except ShoalError as error:
        found = {"failed": ", ".join(problem.reason for problem in error.problems)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
