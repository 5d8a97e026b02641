"""Median partitioning over weighted rows: one piece of the order of rows is split in place until nothing can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import range_cost


@kernel
def piece_widths(geometry: Any, codes: Any, order: Any, start: int, end: int, low: Any, high: Any, width: Any) -> None:
    """Bounds and weighted width of every attribute over order[start:end]; width -1 where all codes are equal."""
    for attribute in range(codes.shape[0]):
        smallest = codes[attribute, order[start]]
        largest = smallest
        for place in range(start + 1, end):
            code = codes[attribute, order[place]]
            if code < smallest:
                smallest = code
            if code > largest:
                largest = code
        low[attribute] = smallest
        high[attribute] = largest
        if smallest == largest:
            width[attribute] = -1.0
        else:
            width[attribute] = geometry.weights[attribute] * range_cost(geometry, attribute, smallest, largest)


@kernel
def weight_up_to(line: Any, weights: Any, order: Any, start: int, end: int, code: int) -> int:
    total = 0
    for place in range(start, end):
        row = order[place]
        if line[row] <= code:
            total += weights[row]
    return total


@kernel
def strict_cut(
    line: Any, weights: Any, order: Any, start: int, end: int, low: int, high: int, total: int, k: int
) -> int:
    """The code c nearest to the median such that codes <= c and codes > c both hold k records; -1 if there is none.

    Found by halving the range of codes: O(rows x log(range)), no sorting, no histogram.
    """
    left, right = low, high - 1  # the cut lies in low .. high - 1
    while left < right:  # the smallest code that has at least half of the records at or below it
        middle = (left + right) // 2
        if 2 * weight_up_to(line, weights, order, start, end, middle) >= total:
            right = middle
        else:
            left = middle + 1
    below = weight_up_to(line, weights, order, start, end, left)
    if below >= k and total - below >= k:
        return left
    if below >= k:  # too much below: the next lower code that occurs
        smaller = -1
        for place in range(start, end):
            code = line[order[place]]
            if code < left and code > smaller:
                smaller = code
        if smaller >= 0:
            below = weight_up_to(line, weights, order, start, end, smaller)
            if below >= k and total - below >= k:
                return smaller
    return -1


@kernel
def split_piece(line: Any, order: Any, start: int, end: int, code: int) -> int:
    """Rows with codes <= code to the front; returns where the rest begins."""
    front, back = start, end - 1
    while front <= back:
        if line[order[front]] <= code:
            front += 1
        else:
            order[front], order[back] = order[back], order[front]
            back -= 1
    return front


@kernel
def relaxed_split(line: Any, order: Any, start: int, end: int, low: int, high: int, k: int) -> int:
    """Halve a piece of single records; records equal to the median go to either side. Returns the middle, or -1."""
    count = end - start
    if count < 2 * k:
        return -1
    half = start + count // 2
    left, right = low, high
    while left < right:  # the code of the record in the middle
        middle = (left + right) // 2
        below = 0
        for place in range(start, end):
            if line[order[place]] <= middle:
                below += 1
        if below >= count // 2:
            right = middle
        else:
            left = middle + 1
    smaller_end = split_piece(line, order, start, end, left - 1)
    split_piece(line, order, smaller_end, end, left)
    return half


@kernel
def mondrian_pieces(
    geometry: Any, codes: Any, weights: Any, order: Any, stack: Any, state: Any, k: int, relaxed: bool, stop_after: int
) -> None:
    """Split the pieces on the stack until it is empty or `stop_after` row visits are spent; call again to go on.

    IN     codes   int32 (attributes, rows)
    IN     weights int64 (rows,) records of each row (all 1 if relaxed)
    IN/OUT order   int64 (rows,) rows in the order of the pieces
    IN/OUT stack   int64 (pieces, 2) start and end of the pieces still to split
    IN/OUT state   int64 (3,): pieces on the stack, finished pieces, rows in finished pieces
    OUT    stack   finished pieces are written from its end downwards
    """
    attributes = codes.shape[0]
    low = np.empty(attributes, dtype=np.int64)
    high = np.empty(attributes, dtype=np.int64)
    width = np.empty(attributes, dtype=np.float64)
    visits = 0
    while state[0] > 0 and visits < stop_after:
        state[0] -= 1
        start, end = stack[state[0], 0], stack[state[0], 1]
        visits += (end - start) * (attributes + 12)
        piece_widths(geometry, codes, order, start, end, low, high, width)
        total = 0
        for place in range(start, end):
            total += weights[order[place]]
        middle = -1
        while total >= 2 * k and middle < 0:
            widest = 0
            for attribute in range(1, attributes):
                if width[attribute] > width[widest]:
                    widest = attribute
            if width[widest] < 0.0:
                break
            line = codes[widest]
            if relaxed:
                middle = relaxed_split(line, order, start, end, low[widest], high[widest], k)
            else:
                cut = strict_cut(line, weights, order, start, end, low[widest], high[widest], total, k)
                if cut >= 0:
                    middle = split_piece(line, order, start, end, cut)
            width[widest] = -1.0
        if middle < 0:
            state[1] += 1
            state[2] += end - start
            stack[stack.shape[0] - state[1], 0] = start
            stack[stack.shape[0] - state[1], 1] = end
        else:
            stack[state[0], 0], stack[state[0], 1] = middle, end
            stack[state[0] + 1, 0], stack[state[0] + 1, 1] = start, middle
            state[0] += 2
