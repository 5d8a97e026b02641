"""Blocks of a table whose distinct rows do not fit into memory: a tree of cuts that says of every row where it belongs.

The cuts are those of the flagship (`kernels/blocks.py`): they separate what is far apart. They are found on a sample of
the distinct rows and kept as sets of codes, so that any row can be told its block without knowing the others. The
sample is chosen by a hash of the codes: it depends on which rows there are, not on their order or on who holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable, IntegerArray
from shoal.encode.items import SearchProblem, code_axes, make_problem
from shoal.kernels.blocks import best_cut
from shoal.kernels.random import random_state

SAMPLE_ROWS = 100_000
_TRIES = 8  # pairs of rows are drawn anew so often before a part is left as it is
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BlockCuts:
    """A binary tree: at node n the rows whose code of `column[n]` is marked go to `left[n]`, all others to `right[n]`.

    A number below zero is a leaf: block -1 - number.
    """

    columns: tuple[int, ...]
    marked: tuple[Flags, ...]  # (size of the column,) per node
    left: tuple[int, ...]
    right: tuple[int, ...]
    blocks: int

    def of(self, codes: Sequence[IntegerArray]) -> IntegerArray:
        """(rows,) the block of each row, from its codes."""
        rows = codes[0].shape[0]
        block = np.zeros(rows, dtype=np.int32)
        waiting = [(0 if self.columns else -1, np.arange(rows))]
        while waiting:
            node, some = waiting.pop()
            if node < 0:
                block[some] = -1 - node
            elif some.size:
                goes_left = self.marked[node][codes[self.columns[node]][some]]
                waiting += [(self.left[node], some[goes_left]), (self.right[node], some[~goes_left])]
        return block

    def joined(self, records: NDArray[np.int64], least: int) -> BlockCuts:
        """The same cuts with neighbouring blocks put together until each has at least so many records.

        IN  records  (blocks,) how many there are in each block
        """
        number = np.zeros(self.blocks, dtype=np.int64)
        block = held = 0
        for old, count in enumerate(records.tolist()):
            if held >= least:
                block, held = block + 1, 0
            number[old], held = block, held + count
        if held < least and block > 0:
            number[number == block] = block - 1
            block -= 1

        def renamed(children: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(one if one >= 0 else -1 - int(number[-1 - one]) for one in children)

        return BlockCuts(self.columns, self.marked, renamed(self.left), renamed(self.right), block + 1)


def make_block_cuts(sample: EncodedTable, stands_for: int, k: int, limit: int, seed: int) -> BlockCuts:
    """Cuts into blocks of about `limit` distinct rows; every row of the sample stands for so many."""
    problem, axes = make_problem(sample, k), code_axes(sample)
    random = random_state(np.random.default_rng([seed, 7]))
    columns: list[int] = []
    marked: list[Flags] = []
    children: list[list[int]] = []
    blocks = 0
    waiting = [(np.arange(sample.rows), -1, 0)]  # rows, the node above, and on which side of it
    while waiting:
        rows, above, side = waiting.pop()
        axis, threshold = _some_cut(problem, rows, random) if rows.size * stands_for > limit else (-1, 0.0)
        if axis < 0:
            place, blocks = -1 - blocks, blocks + 1
        else:
            column, value_of_code = axes[axis]
            place = len(columns)
            columns.append(column)
            marked.append(value_of_code < threshold)
            children.append([0, 0])
            goes_left = marked[-1][sample.codes[column][rows]]
            waiting += [(rows[~goes_left], place, 1), (rows[goes_left], place, 0)]
        if above >= 0:
            children[above][side] = place
    left, right = (tuple(pair[side] for pair in children) for side in (0, 1))
    return BlockCuts(tuple(columns), tuple(marked), left, right, blocks)


def _some_cut(problem: SearchProblem, rows: NDArray[np.int64], random: NDArray[np.uint64]) -> tuple[int, float]:
    """An axis and a threshold that part some rows; axis -1 if none was found."""
    features, numbers, step, weight = problem.features, problem.numbers, problem.step, problem.number_weight
    for _ in range(_TRIES):
        axis, threshold = best_cut(features, numbers, step, weight, rows, 0, rows.size, random, 1.0)
        if axis >= 0:
            return int(axis), float(threshold)
    return -1, 0.0


class RowSample:
    """Distinct rows whose hash ends in so many zeros: those of the whole table, however it goes by."""

    def __init__(self, most: int = SAMPLE_ROWS) -> None:
        self._most, self.step = most, 1
        self._rows: NDArray[np.int32] | None = None
        self._hashes = np.zeros(0, dtype=np.uint64)

    def add_all(self, pieces: Iterable[IntegerArray]) -> RowSample:
        for codes in pieces:
            self.add(codes)
        return self

    def add(self, codes: IntegerArray) -> None:
        """IN  codes  (columns, rows) in which a row may be there before, or several times"""
        hashes = row_hashes(codes)
        few = np.flatnonzero(hashes % np.uint64(self.step) == 0)
        rows, hashes = codes[:, few], hashes[few]
        if self._rows is not None:
            rows, hashes = np.concatenate([self._rows, rows], axis=1), np.concatenate([self._hashes, hashes])
        while True:
            rows, first = np.unique(rows, axis=1, return_index=True)
            hashes = hashes[first]
            if rows.shape[1] <= self._most:
                break
            self.step *= 2
            kept = hashes % np.uint64(self.step) == 0
            rows, hashes = rows[:, kept], hashes[kept]
        self._rows, self._hashes = rows, hashes

    def rows(self) -> IntegerArray:
        """(columns, rows) in lexicographic order."""
        assert self._rows is not None
        return self._rows


def row_hashes(codes: IntegerArray) -> NDArray[np.uint64]:
    """(rows,) a hash of the codes of each row; always the same one."""
    found = np.zeros(codes.shape[1], dtype=np.uint64)
    for line in codes:
        found = (found ^ line.astype(np.uint64)) * _FACTOR
        found ^= found >> _SHIFT
    return found
