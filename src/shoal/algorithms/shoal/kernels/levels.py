"""Classes of rows that agree after generalization to one level per attribute, and the search for good levels.

A row's key is the sum of one random 64-bit number per attribute and node: rows agree when their keys agree. Changing
one attribute's level changes the key by one subtraction and one addition, so trying a neighbour in the lattice of
levels costs one pass over the rows that are still unplaced, with one look into a hash table for each.

A place of the table (int64 (places, 2)) holds the key of a class, and its weight below the number of the try that wrote
it: what other tries wrote counts as free, so the table is never cleared. Every look is a walk through memory, so places
are small. Losses are whole numbers (fixed point), so that sums do not depend on their order; all rows of a
class lose the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel

_SPREAD = np.uint64(11400714819323198485)
_KEY, _TRY_WEIGHT = 0, 1
_WEIGHT_BITS = np.int64(40)
_WEIGHT = np.int64((1 << 40) - 1)
_GROUP = np.int64(1 << 39)  # more than any weight: what is added to it is the number of a group


@kernel
def _bits_left(places: Any) -> Any:
    """How far a 64-bit product is shifted to be a place of the table."""
    bits = 0
    while (1 << bits) < places:
        bits += 1
    return np.uint64(64 - bits)


@kernel
def _find(table: Any, key: Any, shift: Any, number: Any) -> Any:
    """Where a key is, or belongs, in the open-addressing table of this try."""
    mask = table.shape[0] - 1
    place = np.int64((key * _SPREAD) >> shift)
    while table[place, _TRY_WEIGHT] >> _WEIGHT_BITS == number and table[place, _KEY] != np.int64(key):
        place = (place + 1) & mask
    return place


@kernel
def count_classes(
    weights: Any,
    base: Any,
    losses: Any,
    codes: Any,
    old_key: Any,
    new_key: Any,
    old_loss: Any,
    new_loss: Any,
    table: Any,
    number: Any,
    k: Any,
) -> Any:
    """How many records are in classes of k or more, and their loss, if one attribute has another level.

    IN  weights  int64 (rows,), base uint64 (rows,) key, losses int64 (rows,) loss of each row at the present levels
    IN  codes    int32 (rows,) of the attribute; old_key, new_key uint64 (size,), old_loss, new_loss int64 (size,)
    OUT table    the classes, written with this number
    """
    shift = _bits_left(table.shape[0])
    placed = lost = 0
    for row in range(codes.shape[0]):
        code = codes[row]
        key = base[row] - old_key[code] + new_key[code]
        loss = losses[row] - old_loss[code] + new_loss[code]
        weight = weights[row]
        found = _find(table, key, shift, number)
        present = table[found, _TRY_WEIGHT]
        if present >> _WEIGHT_BITS != number:
            table[found, _KEY] = np.int64(key)
            present = np.int64(number) << _WEIGHT_BITS
        table[found, _TRY_WEIGHT] = present + weight
        before = present & _WEIGHT
        # without a branch: a processor cannot foresee which class gets large enough
        more = (weight + (before if before < k else 0)) if before + weight >= k else 0
        placed += more
        lost += more * loss
    return placed, lost


@kernel
def change_level(codes: Any, base: Any, losses: Any, old_key: Any, new_key: Any, old_loss: Any, new_loss: Any) -> None:
    """Take the new level of one attribute into keys and losses."""
    for row in range(codes.shape[0]):
        code = codes[row]
        base[row] += new_key[code] - old_key[code]
        losses[row] += new_loss[code] - old_loss[code]


@kernel
def take_classes(base: Any, table: Any, number: Any, k: Any, first_group: Any, group: Any) -> Any:
    """Rows in classes of k or more get a group, the others -1. Returns the next group.

    IN/OUT table  the classes of the present levels; those that leave get their group as their weight
    """
    shift = _bits_left(table.shape[0])
    following = first_group
    for row in range(base.shape[0]):
        found = _find(table, base[row], shift, number)
        group[row] = -1
        weight = table[found, _TRY_WEIGHT] & _WEIGHT
        if weight >= k:
            if weight < _GROUP:
                weight = _GROUP + following
                table[found, _TRY_WEIGHT] = (np.int64(number) << _WEIGHT_BITS) | weight
                following += 1
            group[row] = weight - _GROUP
    return following
