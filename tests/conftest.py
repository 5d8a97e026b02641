"""What all tests share: the folder of real tables, if there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-goldens", action="store_true", help="store the golden releases anew")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real tables (adult, crx, ...), named by the environment variable SHOAL_DATA."""
    named = os.environ.get("SHOAL_DATA")
    if not named:
        pytest.skip("SHOAL_DATA is not set: the real tables are needed for this test")
    folder = Path(named)
    if not (folder / "adult" / "adult_arx.csv").is_file():
        pytest.skip("SHOAL_DATA does not hold adult/adult_arx.csv: the real tables are needed for this test")
    return folder
