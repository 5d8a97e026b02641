"""Facts, dependence and combinations against plain group-bys."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.inspection import combinations as module
from shoal.inspection.combinations import risky_combinations
from shoal.inspection.dependence import find_dependence
from shoal.inspection.facts import find_facts
from shoal.inspection.formats import find_format
from shoal.tables.schema import Scale

cells = st.one_of(st.none(), st.sampled_from(["", "a", "b", "c", "?"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=12))
def test_counts_are_those_of_a_group_by(rows: list[tuple[str | None, str | None, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String, "z": pl.String}, orient="row")
    facts = find_facts(frame)
    for name, fact in facts.items():
        present = [value for value in frame[name] if value]
        assert fact.distinct == len(set(present))
        assert fact.alone == sum(present.count(value) == 1 for value in present)
        assert (fact.records, fact.missing) == (len(present), len(rows) - len(present))
    found = risky_combinations({name: fact.hashes for name, fact in facts.items()}, 3)
    assert not found["estimated"]
    for entry in found["combinations"]:
        sizes = frame.group_by(entry["columns"]).len()["len"]
        assert entry["unique"] == (sizes == 1).sum()
    assert len(found["combinations"]) == 7


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=12, max_size=30))
def test_dependence_is_that_of_a_dict(rows: list[tuple[int, int, int]]) -> None:
    frame = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
    found = find_dependence(find_facts(frame))
    told = set(found.settled) | set(found.same) | {pair[::-1] for pair in found.same}
    for one, two in permutations(frame.columns, 2):
        if frame[one].n_unique() == 1 or frame[two].n_unique() == 1:
            continue
        settles = frame.select(one, two).unique().height == frame[one].n_unique()
        assert ((one, two) in told) == settles


def test_persons_hide_nobody_from_others() -> None:
    frame = pl.DataFrame({"town": ["a", "a", "b", "b", "c"], "who": [1, 1, 2, 3, 4]})
    facts = find_facts(frame)
    found = risky_combinations({"town": facts["town"].hashes}, 1, frame["who"].to_numpy())
    assert found["combinations"][0]["unique"] == 3  # both records of 1, and the one of 4


def test_an_estimate_is_near_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    frame = pl.DataFrame({name: random.integers(0, size, 40_000) for name, size in (("x", 90), ("y", 70), ("z", 9))})
    hashes = {name: fact.hashes for name, fact in find_facts(frame).items()}
    exact = risky_combinations(hashes, 3)
    monkeypatch.setattr(module, "LOOKED_AT", 10_000)
    estimated = risky_combinations(hashes, 3)
    assert estimated["estimated"]
    assert not exact["estimated"]
    truth = {tuple(entry["columns"]): entry["unique"] for entry in exact["combinations"]}
    assert set(truth) == {chosen for size in (1, 2, 3) for chosen in combinations("xyz", size)}
    for entry in estimated["combinations"]:
        expected = truth[tuple(entry["columns"])]
        assert abs(entry["unique"] - expected) <= 4 * 2 * expected**0.5 + 1  # four deviations of a count of a quarter


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([f"p{n}@example.org" for n in range(20)], "email"),
        ([f"{n:03d}-12-{n:04d}" for n in range(20)], "social-security"),
        ([f"+49 30 {n:07d}" for n in range(20)], "phone"),
        ([f"A{n:09d}" for n in range(30)], "insurance-number"),
        ([f"{letter}{n:02d}.{n % 10}" for letter in "EIJ" for n in range(9)], "icd"),
        ([f"{letter}{n:02d}AB{n:02d}" for letter in "ACN" for n in range(9)], "atc"),
        ([f"A{n}" for n in range(40, 52)], None),  # codes of one letter are no diagnoses
        ([f"he came on day {n} and left" for n in range(30)], "free-text"),
        (["Never married", "Separated"], None),
    ],
)
def test_formats(values: list[str], name: str | None) -> None:
    found = find_format(pl.Series(values), len(values))
    assert (found.name if found else None) == name


def test_labels_that_repeat_are_no_free_text() -> None:
    labels = pl.Series([f"a long label of number {n}" for n in range(30)])
    assert find_format(labels, 10_000) is None


def test_marks_of_missing_values() -> None:
    frame = pl.DataFrame(
        {
            "age": ["31", "?", "45", "50", "unknown"],
            "sign": ["+", "-", "-", "+", "+"],
            "year": ["1990", "1991", "1995", "2001", "9999"],
        }
    )
    facts = find_facts(frame)
    assert facts["age"].missing_texts == ("?", "unknown")
    assert (facts["age"].scale, facts["age"].scale_without_texts) == (Scale.CATEGORY, Scale.INTEGER)
    assert facts["sign"].missing_texts == ()
    assert facts["year"].missing_numbers == (9999.0,)
