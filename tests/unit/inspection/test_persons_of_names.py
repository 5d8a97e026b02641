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
