"""A hospital-like table of invented patients, with realistic skew and correlations, and its hierarchies.

Age shapes most of it: marital status, schooling, work and diagnosis follow it. Schooling and sex shape the
occupation, the postcode area shapes nationality, the diagnosis shapes season, length of stay and cost. Some
educations and occupations are missing. The same number of patients and seed give the same table on any machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem
from shoal.sample import people
from shoal.sample.diagnoses import CHAPTERS, DIAGNOSES, ONLY_WOMEN
from shoal.sample.draw import FloatArray, IntegerArray, bell, between, pick, pick_one_of, pick_word, texts
from shoal.tables.schema import Role

_AGES = 100
_FEMALE = 0
_FIRST_DAY = np.datetime64("2024-01-01")
_DAYS = 366
_AGE_WEIGHTS = {
    0: (7.0,),
    1: (1.6,),
    5: (0.8,),
    15: (0.7,),
    25: (1.1,),
    33: (1.5,),
    45: (1.2,),
    58: (1.9,),
    72: (2.6,),
    82: (2.5,),
    91: (0.9,),
    99: (0.08,),
}
_OCCUPATIONS = [name for group in people.OCCUPATIONS.values() for name in group]


def hospital_table(patients: int = 10_000, seed: int = 0) -> pl.DataFrame:
    """The table: one row per stay, twelve columns; see `hospital_roles` for what each of them is."""
    if patients < 1:
        raise InputError(Problem("bad-sample", "the sample needs at least one patient"))
    random = np.random.Generator(np.random.PCG64(seed))
    age = pick(random, between(_AGE_WEIGHTS, _AGES).T, np.zeros(patients, dtype=np.int64))
    sex = (random.random(patients) < 0.49 - np.maximum(0, age - 60) * 0.002).astype(np.int64)  # 0 female, 1 male
    diagnosis = pick(random, _diagnosis_weights(), age * 2 + sex)
    area, postcode = _postcodes(random, patients)
    education = pick(random, between(people.EDUCATION_BY_AGE, _AGES), age)
    occupation = _occupations(random, age, sex, education)
    stay = _stays(random, age, diagnosis)
    return pl.DataFrame(
        {
            "name": _names(random, sex),
            "age": age,
            "sex": texts(("female", "male"), sex),
            "postcode": postcode,
            "nationality": _nationalities(random, area),
            "marital_status": texts(people.MARITAL_STATUSES, pick(random, between(people.MARITAL_BY_AGE, _AGES), age)),
            "education": _with_gaps(random, texts(people.EDUCATIONS, education), 0.02),
            "occupation": _with_gaps(random, texts(_OCCUPATIONS, occupation), 0.03),
            "admission_date": _admissions(random, diagnosis),
            "diagnosis": texts([entry.name for entry in DIAGNOSES], diagnosis),
            "length_of_stay": stay,
            "cost": _costs(random, diagnosis, stay),
        }
    )


def hospital_hierarchies() -> dict[str, Any]:
    """A hierarchy for every quasi-identifier that needs one, and for the diagnosis, as a job would write them."""
    return {
        "age": {"builder": "ranges", "width": 5},
        "postcode": {"builder": "prefix"},
        "nationality": {
            "*": {
                "Europe": {
                    region: list(people.NATIONALITIES[region])
                    for region in ("Western Europe", "Eastern Europe", "Southern Europe")
                },
                "outside Europe": {
                    region: list(people.NATIONALITIES[region])
                    for region in ("Middle East", "Asia", "Africa", "Americas")
                },
            }
        },
        "marital_status": {"*": {group: list(names) for group, names in people.MARITAL_GROUPS.items()}},
        "education": {"*": {group: list(names) for group, names in people.EDUCATION_GROUPS.items()}},
        "occupation": {"*": {group: list(names) for group, names in people.OCCUPATIONS.items()}},
        "admission_date": {"builder": "dates", "levels": ["month", "quarter"]},
        "diagnosis": {"*": {chapter: [entry.name for entry in entries] for chapter, entries in CHAPTERS.items()}},
    }


def hospital_roles() -> dict[str, Role]:
    """What each column is in the main job: eight quasi-identifiers, the diagnosis sensitive."""
    quasi = ("age", "sex", "postcode", "nationality", "marital_status", "education", "occupation", "admission_date")
    return {
        "name": Role.IDENTIFYING,
        **dict.fromkeys(quasi, Role.QUASI_IDENTIFYING),
        "diagnosis": Role.SENSITIVE,
        "length_of_stay": Role.INSENSITIVE,
        "cost": Role.INSENSITIVE,
    }


def _diagnosis_weights() -> FloatArray:
    """(2 * ages, diagnoses) weights for age and sex, the women first."""
    ages = np.arange(_AGES, dtype=np.float64)[:, None]
    peaks = np.array([entry.peak_age for entry in DIAGNOSES])
    spreads = np.array([entry.spread for entry in DIAGNOSES])
    frequencies = np.array([entry.frequency for entry in DIAGNOSES])
    women = np.array([entry.women for entry in DIAGNOSES])
    by_age = frequencies / (1.0 + ((ages - peaks) / spreads) ** 2) ** 2
    births = _diagnosis_numbers(ONLY_WOMEN)
    by_age[np.ix_(np.flatnonzero((ages[:, 0] < 16) | (ages[:, 0] > 46)), births)] = 0.0
    by_age[1:, _diagnosis_numbers(("newborn care",))] = 0.0
    by_age[:18, _diagnosis_numbers(("alcohol dependence", "prostate cancer", "breast cancer"))] = 0.0
    return np.stack([by_age * women, by_age * (2.0 - women)], axis=1).reshape(2 * _AGES, len(DIAGNOSES))


def _diagnosis_numbers(names: tuple[str, ...]) -> IntegerArray:
    return np.array([number for number, entry in enumerate(DIAGNOSES) if entry.name in names], dtype=np.int64)


def _names(random: np.random.Generator, sex: IntegerArray) -> pl.Series:
    count = len(sex)
    female = pick_word(random, people.FEMALE_NAMES, count)
    male = pick_word(random, people.MALE_NAMES, count)
    first = female.zip_with(pl.Series(sex == _FEMALE), male)
    return first + " " + pick_word(random, people.SURNAME_STARTS, count) + pick_word(random, people.SURNAME_ENDS, count)


def _postcodes(random: np.random.Generator, count: int) -> tuple[IntegerArray, pl.Series]:
    """The area of each patient and a postcode in it; the first postcodes of an area have the most people."""
    shares = list(people.POSTCODE_AREAS.values())
    area = pick_one_of(random, [share for share, _, _ in shares], count)
    most = max(size for _, size, _ in shares)
    weights = np.array(
        [[1.0 / (number + 1) if number < size else 0.0 for number in range(most)] for _, size, _ in shares]
    )
    number = pick(random, weights, area)
    # Postcodes of an area are spread over its hundred numbers so that masks make groups of several.
    codes = [
        f"{prefix}{(number % 4) * 20 + 3 + 2 * (number // 4):02d}"
        for prefix in people.POSTCODE_AREAS
        for number in range(most)
    ]
    return area, texts(codes, area * most + number)


def _nationalities(random: np.random.Generator, area: IntegerArray) -> pl.Series:
    abroad = {name: share for region in people.NATIONALITIES.values() for name, share in region.items() if share}
    foreign_share = np.array([share for _, _, share in people.POSTCODE_AREAS.values()])
    foreign = random.random(len(area)) < foreign_share[area]
    drawn = texts(list(abroad), pick_one_of(random, list(abroad.values()), len(area)))
    return drawn.zip_with(pl.Series(foreign), pl.Series([people.HOME_NATIONALITY]))


def _occupations(
    random: np.random.Generator, age: IntegerArray, sex: IntegerArray, education: IntegerArray
) -> IntegerArray:
    """By schooling and sex; children, pupils, many of the young and the old do not work."""
    groups = list(people.EDUCATION_GROUPS)
    schooling = np.array([max(0, groups.index(g) - 1) for g, levels in people.EDUCATION_GROUPS.items() for _ in levels])
    occupation = pick(random, _occupation_weights(), schooling[education] * 2 + sex)
    chance = random.random(len(age))
    upper_secondary = people.EDUCATIONS.index("upper secondary")
    studying = (age < 27) & (education >= upper_secondary) & (chance < 0.45)
    retired = chance < np.interp(age, [54, 60, 66, 70], [0.0, 0.08, 0.8, 0.97])
    at_school = education == people.EDUCATIONS.index("at school")
    for who, name in ((studying, "student"), (retired, "retired"), (at_school, "pupil"), (age < 6, "young child")):
        occupation[who] = _OCCUPATIONS.index(name)
    return occupation


def _occupation_weights() -> FloatArray:
    """(3 * 2, occupations) weights for schooling and sex, the women first."""
    table = np.array([weights for group in people.OCCUPATIONS.values() for weights in group.values()])
    by_sex = np.stack([table[:, 3], 1.0 - table[:, 3]])  # women, men
    weights: FloatArray = (table[:, :3].T[:, None, :] * by_sex[None, :, :]).reshape(6, len(table))
    return weights


def _admissions(random: np.random.Generator, diagnosis: IntegerArray) -> np.ndarray[Any, np.dtype[np.datetime64]]:
    """Days of 2024: fewer on weekends, more in winter or summer for what has a season."""
    day = np.arange(_DAYS)
    weekday = day % 7  # 2024 began on a Monday
    weekly = np.where(weekday >= 5, 0.55, np.where(weekday == 0, 1.15, 1.0))
    to_winter = np.abs(day - 183) / 183.0  # 1 at new year, 0 in early July
    by_season = {"none": np.ones(_DAYS), "winter": 0.5 + 1.2 * to_winter**2, "summer": 0.6 + (1.0 - to_winter)}
    weights = np.stack([weekly * season for season in by_season.values()])
    seasons = np.array([list(by_season).index(entry.season) for entry in DIAGNOSES])
    return (_FIRST_DAY + pick(random, weights, seasons[diagnosis])).astype("datetime64[D]")


def _stays(random: np.random.Generator, age: IntegerArray, diagnosis: IntegerArray) -> IntegerArray:
    median = np.array([entry.stay for entry in DIAGNOSES])[diagnosis]
    days = median * np.exp(0.5 * bell(random, len(age)) + 0.005 * (age - 55))
    return np.asarray(np.clip(np.rint(days), 1, 120), dtype=np.int64)


def _costs(random: np.random.Generator, diagnosis: IntegerArray, stay: IntegerArray) -> IntegerArray:
    daily = np.array([entry.daily_cost for entry in DIAGNOSES])[diagnosis]
    fixed = np.array([entry.fixed_cost for entry in DIAGNOSES])[diagnosis]
    cost = (fixed + daily * stay) * np.exp(0.25 * bell(random, len(stay)))
    return np.rint(cost).astype(np.int64)


def _with_gaps(random: np.random.Generator, values: pl.Series, share: float) -> pl.Series:
    present = pl.Series(random.random(len(values)) >= share)
    return values.zip_with(present, pl.Series([None], dtype=pl.String))
