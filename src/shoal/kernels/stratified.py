"""The loss and the deficit of a set of records, for splits that look at both."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost
from shoal.kernels.safety import add_record, group_deficit, remove_record


@kernel
def set_loss(geometry: Any, codes: Any, row_of_record: Any, records: Any, marks: Any, stamp: Any) -> Any:
    """The loss of all records of a set together, released as one group.

    IN  codes          int32 (attributes, rows)   row_of_record int32 (records,)
    IN  records        int64 (members,)
    IN  marks          int64 (all codes,) scratch; `stamp` is a number that was not used before
    """
    total = 0.0
    for attribute in range(codes.shape[0]):
        low: Any = np.int64(np.iinfo(np.int32).max)
        high: Any = np.int64(-1)
        distinct = 0
        start = geometry.code_offsets[attribute]
        flat = geometry.kinds[attribute] == FLAT
        for place in range(records.shape[0]):
            code = np.int64(codes[attribute, row_of_record[records[place]]])
            low = min(low, code)
            high = max(high, code)
            if flat and marks[start + code] != stamp:
                marks[start + code] = stamp
                distinct += 1
        if flat:
            size = geometry.code_offsets[attribute + 1] - start
            total += geometry.weights[attribute] * (distinct - 1) / max(1, size - 1)
        elif low < high:
            total += geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
    return total * records.shape[0]


@kernel
def set_deficit(safety: Any, row: Any, records: Any) -> Any:
    """How far a set of records is from safe. IN  row  int32 (row length,) zero before and after."""
    for place in range(records.shape[0]):
        add_record(safety, row, records[place])
    deficit = group_deficit(safety, row, np.int64(records.shape[0]))
    for place in range(records.shape[0]):
        remove_record(safety, row, records[place])
    return deficit
