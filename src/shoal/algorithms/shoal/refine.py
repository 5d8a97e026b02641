"""Rounds of refinement: cut the groups into blocks, anneal and rebuild inside every block, and cut differently."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.blocks import count_values, cut_groups, make_state
from shoal.algorithms.shoal.kernels.anneal import anneal, find_candidates, joining_costs
from shoal.algorithms.shoal.kernels.guard import Guard, refill_guard
from shoal.algorithms.shoal.kernels.near import Near, nearest_rows
from shoal.algorithms.shoal.kernels.rebuild import rebuild
from shoal.algorithms.shoal.kernels.regrow import Bench, make_bench
from shoal.algorithms.shoal.kernels.state import State, measure_all
from shoal.encode.items import FloatArray, IntegerArray, SearchProblem, renumber
from shoal.kernels.blocks import cut_blocks
from shoal.kernels.random import random_state
from shoal.kernels.safety import row_length
from shoal.progress import StopRequest

STRICT = 1e9  # a price of deficits at which no step makes groups less safe
_PIECE = 2_000_000  # trials between two chances to interrupt
_FAR = 60_000.0  # the greatest distance of two rows of a part, as a whole number of 16 bits


@dataclass(frozen=True)
class Round:
    """What happens in one round. Temperatures are shares of the loss of an average record."""

    block_size: int
    trials: float  # annealing trials per item
    hot: float
    cold: float
    power: float  # of the smoothed cost; 0 is the true cost
    rebuilds: float  # per group
    near_share: int = 16  # of 16 choices of a neighbouring group, so many go by the nearest rows
    neighbours: int = 8  # how many nearest rows and candidate groups are known
    near_part: int = 4_000  # rows among which the nearest are sought; other ones in every round
    partners: int = 3  # whom a record may change places with, per trial
    widest: int = 4  # groups that are rebuilt together
    noise: float = 0.1  # in the choice of records that join a group
    fewer: int = 4  # of 16 rebuilds, so many make one group less
    heat: float = 0.0  # temperature of the rebuilds
    unsafe: float = STRICT  # what a deficit of one record costs, where there are models besides k-anonymity


class Refined(NamedTuple):
    """What a round leaves."""

    group: IntegerArray  # (items,)
    energy: float  # true cost of all groups
    charge: float  # what the groups that are not safe are charged, with models besides k-anonymity


def refine(
    problem: SearchProblem, group: IntegerArray, plan: Round, unit: float, context: Context, stream: int
) -> Refined:
    """One round: the new group of every item, and what all groups cost.

    `unit` is the temperature 1: the loss of an average record.
    """
    blocks = cut_groups(problem, group, plan.block_size, 1.0, context.random(3, stream))

    def work(number: int) -> Refined:
        local = renumber(group[blocks[number]])
        random = random_state(context.random(4, stream, number))
        state, guard = search_block(problem, blocks[number], local, plan, unit, random, context.stop)
        return Refined(renumber(state.group), float(state.energy.sum()), _all_charges(guard))

    refined = np.empty_like(group)
    used, energy, charge = 0, 0.0, 0.0
    for items, part in zip(blocks, context.map(work, range(len(blocks))), strict=True):
        refined[items] = part.group + used
        used += int(part.group.max()) + 1
        energy += part.energy
        charge += part.charge
    return Refined(refined, energy, charge)


def _all_charges(guard: Guard | None) -> float:
    if guard is None:
        return 0.0
    unsafe = guard.deficit[guard.deficit > 0.0]
    return float(guard.price[0] * (unsafe.sum() + unsafe.shape[0]))


def search_block(
    problem: SearchProblem,
    items: IntegerArray,
    group: IntegerArray,
    plan: Round,
    unit: float,
    random: NDArray[np.uint64],
    stop: StopRequest,
) -> tuple[State, Guard | None]:
    """Anneal and rebuild one block; less of it if the search is asked to stop."""
    largest = int(problem.item_weight[items].sum()) + 1
    spare = 2 + int(group.max()) // 10
    state = make_state(problem, items, group, count_values(problem.k, plan.power, largest), spare)
    near = find_near(problem, items, state, plan, random)
    guard = make_guard(problem, items, state, plan.unsafe * unit)
    for hot, cold, part in _pieces(int(plan.trials * items.shape[0]), unit * plan.hot, unit * plan.cold):
        if not stop.asked:
            anneal(state, near, guard, problem.k, part, hot, cold, plan.partners, random)
    if plan.power > 0.0:
        state.value_of_count[1:] = 1.0
        measure_all(state)
    rebuild_groups(problem, state, near, guard, plan, int(plan.rebuilds * (group.max() + 1)), unit, random, stop)
    return state, guard


def make_guard(problem: SearchProblem, items: IntegerArray, state: State, price: float) -> Guard | None:
    """The counts that models besides k-anonymity look at, or None if there is no such model.

    `price` is what a deficit of one record costs.
    """
    if problem.safety is None or problem.item_record is None:
        return None
    groups, places = state.size.shape[0], most_members(problem)
    persons, wanted = _counted_persons(problem, items)
    codes = (wanted.shape[0], int(persons.max(initial=0)) + 1)
    record = problem.item_record[items]
    sort = _sorts(problem.safety.codes[:, record])
    sorts = int(sort.max(initial=0)) + 1
    guard = Guard(
        safety=problem.safety,
        record=record,
        histogram=np.zeros((groups, int(row_length(problem.safety))), dtype=np.int32),
        deficit=np.zeros(groups),
        persons=persons,
        wanted=wanted,
        distinct=np.zeros((groups, wanted.shape[0]), dtype=np.int32),
        change=np.zeros((2, wanted.shape[0]), dtype=np.int64),
        seen=np.zeros(codes, dtype=np.int64),
        stamp=np.zeros(1, dtype=np.int64),
        price=np.array([price]),
        where=np.zeros(codes, dtype=np.int64),
        sort=sort,
        sort_deficit=np.zeros(sorts),
        sort_turn=np.zeros(sorts, dtype=np.int64),
        turn=np.zeros(1, dtype=np.int64),
        laid=np.zeros(places, dtype=np.int64),
        laid_sort=np.zeros(places, dtype=np.int64),
        laid_persons=np.zeros((wanted.shape[0], places), dtype=np.int32),
        twin=np.zeros((wanted.shape[0], places), dtype=np.int64),
        grown=np.zeros(places, dtype=np.int64),
        row=np.zeros(int(row_length(problem.safety)), dtype=np.int32),
        found=np.zeros(wanted.shape[0], dtype=np.int64),
    )
    refill_guard(guard, state, np.arange(groups), groups)
    return guard


def _counted_persons(problem: SearchProblem, items: IntegerArray) -> tuple[IntegerArray, FloatArray]:
    """(columns, items) persons and the like numbered within a block, and how many different ones a group needs."""
    if problem.counted is None or problem.wanted is None or problem.item_record is None:
        return np.zeros((0, items.shape[0]), dtype=np.int32), np.zeros(0)
    persons = np.empty((problem.counted.shape[0], items.shape[0]), dtype=np.int32)
    for number, codes in enumerate(problem.counted):
        persons[number] = np.unique(codes[problem.item_record[items]], return_inverse=True)[1].reshape(-1)
    return persons, problem.wanted


def _sorts(codes: IntegerArray) -> NDArray[np.int64]:
    """(records,) equal numbers for records with the same code in every column."""
    sort = np.zeros(codes.shape[1], dtype=np.int64)
    for line in codes:
        sort = np.unique(sort * (int(line.max(initial=0)) + 1) + line, return_inverse=True)[1].reshape(-1)
    return sort.astype(np.int64)


def most_members(problem: SearchProblem) -> int:
    """How many records groups that are dissolved have together at most: safe groups are larger."""
    return (6 if problem.safety is None else 10) * problem.k + 4


def find_near(
    problem: SearchProblem, items: IntegerArray, state: State, plan: Round, random: NDArray[np.uint64]
) -> Near:
    """The nearest rows and the candidate groups of every item of a block; equal items must be neighbours in it."""
    rows = problem.item_row[items]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    count = np.diff(starts, append=rows.shape[0])
    nearest = np.full((starts.shape[0], plan.neighbours), -1, dtype=np.int64)
    if plan.near_share > 0:
        for part in _near_parts(state, starts, plan.near_part, random):
            nearest[part] = _nearest_of_part(state, starts, part, plan.neighbours)
    nobody = np.zeros((1, 1), dtype=np.int64)
    return Near(
        row=np.repeat(np.arange(starts.shape[0]), count),
        first=starts,
        count=count,
        nearest=nearest,
        candidates=candidate_groups(state, plan.neighbours) if plan.near_share < 16 else nobody,
        share=np.array([plan.near_share], dtype=np.int64),
    )


def _near_parts(
    state: State, starts: NDArray[np.int64], limit: int, random: NDArray[np.uint64]
) -> list[NDArray[np.int64]]:
    """The rows of a block in parts of neighbours, so that only rows of a part are compared with each other."""
    count = starts.shape[0]
    if count <= limit:
        return [np.arange(count)]
    part = np.empty(count, dtype=np.int32)
    features, numbers = state.features[starts], state.numbers[starts]
    ones = np.ones(count, dtype=np.int64)
    cut_blocks(features, numbers, ones, state.step, state.number_weight, limit, 1.0, random, part)
    order = np.argsort(part, kind="stable")
    return np.split(order, np.cumsum(np.bincount(part))[:-1])


def _nearest_of_part(
    state: State, starts: NDArray[np.int64], part: NDArray[np.int64], wanted: int
) -> NDArray[np.int64]:
    """(rows of the part, wanted) the nearest rows, by their number in the block; -1 where there are fewer."""
    features, numbers = state.features[starts[part]], state.numbers[starts[part]] * state.number_weight
    prices, low = state.step[features], numbers.min(axis=0)
    limits = np.minimum(state.number_weight, numbers.max(axis=0) - low)
    scale = _FAR / max(1e-9, float(prices.max(axis=0).sum() + limits.sum()))
    columns = np.ascontiguousarray((features - features.min(axis=0)).T, dtype=np.int16)
    nearest = np.empty((part.shape[0], wanted), dtype=np.int64)
    whole = [np.ascontiguousarray(np.rint(scale * one).T, dtype=np.uint16) for one in (prices, limits)]
    places = np.minimum(np.rint(scale * (numbers - low)), _FAR)  # beyond that a distance reaches its limit anyway
    nearest_rows(columns, whole[0], np.ascontiguousarray(places.T, dtype=np.uint16), whole[1], nearest)
    return np.where(nearest >= 0, part[nearest], -1)


def candidate_groups(state: State, wanted: int) -> NDArray[np.int64]:
    """(items, wanted) the groups that each item would make least worse."""
    items, groups = state.group.shape[0], state.size.shape[0]
    costs = np.empty((state.step.shape[0], groups), dtype=np.float32)
    joining_costs(state, costs)
    candidates = np.empty((items, wanted), dtype=np.int64)
    scores, best = np.empty(groups, dtype=np.float32), np.empty(wanted, dtype=np.float32)
    chunk = max(1, 20 * _PIECE // groups)
    for first in range(0, items, chunk):
        find_candidates(state, costs, first, min(items, first + chunk), candidates, scores, best)
    return candidates


def rebuild_bench(problem: SearchProblem, state: State, most: int, widest: int) -> Bench:
    """Where groups of up to `most` members together are dissolved and grown anew."""
    groups, layers = most // problem.k + widest, state.features.shape[1]
    return make_bench(most, groups, layers, state.step, state.number_weight, problem.farthest)


def rebuild_groups(
    problem: SearchProblem,
    state: State,
    near: Near,
    guard: Guard | None,
    plan: Round,
    rebuilds: int,
    unit: float,
    random: NDArray[np.uint64],
    stop: StopRequest,
) -> None:
    """Dissolve and rebuild so many sets of groups of a block."""
    k = problem.k
    most = most_members(problem)
    bench = rebuild_bench(problem, state, most, plan.widest)
    heat = plan.heat * unit
    while rebuilds > 0 and not stop.asked:
        part = min(rebuilds, max(1, _PIECE // (10 * k)))
        rebuild(state, bench, near, guard, k, most, part, plan.widest, plan.noise, plan.fewer, heat, random)
        rebuilds -= part


def _pieces(trials: int, hot: float, cold: float) -> list[tuple[float, float, int]]:
    """Cut a falling temperature into pieces of bounded length."""
    count = -(-trials // _PIECE)
    edges = [trials * piece // count for piece in range(count + 1)] if count else []
    fall = cold / hot if hot > 0 else 1.0
    return [
        (hot * fall ** (begin / trials), hot * fall ** (end / trials), end - begin) for begin, end in pairwise(edges)
    ]
