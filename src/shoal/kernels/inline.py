"""Kernels that are copied into their callers: the innermost steps of the search.

A state is a tuple of some twenty arrays; handing it to a function that is called a hundred million times costs a
third of the whole search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Compile as a part of the kernels that call it; their cache holds it."""
    return cast(Function, numba.njit(inline="always", nogil=True)(function))
