"""Pieces of a table cut where that tells most about a class label."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.mondrian.kernels.mondrian import split_piece
from shoal.kernels.compile import kernel

SLACK = 1e-9  # costs closer than this are equal


@kernel
def times_log(count: Any) -> Any:
    return count * np.log(count) if count > 0 else 0.0


@kernel
def best_cut(
    line: Any, labels: Any, weights: Any, order: Any, start: int, end: int, total: int, k: int, counts: Any, left: Any
) -> Any:
    """The code after which a piece is cut best, and what is then left to be told about the label.

    IN  counts  int64 (codes, classes), all 0 before and after; left int64 (2, classes) is scratch
    Returns the uncertainty left (in nats, over all records; infinity: no cut is allowed), how uneven the halves are,
    and the code.
    """
    classes = counts.shape[1]
    low, high = line[order[start]], line[order[start]]
    left[:] = 0
    for place in range(start, end):
        unit = order[place]
        low, high = min(low, line[unit]), max(high, line[unit])
        counts[line[unit], labels[unit]] += weights[unit]
        left[1, labels[unit]] += weights[unit]
    best, uneven, cut = np.inf, np.int64(0), np.int64(-1)
    below = np.int64(0)
    for code in range(low, high):
        before = below
        for label in range(classes):
            left[0, label] += counts[code, label]
            left[1, label] -= counts[code, label]
            below += counts[code, label]
        if below == before or below < k or total - below < k:
            continue
        cost = times_log(below) + times_log(total - below)
        for label in range(classes):
            cost -= times_log(left[0, label]) + times_log(left[1, label])
        apart = abs(total - 2 * below)
        if cost < best - SLACK or (cost <= best + SLACK and apart < uneven):
            best, uneven, cut = cost, apart, np.int64(code)
    for code in range(low, high + 1):
        for label in range(classes):
            counts[code, label] = 0
    return best, uneven, cut


@kernel
def infogain_pieces(
    codes: Any, labels: Any, weights: Any, order: Any, stack: Any, state: Any, k: int, counts: Any, stop_after: int
) -> None:
    """Cut the pieces on the stack until it is empty or `stop_after` visits are spent; call again to go on.

    IN     codes   int32 (attributes, units); labels int32 (units,); weights int64 (units,)
    IN/OUT order   int64 (units,) in the order of the pieces
    IN/OUT stack   int64 (pieces, 2) start and end of the pieces still to cut; finished ones from its end downwards
    IN/OUT state   int64 (3,): pieces on the stack, finished pieces, units in finished pieces
    """
    left = np.zeros((2, counts.shape[1]), np.int64)
    visits = 0
    while state[0] > 0 and visits < stop_after:
        state[0] -= 1
        start, end = stack[state[0], 0], stack[state[0], 1]
        visits += (end - start + counts.shape[0]) * codes.shape[0]
        total = 0
        for place in range(start, end):
            total += weights[order[place]]
        best: Any = np.inf
        uneven: Any = np.int64(0)
        cut: Any = np.int64(-1)
        chosen = -1
        if total >= 2 * k:
            for attribute in range(codes.shape[0]):
                cost, apart, code = best_cut(
                    codes[attribute], labels, weights, order, start, end, total, k, counts, left
                )
                if code >= 0 and (cost < best - SLACK or (cost <= best + SLACK and apart < uneven)):
                    best, uneven, cut, chosen = cost, apart, code, attribute
        if chosen < 0:
            state[1] += 1
            state[2] += end - start
            stack[stack.shape[0] - state[1], 0] = start
            stack[stack.shape[0] - state[1], 1] = end
        else:
            middle = split_piece(codes[chosen], order, start, end, cut)
            stack[state[0], 0], stack[state[0], 1] = middle, end
            stack[state[0] + 1, 0], stack[state[0] + 1, 1] = start, middle
            state[0] += 2
