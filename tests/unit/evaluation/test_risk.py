"""Risks against a plain count."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from shoal.evaluation.attacks.matching import match, target_positions
from shoal.evaluation.options import Compared, EvaluationOptions
from shoal.evaluation.risk.release_risk import Persons, crowds_before
from shoal.evaluation.risk.risk import (
    attribute_disclosure,
    journalist_risk,
    risk_curve,
    risk_profile,
    size_distribution,
)
from shoal.released.domain import make_domain
from shoal.tables.schema import Attribute, Role, Scale


def test_profile_of_known_sizes() -> None:
    profile = risk_profile(np.array([1, 1, 2, 6]), threshold=0.5)
    assert (profile.records, profile.classes, profile.smallest_class, profile.largest_class) == (10, 4, 1, 6)
    assert profile.highest == 1
    assert profile.average == pytest.approx(4 / 10)
    assert (profile.unique, profile.at_risk) == (2, 2)
    assert profile.as_dict()["unique_share"] == 0.2


def test_suppressed_records_fit_everybody() -> None:
    profile = risk_profile(np.array([2, 4, 4]), np.array([True, False, False]), threshold=0.2)
    assert profile.smallest_class == 4
    assert profile.highest == 0.25
    assert profile.average == pytest.approx((2 / 10 + 2) / 10)
    assert profile.at_risk == 8
    everything = risk_profile(np.array([5]), np.array([True]))
    assert everything.smallest_class == 5


def test_curve_falls_and_sizes_add_up() -> None:
    sizes = np.array([1, 2, 3, 4, 10, 700])
    shares = [point["share"] for point in risk_curve(sizes)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1
    rows = size_distribution(sizes)
    assert sum(row["records"] for row in rows) == 720
    assert sum(row["classes"] for row in rows) == 6
    assert rows[0]["sizes"] == "1"
    assert rows[-1] == {"sizes": "500+", "order": 8, "classes": 1, "records": 700, "share": 700 / 720}


def test_sizes_of_the_original_are_counts_of_equal_rows(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(300, 5)
    compared = Compared(tables.read(original, release), original, release, EvaluationOptions())
    expected = Counter(original.select(tables.quasi).rows())
    assert sorted(crowds_before(compared, Persons()).sizes.tolist()) == sorted(expected.values())


def test_equal_numbers_that_are_spelled_differently_are_equal() -> None:
    large = [str(2**53), str(2**53 + 1)]  # one float
    original = pl.DataFrame({"n": ["1.5", "1.50", "-0", "0", "?", "NA", *large]})
    domain = make_domain(original["n"], Attribute("n", Role.QUASI_IDENTIFYING, Scale.DECIMAL), missing=("?", "NA"))
    numbers = domain.value_of_code[domain.encode(original["n"])].tolist()
    assert [numbers.index(number) for number in numbers] == [0, 0, 2, 2, 4, 4, 6, 7]


def test_journalist_with_a_fraction(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(200, 5)
    table = tables.read(original, release)
    found = journalist_risk(table, fraction=0.1)
    assert found is not None
    assert found["highest"] == pytest.approx(0.1 / table.class_sizes.min())
    assert journalist_risk(table) is None


def test_journalist_with_a_population_counts_who_fits(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(60, 5)
    table = tables.read(original, release)
    population = pl.concat([original, tables.random_table(140, 7)]).select(tables.quasi)
    names = list(tables.quasi)
    places = target_positions(population, names, tables.domains_of(original))
    fitting = match(table, names, places).fitting
    people = population.to_dicts()
    for number, row in enumerate(table.class_row.tolist()):
        cells = release.select(tables.quasi).row(row, named=True)
        assert fitting[number] == sum(tables.contains(cells, person) for person in people)
    found = journalist_risk(table, population=fitting)
    assert found is not None
    assert found["highest"] == pytest.approx(1 / fitting.min())


def test_disclosure_against_plain_counts(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(120, 4)
    table = tables.read(original, release)
    found = attribute_disclosure(table, release["illness"])
    prior = {value: count / 120 for value, count in Counter(release["illness"].to_list()).items()}
    classes: dict[tuple[str, ...], list[str]] = {}
    for row in release.select([*tables.quasi, "illness"]).rows():
        classes.setdefault(row[:-1], []).append(row[-1])
    gains, distances, guesses, uniform = [], [], 0, 0
    for values in classes.values():
        share = {value: values.count(value) / len(values) for value in prior}
        gains += [max(share[value] - prior[value] for value in prior)] * len(values)
        distances.append(sum(abs(share[value] - prior[value]) for value in prior) / 2)
        guesses += max(values.count(value) for value in prior)
        uniform += len(values) if len(set(values)) == 1 else 0
    assert found["mean_gain"] == pytest.approx(np.mean(gains))
    assert found["highest_gain"] == pytest.approx(max(gains))
    assert found["highest_distance"] == pytest.approx(max(distances))
    assert found["best_guess"] == pytest.approx(guesses / 120)
    assert found["records_in_uniform_classes"] == uniform
    assert found["baseline"] == pytest.approx(max(prior.values()))
