"""Raw and released cells as points of one space."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.evaluation.usefulness.clustering.features import LARGEST_CATEGORY, Encoding, column_features, table_features
from shoal.hierarchies.spec import make_hierarchy
from shoal.released.domain import make_domain
from shoal.tables.schema import Attribute, Role, Scale

HALF = np.sqrt(0.5)
RANGE = Encoding(numbers="range")
SPREAD = Encoding(categories="spread")


def domain(values, scale, hierarchy=None, missing=()):
    return make_domain(pl.Series("x", values), Attribute("x", Role.QUASI_IDENTIFYING, scale), hierarchy, missing)


def test_numbers_run_from_0_to_1_and_intervals_are_their_middle():
    age = domain([20, 40, 60], Scale.INTEGER)
    texts = pl.Series(["20", "60", "[20, 40]", "*", "[40-60]"])
    assert column_features(age, texts, RANGE)[:, 0].tolist() == pytest.approx([0, 1, 0.25, 0.5, 0.75])


def test_ranks_are_the_middle_of_the_records_inside():
    age = domain([20, 20, 40, 1000], Scale.INTEGER)
    texts = pl.Series(["20", "40", "1000", "[20, 40]", "[40-1000]", "*", "500"])
    assert column_features(age, texts)[:, 0].tolist() == pytest.approx([2 / 8, 5 / 8, 7 / 8, 3 / 8, 6 / 8, 0.5, 6 / 8])


def test_ranks_of_the_records_keep_their_mean_under_any_cut():
    """What an interval stands for is, on average, what its records were."""
    values = np.random.default_rng(0).integers(0, 30, 200) ** 3
    amount = domain(values, Scale.INTEGER)
    raw = column_features(amount, pl.Series(values).cast(pl.String))[:, 0]
    low = values < 1000
    texts = np.where(low, f"[{values[low].min()}, {values[low].max()}]", f"[{values[~low].min()}, {values.max()}]")
    masked = column_features(amount, pl.Series(texts))[:, 0]
    assert masked[low].mean() == pytest.approx(raw[low].mean(), abs=1e-6)
    assert masked[~low].mean() == pytest.approx(raw[~low].mean(), abs=1e-6)


def test_missing_numbers_have_a_feature_of_their_own():
    age = domain([20, None, 60], Scale.INTEGER)
    points = column_features(age, pl.Series(["20", None, "*"]))
    assert points.tolist() == [[0.25, 0], [0.5, 1], [0.5, 0]]


def test_categories_are_at_distance_1_and_a_set_is_between_its_values():
    work = domain(["a", "b", "c"], Scale.CATEGORY)
    points = column_features(work, pl.Series(["a", "b", "{a, b}", "*"]), SPREAD)
    assert np.linalg.norm(points[0] - points[1]) == pytest.approx(1.0)
    assert points[2].tolist() == pytest.approx([HALF / 2, HALF / 2, 0])
    assert points[3].tolist() == pytest.approx([HALF / 3] * 3)
    assert np.linalg.norm(points[2] - points[0]) < np.linalg.norm(points[3] - points[0])


def test_an_ancestor_spreads_over_the_leaves_that_the_raw_table_has():
    tree = make_hierarchy(
        [("a", "low", "any"), ("b", "low", "any"), ("c", "high", "any"), ("d", "high", "any")], [], "x"
    )
    work = domain(["a", "b", "d"], Scale.CATEGORY, tree)
    points = column_features(work, pl.Series(["low", "high", "any"]), SPREAD)
    assert points.tolist() == pytest.approx(np.array([[HALF / 2, HALF / 2, 0], [0, 0, HALF], [HALF / 3] * 3]))


def test_as_values_of_their_own_masked_values_are_equally_far_from_all():
    tree = make_hierarchy(
        [("a", "low", "any"), ("b", "low", "any"), ("c", "high", "any"), ("d", "high", "any")], [], "x"
    )
    work = domain(["a", "b", "c", "d"], Scale.CATEGORY, tree)
    points = column_features(work, pl.Series(["a", "low", "high", "c"]))
    distances = [np.linalg.norm(points[i] - points[j]) for i in range(4) for j in range(i)]
    assert distances == pytest.approx([1.0] * 6)


def test_rare_values_of_a_large_domain_share_a_feature():
    names = [f"v{number:03}" for number in range(150)]
    many = domain(names + names[:50] * 3, Scale.CATEGORY)
    points = column_features(many, pl.Series(["v000", "v049", "v148", "v149"]))
    assert points.shape == (4, LARGEST_CATEGORY)
    assert (points[2] == points[3]).all()
    assert (points[0] != points[1]).any()


def test_equal_rows_are_one_point_with_a_weight():
    frame = pl.DataFrame({"age": [20, 60, 20, 20], "work": ["a", "b", "a", "b"]})
    attributes = {"age": Scale.INTEGER, "work": Scale.CATEGORY}
    domains = {
        name: make_domain(frame[name], Attribute(name, Role.INSENSITIVE, scale)) for name, scale in attributes.items()
    }
    features = table_features(frame, ["age", "work"], domains)
    assert features.points.shape == (3, 3)
    assert sorted(features.weights.tolist()) == [1, 1, 2]
    assert (features.of_records[0] == features.of_records[2]).all()
    assert features.of_records[1].tolist() == pytest.approx([7 / 8, 0, HALF])


def test_very_many_sets_are_spread():
    names = [f"v{number:02}" for number in range(40)]
    few = domain(names, Scale.CATEGORY)
    sets = pl.Series([f"{{{a}, {b}}}" for a in names for b in names if a < b])
    assert column_features(few, sets).shape == (780, 40)
    assert column_features(few, sets.head(50)).shape == (50, 90)


def test_unknown_encodings_are_refused_together():
    with pytest.raises(InputError) as caught:
        Encoding(numbers="log", categories="one-hot")
    assert caught.value.reasons == ("unknown-encoding", "unknown-encoding")
