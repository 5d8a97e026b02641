"""The tight box of every group: its lowest and highest code per attribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel


@kernel
def group_bounds(codes: Any, row_of_record: Any, groups: Any, low: Any, high: Any) -> None:
    """One pass over the records, attribute by attribute.

    IN  codes          int32 (attributes, rows)
    IN  row_of_record  int32 (records,)
    IN  groups         int32 (records,)
    OUT low, high      int32 (attributes, groups), to be filled
    """
    attributes = codes.shape[0]
    for attribute in range(attributes):
        low[attribute, :] = np.iinfo(np.int32).max
        high[attribute, :] = -1
        for record in range(row_of_record.shape[0]):
            code = codes[attribute, row_of_record[record]]
            group = groups[record]
            if code < low[attribute, group]:
                low[attribute, group] = code
            if code > high[attribute, group]:
                high[attribute, group] = code


@kernel
def common_level(ancestors: Any, low: Any, high: Any, level: Any) -> None:
    """The lowest level at which the first and the last leaf of a set have the same ancestor.

    IN  ancestors  int32 (levels, leaves)
    IN  low, high  int32 (sets,)
    OUT level      int32 (sets,)
    """
    for number in range(low.shape[0]):
        found = 0
        while ancestors[found, low[number]] != ancestors[found, high[number]]:
            found += 1
        level[number] = found
