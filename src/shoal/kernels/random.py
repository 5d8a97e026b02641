"""A small random generator for kernels: its state is one uint64 in an array, one for every piece of work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

_MULTIPLIER = np.uint64(2685821657736338717)
_A, _B, _C, _HALF, _FRACTION = np.uint64(12), np.uint64(25), np.uint64(27), np.uint64(32), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


def random_state(generator: np.random.Generator) -> NDArray[np.uint64]:
    """The state of a kernel's random generator."""
    return generator.integers(1, 2**63, size=1, dtype=np.uint64)


@kernel
def next_bits(state: Any) -> Any:
    """64 random bits (xorshift64*). The state must not be zero."""
    bits = state[0]
    bits ^= bits >> _A
    bits ^= bits << _B
    bits ^= bits >> _C
    state[0] = bits
    return bits * _MULTIPLIER


@kernel
def random_below(state: Any, limit: Any) -> Any:
    """A whole number from 0 to limit - 1; limit must be below 2 ** 31."""
    return np.int64(((next_bits(state) >> _HALF) * np.uint64(limit)) >> _HALF)


@kernel
def random_unit(state: Any) -> Any:
    """A number above 0 and up to 1, safe for a logarithm."""
    return (np.float64(next_bits(state) >> _FRACTION) + 1.0) * _UNIT
