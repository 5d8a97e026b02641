"""Short names for the types of arrays: what the structures of the kernels are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
UInt8 = NDArray[np.uint8]
Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
UInt32 = NDArray[np.uint32]
Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]
Float64 = NDArray[np.float64]
