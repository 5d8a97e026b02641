from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.dbca.dbca import Dbca, DbcaCm, neighbour_distances, prioritized
from shoal.algorithms.kaca.blocks import block_order
from shoal.algorithms.kaca.distance import make_ladders
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table


def record_distances(table: EncodedTable, scheme: str = "uniform") -> np.ndarray:
    """All pairs, one by one: for small tests only."""
    ladders = make_ladders(table.attributes, scheme)
    codes = ladders.flat_codes(table.codes)
    rows = np.array([[ladders.record_distance(first, second) for second in codes] for first in codes])
    return rows[table.row_of_record][:, table.row_of_record]


def plain_dbca(table: EncodedTable, k: int) -> list[int]:
    """Sizes apart, the sum of the distances from each centre to its group, straight from the steps of the paper."""
    distances = record_distances(table)
    count = table.records
    others = np.sort(np.where(np.eye(count, dtype=bool), np.inf, distances), axis=1)
    reach = others[:, :k].mean(axis=1)
    left = set(range(count))
    centres: list[int] = []
    while len(left) >= k:
        order = sorted(left, key=lambda one: (round(reach[one], 12), table.row_of_record[one], one))
        allowed = order
        if centres:
            last = centres[-1]
            far = [one for one in order if distances[last, one] > reach[last] + reach[one] + 1e-12]
            allowed = far or order
        centre = allowed[0]
        centres.append(centre)
        # equal records of the centre first, as the centre's whole row is at distance 0
        near = sorted(left - {centre}, key=lambda one: (round(distances[centre, one], 12), one))
        left -= {centre, *near[: k - 1]}
    return centres


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 3, 7])
def test_reach_is_the_mean_distance_to_the_k_nearest(seed: int, k: int) -> None:
    table = random_table(seed, 150, attributes=4, values=7, weights=True)
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)
    order, bounds = block_order(ladders, codes, 8)
    found = np.empty(table.rows)
    found[order] = neighbour_distances(
        ladders, np.ascontiguousarray(codes[order]), table.weights[order], bounds, k, Context()
    )
    distances = record_distances(table)
    np.fill_diagonal(distances, np.inf)
    expected = np.sort(distances, axis=1)[:, :k].mean(axis=1)
    assert found[table.row_of_record] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(6))
def test_the_first_group_is_the_densest_record_with_its_nearest(seed: int) -> None:
    table = random_table(seed, 60, attributes=4, values=7)
    k = 5
    groups = Dbca().cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups
    distances = record_distances(table)
    centre = plain_dbca(table, k)[0]
    nearest = np.sort(distances[centre])[:k].sum()
    totals = [
        min(distances[one][groups == number].sum() for one in np.flatnonzero(groups == number))
        for number in range(groups.max() + 1)
    ]
    assert any(total == pytest.approx(nearest) for total in totals)


def test_groups_have_k_records_and_leftovers_make_at_most_2k_minus_1() -> None:
    table = random_table(1, 503, attributes=4, values=9)
    clustering = Dbca().cluster(table, Requirement.of([KAnonymity(10)]), Context())
    sizes = np.bincount(clustering.groups)
    assert sizes.size == 50 == clustering.details["centres"]
    assert sizes.min() == 10
    assert sizes.max() <= 19


def test_leftovers_go_where_distortion_rises_least() -> None:
    table = random_table(2, 41, attributes=3, values=6)
    k = 8
    groups = Dbca().cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups
    sizes = np.bincount(groups)
    assert sorted(sizes)[:-1] == [8, 8, 8, 8]
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)[table.row_of_record]

    def distortion(rows: np.ndarray) -> float:
        return rows.shape[0] * float(ladders.cover_costs(rows.min(axis=0)[None], rows.max(axis=0)[None]).sum())

    grown = int(np.argmax(sizes))
    members = np.flatnonzero(groups == grown)

    def rise(record: int, number: int) -> float:
        inside = np.flatnonzero(groups == number)
        rest = inside[inside != record]
        return distortion(codes[np.append(rest, record)]) - distortion(codes[rest])

    # one of the nine records is the leftover: for it no other group was cheaper
    assert any(
        all(rise(record, grown) <= rise(record, other) + 1e-9 for other in range(sizes.size)) for record in members
    )


def mixed_records(table: EncodedTable, groups: np.ndarray) -> int:
    labels = table.columns["label"].codes
    return sum(int((groups == g).sum() - np.bincount(labels[groups == g]).max()) for g in range(groups.max() + 1))


def test_a_penalty_keeps_labels_together() -> None:
    table = random_table(3, 600, attributes=3, values=8)
    requirement = Requirement.of([KAnonymity(6)])
    free = mixed_records(table, DbcaCm(class_column="label", penalty=0.0).cluster(table, requirement, Context()).groups)
    charged = mixed_records(table, DbcaCm(class_column="label").cluster(table, requirement, Context()).groups)
    heavy = mixed_records(
        table, DbcaCm(class_column="label", penalty=100.0).cluster(table, requirement, Context()).groups
    )
    assert heavy < charged < free
    assert heavy <= 6 * 3  # only where a label ran out


def test_a_class_label_that_is_named_must_be_there() -> None:
    with pytest.raises(InputError) as caught:
        DbcaCm(class_column="lable").cluster(random_table(0, 30), Requirement.of([KAnonymity(3)]), Context())
    assert caught.value.reasons == ("unknown-column",)
    assert caught.value.problems[0].hint == "did you mean 'label'?"


def test_without_a_class_label_it_is_dbca_and_says_so() -> None:
    table = random_table(0, 200, values=8)
    requirement = Requirement.of([KAnonymity(3)])
    found = DbcaCm().cluster(table, requirement, Context())
    assert np.array_equal(found.groups, Dbca().cluster(table, requirement, Context()).groups)
    assert "class_label" in found.details


def test_a_priority_order_names_attributes_and_each_once() -> None:
    table = random_table(0, 30)
    with pytest.raises(InputError) as caught:
        prioritized(table, ("a0", "a0", "b"))
    assert set(caught.value.reasons) == {"unknown-column", "bad-priority"}


def test_attributes_that_the_order_leaves_out_share_the_places_after_it() -> None:
    table = random_table(0, 30, attributes=4)
    weights = {attribute.name: attribute.weight for attribute in prioritized(table, ("a2",))}
    assert weights == pytest.approx({"a2": 1.0, "a0": 1 / 3, "a1": 1 / 3, "a3": 1 / 3})


def test_what_matters_most_is_generalized_last() -> None:
    table = random_table(11, 400, attributes=3, values=8)
    requirement = Requirement.of([KAnonymity(5)])
    names = [attribute.name for attribute in table.attributes]
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)[table.row_of_record]

    def loss(order: tuple[str, ...], name: str) -> float:
        groups = Dbca(priority=order).cluster(table, requirement, Context()).groups
        members = [codes[groups == number] for number in range(groups.max() + 1)]
        column = names.index(name)
        costs = [
            ladders.cover_costs(rows.min(axis=0)[None], rows.max(axis=0)[None])[0, column] * rows.shape[0]
            for rows in members
        ]
        return float(sum(costs))

    for name in names:
        others = tuple(other for other in names if other != name)
        assert loss((name, *others), name) <= loss((*others, name), name)
