"""How many records can go from one cell to another, over all transport plans.

Every record of an earlier cell goes to one later cell along an edge; a later cell takes no more than its size. One
plan is kept and changed along shortest paths of what is left; it stays a plan all the time, so that every question
starts where the last one ended. Nodes: earlier cells, then later cells, then one exit that all later cells lead to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

NO_EDGE, GIVEN_UP = -1, -2
LONGEST = 2**62


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
    reach: int,
) -> int:
    """Push up to `most` records from source to target through what the plan leaves open; returns how many.

    A path is looked for along `reach` edges at most. If it is given up, `came_by` of the exit, which has no other use,
    is set to GIVEN_UP.

    `closed_edge` is never used, nor the way of later cell `closed_exit` to the exit. `came_from` must be -1
    everywhere, and is so again at the end. From the exit the way to an earlier cell is short: it leads through one of
    the later cells that take its records, so no others are visited.
    """
    earlier, later = start.shape[0] - 1, sizes.shape[0]
    exit_node = earlier + later
    pushed = 0
    came_by[exit_node] = NO_EDGE
    while pushed < most:
        queue[0] = source
        came_from[source] = source
        length, place, looked = 1, 0, 0
        while place < length and came_from[target] < 0:
            if looked > reach:
                came_by[exit_node] = GIVEN_UP
                break
            node = queue[place]
            place += 1
            if node < earlier:
                looked += start[node + 1] - start[node]
                for edge in range(start[node], start[node + 1]):
                    other = earlier + head[edge]
                    if edge != closed_edge and came_from[other] < 0:
                        came_from[other], came_by[other] = node, edge
                        queue[length] = other
                        length += 1
            elif node < exit_node:
                cell = node - earlier
                looked += back_start[cell + 1] - back_start[cell]
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
def first_plan(
    order: NDArray[np.int64],
    supply: NDArray[np.int64],
    sizes: NDArray[np.int64],
    start: NDArray[np.int64],
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    back_start: NDArray[np.int64],
    back: NDArray[np.int64],
    flow: NDArray[np.int64],
    taken: NDArray[np.int64],
) -> int:
    """One plan that places every record.

    IN   order       edges to be filled first, one after the other
    IN   supply      (earlier cells,) records, all of which must go somewhere
    IN   sizes       (later cells,) records that each can take
    IN   start       (earlier cells + 1,) edges of an earlier cell: start[c] to start[c + 1]
    IN   head, tail  (edges,) later and earlier cell of an edge
    IN   back_start  (later cells + 1,) the same for later cells, with edge numbers in `back`
    OUT  flow        (edges,) records along each edge; comes with 0
    OUT  taken       (later cells,) records that each takes; comes with 0

    Returns the number of records that no plan can place; if it is not 0, there is no plan.
    """
    earlier, later = supply.shape[0], sizes.shape[0]
    left = supply.copy()
    for place in range(order.shape[0]):
        edge = order[place]
        amount = min(left[tail[edge]], sizes[head[edge]] - taken[head[edge]])
        flow[edge] += amount
        taken[head[edge]] += amount
        left[tail[edge]] -= amount
    came_by = np.full(earlier + later + 1, NO_EDGE, dtype=np.int64)
    came_from = np.full(earlier + later + 1, -1, dtype=np.int32)
    queue = np.empty(earlier + later + 1, dtype=np.int32)
    unplaced = 0
    for cell in range(earlier):
        placed = _push(
            cell, earlier + later, left[cell], NO_EDGE, NO_EDGE, start, head, tail, back_start, back, sizes, flow,
            taken, came_by, came_from, queue, LONGEST,
        )  # fmt: skip
        unplaced += left[cell] - placed
    return unplaced


@kernel
def raise_pairs(
    pairs: NDArray[np.int64],
    enough: int,
    reach: int,
    pair_start: NDArray[np.int64],
    pair_edges: NDArray[np.int64],
    supply: NDArray[np.int64],
    sizes: NDArray[np.int64],
    start: NDArray[np.int64],
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    back_start: NDArray[np.int64],
    back: NDArray[np.int64],
    flow: NDArray[np.int64],
    taken: NDArray[np.int64],
    found: NDArray[np.int64],
    exact: NDArray[np.uint8],
) -> None:
    """For pairs of classes the most records that any plan sends from one to the other, or `enough` of them.

    IN      pairs                  (some,)
    IN      reach                  edges along which a path is looked for; given up, a pair is not exact
    IN      pair_start, pair_edges the edges of each pair, one for each sensitive value: their worlds do not touch
    IN OUT  flow, taken            a plan; another one afterwards
    IN OUT  found                  (edges,) the most records that a plan was seen to send along an edge
    IN OUT  exact                  (pairs,) 1 where no plan sends more
    """
    earlier, later = supply.shape[0], sizes.shape[0]
    came_by = np.full(earlier + later + 1, NO_EDGE, dtype=np.int64)
    came_from = np.full(earlier + later + 1, -1, dtype=np.int32)
    queue = np.empty(earlier + later + 1, dtype=np.int32)
    for place in range(pairs.shape[0]):
        pair = pairs[place]
        if exact[pair] == 1:
            continue
        total = 0
        for slot in range(pair_start[pair], pair_start[pair + 1]):
            edge = pair_edges[slot]
            found[edge] = max(found[edge], flow[edge])
            total += found[edge]
        settled = np.uint8(1)
        for slot in range(pair_start[pair], pair_start[pair + 1]):
            edge = pair_edges[slot]
            largest = min(supply[tail[edge]], sizes[head[edge]])
            if found[edge] == largest:
                continue
            if total >= enough:
                settled = np.uint8(0)
                break
            wanted = min(largest, found[edge] + enough - total)
            flow[edge] += _push(
                earlier + head[edge], tail[edge], wanted - flow[edge], edge, NO_EDGE, start, head, tail,
                back_start, back, sizes, flow, taken, came_by, came_from, queue, reach,
            )  # fmt: skip
            if came_by[earlier + later] == GIVEN_UP or (flow[edge] == wanted and wanted < largest):
                settled = np.uint8(0)
            if flow[edge] > found[edge]:
                total += flow[edge] - found[edge]
                found[edge] = flow[edge]
        exact[pair] = settled


@kernel
def most_free(
    cells: NDArray[np.int64],
    enough: NDArray[np.int64],
    reach: int,
    supply: NDArray[np.int64],
    sizes: NDArray[np.int64],
    start: NDArray[np.int64],
    head: NDArray[np.int32],
    tail: NDArray[np.int32],
    back_start: NDArray[np.int64],
    back: NDArray[np.int64],
    flow: NDArray[np.int64],
    taken: NDArray[np.int64],
    free: NDArray[np.int64],
    given_up: NDArray[np.uint8],
) -> None:
    """For later cells the most records that any plan leaves over, or `enough` of them.

    IN      cells, enough  (some,)
    IN      reach          edges along which a path is looked for
    IN OUT  flow, taken    a plan; another one afterwards
    IN OUT  free           (later cells,) the most that a plan was seen to leave over
    OUT     given_up       (later cells,) 1 where a plan might leave over more
    """
    earlier, later = supply.shape[0], sizes.shape[0]
    came_by = np.full(earlier + later + 1, NO_EDGE, dtype=np.int64)
    came_from = np.full(earlier + later + 1, -1, dtype=np.int32)
    queue = np.empty(earlier + later + 1, dtype=np.int32)
    for place in range(cells.shape[0]):
        cell = cells[place]
        wanted = min(taken[cell], enough[place] - (sizes[cell] - taken[cell]))
        given_up[cell] = 0
        if wanted > 0:
            taken[cell] -= _push(
                earlier + cell, earlier + later, wanted, NO_EDGE, cell, start, head, tail, back_start, back,
                sizes, flow, taken, came_by, came_from, queue, reach,
            )  # fmt: skip
            if came_by[earlier + later] == GIVEN_UP:
                given_up[cell] = 1
        free[cell] = max(free[cell], sizes[cell] - taken[cell])


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
