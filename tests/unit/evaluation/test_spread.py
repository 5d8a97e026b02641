"""How cells are read as data."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from shoal.evaluation.usefulness.reading_cells import (
    accepted_shares,
    make_bins,
    overlap,
    text_shares,
    value_weights,
    variance_inside,
)
from shoal.released.domain import make_domains
from shoal.released.reading import ReadColumn, read_release
from shoal.tables.schema import Attribute, Role, Scale


def read_one(original: list[str | None], release: list[str | None], scale: Scale = Scale.CATEGORY) -> ReadColumn:
    before, after = pl.DataFrame({"a": original}), pl.DataFrame({"a": release})
    domains = make_domains(before, [Attribute("a", Role.QUASI_IDENTIFYING, scale)])
    return read_release(before, after, ["a"], domains).columns["a"]


def plain_weights(cells: list[set[str]], values: list[str]) -> dict[str, float]:
    """The rule of the module, one cell after the other."""
    weights = dict.fromkeys(values, 1.0)
    for _ in range(10):
        received = dict.fromkeys(values, 0.0)
        for cell in cells:
            total = sum(weights[value] for value in cell)
            for value in cell:
                received[value] += weights[value] / total / len(cells)
        weights = {value: 0.8 * received[value] + 0.2 / len(values) for value in values}
    return weights


def test_categories_are_shared_out_by_what_the_release_shows() -> None:
    column = read_one(["A", "A", "A", "B", "C", "B"], ["A", "A", "A", "{B, C}", "{B, C}", "{A, B}"])
    cells = [{"A"}, {"A"}, {"A"}, {"B", "C"}, {"B", "C"}, {"A", "B"}]
    weights = plain_weights(cells, ["A", "B", "C"])
    assert value_weights(column)[:3] == pytest.approx([weights[value] for value in "ABC"])
    shares = text_shares(column, make_bins(column.domain))
    for code, cell in zip(column.codes.tolist(), cells, strict=True):
        total = sum(weights[value] for value in cell)
        expected = [weights[value] / total if value in cell else 0.0 for value in "ABC"]
        assert shares[code] == pytest.approx(expected)
        assert accepted_shares(column, np.array([False, True, False, False]))[code] == pytest.approx(expected[1])


def test_missing_values_are_a_value() -> None:
    column = read_one(["A", None, None, "B"], ["{(missing), A}", "{(missing), A}", None, "B"])
    weights = plain_weights([{"A", "-"}, {"A", "-"}, {"-"}, {"B"}], ["A", "B", "-"])
    assert value_weights(column) == pytest.approx([weights["A"], weights["B"], weights["-"]])
    shares = text_shares(column, make_bins(column.domain))
    total = weights["A"] + weights["-"]
    assert shares[column.codes[0]] == pytest.approx([weights["A"] / total, 0, weights["-"] / total])


def test_numbers_are_cut_into_bins_of_even_weight() -> None:
    column = read_one([str(n) for n in range(1000)], [str(n) for n in range(1000)], Scale.INTEGER)
    bins = make_bins(column.domain)
    counts = np.bincount(bins.of_code[:-1])
    assert bins.count == 12
    assert counts.min() > 70
    shares = text_shares(column, bins)
    assert shares.sum(axis=1) == pytest.approx(np.ones(1000))


def test_rare_categories_share_a_bin() -> None:
    values = [f"v{n}" for n in range(100) for _ in range(100 - n)]
    bins = make_bins(read_one(values, values).domain)
    assert bins.count == 40
    assert np.bincount(bins.of_code[:-1]).max() == 61


@pytest.mark.parametrize(
    ("low", "high", "query", "scale", "expected"),
    [
        (20, 29, (20, 29), Scale.INTEGER, 1.0),
        (20, 29, (25, 40), Scale.INTEGER, 0.5),
        (20, 29, (29, 29), Scale.INTEGER, 0.1),
        (20, 29, (30, 40), Scale.INTEGER, 0.0),
        (5, 5, (0, 5), Scale.INTEGER, 1.0),
        (0.0, 1.0, (0.25, 0.5), Scale.DECIMAL, 0.25),
        (0.5, 0.5, (0.25, 0.5), Scale.DECIMAL, 1.0),
        (0.5, 0.5, (0.6, 0.7), Scale.DECIMAL, 0.0),
    ],
)
def test_overlap(low: float, high: float, query: tuple[float, float], scale: Scale, expected: float) -> None:
    assert overlap(np.array([low]), np.array([high]), query, scale)[0] == pytest.approx(expected)


def test_variance_of_a_spread() -> None:
    whole = np.arange(20, 30)
    assert variance_inside(np.array([9.0, 0.0]), Scale.INTEGER) == pytest.approx([whole.var(), 0.0])
    fine = np.linspace(0, 3, 100_001)
    assert variance_inside(np.array([3.0]), Scale.DECIMAL)[0] == pytest.approx(fine.var(), rel=1e-3)


def test_shares_of_a_release_with_a_hierarchy(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(200, 5)
    table = tables.read(original, release)
    for column in table.columns.values():
        shares = text_shares(column, make_bins(column.domain))
        assert shares.sum(axis=1) == pytest.approx(np.ones(shares.shape[0]))
