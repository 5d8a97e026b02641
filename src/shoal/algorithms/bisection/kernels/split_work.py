"""The group that is to be split, copied into scratch space: column by column and record by record.

Shared by the algorithms that split from the top (`cb`, `nonhomogeneous`); the splitting itself is in
`shoal.algorithms.bisection.kernels.split`. `side` says for each record of the group which half it is in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32, Int64, UInt8
from shoal.kernels.compile import kernel
from shoal.kernels.random import random_below

LARGE = 1 << 14  # larger groups are shuffled once, not in every round: random access to them misses the cache


class Diversity(NamedTuple):
    """Sensitive columns whose commonest value may have at most a share of a group; no columns: no such rule."""

    codes: Int32  # (columns, records)
    shares: Float64  # (columns,) 1 / l
    sizes: Int64  # (columns,) number of codes


class Work(NamedTuple):
    """Scratch space for the groups of one call."""

    codes: Int32  # (attributes, records) codes of the group at hand
    rows: Int32  # (records, attributes) the same, record by record, for dealing in random order
    delta: Float64  # (records,) distance to the first centre minus distance to the second
    side: UInt8  # (records,) which half
    last: UInt8  # (records,) the halves of the round before
    best: UInt8  # (records,) the halves of the best round so far
    turn: Int64  # (records,) in which order the records are dealt
    centres: Float64  # (attributes, 2) positions
    table: Float64  # (largest size,) a lookup table over codes
    counts: Int64  # (2, largest size) all 0 between uses
    heap: Int64  # (k + 1,)
    low: Int64  # (attributes, 2) the boxes of growing halves
    high: Int64  # (attributes, 2)
    present: UInt8  # (2, all codes) FLAT: which codes a growing half has; all 0 between uses
    steps: Float64  # (attributes,) FLAT: weighted loss of one more code
    costs: Float64  # (attributes, 2) weighted loss of the boxes in each attribute
    totals: Float64  # (2,)
    edges: Int64  # (2, 2)


def make_work(geometry: Any, records: int, k: int, largest: int) -> Work:
    """Scratch space for groups of up to so many records; `largest` is the size of the largest domain of any column."""
    attributes = geometry.kinds.shape[0]
    sizes = np.diff(geometry.code_offsets)
    return Work(
        codes=np.empty((attributes, records), np.int32),
        rows=np.empty((records, attributes), np.int32),
        delta=np.empty(records),
        side=np.empty(records, np.uint8),
        last=np.empty(records, np.uint8),
        best=np.empty(records, np.uint8),
        turn=np.empty(records, np.int64),
        centres=np.empty((attributes, 2)),
        table=np.empty(largest),
        counts=np.zeros((2, largest), np.int64),
        heap=np.empty(k + 1, np.int64),
        low=np.empty((attributes, 2), np.int64),
        high=np.empty((attributes, 2), np.int64),
        present=np.zeros((2, geometry.positions.shape[0]), np.uint8),
        steps=geometry.weights / np.maximum(1, sizes - 1),
        costs=np.empty((attributes, 2)),
        totals=np.zeros(2),
        edges=np.zeros((2, 2), np.int64),
    )


@kernel
def load_group(codes: Any, order: Any, begin: int, size: int, work: Any, state: Any) -> None:
    """Copy the codes of the records order[begin:begin + size]; a large group is shuffled first, in `order` itself."""
    if size > LARGE:
        for last in range(size - 1, 0, -1):
            other = random_below(state, last + 1)
            order[begin + last], order[begin + other] = order[begin + other], order[begin + last]
    for attribute in range(codes.shape[0]):
        for place in range(size):
            code = codes[attribute, order[begin + place]]
            work.codes[attribute, place] = code
            work.rows[place, attribute] = code
    for place in range(size):
        work.turn[place] = place


@kernel
def part_halves(order: Any, begin: int, size: int, side: Any, spare: Any) -> None:
    """Reorder order[begin:begin + size]: the first half, then the second, each in the order it had.

    WORK spare  int64 (records,)
    """
    kept, moved = begin, 0
    for place in range(size):
        record = order[begin + place]
        if side[place] == 0:
            order[kept] = record
            kept += 1
        else:
            spare[moved] = record
            moved += 1
    for number in range(moved):
        order[kept + number] = spare[number]
