"""What ranges tell about each other if the rows are sorted: in a run that may not fall, each bounds its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel


@kernel
def narrow_in_runs(
    low: NDArray[np.float64],  # IN (rows,) lowest value that the cell stands for
    high: NDArray[np.float64],  # IN (rows,) highest value
    narrow_low: NDArray[np.float64],  # OUT (rows,) the same if the values of a run do not fall
    narrow_high: NDArray[np.float64],  # OUT (rows,)
) -> int:
    """The number of runs: the longest stretches of rows, one after the other, whose values need not fall."""
    rows, runs, start = low.shape[0], 0, 0
    while start < rows:
        runs += 1
        floor, end = low[start], start
        while end < rows and high[end] >= floor:
            floor = max(floor, low[end])
            narrow_low[end] = floor
            end += 1
        ceiling = high[end - 1]
        for row in range(end - 1, start - 1, -1):
            ceiling = min(ceiling, high[row])
            narrow_high[row] = ceiling
        start = end
    return runs
