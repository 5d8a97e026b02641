"""Classes of rows that agree after generalization to one level per attribute, and the search for good levels.

A row's key is the sum of one random 64-bit number per attribute and node: rows agree when their keys agree. Changing
one attribute's level changes the key by one subtraction and one addition, so trying a neighbour in the lattice of
levels costs one pass over the rows that are still unplaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel

_SPREAD = np.uint64(11400714819323198485)


@kernel
def _slot(keys: Any, key: Any, shift: Any, mask: Any) -> Any:
    """Where a key is, or belongs, in an open-addressing table (0 is free)."""
    place = np.int64((key * _SPREAD) >> shift)
    while keys[place] != 0 and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def count_classes(
    rows: Any, weights: Any, base: Any, old: Any, new: Any, codes: Any, keys: Any, sums: Any, slots: Any
) -> None:
    """Total weight per class when one attribute goes from the old to the new level.

    IN  rows   int32 (left,) rows that are not placed yet
    IN  base   uint64 (rows,) key of each row at the present levels
    IN  old, new  uint64 (size,) key numbers of the attribute's codes at the two levels; codes int32 (rows,)
    OUT keys uint64, sums int64 (table size,); slots int32 (left,) where each row's class is
    """
    mask = keys.shape[0] - 1
    bits = 0
    while (1 << bits) < keys.shape[0]:
        bits += 1
    shift = np.uint64(64 - bits)
    keys[:] = 0
    sums[:] = 0
    for place in range(rows.shape[0]):
        row = rows[place]
        code = codes[row]
        key = base[row] - old[code] + new[code]
        found = _slot(keys, key, shift, mask)
        keys[found] = key
        sums[found] += weights[row]
        slots[place] = found


@kernel
def gain_of_level(
    rows: Any, weights: Any, costs: Any, old: Any, new: Any, codes: Any, sums: Any, slots: Any, k: Any, price: Any
) -> Any:
    """The sum of (price - loss) over the records whose class has k or more.

    IN  costs     float64 (rows,) loss of each row at the present levels
    IN  old, new  float64 (size,) loss of the attribute's codes at the two levels
    """
    gain = 0.0
    for place in range(rows.shape[0]):
        if sums[slots[place]] >= k:
            row = rows[place]
            code = codes[row]
            gain += weights[row] * (price - (costs[row] - old[code] + new[code]))
    return gain


@kernel
def change_level(
    rows: Any, codes: Any, base: Any, costs: Any, old_key: Any, new_key: Any, old_cost: Any, new_cost: Any
) -> None:
    """Take the new level of one attribute into keys and costs."""
    for place in range(rows.shape[0]):
        row = rows[place]
        code = codes[row]
        base[row] += new_key[code] - old_key[code]
        costs[row] += new_cost[code] - old_cost[code]


@kernel
def take_classes(rows: Any, sums: Any, slots: Any, k: Any, first_group: Any, group: Any, numbers: Any) -> Any:
    """Rows in classes of k or more get a group; the others move to the front of `rows`. Returns (left, next group).

    OUT numbers  int32 (table size,) scratch: the group of each class
    """
    numbers[:] = -1
    left = 0
    following = first_group
    for place in range(rows.shape[0]):
        row = rows[place]
        slot = slots[place]
        if sums[slot] >= k:
            if numbers[slot] < 0:
                numbers[slot] = following
                following += 1
            group[row] = numbers[slot]
        else:
            rows[left] = row
            left += 1
    return left, following
