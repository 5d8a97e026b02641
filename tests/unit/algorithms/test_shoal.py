"""The flagship: safe groups, the same for any number of threads, and a loss that is what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.blocks import count_values, cut_groups, make_state
from shoal.algorithms.shoal.kernels.moves import try_move, try_swap
from shoal.algorithms.shoal.kernels.state import energy_after, measure_all, swap_changes
from shoal.algorithms.shoal.refine import find_near, refine
from shoal.algorithms.shoal.schedule import make_schedule
from shoal.algorithms.shoal.shoal import Shoal
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, Kind
from shoal.encode.items import make_problem, renumber
from shoal.errors import RequirementError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.progress import Progress
from shoal.safe_groups.repair import repair


def make_table(records: int, seed: int = 0, copies: int = 1) -> EncodedTable:
    """Numbers, a tree with uneven branches and a flat attribute, with correlated values and some equal rows."""
    random = np.random.default_rng(seed)
    positions = np.append(np.linspace(0.0, 1.0, 30), 2.0)
    nested = np.array([np.arange(31), np.full(31, 31)], dtype=np.int32)
    number = EncodedAttribute(
        "age", Kind.INTERVAL, 31, positions, nested, np.array([np.zeros(31), np.ones(31)]), 1.0, 30
    )
    middle = np.array([0, 0, 0, 1, 1, 2])
    ancestors = np.array([np.arange(6), 6 + middle, np.full(6, 9)], dtype=np.int32)
    cost = np.array([np.zeros(6), [0.5, 0.5, 0.5, 1 / 3, 1 / 3, 0.0], np.ones(6)])
    branch = EncodedAttribute("job", Kind.TREE, 6, np.arange(6) / 5, ancestors, cost, 2.0)
    two = np.array([np.arange(4), np.full(4, 4)], dtype=np.int32)
    colour = EncodedAttribute("colour", Kind.FLAT, 4, np.arange(4) / 3, two, np.array([np.zeros(4), np.ones(4)]), 0.5)
    centre = random.integers(0, 4, records)
    codes = np.array(
        [
            np.clip(centre * 7 + random.integers(0, 7, records), 0, 29),
            np.minimum(5, centre + random.integers(0, 3, records)),
            (centre + (random.random(records) < 0.2)) % 4,
        ]
    )
    codes[0, random.random(records) < 0.02] = 30
    codes = np.repeat(codes, copies, axis=1)
    rows, row_of_record, weights = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    return EncodedTable(
        (number, branch, colour),
        np.ascontiguousarray(rows, dtype=np.int32),
        weights.astype(np.int64),
        row_of_record.ravel().astype(np.int32),
    )


def plain_loss(table: EncodedTable, groups: np.ndarray) -> float:
    """The weighted GCP of groups, group by group from the definition."""
    total = 0.0
    for group in range(groups.max() + 1):
        codes = table.codes[:, table.row_of_record[groups == group]]
        for line, one in zip(codes, table.attributes, strict=True):
            if one.kind is Kind.INTERVAL:
                loss = min(1.0, one.positions[line.max()] - one.positions[line.min()])
            elif one.kind is Kind.FLAT:
                loss = (np.unique(line).size - 1) / (one.size - 1)
            else:
                level = next(level for level in range(one.levels) if np.unique(one.ancestors[level, line]).size == 1)
                loss = one.level_cost[level, line[0]]
            total += one.weight * loss * line.size
    return total / (table.records * table.width)


def cluster(table: EncodedTable, k: int, effort: float | str = 0.2, **context: object) -> tuple[np.ndarray, float]:
    found = Shoal(effort=effort).cluster(table, Requirement.of([KAnonymity(k)]), Context(**context))  # type: ignore[arg-type]
    return found.groups, found.details["loss"]


@pytest.mark.parametrize("k", [2, 5, 20])
def test_groups_are_large_enough_and_the_loss_is_true(k: int) -> None:
    table = make_table(600)
    groups, loss = cluster(table, k)
    assert groups.shape == (600,)
    assert np.bincount(groups).min() >= k
    assert loss == pytest.approx(plain_loss(table, groups))


def test_threads_do_not_change_the_result_but_the_seed_does() -> None:
    table = make_table(900, seed=2)
    one, _ = cluster(table, 4, threads=1, seed=3)
    two, _ = cluster(table, 4, threads=2, seed=3)
    other, _ = cluster(table, 4, threads=2, seed=4)
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_many_copies_of_a_row_cost_nothing() -> None:
    table = make_table(80, seed=1, copies=50)
    groups, loss = cluster(table, 10)
    assert loss == 0.0
    assert np.bincount(groups).min() >= 10


def test_more_effort_loses_less_and_stays_above_the_bound() -> None:
    table = make_table(1200, seed=5)
    requirement = Requirement.of([KAnonymity(6)])
    little = Shoal(effort=0.02).cluster(table, requirement, Context())
    much = Shoal(effort=1).cluster(table, requirement, Context())
    assert much.details["loss"] < little.details["loss"]
    assert much.lower_bound is not None
    assert 0.0 < much.lower_bound <= much.details["loss"]
    assert much.details["lower_bound"]["confidence"] == 1.0


def test_other_models_hold_inside_the_search() -> None:
    table = make_table(800, seed=6)
    codes = np.random.default_rng(1).choice(6, 800, p=[0.27, 0.27, 0.16, 0.12, 0.1, 0.08]).astype(np.int32)
    table = replace(table, columns={"disease": EncodedColumn("disease", codes, 6)})
    requirement = Requirement.of([KAnonymity(6), LDiversity(3, "disease")])
    found = Shoal(effort=0.5).cluster(table, requirement, Context())
    count = int(found.groups.max()) + 1
    assert requirement.deficits(table, found.groups, count).max() == 0.0
    assert found.details["loss"] == pytest.approx(plain_loss(table, found.groups))
    repaired = repair(
        table, Shoal(effort=0.02).cluster(table, Requirement.of([KAnonymity(6)]), Context()), requirement, Context()
    )
    assert found.details["loss"] < plain_loss(table, repaired.groups)


@pytest.mark.parametrize("records", [5, 6, 9, 10, 11])
def test_tables_that_hold_one_or_two_groups(records: int) -> None:
    table = make_table(records, seed=records)
    groups, loss = cluster(table, 5)
    assert np.bincount(groups).min() >= 5
    assert loss == pytest.approx(plain_loss(table, groups))


def test_too_few_records() -> None:
    with pytest.raises(RequirementError) as error:
        cluster(make_table(4), 5)
    assert error.value.reasons == ("too-few-records",)


@pytest.mark.parametrize("effort", ["huge", 0, -1.0])
def test_bad_effort(effort: float | str) -> None:
    with pytest.raises(ValueError):
        Shoal(effort=effort)


def test_progress_ends_at_one_with_the_loss_falling() -> None:
    seen: list[Progress] = []
    _, loss = cluster(make_table(600), 5, 0.5, progress=seen.append)
    bounds = [one.bound for one in seen if one.stage == "bound"]
    assert bounds
    assert all(bound is not None and bound <= loss for bound in bounds)
    seen = [one for one in seen if one.stage == "cluster"]
    assert seen[-1].fraction == 1.0
    assert seen[-1].loss == loss
    assert [one.fraction for one in seen] == sorted(one.fraction for one in seen)
    assert seen[-1].loss < seen[0].loss


@pytest.mark.parametrize("power", [0.0, 0.3])
def test_energies_after_many_moves_are_those_of_a_fresh_state(power: float) -> None:
    problem = make_problem(make_table(300, seed=8), 4, size_price=0.1)
    random = np.random.default_rng(0)
    items = np.arange(problem.items, dtype=np.int32)
    group = (random.permutation(problem.items) % 50).astype(np.int32)
    state = make_state(problem, items, group, count_values(4, power, problem.records + 1))
    moved = 0
    for _ in range(3000):
        item, partner = (int(number) for number in random.integers(0, problem.items, 2))
        group_one, group_two = int(state.group[item]), int(state.group[partner])
        if group_one == group_two:
            continue
        if state.size[group_one] > 4 and state.held[group_two] < state.room[group_two]:
            moved += try_move(state, None, item, group_two, 0.5)
        elif state.group[item] != state.group[partner]:
            here, _ = swap_changes(state, state.group[item], item, state.group[partner], partner)
            after = energy_after(state, state.group[item], item, partner)
            assert after - state.energy[state.group[item]] == pytest.approx(here)
            moved += try_swap(state, None, item, partner, 0.5)
    assert moved > 100
    fresh = make_state(problem, items, state.group.astype(np.int32), count_values(4, power, problem.records + 1))
    for name in ("energy", "size", "counts", "spread", "reach", "extremes"):
        np.testing.assert_allclose(getattr(state, name), getattr(fresh, name), atol=1e-9)
    measured = fresh.energy.copy()
    measure_all(fresh)  # another way to the same
    np.testing.assert_allclose(fresh.energy, measured, atol=1e-9)


def test_blocks_hold_whole_groups_and_rows_in_order() -> None:
    problem = make_problem(make_table(2000, seed=3), 5)
    group = (np.arange(problem.items) // 5).astype(np.int32)
    blocks = cut_groups(problem, group, 300, 1.0, np.random.default_rng(0))
    assert sorted(np.concatenate(blocks).tolist()) == list(range(problem.items))
    seen = [set(group[block].tolist()) for block in blocks]
    assert sum(len(one) for one in seen) == len(set.union(*seen))
    plan = replace(make_schedule(problem, 1.0).rounds[0], near_share=12)
    state = make_state(problem, blocks[0], renumber(group[blocks[0]]), count_values(5, 0.0, problem.records + 1))
    near = find_near(problem, blocks[0], state, plan, np.array([1], dtype=np.uint64))
    assert (near.nearest[:, 0] == np.arange(near.nearest.shape[0])).all()
    assert (near.candidates != state.group[:, None]).all()


def test_a_round_without_heat_never_loses_more() -> None:
    problem = make_problem(make_table(1500, seed=4), 5)
    group = (np.arange(problem.items) // 5).astype(np.int32)
    group[group == group.max()] = 0
    plan = make_schedule(problem, 0.3).rounds[-1]
    energy = np.inf
    for number in range(3):
        group, now, _ = refine(problem, group, plan, 0.0, Context(), number)
        assert now <= energy + 1e-9
        energy = now


def test_a_part_of_a_table_is_searched_as_long_as_the_whole_would_be() -> None:
    """Caps part a table: small parts must not each get the effort of a small table."""
    k = 1000  # no row occurs more than 3 k times: every record is an item
    whole, part = (make_problem(make_table(records, seed=3), k) for records in (8000, 1000))
    assert (whole.items, part.items) == (8000, 1000)
    alone, shared = make_schedule(part, 1.0), make_schedule(part, 1.0, part=1000 / 8000)
    assert shared.starts == make_schedule(whole, 1.0).starts < alone.starts
    assert shared.rounds == make_schedule(whole, 1.0).rounds != alone.rounds


@pytest.mark.data
def test_adult_is_below_the_peers(data_folder: Path) -> None:
    polars = pytest.importorskip("polars")
    from shoal.testing.tables import encode_simple

    frame = polars.read_csv(data_folder / "adult" / "adult_arx.csv").drop("salary-class")
    table = encode_simple({name: frame[name].to_list() for name in frame.columns})
    groups, loss = cluster(table, 10, 0.25, threads=2)
    assert np.bincount(groups).min() >= 10
    assert loss < 0.0342  # greedy k-member clustering
