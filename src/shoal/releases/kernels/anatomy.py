"""Groups of different values: again and again one of each of the m commonest that are left."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel


@kernel
def commonest_together(counts: Any, m: int, groups: Any) -> int:
    """Returns how many groups were made. If no value has more than a share 1/m, fewer than m records are left over.

    IN OUT counts  int64 (values,) how many records have each value; what is left over afterwards
    OUT    groups  int32 (all records // m, m) the values of each group; the lowest of equally common ones first
    """
    values = counts.shape[0]
    taken = np.zeros(values, dtype=np.uint8)
    chosen = np.zeros(m, dtype=np.int32)  # written to `groups` once there are m of them
    made = 0
    while True:
        for value in range(values):
            taken[value] = 0
        for place in range(m):
            best = -1
            for value in range(values):
                if taken[value] == 0 and counts[value] > 0 and (best < 0 or counts[value] > counts[best]):
                    best = value
            if best < 0:
                return made
            taken[best] = 1
            chosen[place] = best
        for place in range(m):
            groups[made, place] = chosen[place]
            counts[chosen[place]] -= 1
        made += 1
