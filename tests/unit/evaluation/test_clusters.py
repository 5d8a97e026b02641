"""Comparing clusterings: against the definition over all pairs, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from shoal.errors import InputError
from shoal.evaluation.usefulness.clustering.agreement import (
    Contingency,
    adjusted_rand,
    compare_clusterings,
    f_measures,
    match_point,
    normalized_mutual_information,
    overall_f_measure,
)

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


def f_by_recall_and_precision(first, second):
    total = 0.0
    for natural in set(first):
        members = {i for i, label in enumerate(first) if label == natural}
        best = 0.0
        for query in set(second):
            answer = {i for i, label in enumerate(second) if label == query}
            common = len(members & answer)
            if common:
                recall, precision = common / len(members), common / len(answer)
                best = max(best, 2 * recall * precision / (recall + precision))
        total += len(members) / len(first) * best
    return total


@given(labels)
@settings(max_examples=150, deadline=None)
def test_all_numbers_by_a_second_way(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    comparison = compare_clusterings(first, second)
    a, b = np.array(first), np.array(second)
    by_matrix = np.mean((a[:, None] == a[None, :]) == (b[:, None] == b[None, :]))
    assert comparison.match_point == pytest.approx(by_matrix)
    assert comparison.f_measure == pytest.approx(f_by_recall_and_precision(first, second))
    assert comparison.adjusted_rand == pytest.approx(adjusted_rand_score(first, second), abs=1e-12)
    assert comparison.mutual_information == pytest.approx(normalized_mutual_info_score(first, second), abs=1e-9)


@given(labels)
@settings(max_examples=50, deadline=None)
def test_names_of_clusters_do_not_matter(pairs):
    first, second = map(np.array, zip(*pairs, strict=True))
    names = np.array(["e", "b", "d", "a", "c"])
    one, other = compare_clusterings(first, second), compare_clusterings(names[first], 7 - 2 * second)
    for name in ("f_measure", "match_point", "adjusted_rand", "mutual_information"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


def test_equal_clusterings_score_one():
    found = compare_clusterings([0, 0, 1, 2], ["b", "b", "c", "a"]).as_dict()
    assert found.pop("contingency") == [[0, 2, 0], [0, 0, 1], [1, 0, 0]]
    assert all(value == pytest.approx(1.0) for value in found.values())


def test_many_clusters_need_no_large_table():
    random = np.random.default_rng(0)
    first, second = random.integers(0, 30_000, 60_000), random.integers(0, 30_000, 60_000)
    contingency = Contingency.of(first, second)
    assert contingency.counts.shape[0] <= 60_000
    assert match_point(contingency) > 0.99
    with pytest.raises(InputError):
        _ = contingency.table


def test_a_matrix_gives_the_same_as_labels():
    table = [[3, 0, 1], [0, 4, 2]]
    first = np.repeat([0, 0, 1, 1], [3, 1, 4, 2])
    second = np.repeat([0, 2, 1, 2], [3, 1, 4, 2])
    given_table, found = Contingency.of_table(table), Contingency.of(first, second)
    assert found.table.tolist() == table
    for number in (overall_f_measure, match_point, adjusted_rand, normalized_mutual_information):
        assert number(given_table) == pytest.approx(number(found))
    assert f_measures(found) == pytest.approx([2 * 3 / 7, 2 * 4 / 10])


@pytest.mark.parametrize(("first", "second"), [([0, 1], [0]), ([], []), ([[0, 1]], [[0, 1]])])
def test_what_cannot_be_compared_is_refused(first, second):
    with pytest.raises(InputError):
        compare_clusterings(first, second)
