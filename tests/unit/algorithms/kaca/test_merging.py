from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.kaca.distance import make_ladders
from shoal.algorithms.kaca.kernels.kaca import Classes
from shoal.algorithms.kaca.merging import check_feasible, merge_waiting, roots
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import renumber
from shoal.errors import RequirementError
from shoal.models.alpha_k import AlphaK
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table


def class_distance(table: EncodedTable, first: list[int], second: list[int], sizes: np.ndarray) -> float:
    """Distance of two classes, each a list of rows, from the definition."""
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)

    def cost(rows: list[int]) -> float:
        return float(ladders.cover_costs(codes[rows].min(axis=0)[None], codes[rows].max(axis=0)[None]).sum())

    both = cost(first + second)
    return float(sizes[first].sum() * (both - cost(first)) + sizes[second].sum() * (both - cost(second)))


@pytest.mark.parametrize("seed", range(8))
def test_a_waiting_class_is_merged_with_a_nearest_one(seed: int) -> None:
    """More than one block of classes, some of them lifted: the partner is as near as the nearest by brute force."""
    table = random_table(seed, 400, attributes=5, values=7, weights=True)
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)
    random = np.random.default_rng(seed)
    groups = renumber(random.integers(0, int(table.rows * 0.8), table.rows))  # some classes of several rows
    members = [np.flatnonzero(groups == number).tolist() for number in range(groups.max() + 1)]
    low = np.array([codes[rows].min(axis=0) for rows in members])
    high = np.array([codes[rows].max(axis=0) for rows in members])
    sizes = np.array([table.weights[rows].sum() for rows in members])
    waiting = np.zeros(len(members), dtype=bool)
    own = int(random.integers(len(members)))
    waiting[own] = True
    classes = Classes(low, ladders.cover_costs(low, high), sizes)
    ends = merge_waiting(ladders, classes, waiting, 0, np.array([7], dtype=np.uint64))
    moved = np.flatnonzero(ends != np.arange(len(members)))
    assert moved.tolist() == [own]
    distances = [
        class_distance(table, members[own], members[other], table.weights) if other != own else np.inf
        for other in range(len(members))
    ]
    assert distances[ends[own]] == pytest.approx(min(distances))
    assert classes.sizes.sum() == table.records


def test_roots_follow_chains_to_their_end() -> None:
    assert roots(np.array([1, 2, 3, 3, 4, 4], dtype=np.int32)).tolist() == [3, 3, 3, 3, 4, 4]


def test_too_few_records_are_refused_with_counts_only() -> None:
    with pytest.raises(RequirementError) as caught:
        check_feasible(random_table(0, 3), Requirement.of([KAnonymity(4)]))
    assert caught.value.reasons == ("too-few-records",)


def test_a_model_that_the_whole_table_breaks_is_refused() -> None:
    with pytest.raises(RequirementError) as caught:
        check_feasible(random_table(0, 30, labels=2), Requirement.of([KAnonymity(2), AlphaK(0.3, "label")]))
    assert caught.value.reasons == ("unreachable",)
