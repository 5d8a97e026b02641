"""What a command does not load, and that it can still be loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from shoal.cli.quick import load_compiler
load_compiler()
import numpy as np
from shoal.tables.formats.csv.scan import scan
assert scan(np.frombuffer(b"a,b\\n1,2\\n", dtype=np.uint8), ",", '"').records == 2
assert "scipy" not in sys.modules
import scipy.linalg.cython_blas
"""


def test_compiling_does_not_load_scipy_which_can_be_loaded_later() -> None:
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_the_version_needs_no_table_library() -> None:
    program = (
        "import sys, shoal.cli.main; assert not {'numpy', 'polars', 'numba', 'rich.progress'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
