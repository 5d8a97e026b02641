"""How many records can go from one cell to another, over all transport plans.

Every record of an earlier cell goes to one later cell along an edge; a later cell takes no more than its size. One
plan is kept and changed along shortest paths of what is left; it stays a plan all the time, so that every question
starts where the last one ended. Nodes: earlier cells, then later cells, then one exit that all later cells lead to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

NO_EDGE = -1


@kernel
def _push(
    source: int,
    target: int,
    most: int,
    closed_edge: int,
    closed_exit: int,
    start: NDArray[np.int64],
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    back_start: NDArray[np.int64],
    back: NDArray[np.int64],
    sizes: NDArray[np.int64],
    flow: NDArray[np.int64],
    taken: NDArray[np.int64],
    came_by: NDArray[np.int64],
    came_from: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Push up to `most` records from source to target through what the plan leaves open; returns how many.

    `closed_edge` is never used, nor the way of later cell `closed_exit` to the exit. `came_from` must be -1
    everywhere, and is so again at the end. From the exit the way to an earlier cell is short: it leads through one of
    the later cells that take its records, so no others are visited.
    """
    earlier, later = start.shape[0] - 1, sizes.shape[0]
    exit_node = earlier + later
    pushed = 0
    while pushed < most:
        queue[0] = source
        came_from[source] = source
        length, place = 1, 0
        while place < length and came_from[target] < 0:
            node = queue[place]
            place += 1
            if node < earlier:
                for edge in range(start[node], start[node + 1]):
                    other = earlier + head[edge]
                    if edge != closed_edge and came_from[other] < 0:
                        came_from[other], came_by[other] = node, edge
                        queue[length] = other
                        length += 1
            elif node < exit_node:
                cell = node - earlier
                if cell != closed_exit and taken[cell] < sizes[cell] and came_from[exit_node] < 0:
                    came_from[exit_node] = node
                    queue[length] = exit_node
                    length += 1
                for slot in range(back_start[cell], back_start[cell + 1]):
                    edge = back[slot]
                    other = tail[edge]
                    if edge != closed_edge and flow[edge] > 0 and came_from[other] < 0:
                        came_from[other], came_by[other] = node, edge
                        queue[length] = other
                        length += 1
            else:
                # The target is an earlier cell: what it sends to a later cell, that cell can give back.
                for edge in range(start[target], start[target + 1]):
                    other = earlier + head[edge]
                    if edge != closed_edge and flow[edge] > 0 and came_from[other] < 0:
                        came_from[other] = node
                        queue[length] = other
                        length += 1
        amount = 0
        if came_from[target] >= 0:
            amount = most - pushed
            node = target
            while node != source:  # what the narrowest step lets through
                before = came_from[node]
                if node == exit_node:
                    amount = min(amount, sizes[before - earlier] - taken[before - earlier])
                elif before == exit_node:
                    amount = min(amount, taken[node - earlier])
                elif before >= earlier:
                    amount = min(amount, flow[came_by[node]])
                node = before
            node = target
            while node != source:
                before = came_from[node]
                if node == exit_node:
                    taken[before - earlier] += amount
                elif before == exit_node:
                    taken[node - earlier] -= amount
                elif before >= earlier:
                    flow[came_by[node]] -= amount
                else:
                    flow[came_by[node]] += amount
                node = before
        for slot in range(length):
            came_from[queue[slot]] = -1
        if amount == 0:
            break
        pushed += amount
    return pushed


@kernel
def largest_flows(
    supply: NDArray[np.int64],
    sizes: NDArray[np.int64],
    start: NDArray[np.int64],
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    back_start: NDArray[np.int64],
    back: NDArray[np.int64],
    largest: NDArray[np.int64],
    fewest: NDArray[np.int64],
) -> int:
    """For every edge the most records that any plan sends along it, for every later cell the fewest it takes.

    IN   supply      (earlier cells,) records, all of which must go somewhere
    IN   sizes       (later cells,) records that each can take
    IN   start       (earlier cells + 1,) edges of an earlier cell: start[c] to start[c + 1]
    IN   head, tail  (edges,) later and earlier cell of an edge
    IN   back_start  (later cells + 1,) the same for later cells, with edge numbers in `back`
    OUT  largest     (edges,)
    OUT  fewest      (later cells,)

    Returns the number of records that no plan can place; if it is not 0, there is no plan and nothing is filled.
    """
    earlier, later, edges = supply.shape[0], sizes.shape[0], head.shape[0]
    flow = np.zeros(edges, dtype=np.int64)
    taken = np.zeros(later, dtype=np.int64)
    came_by = np.full(earlier + later + 1, NO_EDGE, dtype=np.int64)
    came_from = np.full(earlier + later + 1, -1, dtype=np.int32)
    queue = np.empty(earlier + later + 1, dtype=np.int32)
    exit_node = earlier + later
    unplaced = 0
    for cell in range(earlier):
        placed = _push(
            cell, exit_node, supply[cell], NO_EDGE, NO_EDGE, start, head, tail, back_start, back, sizes, flow,
            taken, came_by, came_from, queue,
        )  # fmt: skip
        unplaced += supply[cell] - placed
    if unplaced > 0:
        return unplaced
    for edge in range(edges):
        most = min(supply[tail[edge]], sizes[head[edge]]) - flow[edge]
        pushed = _push(
            earlier + head[edge], tail[edge], most, edge, NO_EDGE, start, head, tail, back_start, back, sizes,
            flow, taken, came_by, came_from, queue,
        )  # fmt: skip
        flow[edge] += pushed
        largest[edge] = flow[edge]
    for cell in range(later):
        elsewhere = _push(
            earlier + cell, exit_node, taken[cell], NO_EDGE, cell, start, head, tail, back_start, back, sizes,
            flow, taken, came_by, came_from, queue,
        )  # fmt: skip
        taken[cell] -= elsewhere
        fewest[cell] = taken[cell]
    return 0


@kernel
def room_nearby(
    sizes: NDArray[np.int64],
    start: NDArray[np.int64],
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    back_start: NDArray[np.int64],
    back: NDArray[np.int64],
    room: NDArray[np.int64],
) -> None:
    """For every later cell the size of all later cells that fit an earlier cell that fits it; arrays as above.

    OUT  room  (later cells,)
    """
    seen = np.full(sizes.shape[0], -1, dtype=np.int64)
    for cell in range(sizes.shape[0]):
        room[cell] = 0
        for slot in range(back_start[cell], back_start[cell + 1]):
            other = tail[back[slot]]
            for edge in range(start[other], start[other + 1]):
                if seen[head[edge]] != cell:
                    seen[head[edge]] = cell
                    room[cell] += sizes[head[edge]]
