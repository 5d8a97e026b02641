"""What makes a command start and end quickly: for the command line only, a library leaves its process alone."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.tables.formats.files import Reading

_OBJECTS_BEFORE_A_LOOK = 100_000
_LEFT_OUT = "scipy"
_LARGEST_READ_EARLY = 1 << 28  # bytes; how a larger table is read is decided first


def look_for_garbage_seldom() -> None:
    """Loading makes very many objects that all stay: to look for garbage among them takes a sixth of the time."""
    gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)


def end_without_looking_for_garbage() -> None:
    """Python looks through all objects once more before it ends, for a third of a second; the system frees them too."""
    gc.freeze()


def read_early(named: str | None, options: dict[str, Any], numbered: Collection[str]) -> Reading | None:
    """Begin to read a table before the rest of the program is loaded; None if nothing, or nothing right, was named."""
    if named is None or "://" in named or not _is_small(Path(named)):  # nothing, or a table of a database
        return None
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads for matrix products, which nobody makes here
    from shoal.errors import InputError
    from shoal.tables.formats.csv.options import CsvOptions
    from shoal.tables.formats.files import Reading

    try:
        return Reading(Path(named), CsvOptions(**options), numbered)
    except InputError:
        return None


def _is_small(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _LARGEST_READ_EARLY
    except (OSError, ValueError):
        return False


def load_compiler() -> None:
    """Load numba, but not scipy with it.

    numba loads scipy, if it is there, to know whether matrix products can be compiled. No kernel has one, and it takes
    nearly as long as numba itself. Whoever asks for scipy later gets it.
    """
    if _LEFT_OUT in sys.modules:
        return
    sys.modules[_LEFT_OUT] = None  # type: ignore[assignment]  # what Python takes for "there is no such module"
    try:
        import numba.np.arraymath  # noqa: F401  (where numba asks)
    finally:
        del sys.modules[_LEFT_OUT]
