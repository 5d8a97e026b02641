"""k-means over distinct rows with weights: numbers by their mean, categories by their commonest value."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, INTERVAL, tree_cost


@kernel
def add_distances(geometry: Any, attribute: int, code: int, means: Any, modes: Any, before: Any, after: Any) -> None:
    """after = before + the weighted distance of a code to every centre, in one attribute.

    IN  means          float64 (attributes, centres) position, read for INTERVAL
    IN  modes          int32 (attributes, centres) code, read for TREE and FLAT
    IN  before         float64 (centres,); OUT after: the same, may be another line of one array
    """
    offset = geometry.code_offsets[attribute]
    size = geometry.code_offsets[attribute + 1] - offset
    weight = geometry.weights[attribute]
    centres = means.shape[1]
    if geometry.kinds[attribute] == INTERVAL:
        position = geometry.positions[offset + code]
        for centre in range(centres):
            after[centre] = before[centre] + weight * min(1.0, abs(position - means[attribute, centre]))
        return
    lookup = np.zeros(size)
    for other in range(size):
        if other == code:
            continue
        if geometry.kinds[attribute] == FLAT:
            lookup[other] = weight / (size - 1)
        else:
            lookup[other] = weight * tree_cost(geometry, attribute, code, other)
    for centre in range(centres):
        after[centre] = before[centre] + lookup[modes[attribute, centre]]


@kernel
def nearest_centre(totals: Any, alive: Any, own: int) -> int:
    """The alive centre of least total; `own` on a tie, else the lowest number.

    IN  totals  float64 (centres,); alive uint8 (centres,); own -1 if there is none
    """
    nearest, best = -1, np.inf
    if own >= 0 and alive[own]:
        nearest, best = own, totals[own]
    for centre in range(totals.shape[0]):
        if totals[centre] < best and alive[centre]:
            nearest, best = centre, totals[centre]
    return nearest


@kernel
def assign_rows(
    geometry: Any, codes: Any, begin: int, end: int, means: Any, modes: Any, alive: Any, assigned: Any
) -> int:
    """Each row begin..end to the nearest alive centre (see `nearest_centre`).

    IN     alive     uint8 (centres,)
    IN/OUT assigned  int32 (rows,), -1: not yet assigned
    Returns how many rows changed. Rows are in lexicographic order, so neighbours share their first codes: the sums
    over the first attributes are kept and reused.
    """
    attributes = codes.shape[0]
    totals = np.zeros((attributes + 1, means.shape[1]))
    changed = 0
    for row in range(begin, end):
        first = 0
        if row > begin:
            while first < attributes and codes[first, row] == codes[first, row - 1]:
                first += 1
        for attribute in range(first, attributes):
            code = codes[attribute, row]
            add_distances(geometry, attribute, code, means, modes, totals[attribute], totals[attribute + 1])
        nearest = nearest_centre(totals[attributes], alive, assigned[row])
        if nearest != assigned[row]:
            assigned[row] = nearest
            changed += 1
    return changed


@kernel
def move_centres(geometry: Any, codes: Any, weights: Any, order: Any, starts: Any, means: Any, modes: Any) -> None:
    """Every centre to the mean or the commonest value of its rows; a centre without rows stays.

    IN   order   int64 (rows,) rows by cluster; those of a cluster stand at starts[c] .. starts[c + 1]
    OUT  means   float64 (attributes, centres): mean position of those present; 2 if most are missing
    OUT  modes   int32 (attributes, centres): the commonest code, the first to get there among equals
    """
    counts = np.zeros(geometry.positions.shape[0], np.int64)
    for attribute in range(codes.shape[0]):
        offset = geometry.code_offsets[attribute]
        interval = geometry.kinds[attribute] == INTERVAL
        for centre in range(means.shape[1]):
            begin, end = starts[centre], starts[centre + 1]
            if begin == end:
                continue
            if interval:
                means[attribute, centre] = mean_position(geometry, codes, weights, order, begin, end, attribute)
                continue
            commonest = 0
            for place in range(begin, end):
                code = codes[attribute, order[place]]
                counts[offset + code] += weights[order[place]]
                if counts[offset + code] > commonest:
                    commonest = counts[offset + code]
                    modes[attribute, centre] = code
            for place in range(begin, end):
                counts[offset + codes[attribute, order[place]]] = 0


@kernel
def mean_position(geometry: Any, codes: Any, weights: Any, order: Any, begin: int, end: int, attribute: int) -> float:
    """The mean of the present positions of the rows order[begin:end]; 2, as for missing values, if most are missing."""
    total, present, missing = 0.0, 0, 0
    offset = geometry.code_offsets[attribute]
    for place in range(begin, end):
        row = order[place]
        position = geometry.positions[offset + codes[attribute, row]]
        if position > 1.0:
            missing += weights[row]
        else:
            present += weights[row]
            total += weights[row] * position
    return 2.0 if missing > present else total / present


@kernel
def dissolve_small(
    geometry: Any, codes: Any, weights: Any, by_size: Any, k: int, means: Any, modes: Any, alive: Any, assigned: Any
) -> None:
    """Dissolve clusters with fewer than k records, in the given order: each row goes to the nearest one left.

    IN      by_size   int64 (clusters,) clusters from the smallest to the largest
    IN/OUT  alive     uint8 (clusters,); assigned int32 (rows,)
    A cluster that has grown to k records when its turn comes stays. The last cluster always stays.
    """
    clusters = alive.shape[0]
    sizes = np.zeros(clusters, np.int64)
    head = np.full(clusters, -1, np.int64)  # the rows of a cluster as a linked list: they move while we go
    link = np.empty(assigned.shape[0], np.int64)
    for row in range(assigned.shape[0] - 1, -1, -1):
        sizes[assigned[row]] += weights[row]
        link[row] = head[assigned[row]]
        head[assigned[row]] = row
    attributes = codes.shape[0]
    totals = np.zeros((attributes + 1, clusters))
    living = clusters
    for cluster in by_size:
        if sizes[cluster] >= k or living == 1:
            continue
        alive[cluster] = 0
        living -= 1
        row = head[cluster]
        while row >= 0:
            following = link[row]
            for attribute in range(attributes):
                code = codes[attribute, row]
                add_distances(geometry, attribute, code, means, modes, totals[attribute], totals[attribute + 1])
            assigned[row] = nearest_centre(totals[attributes], alive, -1)
            sizes[assigned[row]] += weights[row]
            link[row] = head[assigned[row]]
            head[assigned[row]] = row
            row = following
