"""Runs in a process of its own: a job in a situation that the tests ask for. The first argument names it.

    loop FOLDER             one job after the other onto the same output, until somebody kills the process
    limit FOLDER WHAT N     a job with at most N bytes of memory or N open files more than now
    nobody FOLDER           a job of a user who may not write to the folder of the output
    once FOLDER K           a job with this k; says when it begins, and waits for a line before

The last line that is printed is the exit code.
"""

from __future__ import annotations

import itertools
import os
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import make_input, run


def arguments(folder: Path, k: int) -> list[str]:
    release, certificate = folder / "outputs" / "release.csv", folder / "outputs" / "certificate.json"
    return [
        *("anonymize", str(folder / "table.csv"), "-o", str(release), "--certificate", str(certificate)),
        *("--quasi", "age,sex", "--sensitive", "disease", "--identifiers", "name"),
        *("--algorithm", "mondrian", "-q", "-k", str(k)),
    ]


def warm_up(folder: Path) -> None:
    """Everything is loaded and compiled by a job of its own, so that the situation meets the work alone."""
    other = folder / "warm"
    (other / "outputs").mkdir(parents=True, exist_ok=True)
    make_input(other / "table.csv")
    code, said = run(arguments(other, 3))
    assert code == 0, said
    code, said = run(arguments(other / "nowhere", 3))  # and what tells what is wrong
    assert code == 2, said


def main() -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    warm_up(folder)
    if what == "loop":
        print("begin", flush=True)
        for k in itertools.cycle((3, 4)):
            run(arguments(folder, k))
    elif what == "once":
        print("begin", flush=True)
        sys.stdin.readline()
        code, said = run(arguments(folder, int(sys.argv[3])))
        print(said, code, sep="\n")
    elif what == "limit":
        kind, most = sys.argv[3], int(sys.argv[4])
        if kind == "memory":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + most, used + most))
        else:
            highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + most, highest + most))
        code, said = run(arguments(folder, 3))
        print(said, code, sep="\n")
    elif what == "nobody":
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        code, said = run(arguments(folder, 3))
        print(said, code, sep="\n")


if __name__ == "__main__":
    main()
