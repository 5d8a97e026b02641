"""k-map's verdict on a release, counted once more record by record."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.models.registry import parse_model
from shoal.verification.check import verify_release
from shoal.verification.population import _rows_in_all
from shoal.verification.reading import Knowledge

RANDOM = np.random.default_rng(11)
ROWS = 700  # not a whole number of words
POPULATION = pl.DataFrame(
    {
        "sex": RANDOM.choice(["m", "f"], ROWS).tolist(),
        "age": RANDOM.integers(20, 80, ROWS).tolist(),
        "born": RANDOM.choice(["1990-01-05", "1991-07-01", "1992-03-09", None], ROWS).tolist(),
        "person": RANDOM.integers(0, 200, ROWS).tolist(),
    }
)
AGES = [(20, 29), (35, 35), (30, 79), (90, 99)]
BORN = {"[1990-01-05, 1991-07-01]": ("1990-01-05", "1991-07-01"), "1992-03-09": ("1992-03-09",), "*": None}


def count_by_hand(sex: str, ages: tuple[int, int], born: str, person: bool) -> int:
    fitting = [
        row
        for row in POPULATION.to_dicts()
        if sex in ("*", row["sex"])
        and ages[0] <= row["age"] <= ages[1]
        and (BORN[born] is None or row["born"] in BORN[born])
    ]
    return len({row["person"] for row in fitting}) if person else len(fitting)


@pytest.mark.parametrize("person", [False, True])
def test_fitting_persons_are_those_that_a_plain_count_finds(person: bool) -> None:
    for sex in ("m", "*"):
        for ages in AGES:
            for born in BORN:
                text = f"[{ages[0]}, {ages[1]}]" if ages[0] < ages[1] else str(ages[0])
                release = pl.DataFrame({"sex": [sex], "age": [text], "born": [born]})
                model = parse_model("k-map:3:person" if person else "k-map:3")
                found = verify_release(
                    release, ["sex", "age", "born"], [model], Knowledge(population=POPULATION)
                ).checks[0]
                wanted = count_by_hand(sex, ages, born, person)
                assert found.measured == wanted
                assert found.passed == (wanted >= 3)


def test_rows_in_all_sets() -> None:
    inside = RANDOM.random((3, 64 * 40)) < 0.4
    inside[0, : 64 * 7] = False
    inside[0, 64 * 30 :] = False
    sets = [np.packbits(line).view(np.uint64) for line in inside]
    assert _rows_in_all(sets).tolist() == np.flatnonzero(inside.all(axis=0)).tolist()
    assert _rows_in_all([np.zeros(5, dtype=np.uint64), np.ones(5, dtype=np.uint64)]).size == 0


def test_a_range_of_large_integers_reaches_no_further_than_its_ends() -> None:
    """2^53 and 2^53 + 1 are one float: a range that begins at the second does not stand for the first."""
    population = pl.DataFrame({"number": [2**53, 2**53, 2**53, 2**53 + 1, 2**63 - 1]})
    release = pl.DataFrame({"number": [f"[{2**53 + 1}, {2**63 - 1}]"] * 2 + [f"{2**53}"] * 3})
    found = verify_release(release, ["number"], [parse_model("k-map:3")], Knowledge(population=population)).checks[0]
    assert found.measured == 2
    assert not found.passed
