"""Boxes of any attributes around the dearest of their records: exact for all kinds; for few records, small groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import make_problem
from shoal.lower_bound.boxes import Sweeping
from shoal.lower_bound.kernels.anchored import Records
from shoal.lower_bound.kernels.anchored_sweep import sweep_anchored
from shoal.lower_bound.kernels.prices import Family, cut_listed

NODES, DEPTHS = 2_000, 12  # of an anchor, at the most
_ROOM = 4_000_000  # rows of boxes that one sweep can add to the list
_MOST = 40_000_000  # and all together

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]


class AnchoredBoxes:
    """All boxes that k records span. The boxes on the list are rows of a pool that grows from sweep to sweep."""

    columns = 3

    def __init__(self, table: EncodedTable, k: int, nodes: int = NODES, depths: int = DEPTHS) -> None:
        problem = make_problem(table, k)
        rows = table.rows
        nothing = np.zeros(rows)
        self.records = Records(
            problem.features, problem.numbers, problem.step, problem.saturates, problem.number_weight
        )
        everyone = np.arange(rows, dtype=np.int32)
        self.family = Family(k, everyone, np.arange(rows + 1), nothing, nothing, 0.0, table.weights)
        self.limits = np.array([nodes, depths], dtype=np.int64)
        self.pool, self.cost = np.empty(0, dtype=np.int32), np.empty(0)

    def sweep(
        self, prices: FloatArray, known: Sweeping, part: IntegerArray, mend: bool, most: int, found: IntegerArray
    ) -> tuple[int, int]:
        before = prices.copy()
        order = np.argsort(before, kind="stable")
        pool = np.empty(min(_ROOM, _MOST - self.pool.shape[0]) if mend else 0, dtype=np.int32)
        cost = np.empty(found.shape[0])
        cuts, steps = sweep_anchored(
            *(self.family, self.records, prices, before, order, part, self.limits, mend, most, known.class_holds),
            *(found, pool, cost),
        )
        if cuts:
            filled = int(found[cuts - 1, 2]) + 1
            found[:cuts] += np.array([self.cost.shape[0], self.pool.shape[0], self.pool.shape[0]])
            self.pool = np.concatenate([self.pool, pool[:filled]])
            self.cost = np.concatenate([self.cost, cost[:cuts]])
        return int(cuts), int(steps)

    def cut(
        self,
        prices: FloatArray,
        listed: IntegerArray,
        holds: FloatArray,
        risen: float,
        last_cut: IntegerArray,
        number: int,
        backward: bool,
    ) -> int:
        family = self.family._replace(entries=self.pool, cost=self.cost)
        return int(cut_listed(family, prices, listed, risen, holds, last_cut, number, backward))
