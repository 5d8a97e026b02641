"""A release in the order of a sorted input narrows its own ranges; one in the order of its values tells nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.hierarchies.spec import make_hierarchy
from shoal.releases.kernels.runs import narrow_in_runs
from shoal.releases.order_leak import order_leak
from shoal.tables.row_order import inverse, is_published_order, published_order


def narrowed(low: list[float], high: list[float]) -> tuple[list[float], list[float], int]:
    out = np.empty(len(low)), np.empty(len(low))
    runs = narrow_in_runs(np.array(low), np.array(high), *out)
    return out[0].tolist(), out[1].tolist(), runs


def test_runs_narrow_each_other() -> None:
    assert narrowed([1, 3, 2, 4], [9, 5, 8, 4]) == ([1, 3, 3, 4], [4, 4, 4, 4], 1)
    assert narrowed([5, 1], [6, 2]) == ([5, 1], [6, 2], 2)


def test_runs_against_all_assignments() -> None:
    """Within a run, every narrowed end is that of a sequence that does not fall, and no such sequence goes beyond."""
    random = np.random.default_rng(2)
    for _ in range(200):
        low = random.integers(0, 4, 4)
        high = low + random.integers(0, 4, 4)
        found_low, found_high, runs = narrowed(low.tolist(), high.tolist())
        if runs > 1:
            continue
        choices = np.array(np.meshgrid(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))).reshape(4, -1)
        sorted_ones = choices[:, (np.diff(choices, axis=0) >= 0).all(axis=0)]
        assert found_low == sorted_ones.min(axis=1).tolist()
        assert found_high == sorted_ones.max(axis=1).tolist()


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    random = np.random.default_rng(0)
    age = random.integers(17, 90, 3000)
    towns = random.integers(0, 30, 3000)
    return pl.DataFrame({"age": age, "town": [f"town {n:02d}" for n in towns], "sex": random.choice(["m", "f"], 3000)})


@pytest.mark.parametrize(("column", "descending"), [("age", False), ("age", True), ("town", False)])
def test_a_sorted_input_shows_through(adult: pl.DataFrame, column: str, descending: bool) -> None:
    frame = adult.sort(column, descending=descending, maintain_order=True)
    release = shoal.anonymize(frame, quasi=["age", "town", "sex"], k=10, algorithm="mondrian").release
    found = order_leak(release, ["age", "town", "sex"])
    told = found["attributes"][column]
    assert found["leaks"]
    assert told["leaks"]
    assert told["decided"] > 0.2 * told["generalized"]
    assert found["alone"] > 0
    others = [one["leaks"] for name, one in found["attributes"].items() if name != column]
    assert others == [False, False]


def test_other_orders_show_nothing(adult: pl.DataFrame) -> None:
    release = shoal.anonymize(adult, quasi=["age", "town", "sex"], k=10, algorithm="mondrian").release
    assert not order_leak(release, ["age", "town", "sex"])["leaks"]
    published = release[published_order(release)]
    found = order_leak(published, ["age", "town", "sex"])
    assert (found["leaks"], found["by_released_values"], found["alone"]) == (False, True, 0)


def test_words_with_a_hierarchy_are_sorted_by_the_alphabet_too(adult: pl.DataFrame) -> None:
    towns = sorted(set(adult["town"]))
    tree = make_hierarchy({"*": {"odd": towns[1::2], "even": towns[::2]}}, towns, "town")
    frame = adult.sort("town").with_columns(
        pl.when(pl.int_range(pl.len()) % 7 > 0).then("town").otherwise(pl.lit("odd")).alias("town")
    )
    found = order_leak(frame, ["town"], {"town": tree})
    assert found["attributes"]["town"]["leaks"]


def test_the_published_order(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "a": random.choice(["x", "y", None], 200).tolist(),
            "b": random.integers(0, 12, 200),
            "c": random.choice([0.0, -0.0, float("nan"), 1.5], 200),
            "d": [[int(n)] for n in random.integers(0, 3, 200)],
        }
    )
    order = published_order(frame)
    assert sorted(order.tolist()) == list(range(200))
    published = frame[order]
    assert is_published_order(published)
    assert not is_published_order(frame)
    assert published[inverse(order)].equals(frame, null_equal=True)
    for seed in range(5):
        shuffled = frame.sample(fraction=1.0, shuffle=True, seed=seed)
        again = shuffled[published_order(shuffled)]
        assert again.write_json() == published.write_json()


def test_the_way_round_that_fits_best_is_told() -> None:
    random = np.random.default_rng(4)
    ages = np.sort(random.integers(20, 80, 600))
    low, high = ages - random.integers(0, 12, 600), ages + random.integers(0, 12, 600)
    wide = high > low
    cells = [f"[{a}, {b}]" if a < b else str(a) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    found = order_leak(pl.DataFrame({"age": cells}), ["age"])["attributes"]["age"]
    narrow_low = np.maximum.accumulate(low)
    narrow_high = np.minimum.accumulate(high[::-1])[::-1]
    assert found["runs"] == 1  # falling it takes many, and decides more cells, wrongly
    assert found["decided"] == np.count_nonzero(wide & (narrow_low == narrow_high))
