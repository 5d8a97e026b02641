"""Random jobs against a reader of its own: `make fuzz JOBS=100000`, or `python tools/fuzz.py --jobs 1000`.

Every job is a small random table with random settings (all algorithms, models, scales, hierarchies, recodings, frames
and files). What comes out is read back by `tools/fuzzing/`, which has its own definition of every model and shares
nothing with the verification. A finding is made smaller and saved as `tests/fuzz_cases/<number>.json`, which the tests
replay from then on.

Jobs are numbered, so a run that was stopped goes on where it was: the folder `.fuzz` remembers how far it came and what
was found. `--replay FILE` runs one saved case and tells everything about it. The exit code is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
if str(TOOLS) not in sys.path:
    sys.path.insert(0, str(TOOLS))
CASES = TOOLS.parent / "tests" / "fuzz_cases"
CHUNK = 100
SECONDS_PER_JOB = 900  # the first ones compile their kernels, on a machine that may be busy
THOROUGH = 10  # one job in so many is also repeated, verified and evaluated


def run_numbers(numbers: range) -> dict[str, Any]:
    """The jobs of these numbers: counts, and the findings with their cases."""
    from fuzzing.cases import make_case
    from fuzzing.run import run_case

    counts: Counter[str] = Counter()
    findings = []
    for number in numbers:
        case = make_case(number)
        started = time.monotonic()
        signal.signal(signal.SIGALRM, _too_slow)
        signal.alarm(SECONDS_PER_JOB)
        outcome = run_case(case, thorough=number % THOROUGH == 0)
        signal.alarm(0)
        counts["jobs"] += 1
        counts[outcome.status] += 1
        counts[f"algorithm {case['settings']['algorithm']}: {outcome.status}"] += 1
        counts.update(f"model {name}: {outcome.status}" for name in _model_names(case))
        counts[f"way {' '.join(map(str, case['way'].values()))}: {outcome.status}"] += 1
        counts.update(f"reason {reason}" for reason in set(outcome.reasons))
        for kind, text in outcome.findings:
            findings.append({"number": number, "kind": kind, "text": text, "seconds": time.monotonic() - started})
    return {"counts": dict(counts), "findings": findings}


def _too_slow(number: int, frame: Any) -> None:
    raise TimeoutError(f"the job took more than {SECONDS_PER_JOB} seconds")


def _model_names(case: dict[str, Any]) -> set[str]:
    settings = case["settings"]
    names = {spec.split(":")[0] for spec in settings.get("models", ())}
    return names | ({"k-anonymity"} if settings.get("k") else set())


def generator_digest() -> str:
    """Tells whether job numbers still mean the same jobs."""
    files = [TOOLS / "fuzzing" / name for name in ("values.py", "cases.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


class State:
    """How far a run came, in a file; a new generator of jobs starts anew."""

    def __init__(self, folder: Path, start: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "state.json"
        self.content: dict[str, Any] = {
            "digest": generator_digest(),
            "start": start,
            "done": [],
            "counts": {},
            "findings": [],
        }
        if self.path.exists():
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            if (stored["digest"], stored["start"]) == (self.content["digest"], start):
                self.content = stored

    def left(self, jobs: int) -> list[range]:
        done, start = set(self.content["done"]), self.content["start"]
        starts = range(start, start + jobs, CHUNK)
        return [range(first, min(first + CHUNK, start + jobs)) for first in starts if first not in done]

    def add(self, numbers: range, found: dict[str, Any]) -> None:
        self.content["done"].append(numbers.start)
        counts = Counter(self.content["counts"])
        counts.update(found["counts"])
        self.content["counts"] = dict(sorted(counts.items()))
        self.content["findings"] += found["findings"]
        waiting = self.path.with_suffix(".new")
        waiting.write_text(json.dumps(self.content, indent=1), encoding="utf-8")
        waiting.replace(self.path)


def save_reproduction(number: int, kind: str, tries: int) -> Path:
    """The smallest case that still shows this kind of finding, for the tests."""
    from fuzzing.cases import make_case
    from fuzzing.run import run_case
    from fuzzing.shrink import shrink

    thorough = number % THOROUGH == 0
    smallest = shrink(make_case(number), lambda case: kind in run_case(case, thorough).kinds, tries)
    CASES.mkdir(parents=True, exist_ok=True)
    path = CASES / f"{number}.json"
    path.write_text(json.dumps({"finding": kind, **smallest}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def replay(path: Path) -> int:
    from fuzzing.run import run_case

    outcome = run_case(json.loads(path.read_text(encoding="utf-8")), thorough=True)
    print(outcome.status, *outcome.reasons)
    for kind, text in outcome.findings:
        print(f"{kind}\n{text}\n")
    return 1 if outcome.findings else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000, help="how many jobs in all, those of earlier runs included")
    parser.add_argument("--start", type=int, default=0, help="the number of the first job")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, default=TOOLS.parent / ".fuzz", help="where a run remembers how far it came"
    )
    parser.add_argument("--tries", type=int, default=300, help="how many smaller cases are tried for a finding")
    parser.add_argument("--no-save", action="store_true", help="do not save findings as tests")
    parser.add_argument("--replay", type=Path, help="run one saved case")
    given = parser.parse_args()
    if given.replay is not None:
        return replay(given.replay)
    state = State(given.folder, given.start)
    before = len(state.content["findings"])
    _work(state, given.jobs, given.processes)
    kinds = {}
    for finding in state.content["findings"][before:]:
        kinds.setdefault(finding["kind"], finding["number"])
    for kind, number in kinds.items():
        print(f"finding: {kind} (job {number})")
        if not given.no_save and number >= 0:
            print(f"  saved as {save_reproduction(number, kind, given.tries)}")
    _print_summary(state.content)
    return 1 if state.content["findings"] else 0


def _make_cheap() -> None:
    """For tables of a few rows: no threads that wait for each other, and no disk to wait for."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        os.environ.setdefault("TMPDIR", str(memory))


def _work(state: State, jobs: int, processes: int) -> None:
    _make_cheap()
    left = state.left(jobs)
    started = time.monotonic()
    while left:
        context = multiprocessing.get_context("spawn")  # threads of libraries do not survive a fork
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            waiting = {pool.submit(run_numbers, numbers): numbers for numbers in left}
            try:
                for future in as_completed(waiting):
                    state.add(waiting[future], future.result())
                    _print_progress(state.content, jobs, started)
            except BrokenProcessPool:
                _isolate(state, left)
        left = state.left(jobs)


def _isolate(state: State, left: list[range]) -> None:
    """A process died: the jobs of the chunks that were under way, one by one, each in its own process."""
    context = multiprocessing.get_context("spawn")
    for numbers in state.left(left[-1].stop - state.content["start"])[:2]:
        total: Counter[str] = Counter()
        findings = []
        for number in numbers:
            try:
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    found = pool.submit(run_numbers, range(number, number + 1)).result()
            except BrokenProcessPool:
                text = "the process died"
                found = {"counts": {"jobs": 1}, "findings": [{"number": number, "kind": text, "text": text}]}
            total.update(found["counts"])
            findings += found["findings"]
        state.add(numbers, {"counts": dict(total), "findings": findings})


def _print_progress(content: dict[str, Any], jobs: int, started: float) -> None:
    counts = content["counts"]
    line = f"{counts['jobs']:,} of {jobs:,} jobs, {counts.get('released', 0):,} released"
    print(f"{line}, {len(content['findings'])} findings, {time.monotonic() - started:.0f} s", flush=True)


def _print_summary(content: dict[str, Any]) -> None:
    for name, count in content["counts"].items():
        print(f"{count:9,}  {name}")
    for kind, count in Counter(finding["kind"] for finding in content["findings"]).most_common():
        print(f"{count:9,}  FINDING {kind}")


if __name__ == "__main__":
    sys.exit(main())
