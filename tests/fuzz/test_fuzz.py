"""A short run of random jobs, and every finding of longer runs again. `make fuzz JOBS=100000` does more."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from fuzzing.cases import ALGORITHMS, make_case
from fuzzing.one_number import other_numbers
from fuzzing.run import run_case

CASES = sorted((Path(__file__).resolve().parents[1] / "fuzz_cases").glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_an_earlier_finding_stays_away(path: Path) -> None:
    assert run_case(json.loads(path.read_text(encoding="utf-8")), thorough=True).findings == []


def test_random_jobs_keep_every_promise() -> None:
    statuses: Counter[str] = Counter()
    released = set()
    for number in range(500):
        case = make_case(number)
        outcome = run_case(case, thorough=number % 10 == 0)
        assert outcome.findings == [], f"job {number}"
        statuses[outcome.status] += 1
        if outcome.status == "released":
            released.add(case["settings"]["algorithm"])
    assert statuses["released"] > 200, statuses  # else the jobs are not worth running
    assert released == set(ALGORITHMS)


@pytest.mark.parametrize("number", [2, 17, 37, 238, 401])  # koc, persons, dbca, times of day, huge numbers
def test_no_place_tells_another_number(number: int, tmp_path: Path) -> None:
    assert other_numbers(make_case(number), tmp_path) == []
