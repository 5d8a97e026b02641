"""Prices of records: a lower bound by linear programming duality.

Every record gets a price. If in no box that holds k records the mean of the k highest prices is above the loss of the
box, then the sum of all prices is a lower bound (docs/lower_bound.md has the proof). Good prices are found without a
solver: raise all by the same, cut where a box is exceeded, and again with smaller raises. Most cuts are made over a
list of boxes that were exceeded before; only prices right after a full sweep over all boxes count.

Those who search for groups need not wait for the last prices: early on, right after a full sweep, prices are told to
them together with the boxes that bind (`PriceGuide`), which are many then.

Where categories have no hierarchy, the ascent goes on with boxes in which the values of one of them are counted: they
cost more, and take more steps.

Effort counts steps: the raises shrink with the steps made, so the ascent ends well whatever a sweep takes. Boxes are
looked at in parallel, but prices are cut in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable
from shoal.lower_bound.anchored import AnchoredBoxes
from shoal.lower_bound.boxes import Boxes, CountedWindows, Sweeping, Windows
from shoal.lower_bound.families import make_classes, make_counted
from shoal.lower_bound.kernels.prices import Family
from shoal.lower_bound.ladders import kept_rungs, make_ladders, window_attribute

_LARGEST, _SMALLEST = 0.5, 0.005  # raises, as parts of the mean price at the start
_SHORT = 6  # rounds
_TOLD = 0.5  # of the ascent: from here on prices are good enough for a search; later fewer boxes are on the list
_PIECES = 16
WORK = 30_000_000  # rows times choices of rungs, at the most
_A_SWEEP = 50  # how often a sweep that counts values may look at an entry, about; more where k is large
_ANCHORED = 1_500_000  # steps of a branch and bound, times the effort
_ROOM = 400_000  # boxes that one sweep can add to the list

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RecordPrices:
    """A price for each record of a row; all are minus infinity if the steps did not suffice for a single sweep."""

    of_row: FloatArray
    rungs: dict[str, list[int]]  # of the ladders, by attribute: which boxes they hold in


@dataclass(frozen=True)
class PriceGuide:
    """Prices on the way up, feasible, and the boxes that stopped them: where a search may look for groups."""

    prices: FloatArray  # (rows,)
    family: Family
    windows: NDArray[np.int64]  # (windows, 3) class, first and last entry


Tell = Callable[[PriceGuide], None]


@dataclass(frozen=True)
class Ascent:
    """How much is done to raise the prices. `steps` are entries looked at: once they are used up, it ends."""

    rounds: int
    repeats: int  # passes over the list in a round
    between: int  # rounds from one full sweep to the next
    patience: int  # rounds that a box stays on the list without being cut
    steps: int
    largest: float = _LARGEST  # the first raise
    short: int = _SHORT  # so many rounds have few passes and end with a full sweep, as the list is not good yet


def make_ascent(effort: float, k: int) -> Ascent:
    """The ascent of a run: 1 is the default effort, 15 the high one. Sweeps take longer the larger k is."""
    rounds = max(12, min(48, round(24 * effort**0.2)))
    steps = int(500_000_000 * effort)
    if effort >= 4:
        return Ascent(rounds, repeats=10, between=2, patience=20, steps=steps)
    return Ascent(rounds, repeats=10 if k <= 25 else 5, between=3, patience=9, steps=steps)


def make_counting(effort: float) -> Ascent:
    """The ascent that goes on where the values of categories are counted."""
    rounds = max(12, min(48, round(24 * effort**0.2)))
    return Ascent(
        rounds,
        repeats=10,
        between=4,
        patience=12,
        steps=int((400_000_000 if effort >= 4 else 200_000_000) * effort),
        largest=0.2,
        short=2,
    )


@dataclass
class _State:
    """Prices, what is known of the boxes, and the list of those to watch."""

    prices: FloatArray
    class_holds: FloatArray
    holds: NDArray[np.float32]
    listed: NDArray[np.int64]
    last_cut: NDArray[np.int64]
    swept: FloatArray  # the prices right after the last full sweep
    risen: float = 0.0  # how much any price has risen at most, between full sweeps
    steps: int = 0


def record_prices(
    table: EncodedTable,
    k: int,
    context: Context,
    start: FloatArray,
    ceiling: float | FloatArray = np.inf,
    effort: float = 1.0,
    work: int = WORK,
    tell: Tell | None = None,
    only_tell: bool = False,
) -> RecordPrices:
    """Prices of which none is above its `ceiling`; `start` is where to begin, any numbers. `tell` is called once;
    with `only_tell` the prices that are told are the answer.

    Boxes that prices below their ceilings cannot exceed are not kept: low ceilings save memory and time.
    """
    ladders = make_ladders(table, max(1, work // table.rows))
    ceilings = np.broadcast_to(np.asarray(ceiling, dtype=np.float64), (table.rows,))
    classes = make_classes(table, k, context, ladders, window_attribute(table), ceilings)
    windows = Windows(classes.family)
    found = _ascend(windows, table, context, start, ceilings, make_ascent(effort, k), tell, only_tell)
    counting = make_counting(effort)
    affordable = (
        _A_SWEEP * (1 + k / 10) * classes.family.entries.shape[0] <= counting.steps and np.isfinite(found).all()
    )
    counted = make_counted(table, ladders, classes) if affordable and not only_tell else None
    if counted is not None:
        boxes = CountedWindows(classes.family, counted)
        found = _ascend(boxes, table, context, found, ceilings, counting, feasible=True)
    return RecordPrices(found, kept_rungs(table, ladders))


def _ascend(
    boxes: Boxes,
    table: EncodedTable,
    context: Context,
    start: FloatArray,
    ceiling: FloatArray,
    ascent: Ascent,
    tell: Tell | None = None,
    only_tell: bool = False,
    feasible: bool = False,
) -> FloatArray:
    """Raise and cut, round after round; the best prices that were seen right after a full sweep.

    `feasible`: those at the start are known to hold, and not looked at before they are raised.
    """
    family = boxes.family
    state = _State(
        prices=np.minimum(start, ceiling),
        class_holds=np.full(family.cost.shape[0], -np.inf),
        holds=np.full(family.entries.shape[0], -np.inf, dtype=np.float32),
        listed=np.empty((0, boxes.columns), dtype=np.int64),
        last_cut=np.empty(0, dtype=np.int64),
        swept=np.minimum(start, ceiling),
    )
    best = state.prices.copy() if feasible else np.full(table.rows, -np.inf)
    mean = float((start * table.weights).sum()) / table.records
    mean = mean if mean > 0.0 else 0.01 * float(table.attribute_weights.sum())
    done, number, raised = 0.0, 0, 0.0
    while True:
        ending = done >= 1.0 or context.stop.asked
        due = number > 0 or not feasible
        if due and (number <= ascent.short or number % ascent.between == 0 or ending):
            if not _sweep_all(boxes, state, raised, number, 2 * ascent.steps, context):
                return best
            if state.prices @ table.weights > best @ table.weights:
                best = state.prices.copy()
            if tell is not None and (ending or (done >= _TOLD and number > _SHORT)):
                tell(PriceGuide(state.prices.copy(), family, state.listed.copy()))
                tell = None
                ending |= only_tell
        if ending:
            return best
        number += 1
        raised = mean * ascent.largest * (_SMALLEST / ascent.largest) ** done
        _raise_and_cut(boxes, state, ascent, raised, number, ceiling)
        done = max(number / ascent.rounds, state.steps / max(1, ascent.steps))


def _raise_and_cut(
    boxes: Boxes, state: _State, ascent: Ascent, raised: float, number: int, ceiling: FloatArray
) -> None:
    """Some passes over the list, each after a raise of all prices."""
    holds = np.full(state.listed.shape[0], -np.inf)
    risen = 0.0
    for repeat in range(2 if number <= ascent.short else ascent.repeats):
        state.prices += raised
        np.minimum(state.prices, ceiling, out=state.prices)
        risen += raised
        backward = repeat % 2 == 1
        state.steps += boxes.cut(state.prices, state.listed, holds, risen, state.last_cut, number, backward)
    kept = state.last_cut > number - ascent.patience
    state.listed, state.last_cut = state.listed[kept], state.last_cut[kept]


def _sweep_all(boxes: Boxes, state: _State, margin: float, number: int, most: int, context: Context) -> bool:
    """Make the prices hold in every box: find on all threads where they do not, then cut there, in order.

    Gives up, and says so, when it takes more steps than `most` in all.
    """
    state.risen += max(0.0, float((state.prices - state.swept).max()))
    known = Sweeping(state.risen, margin, state.class_holds, state.holds)
    family = boxes.family
    places = np.linspace(0, family.entries.shape[0], 4 * _PIECES + 1)
    ends = np.unique(np.append(np.searchsorted(family.begin, places), [0, family.cost.shape[0]]))
    ends = ends[ends <= family.cost.shape[0]]
    each = (most - state.steps) // 4
    nothing = np.empty((0, boxes.columns), dtype=np.int64)

    def look(part: NDArray[np.int64]) -> int:
        return boxes.sweep(state.prices, known, part, False, each, nothing)[1]

    looked = context.map(look, np.stack([ends[:-1], ends[1:]], axis=1))
    state.steps += sum(looked)
    if max(looked, default=0) > each or state.steps > most:
        return False
    found = np.empty((_ROOM, boxes.columns), dtype=np.int64)
    everything = np.array([0, family.cost.shape[0]], dtype=np.int64)
    left = most - state.steps
    cuts, steps = boxes.sweep(state.prices, known, everything, True, left, found)
    if steps > left:
        return False
    state.steps += steps
    last_cut = np.full(cuts, number, dtype=np.int64)
    _keep_newest(state, np.concatenate([state.listed, found[:cuts]]), np.concatenate([state.last_cut, last_cut]))
    state.swept = state.prices.copy()
    return True


def _keep_newest(state: _State, listed: NDArray[np.int64], last_cut: NDArray[np.int64]) -> None:
    """Every box once, in the order of entries, with the round of its last cut."""
    order = np.lexsort((-last_cut, *listed.T[:0:-1]))
    listed, last_cut = listed[order], last_cut[order]
    first = np.append(True, (listed[1:, 1:] != listed[:-1, 1:]).any(axis=1))[: listed.shape[0]]
    state.listed, state.last_cut = listed[first], last_cut[first]


def anchored_prices(
    table: EncodedTable, k: int, context: Context, start: FloatArray, ceiling: float, effort: float
) -> FloatArray:
    """Higher prices than those at the start, which hold in all boxes that k records span (`anchored`)."""
    ascent = Ascent(24, repeats=10, between=3, patience=12, steps=int(_ANCHORED * effort), largest=0.1, short=2)
    ceilings = np.full(table.rows, ceiling)
    return _ascend(AnchoredBoxes(table, k), table, context, start, ceilings, ascent, feasible=True)
