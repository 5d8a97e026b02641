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
    ("module", "name"),
    [
        ("kernels.geometry", "polars"),
        ("algorithms.kaca.kernels.kaca", "polars"),
        ("algorithms.kaca.kernels.kaca", "shoal.encode.encoded_table.EncodedTable"),
        ("kernels.geometry", "shoal.algorithms.base.Context"),
        ("algorithms.mondrian.mondrian", "shoal.tables.formats.files.read_table"),
        ("algorithms.base", "shoal.algorithms.mondrian.mondrian.Mondrian"),
        ("verification.check", "shoal.algorithms.mondrian.mondrian.Mondrian"),
        ("models.base", "shoal.pipeline.run.run"),
        ("tables.schema", "shoal.cli.main.main"),
        ("api", "shoal.cli.main.main"),
        ("errors", "shoal.tables.schema.Role"),
        ("engines.local", "pyspark"),
        ("a_new_folder.module", "numpy"),
    ],
)
def test_a_wrong_import_is_found(checker, module: str, name: str) -> None:
    assert checker.breach(module, name) is not None


def test_a_right_import_is_not_found(checker) -> None:
    assert checker.breach("algorithms.mondrian.mondrian", "shoal.algorithms.mondrian.kernels.mondrian.cut") is None
    assert checker.breach("kernels.geometry", "numpy") is None
