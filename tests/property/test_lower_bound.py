"""The lower bound is never above the best partition, which is found by trying all of them."""

from __future__ import annotations

import os
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.lower_bound.bound import lower_bound
from shoal.lower_bound.smallest_boxes import smallest_boxes

CASES = int(os.environ.get("SHOAL_BOUND_CASES", "2500"))


def interval(size: int, random: np.random.Generator, weight: float) -> EncodedAttribute:
    positions = np.sort(random.random(size))
    positions = (positions - positions[0]) / max(1e-12, positions[-1] - positions[0])
    missing = -1
    if random.random() < 0.2:
        positions, missing = np.append(positions, 2.0), size
    count = positions.shape[0]
    ancestors = np.array([np.arange(count), np.full(count, count)], dtype=np.int32)
    cost = np.array([np.zeros(count), np.ones(count)])
    return EncodedAttribute("number", Kind.INTERVAL, count, positions, ancestors, cost, weight, missing)


def flat(size: int, weight: float) -> EncodedAttribute:
    ancestors = np.array([np.arange(size), np.full(size, size)], dtype=np.int32)
    cost = np.array([np.zeros(size), np.ones(size)])
    return EncodedAttribute("flat", Kind.FLAT, size, np.arange(size) / max(1, size - 1), ancestors, cost, weight)


def tree(size: int, random: np.random.Generator, weight: float) -> EncodedAttribute:
    middle = np.sort(random.integers(0, 3, size))
    _, middle = np.unique(middle, return_inverse=True)
    root = size + middle.max() + 1
    ancestors = np.array([np.arange(size), size + middle, np.full(size, root)], dtype=np.int32)
    leaves = np.bincount(middle)[middle]
    cost = np.array([np.zeros(size), np.where(leaves > 1, leaves / size, 0.0), np.ones(size)])
    return EncodedAttribute("tree", Kind.TREE, size, np.arange(size) / max(1, size - 1), ancestors, cost, weight)


def random_table(random: np.random.Generator, records: int) -> EncodedTable:
    attributes = []
    for kind in random.integers(0, 3, int(random.integers(1, 4))):
        size = int(random.integers(2, 6))
        weight = float(random.choice([1.0, 0.5, 2.0]))
        made = (
            interval(size, random, weight)
            if kind == 0
            else tree(size, random, weight)
            if kind == 1
            else flat(size, weight)
        )
        attributes.append(made)
    codes = np.array([random.integers(0, one.size, records) for one in attributes])
    rows, row_of_record, weights = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    return EncodedTable(
        tuple(attributes),
        np.ascontiguousarray(rows, dtype=np.int32),
        weights.astype(np.int64),
        row_of_record.ravel().astype(np.int32),
    )


def box_loss(table: EncodedTable, records: tuple[int, ...]) -> float:
    """The loss of releasing some records as one box, straight from the definition."""
    total = 0.0
    for number, one in enumerate(table.attributes):
        codes = table.codes[number][table.row_of_record[list(records)]]
        if one.kind is Kind.INTERVAL:
            loss = min(1.0, one.positions[codes.max()] - one.positions[codes.min()])
        elif one.kind is Kind.FLAT:
            loss = (len(set(codes.tolist())) - 1) / (one.size - 1)
        else:
            level = next(level for level in range(one.levels) if len(set(one.ancestors[level, codes].tolist())) == 1)
            loss = one.level_cost[level, codes[0]]
        total += one.weight * loss
    return total


def best_partition(table: EncodedTable, k: int, suppression: bool = False) -> float:
    """The least GCP over all partitions into groups of at least k, and perhaps some records that lose everything."""

    @cache
    def best(left: frozenset[int]) -> float:
        if not left:
            return 0.0
        first, *others = sorted(left)
        found = best(left.difference([first])) + table.attribute_weights.sum() if suppression else np.inf
        for size in range(k - 1, min(2 * k - 1, len(others) + 1)):
            if 0 < len(left) - size - 1 < k and not suppression:
                continue
            for chosen in combinations(others, size):
                group = (first, *chosen)
                rest = best(left.difference(group))
                found = min(found, len(group) * box_loss(table, group) + rest)
        return float(found)

    return best(frozenset(range(table.records))) / (table.records * table.width)


def smallest_box(table: EncodedTable, k: int, x: int) -> float:
    """The least loss over all choices of levels, from the definition in docs/lower_bound.md."""
    codes = table.record_codes
    categories = [number for number, one in enumerate(table.attributes) if one.kind is not Kind.INTERVAL]
    levels = [range(2 if table.attributes[n].kind is Kind.FLAT else table.attributes[n].levels) for n in categories]
    best = np.inf
    for choice in product(*levels):
        alike, loss = np.ones(table.records, dtype=bool), 0.0
        for number, level in zip(categories, choice, strict=True):
            one, code = table.attributes[number], codes[number, x]
            alike &= one.ancestors[level, codes[number]] == one.ancestors[level, code]
            step = 1 / (one.size - 1) if one.kind is Kind.FLAT else one.level_cost[level, code]
            loss += one.weight * (step if level > 0 else 0.0)
        if alike.sum() < k:
            continue
        for number, one in enumerate(table.attributes):
            if one.kind is Kind.INTERVAL:
                here, others = one.positions[codes[number, x]], one.positions[codes[number, alike]]
                ranges = [
                    high - low
                    for low in others
                    for high in others
                    if low <= here <= high and ((others >= low) & (others <= high)).sum() >= k
                ]
                loss += one.weight * min(1.0, *ranges)
        best = min(best, loss)
    return best


def plain_bound(table: EncodedTable, k: int) -> float:
    """The formulas of docs/lower_bound.md in plain Python."""
    everyone = range(table.records)
    distance = [[box_loss(table, (x, y)) for y in everyone] for x in everyone]
    reached = [
        max(sorted(distance[x][y] for y in everyone if y != x)[k - 2], smallest_box(table, k, x)) for x in everyone
    ]
    total = 0.0
    for x in everyone:
        slack = sorted(max(distance[x][y], reached[x], reached[y]) - reached[y] for y in everyone if y != x)
        total += reached[x] + sum(slack[: k - 1]) / (k - 1)
    return total / (table.records * table.width)


@pytest.mark.parametrize("part", range(5))
def test_never_above_the_best_partition(part: int) -> None:
    random = np.random.default_rng(1000 + part)
    tight = 0
    for _ in range(-(-CASES // 5)):
        k = int(random.choice([2, 2, 3, 3, 4]))
        table = random_table(random, int(random.integers(k, 8)))
        bound, best = lower_bound(table, k), best_partition(table, k)
        assert bound.confidence == 1.0
        assert bound.value <= best + 1e-9
        tight += bound.value > best - 1e-9
    assert tight > 0  # the bound is worth something: now and then it is the optimum itself


@pytest.mark.parametrize("part", range(2))
def test_never_above_the_best_partition_with_suppressed_records(part: int) -> None:
    random = np.random.default_rng(2000 + part)
    tight = lower = 0
    for _ in range(-(-CASES // 5)):
        k = int(random.choice([2, 2, 3, 3, 4]))
        table = random_table(random, int(random.integers(k, 8)))
        bound, best = lower_bound(table, k, suppression=True), best_partition(table, k, suppression=True)
        assert bound.value <= best + 1e-9
        tight += bound.value > best - 1e-9
        lower += bound.value < lower_bound(table, k).value - 1e-9
    assert tight > 0
    assert lower > 0  # the case would not be needed otherwise


def test_is_what_the_formulas_say() -> None:
    random = np.random.default_rng(5)
    for _ in range(60):
        k = int(random.integers(2, 6))
        table = random_table(random, int(random.integers(2 * k, 40)))
        if table.rows > 1:
            plain = lower_bound(table, k, Context(threads=2), effort=0)
            assert plain.value == pytest.approx(plain_bound(table, k), abs=1e-9)
            assert lower_bound(table, k).value >= plain.value


def test_fewer_choices_of_levels_only_lower_the_smallest_boxes() -> None:
    random = np.random.default_rng(8)
    for _ in range(40):
        k = int(random.integers(2, 5))
        table = random_table(random, int(random.integers(2 * k, 30)))
        exact = smallest_boxes(table, k, Context())
        plain = [smallest_box(table, k, x) for x in range(table.records)]
        assert exact[table.row_of_record] == pytest.approx(plain)
        for choices in (1, 2, 5, 20):
            fewer = smallest_boxes(table, k, Context(), work=choices * table.rows)
            assert (fewer <= exact + 1e-12).all()
            assert (fewer >= 0.0).all()


def test_fewer_than_two_groups_worth_of_records_is_exact() -> None:
    random = np.random.default_rng(6)
    for _ in range(50):
        table = random_table(random, 5)
        assert lower_bound(table, 3).value == pytest.approx(box_loss(table, tuple(range(5))) / table.width)


def test_sampled_bound_stays_below_the_exact_mean() -> None:
    random = np.random.default_rng(7)
    attributes = (interval(200, random, 1.0), tree(12, random, 1.0), flat(6, 1.0))
    codes = np.array([random.integers(0, one.size, 4000) for one in attributes])
    rows, row_of_record, weights = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    table = EncodedTable(
        attributes,
        np.ascontiguousarray(rows, dtype=np.int32),
        weights.astype(np.int64),
        row_of_record.ravel().astype(np.int32),
    )
    exact = lower_bound(table, 8)
    for seed in range(10):
        sampled = lower_bound(table, 8, Context(seed=seed), exact_rows=0, sample=1500)
        assert sampled.confidence == 0.99
        assert 0.0 < sampled.value <= exact.value
