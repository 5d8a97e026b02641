"""One decorator for all kernels.

Kernels release the GIL; none uses numba's own threads, which abort on concurrent calls: parallel work is cut into
fixed pieces and run on a thread pool by the caller. What is compiled is kept in the folder of `kernels.cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from shoal.kernels.cache import CACHE_FOLDER

Function = TypeVar("Function", bound=Callable[..., Any])

if CACHE_FOLDER:
    setattr(numba.config, "CACHE_DIR", CACHE_FOLDER)  # noqa: B010  (the module's own types do not know it)


def kernel(function: Function) -> Function:
    """Compile on first use, remember on disk, release the GIL while running."""
    return cast(Function, numba.njit(cache=bool(CACHE_FOLDER), nogil=True)(function))
