"""The bound that a result carries holds for every release that passes the same check, however it was made."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.metrics.score import score
from shoal.pipeline.run import run_frame
from shoal.progress import Watch
from shoal.released.domain import make_domains
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role

LOW = {"algorithm": "shoal", "effort": 0.05}


def loss_of(original: pl.DataFrame, release: pl.DataFrame) -> float:
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(original[name])) for name in original.columns]
    return score(original, release, original.columns, make_domains(original, attributes)).totals["gcp"]


@pytest.mark.parametrize("model", ["qid:a:10", "xy-anonymity:a:s:10"])
def test_models_over_some_quasi_identifiers_do_not_raise_it(model: str) -> None:
    table = pl.DataFrame(
        {"a": ["x", "y"] * 20, "b": [str(n // 4) for n in range(40)], "s": [str(n) for n in range(40)]}
    )
    assert shoal.verify(table, quasi=["a", "b"], k=2, models=[model]).passed  # as it is, so nothing need be lost
    result = shoal.anonymize(table, drop_rest=True, quasi=["a", "b"], k=2, models=[model], **LOW)
    assert result.metrics["lower_bound"] == 0.0


def test_models_over_all_quasi_identifiers_raise_it() -> None:
    table = pl.DataFrame({"a": ["x", "y"] * 20, "b": [str(n // 4) for n in range(40)]})
    plain = shoal.anonymize(table, drop_rest=True, quasi=["a", "b"], k=2, **LOW)
    whole = shoal.anonymize(table, drop_rest=True, quasi=["a", "b"], k=2, models=["qid:b+a:10"], **LOW)
    assert plain.metrics["lower_bound"] == 0.0
    assert whole.metrics["lower_bound"] > 0.1


def test_suppressed_records_do_not_make_it_false() -> None:
    rows = [[str(n % 3), str(n % 2), str(n % 2)] for n in range(40)]
    table = pl.DataFrame([*rows, ["1000"] * 3], schema=["a", "b", "c"], orient="row")
    by_hand = pl.DataFrame([*rows, ["*"] * 3], schema=["a", "b", "c"], orient="row")
    assert shoal.verify(by_hand, quasi=["a", "b", "c"], k=5, suppression_limit=0.1).passed
    allowed = shoal.anonymize(table, drop_rest=True, quasi=["a", "b", "c"], k=5, suppression_limit=0.1, **LOW)
    assert allowed.metrics["lower_bound"] <= loss_of(table, by_hand) + 1e-9
    strict = shoal.anonymize(table, drop_rest=True, quasi=["a", "b", "c"], k=5, **LOW)
    assert strict.metrics["lower_bound"] > loss_of(table, by_hand)


def skewed(records: int, seed: int) -> tuple[pl.DataFrame, dict[str, object]]:
    """Numbers with outliers, a date, an ordered category and a tree, all with hierarchies of uneven branches."""
    random = np.random.default_rng(seed)
    numbers = [0, 1, 2, 3, 4, 7, 9, 30, 1000]
    days = ["2020-01-01", "2020-01-02", "2020-01-05", "2021-06-30"]
    table = pl.DataFrame(
        {
            "z": [str(numbers[n]) for n in random.choice(9, records, p=[0.2] * 4 + [0.04] * 5)],
            "day": random.choice(days, records).tolist(),
            "size": random.choice(["S", "M", "L", "XL"], records, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
            "job": random.choice(["a", "b", "c", "d"], records).tolist(),
        }
    )
    if seed % 2:
        table[0, "z"], table[1, "size"] = None, None
    hierarchies = {
        "z": {"*": {"low": {"few": ["0", "1", "2"], "some": ["3", "4", "7", "9"]}, "high": ["30", "1000", "5000"]}},
        "day": {"*": {"2020": days[:3], "2021": [days[3], "2021-12-31"]}},
        "size": {"*": {"small": ["XS", "S", "M"], "large": ["L", "XL"]}},
        "job": {"*": {"x": ["a", "b"], "y": ["c", "d", "e"]}},
    }
    return table, hierarchies


@pytest.mark.parametrize("recoding", ["range", "nodes", "mean", "midpoint"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_searched_and_bounded_is_what_is_measured(recoding: str, seed: int) -> None:
    table, hierarchies = skewed(60, seed)
    seen = {}
    job = shoal.Job.make(
        quasi=table.columns, k=4, hierarchies=hierarchies, orders={"size": ["XS", "S", "M", "L", "XL"]}, **LOW,
        recodings=dict.fromkeys(["z", "day", "size"] if recoding == "nodes" else ["z", "day"], recoding),
    )  # fmt: skip
    result = run_frame(job, table, watch=Watch(trace=lambda stage, value: seen.update({stage: value})))
    assert result.metrics["lower_bound"] <= result.metrics["gcp"] + 1e-9
    assert seen["cluster"].details["loss"] == pytest.approx(result.metrics["gcp"], abs=1e-9)
