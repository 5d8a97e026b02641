"""All attributes of a table as a few flat arrays, and what adding a code to a group costs.

Lines of different attributes have different lengths, so they stand one after the other in flat arrays with offsets.
`fill_add_costs` turns a group's box into one lookup table per attribute: the extra cost of adding each code. The cost
of adding a record to the group is then a sum of lookups, whatever kinds its attributes have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

INTERVAL, TREE, FLAT = 0, 1, 2


class Geometry(NamedTuple):
    """m attributes; the codes of attribute a stand at code_offsets[a] .. code_offsets[a + 1]."""

    kinds: NDArray[np.int32]  # (m,)
    weights: NDArray[np.float64]  # (m,)
    code_offsets: NDArray[np.int64]  # (m + 1,)
    positions: NDArray[np.float64]  # (all codes,)
    level_counts: NDArray[np.int32]  # (m,)
    level_offsets: NDArray[np.int64]  # (m,) where the levels of an attribute start; level l is at + l * size
    ancestors: NDArray[np.int32]  # (all levels x codes,)
    level_cost: NDArray[np.float64]  # (all levels x codes,)


@kernel
def tree_cost(geometry: Any, attribute: int, low: int, high: int) -> Any:
    """Loss of the lowest common ancestor of two leaves."""
    size = geometry.code_offsets[attribute + 1] - geometry.code_offsets[attribute]
    line = geometry.level_offsets[attribute]
    while geometry.ancestors[line + low] != geometry.ancestors[line + high]:
        line += size
    return geometry.level_cost[line + low]


@kernel
def range_cost(geometry: Any, attribute: int, low: int, high: int) -> Any:
    """Unweighted loss of a group that reaches from one code to another. FLAT counts all codes in between."""
    offset = geometry.code_offsets[attribute]
    if geometry.kinds[attribute] == TREE:
        return tree_cost(geometry, attribute, low, high)
    return min(1.0, geometry.positions[offset + high] - geometry.positions[offset + low])


@kernel
def fill_add_costs(geometry: Any, attribute: int, low: int, high: int, present: Any, costs: Any) -> None:
    """The weighted extra cost of adding each code of one attribute to a group.

    IN  low, high  the group's lowest and highest code
    IN  present    uint8 (all codes,) 1 where the group has the code (read for FLAT only)
    OUT costs      float64 (all codes,) the attribute's part is filled
    """
    start = geometry.code_offsets[attribute]
    size = geometry.code_offsets[attribute + 1] - start
    weight = geometry.weights[attribute]
    if geometry.kinds[attribute] == FLAT:
        step = weight / (size - 1) if size > 1 else 0.0
        for code in range(size):
            costs[start + code] = 0.0 if present[start + code] else step
        return
    now = range_cost(geometry, attribute, low, high)
    for code in range(low, high + 1):
        costs[start + code] = 0.0
    for code in range(low):
        costs[start + code] = weight * (range_cost(geometry, attribute, code, high) - now)
    for code in range(high + 1, size):
        costs[start + code] = weight * (range_cost(geometry, attribute, low, code) - now)


@kernel
def grown_costs(geometry: Any, attribute: int, low: Any, high: Any, code: int, now: Any, grown: Any) -> None:
    """Unweighted loss of one attribute of every group, as it is and after adding a code; not for FLAT.

    IN  low, high   int32 (groups,)
    OUT now, grown  float64 (groups,)
    """
    for group in range(low.shape[0]):
        now[group] = range_cost(geometry, attribute, low[group], high[group])
        grown[group] = range_cost(geometry, attribute, min(low[group], code), max(high[group], code))
