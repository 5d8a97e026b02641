"""The loss of every group, each released as one class."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost


@kernel
def group_losses(geometry: Any, codes: Any, members: Any, starts: Any, marks: Any, losses: Any) -> None:
    """The loss of all records of a group together, for every group.

    IN  codes    int32 (attributes, records)
    IN  members  int32 (records,) in the order of the groups; a group begins at starts[group], int64 (groups + 1,)
    IN  marks    int64 (all codes,) all -1
    OUT losses   float64 (groups,)
    """
    for group in range(losses.shape[0]):
        losses[group] = 0.0
        for attribute in range(codes.shape[0]):
            offset = geometry.code_offsets[attribute]
            low: Any = np.int64(np.iinfo(np.int32).max)
            high: Any = np.int64(-1)
            distinct = 0
            for place in range(starts[group], starts[group + 1]):
                code = np.int64(codes[attribute, members[place]])
                low = min(low, code)
                high = max(high, code)
                if marks[offset + code] != group:
                    marks[offset + code] = group
                    distinct += 1
            size = starts[group + 1] - starts[group]
            if distinct < 2:
                continue
            if geometry.kinds[attribute] == FLAT:
                domain = geometry.code_offsets[attribute + 1] - offset
                losses[group] += size * geometry.weights[attribute] * (distinct - 1) / max(1, domain - 1)
            else:
                losses[group] += size * geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
