"""Stored releases: a change of any released byte must be meant.

To store them anew after a change that is meant: `python -m pytest tests/golden --store-goldens`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.job.job import Job
from shoal.pipeline.run import run
from shoal.sample.demo import demo_job

HERE = Path(__file__).parent
CASES = {
    "mondrian": {"algorithm": "mondrian", "k": 4},
    "mondrian-relaxed": {"algorithm": "mondrian", "parameters": {"strict": False}, "k": 5},
    "k-member": {"algorithm": "k-member", "k": 3},
    "means": {"algorithm": "mondrian", "recoding": "mean", "k": 4},
}


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    base = demo_job(tmp_path, k=5, patients=120, seed=3)
    settings = {**base.model_dump(by_alias=True, exclude={"report", "certificate"}), **CASES[case]}
    run(Job.make(**settings))
    released = (tmp_path / "release.csv").read_bytes()
    stored = HERE / f"{case}.csv"
    if request.config.getoption("--store-goldens"):
        stored.write_bytes(released)
    assert released == stored.read_bytes()
