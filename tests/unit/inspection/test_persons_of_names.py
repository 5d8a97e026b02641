"""People who share a name are not one person; numbers that repeat are."""

from __future__ import annotations

import polars as pl

import shoal


def test_a_name_that_seldom_repeats_is_no_person() -> None:
    names = [f"Person {number % 980}" for number in range(1000)]
    assert shoal.inspect(pl.DataFrame({"name": names, "age": [30] * 1000}))["person"] is None


def test_a_number_of_persons_that_repeats_is_one() -> None:
    numbers = [f"P{number % 980}" for number in range(1000)]
    found = shoal.inspect(pl.DataFrame({"patient_id": numbers, "age": [30] * 1000}))
    assert found["person"]["column"] == "patient_id"


def test_streets_and_free_texts_are_no_persons() -> None:
    """Many live in one street, and many reports say the same."""
    streets = [f"Hauptstr. {number % 40}" for number in range(200)]
    told = [f"der Patient klagt über Schmerzen im Knie seit {number % 40} Tagen" for number in range(200)]
    ages = [number % 50 for number in range(200)]
    found = shoal.inspect(pl.DataFrame({"Straße": streets, "Befundtext": told, "Alter": ages}))
    assert [column["role"] for column in found["columns"]][:2] == ["identifying", "identifying"]
    assert found["person"] is None
