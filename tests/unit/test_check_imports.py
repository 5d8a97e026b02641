"""The direction of imports holds, and the checker can tell when it does not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_imports.py"


@pytest.fixture(scope="module")
def checker():
    spec = importlib.util.spec_from_file_location("check_imports", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_import_against_the_rules(checker) -> None:
    assert checker.breaches() == []


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("kernels", "polars"),
        ("kernels", "shoal.algorithms.base.Context"),
        ("algorithms", "shoal.tables.files.read_table"),
        ("verify", "shoal.algorithms.mondrian.Mondrian"),
        ("models", "shoal.pipeline.run"),
        ("tables", "shoal.cli.main.main"),
    ],
)
def test_a_wrong_import_is_found(checker, folder: str, name: str) -> None:
    assert checker.breach(folder, name) is not None


def test_a_right_import_is_not_found(checker) -> None:
    assert checker.breach("algorithms", "shoal.kernels.mondrian.mondrian_pieces") is None
    assert checker.breach("kernels", "numpy") is None
