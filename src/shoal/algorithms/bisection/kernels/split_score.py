"""What two halves of a group are: their centres, their loss, and whether both are diverse.

Each pass reads a column and the sides once, without branching on the side, which is as good as random: a wrong guess
of the processor costs more than the work itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost

TINY = 1e-9


@kernel
def move_centres(geometry: Any, work: Any, size: int) -> None:
    """The centres to the means of the halves; to a missing value, at 2, where most are missing."""
    sides, positions = work.side, geometry.positions
    for attribute in range(work.codes.shape[0]):
        codes = work.codes[attribute]
        offset = geometry.code_offsets[attribute]
        total_one, total_other, first, known_one, known_other = 0.0, 0.0, 0, 0, 0
        for place in range(size):
            position = positions[offset + codes[place]]
            second = int(sides[place])
            known = 1 if position <= 1.0 else 0
            value = position if known == 1 else 0.0
            total_one += 0.0 if second == 1 else value
            total_other += value if second == 1 else 0.0
            first += 1 - second
            known_one += known * (1 - second)
            known_other += known * second
        missing_one, missing_other = first - known_one, size - first - known_other
        work.centres[attribute, 0] = 2.0 if missing_one > known_one else total_one / max(1, known_one)
        work.centres[attribute, 1] = 2.0 if missing_other > known_other else total_other / max(1, known_other)


@kernel
def count_codes(codes: Any, sides: Any, size: int, counts: Any, edges: Any) -> None:
    """How many different codes each half has.

    WORK counts  int64 (2, domain) all 0 before and after
    OUT  edges   int64 (2, 2) [side, 0]
    """
    edges[0, 0], edges[1, 0] = 0, 0
    for place in range(size):
        if counts[sides[place], codes[place]] == 0:
            counts[sides[place], codes[place]] = 1
            edges[sides[place], 0] += 1
    for place in range(size):
        counts[sides[place], codes[place]] = 0


@kernel
def find_edges(codes: Any, sides: Any, size: int, domain: int, edges: Any) -> None:
    """The lowest and highest code of each half.

    OUT edges  int64 (2, 2) [side, lowest or highest]
    """
    beyond = np.int32(domain)
    low_one, low_other, high_one, high_other = beyond, beyond, np.int32(-1), np.int32(-1)
    for place in range(size):
        code = codes[place]
        one = sides[place] == 0
        low_one = min(low_one, code if one else beyond)
        high_one = max(high_one, code if one else np.int32(-1))
        low_other = min(low_other, beyond if one else code)
        high_other = max(high_other, np.int32(-1) if one else code)
    edges[0, 0], edges[0, 1], edges[1, 0], edges[1, 1] = low_one, high_one, low_other, high_other


@kernel
def halves_loss(geometry: Any, work: Any, size: int, first: int) -> Any:
    """The loss of both halves: the box of each times its records."""
    edges, totals = work.edges, work.totals
    totals[0], totals[1] = 0.0, 0.0
    for attribute in range(work.codes.shape[0]):
        codes = work.codes[attribute]
        domain = geometry.code_offsets[attribute + 1] - geometry.code_offsets[attribute]
        weight = geometry.weights[attribute]
        if geometry.kinds[attribute] == FLAT:
            count_codes(codes, work.side, size, work.counts, edges)
            for side in range(2):
                totals[side] += weight * (edges[side, 0] - 1) / max(1, domain - 1)
        else:
            find_edges(codes, work.side, size, domain, edges)
            for side in range(2):
                totals[side] += weight * range_cost(geometry, attribute, edges[side, 0], edges[side, 1])
    return totals[0] * first + totals[1] * (size - first)


@kernel
def halves_diverse(diversity: Any, order: Any, begin: int, work: Any, size: int, first: int) -> bool:
    """True if no sensitive value has more than its share of either half."""
    good = True
    for column in range(diversity.codes.shape[0]):
        codes = diversity.codes[column]
        share = diversity.shares[column]
        for place in range(size):
            side, code = work.side[place], codes[order[begin + place]]
            work.counts[side, code] += 1
            if work.counts[side, code] > share * (first if side == 0 else size - first) + TINY:
                good = False
        for place in range(size):
            work.counts[work.side[place], codes[order[begin + place]]] = 0
    return good
