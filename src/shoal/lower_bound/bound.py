"""A lower bound on the GCP of any k-anonymous partition of a table, whoever made it.

Two steps, proved in docs/lower_bound.md. d(x, y) is the loss of the box that two records span.
1. A group of x has at least k - 1 other members, so it loses at least u(x): the distance to the (k-1)-th nearest, or
   the loss of the smallest box that holds x and k records (`smallest_boxes`), whichever is more.
2. What a group loses more than u(y) on its member y is shared equally among the other members: x may be credited
   with e(x), the mean of the k - 1 smallest values of max(d(x, y), u(x), u(y)) - u(y) over the other records.
The mean of u + e over all records is the bound. Prices of records (`prices`) mostly give a better one, above all for
tables of categories and one number; the larger of the two is taken. Small tables get a third with high effort, by a
branch and bound around records (`anchored`): exact for all kinds of attributes, but dear.

Cost: blocks of neighbouring rows that are too far are skipped, so the time is near n log n on real tables. Above
`EXACT_ROWS` rows only distances are looked at, for a random sample, and the bound holds with a stated confidence
(empirical Bernstein inequality: A. Maurer and M. Pontil, COLT 2009). With high effort such tables too get a certain
bound: prices that stay below a multiple of u, so that few boxes can be exceeded and only these are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import BoundProof, Context
from shoal.encode.blocked_rows import blocked_rows
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import SearchProblem, make_problem
from shoal.kernels.nearest_records import BlockedRows, fill_blocks, nearest_records
from shoal.lower_bound.prices import PriceGuide, RecordPrices, Tell, anchored_prices, record_prices
from shoal.lower_bound.smallest_boxes import smallest_boxes

EXACT_ROWS = 60_000
SAMPLE = 6_000
ANCHORED_ROWS, ANCHORED_K = 3_000, 10  # up to here a branch and bound with high effort is worth its time
CERTAIN_EFFORT = 4.0  # from here on tables above `EXACT_ROWS` get a certain bound
CERTAIN_ROWS = 2_000_000  # up to here; above, memory for the boxes may be lacking
_LARGE_WORK = 300_000_000  # rows times choices of rungs of such tables, at the most
_TIMES, _MORE = 3.0, 1.0  # their prices are at most so many times u, and so many times the mean of u more
CONFIDENCE = 0.99
_BLOCK = 256
_PIECE = 500
_ROUNDING = 1e-9  # far more than prices can be wrong by


@dataclass(frozen=True)
class LowerBound:
    """`value` is a lower bound on GCP; `confidence` is 1 when it is certain."""

    value: float
    method: str
    confidence: float
    rows: int  # how many rows were looked at
    prices: RecordPrices | None = field(
        default=None, compare=False
    )  # what proves it, or a lower one, where there are any

    def as_dict(self) -> dict[str, float | int | str]:
        return {"method": self.method, "confidence": self.confidence, "rows": self.rows}


def bound_proof(bound: LowerBound, k: int, suppression: bool) -> BoundProof | None:
    """The prices of a bound; None if it has none."""
    if bound.prices is None or not np.isfinite(bound.prices.of_row).all():
        return None
    return BoundProof(bound.prices.of_row, k, suppression, bound.prices.rungs)


def lower_bound(
    table: EncodedTable,
    k: int,
    context: Context | None = None,
    *,
    problem: SearchProblem | None = None,
    suppression: bool = False,
    exact_rows: int = EXACT_ROWS,
    sample: int = SAMPLE,
    effort: float = 1.0,
    tell: Tell | None = None,
) -> LowerBound:
    """No partition of the table into groups of at least k records has a lower GCP (with attribute weights).

    With `suppression` this also holds if any records are left out of the groups and lose everything. `problem` is the
    table as the search sees it, if the caller has that already. `effort` is that for prices: 1 is the
    default, 0 is none. `tell` is told of prices that can guide a search, once and early, if there are any.
    """
    context = context or Context()
    if k < 2 or table.rows < 2:
        return LowerBound(0.0, "trivial", 1.0, table.rows)
    if table.records < 2 * k and not suppression:
        return LowerBound(_one_group(table), "one group", 1.0, table.rows)
    everyone = np.arange(table.rows, dtype=np.int32)
    rows, block_of, order = blocked_rows(
        problem if problem is not None else make_problem(table, k), everyone, table.weights, _BLOCK, context.random(90)
    )
    if table.rows <= exact_rows:
        ceiling = float(table.attribute_weights.sum()) if suppression else np.inf  # nothing costs more than suppression
        boxes = smallest_boxes(table, k, context)
        context.report_bound(_mean(table, boxes, table.weights, ceiling))
        prices = record_prices(table, k, context, boxes, ceiling, effort, tell=tell) if effort > 0 else None
        per_record = _credits(rows, block_of, boxes[order], k, context)
        value, method = _mean(table, per_record, rows.weights, ceiling), "smallest boxes with shared slack"
        if prices is not None:
            priced = float((prices.of_row * table.weights).sum()) / (table.records * table.width) - _ROUNDING
            value, method = max((value, method), (priced, "prices of records"))
            if effort >= CERTAIN_EFFORT and table.rows <= ANCHORED_ROWS and k <= ANCHORED_K and np.isfinite(priced):
                found = anchored_prices(table, k, context, prices.of_row, ceiling, effort)
                exact = _mean(table, found, table.weights, np.inf) - _ROUNDING
                value, method = max((value, method), (exact, "branch and bound around records"))
        return LowerBound(max(0.0, value - 1e-12), method, 1.0, table.rows, prices)
    if effort >= CERTAIN_EFFORT and table.rows <= CERTAIN_ROWS:
        certain = _certain(table, k, context, suppression, effort)
        if certain is not None:
            return certain
    return _sampled(table, rows, block_of, k, context, sample)


def price_guide(table: EncodedTable, k: int, context: Context, suppression: bool, effort: float) -> PriceGuide | None:
    """The prices that `lower_bound` tells a search, without the bound; None where it would not tell any."""
    too_few = table.records < 2 * k and not suppression
    if k < 2 or table.rows < 2 or too_few or table.rows > EXACT_ROWS:
        return None
    ceiling = float(table.attribute_weights.sum()) if suppression else np.inf
    told: list[PriceGuide] = []
    start = smallest_boxes(table, k, context)
    record_prices(table, k, context, start, ceiling, effort, tell=told.append, only_tell=True)
    return told[0] if told else None


def _certain(table: EncodedTable, k: int, context: Context, suppression: bool, effort: float) -> LowerBound | None:
    """A bound for a large table by prices alone; None if the steps did not suffice for it."""
    boxes = smallest_boxes(table, k, context, _LARGE_WORK)
    everything = float(table.attribute_weights.sum()) if suppression else np.inf
    context.report_bound(_mean(table, boxes, table.weights, everything))
    ceilings = _TIMES * boxes + _MORE * float(boxes @ table.weights) / table.records
    prices = record_prices(table, k, context, boxes, np.minimum(ceilings, everything), effort, _LARGE_WORK)
    if not np.isfinite(prices.of_row).all():
        return None
    value = _mean(table, prices.of_row, table.weights, np.inf) - _ROUNDING
    return LowerBound(max(0.0, value), "prices of records", 1.0, table.rows, prices)


def _mean(table: EncodedTable, losses: NDArray[np.float64], weights: NDArray[np.int64], ceiling: float) -> float:
    """The mean loss of a record and attribute, from what the records of each row lose at least."""
    return float((np.minimum(losses, ceiling) * weights).sum()) / (table.records * table.width)


def _one_group(table: EncodedTable) -> float:
    """Fewer than 2k records have one partition only: all of them together."""
    problem = make_problem(table, table.records)
    loss = float((problem.number_weight * np.minimum(1.0, np.ptp(problem.numbers, axis=0))).sum())
    for layer in range(problem.features.shape[1]):
        line = problem.features[:, layer]
        values = np.unique(line).size
        loss += float(problem.step[line[0]]) * (min(1, values - 1) if problem.saturates[layer] else values - 1)
    return loss / table.width


def _nearest(
    rows: BlockedRows, block_of: NDArray[np.int32], chosen: NDArray[np.int64], k: int, slack: bool, context: Context
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The (k-1)-th smallest cost and the sum of the k - 1 smallest for the chosen rows, on all threads."""
    pieces = [chosen[start : start + _PIECE] for start in range(0, chosen.shape[0], _PIECE)]

    def work(piece: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        last, total = np.empty(piece.shape[0]), np.empty(piece.shape[0])
        nearest_records(rows, k - 1, piece, block_of, slack, last, total)
        return last, total

    answers = context.map(work, pieces)
    return np.concatenate([one for one, _ in answers]), np.concatenate([two for _, two in answers])


def _credits(
    rows: BlockedRows, block_of: NDArray[np.int32], boxes: NDArray[np.float64], k: int, context: Context
) -> NDArray[np.float64]:
    """u + e of every row; `boxes` is what the smallest box of each row loses."""
    everyone = np.arange(rows.weights.shape[0])
    distance, _ = _nearest(rows, block_of, everyone, k, False, context)
    reached = np.maximum(distance, boxes)
    rows.reached[:] = reached
    fill_blocks(rows)
    _, total = _nearest(rows, block_of, everyone, k, True, context)
    credited: NDArray[np.float64] = reached + np.maximum(0.0, total) / (k - 1)
    return credited


def _sampled(
    table: EncodedTable,
    rows: BlockedRows,
    block_of: NDArray[np.int32],
    k: int,
    context: Context,
    sample: int,
) -> LowerBound:
    """The mean of u over sampled records, less what chance may have added. Values are cut off at a ceiling first."""
    share = rows.weights / table.records
    drawn = np.sort(context.random(91).choice(table.rows, size=sample, p=share))
    reached, _ = _nearest(rows, block_of, drawn, k, False, context)
    loss = reached / table.width
    pilot, rest = loss[::4], np.delete(loss, np.s_[::4])  # the ceiling must not be chosen on what it is applied to
    ceiling = max(1e-9, float(np.quantile(pilot, 0.99)))
    cut = np.minimum(rest, ceiling)
    logarithm = np.log(2.0 / (1.0 - CONFIDENCE))
    count = rest.shape[0]
    margin = np.sqrt(2.0 * cut.var(ddof=1) * logarithm / count) + 7.0 * ceiling * logarithm / (3.0 * (count - 1))
    value = max(0.0, float(cut.mean() - margin))
    return LowerBound(value, "nearest records of a random sample", CONFIDENCE, sample)
