"""Rows (or items) sorted into small blocks of neighbours, for searches that skip what is too far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encode.items import IntegerArray, SearchProblem, local_features
from shoal.kernels.blocks import cut_blocks
from shoal.kernels.nearest_records import BlockedRows, fill_blocks
from shoal.kernels.random import random_state


def blocked_rows(
    problem: SearchProblem,
    rows: IntegerArray,
    weights: NDArray[np.int64],
    size: int,
    generator: np.random.Generator,
) -> tuple[BlockedRows, IntegerArray, IntegerArray]:
    """The given rows sorted by blocks of at most `size`, the block of each, and where each was before."""
    block = np.empty(rows.shape[0], dtype=np.int32)
    blocks = cut_blocks(
        problem.features[rows],
        problem.numbers[rows],
        np.ones(rows.shape[0], dtype=np.int64),
        problem.step,
        problem.number_weight,
        size,
        0.0,
        random_state(generator),
        block,
    )
    order = np.argsort(block, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(block, minlength=blocks))
    found = _laid_out(problem, rows[order], weights[order], np.concatenate([[0], ends]).astype(np.int64))
    fill_blocks(found)
    return found, block[order], order


def _laid_out(
    problem: SearchProblem, rows: IntegerArray, weights: NDArray[np.int64], starts: NDArray[np.int64]
) -> BlockedRows:
    """Column by column, with room for what is known of each block."""
    features, step = local_features(problem, rows)
    intervals, blocks = problem.numbers.shape[1], starts.shape[0] - 1
    return BlockedRows(
        columns=np.ascontiguousarray(features.T),
        numbers=np.ascontiguousarray(problem.numbers[rows].T),
        weights=weights,
        step=step,
        number_weight=problem.number_weight,
        starts=starts,
        absent=np.empty((step.shape[0], blocks), dtype=np.uint8),
        low=np.empty((intervals, blocks)),
        high=np.empty((intervals, blocks)),
        reached=np.zeros(rows.shape[0]),
        most_reached=np.zeros(blocks),
    )
