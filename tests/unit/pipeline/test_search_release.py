"""The next release with classes of its own, which hold together with the earlier ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError, RequirementError
from shoal.job.job import Job
from shoal.pipeline.run import run
from shoal.releases.check import check_together

QUASI = ["age", "zip", "sex"]


def people(count: int) -> pl.DataFrame:
    random = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": random.integers(18, 80, 900),
            "zip": random.integers(0, 60, 900),
            "sex": random.choice(["f", "m"], 900),
            "disease": random.choice(["flu", "cold"], 900),
        }
    )[:count]


def made(rows: int, earlier: list[pl.DataFrame], strategy: str, sensitive: list[str]) -> shoal.Result:
    return shoal.anonymize(
        people(rows),
        quasi=QUASI,
        sensitive=sensitive,
        drop_rest=True,
        k=5,
        effort="low",
        earlier=earlier,
        earlier_original=people(200) if earlier else None,
        strategy=strategy,
    )


@pytest.mark.parametrize("sensitive", [[], ["disease"]])
def test_searched_classes_hold_and_never_lose_more_than_kept_ones(sensitive: list[str]) -> None:
    first = made(200, [], "keep", sensitive).release
    kept = made(900, [first], "keep", sensitive)
    searched = made(900, [first], "search", sensitive)
    assert searched.metrics["gcp"] <= kept.metrics["gcp"]
    told = searched.certificate["together"]
    assert told["passed"]
    assert told["newcomers"] == 700
    assert told["earlier"] == kept.certificate["together"]["earlier"]
    if told["strategy"] == "search":
        assert searched.metrics["gcp"] < kept.metrics["gcp"]
    assert check_together([first, searched.release], QUASI, 5, sensitive).passed
    if not sensitive:  # nothing links the records: classes of a table of 900 are finer than those of 200
        assert told["strategy"] == "search"
        plain = made(900, [], "keep", sensitive)
        assert searched.metrics["gcp"] == plain.metrics["gcp"]
    else:
        plain = made(900, [], "keep", sensitive)
        assert not check_together([first, plain.release], QUASI, 5, sensitive).passed


def test_a_series_of_searched_releases_is_checked_with_all_before(tmp_path: Path) -> None:
    for wave, rows in ((1, 200), (2, 420), (3, 700)):
        people(rows).write_csv(tmp_path / f"t{wave}.csv")
        job = Job.make(
            input=tmp_path / f"t{wave}.csv",
            output=tmp_path / f"r{wave}.csv",
            quasi=QUASI,
            sensitive=["disease"],
            k=5,
            effort="low",
            series=tmp_path / "series.json",
            strategy="search",
        )
        told = run(job).certificate.get("together", {})
    assert (told["passed"], len(told["earlier"])) == (True, 2)
    frames = [pl.read_csv(tmp_path / f"r{wave}.csv", infer_schema=False) for wave in (1, 2, 3)]
    assert check_together(frames, QUASI, 5, "disease").passed


def test_what_no_search_can_mend_is_refused() -> None:
    first = made(200, [], "keep", ["disease"]).release
    with pytest.raises(RequirementError) as caught:
        made(203, [first], "search", ["disease"])
    assert caught.value.reasons == ("too-few-newcomers",)
    with pytest.raises(InputError) as refused:
        made(150, [first], "search", ["disease"])
    assert refused.value.reasons == ("people-left",)
