"""Records that are left when groups have been built go, one by one, to the group whose total loss they raise least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.geometry import table_geometry
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.kernels.bounds import group_bounds
from shoal.kernels.geometry import grown_costs


def place_leftovers(table: EncodedTable, groups: NDArray[np.int32], group_count: int) -> NDArray[np.int32]:
    """A copy of `groups` in which every record of group -1 has been placed; ties go to the lowest group number.

    Cost: O(n m) for every left-over record, of which there are fewer than k after any greedy construction.
    """
    groups = groups.copy()
    leftovers = np.flatnonzero(groups < 0)
    if leftovers.size == 0:
        return groups
    geometry = table_geometry(table)
    placed = np.flatnonzero(groups >= 0)
    low = np.empty((table.width, group_count), dtype=np.int32)
    high = np.empty((table.width, group_count), dtype=np.int32)
    group_bounds(table.codes, table.row_of_record[placed], groups[placed], low, high)
    sizes = np.bincount(groups[placed], minlength=group_count).astype(np.float64)
    for record in leftovers:
        now, grown = np.zeros(group_count), np.zeros(group_count)
        row = table.row_of_record[record]
        for number, attribute in enumerate(table.attributes):
            code = int(table.codes[number, row])
            before, after = np.empty(group_count), np.empty(group_count)
            if attribute.kind is Kind.FLAT:
                _set_costs(table, number, groups, group_count, code, before, after)
            else:
                grown_costs(geometry, number, low[number], high[number], code, before, after)
            now += attribute.weight * before
            grown += attribute.weight * after
        chosen = int(np.argmin((sizes + 1) * grown - sizes * now))
        groups[record] = chosen
        sizes[chosen] += 1
        low[:, chosen] = np.minimum(low[:, chosen], table.codes[:, row])
        high[:, chosen] = np.maximum(high[:, chosen], table.codes[:, row])
    return groups


def _set_costs(
    table: EncodedTable,
    number: int,
    groups: NDArray[np.int32],
    group_count: int,
    code: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> None:
    """The loss of a set of values in every group, as it is and with one more code."""
    placed = groups >= 0
    codes = table.codes[number][table.row_of_record[placed]]
    size = table.attributes[number].size
    pairs = np.unique(groups[placed].astype(np.int64) * size + codes)
    distinct = np.bincount(pairs // size, minlength=group_count)
    has = np.zeros(group_count, dtype=bool)
    has[groups[placed][codes == code]] = True
    step = 1.0 / (size - 1) if size > 1 else 0.0
    before[:] = (distinct - 1) * step
    after[:] = before + np.where(has, 0.0, step)
