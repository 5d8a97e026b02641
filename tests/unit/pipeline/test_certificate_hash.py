"""Any change to a certificate is noticed by its own hash."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.pipeline.certificate import is_unchanged, load_certificate
from shoal.pipeline.verify_files import verify_certified


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    frame = pl.DataFrame({"age": [20, 21, 22, 40, 41, 42], "sex": list("mfmfmf")})
    shoal.anonymize(frame, quasi=["age", "sex"], k=3).save(tmp_path)
    return tmp_path


def test_an_untouched_pair_holds(saved: Path) -> None:
    found = verify_certified(saved / "release.csv", load_certificate(saved / "certificate.json"))
    assert found["passed"]
    assert found["same_certificate"]


def test_a_change_of_any_part_is_noticed(saved: Path) -> None:
    content = json.loads((saved / "certificate.json").read_text())
    for name in content:
        changed = {**content, name: "another"}
        assert not is_unchanged(changed), name
    assert not is_unchanged({**content, "more": 1})


def test_a_changed_certificate_does_not_pass(saved: Path) -> None:
    content = load_certificate(saved / "certificate.json")
    content["loss"]["gcp"] = 0.0001
    found = verify_certified(saved / "release.csv", content)
    assert not found["passed"]
    assert any("its own hash differs" in note for note in found["notes"])
