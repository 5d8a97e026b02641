"""Stand-ins for the SAL and INCOME tables of the CB paper, and what groups and boxes lose.

The originals are extracts of IPUMS that cannot be had offline. These generators give tables with the same columns and
numbers of distinct values, skewed as a census is, with the obvious dependencies: education and marital status on age,
occupation on education and gender, income on both, race on birthplace. They say how algorithms compare and scale, not
what the exact loss on the real tables would be.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Boxes
from shoal.encode.encode import encode_table
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.tables.schema import Attribute, Role, Scale

SAL = {
    "age": 78,
    "gender": 2,
    "education": 17,
    "marital": 6,
    "race": 9,
    "work-class": 10,
    "country": 83,
    "occupation": 50,
}
INCOME = {
    "age": 78,
    "occupation": 711,
    "birthplace": 983,
    "gender": 2,
    "education": 17,
    "race": 9,
    "work-class": 9,
    "marital": 6,
    "income": 9001,
}
SENSITIVE = {"sal": "occupation", "income": "income"}


def census(name: str, records: int, seed: int = 0) -> pl.DataFrame:
    """The table `sal` or `income` with so many records; all values are whole numbers from 0 (age from 16)."""
    sizes = {"sal": SAL, "income": INCOME}[name]
    random = np.random.default_rng([seed, len(name)])
    columns = _dependent_columns(name, records, sizes, random)
    frame = pl.DataFrame({column: _complete(random, columns[column], size) for column, size in sizes.items()})
    return frame.with_columns(pl.col("age") + 16)


def _dependent_columns(
    name: str, records: int, sizes: dict[str, int], random: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Each column drawn from those that it depends on; the order of the draws decides the table."""
    age = np.clip(random.gamma(4.0, 11.0, records) + 10, 16, 93).astype(np.int64) - 16
    gender = random.integers(0, 2, records)
    youth = np.clip((age + 16 - 6) / 20, 0.3, 1.0)
    education = _around(random, youth * random.beta(5, 3, records), sizes["education"], 0.05)
    marital = _around(random, np.clip(age / 60, 0, 1) * random.uniform(0.3, 1, records), sizes["marital"], 0.1)
    origin = "country" if name == "sal" else "birthplace"
    birthplace = _skewed(random, records, sizes[origin])
    race = np.where(
        random.random(records) < 0.75, np.minimum(birthplace % 5, 8), _skewed(random, records, sizes["race"])
    )
    skill = education / sizes["education"] * 0.6 + gender * 0.15 + random.beta(2, 2, records) * 0.25
    occupation = _around(random, skill, sizes["occupation"], 0.08)
    work = np.where(random.random(records) < 0.7, 0, _around(random, skill, sizes["work-class"], 0.3))
    columns = {
        "age": age,
        "gender": gender,
        "education": education,
        "marital": marital,
        "race": race,
        "work-class": work,
        origin: birthplace,
        "occupation": occupation,
    }
    if name == "income":
        pay = np.exp(random.normal(0, 0.5, records)) * (0.2 + skill) * (0.5 + np.clip(age, 0, 40) / 40)
        columns["income"] = np.clip(pay * 3000, 0, sizes["income"] - 1).astype(np.int64)
    return columns


def _around(random: np.random.Generator, share: NDArray[np.float64], size: int, spread: float) -> NDArray[np.int64]:
    """A value near the given share of the domain."""
    noisy = share + random.normal(0, spread, share.shape[0])
    return np.clip(noisy * size, 0, size - 1).astype(np.int64)


def _skewed(random: np.random.Generator, records: int, size: int) -> NDArray[np.int64]:
    """Few common values, many rare ones (Zipf), the common ones spread over the domain."""
    shares = 1.0 / np.arange(1, size + 1) ** 1.3
    ranks = np.random.default_rng(size).permutation(size)
    return ranks[random.choice(size, records, p=shares / shares.sum())]


def _complete(random: np.random.Generator, values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Every value of the domain at least once, where there are records enough."""
    lacking = np.setdiff1d(np.arange(size), values)
    if lacking.size * 10 <= values.shape[0]:
        values = values.copy()
        values[random.choice(values.shape[0], lacking.size, replace=False)] = lacking
    return values


def encode_census(name: str, frame: pl.DataFrame, quasi: int) -> EncodedTable:
    """The first quasi-identifiers of a table, all of them over a global order of their values, as in the paper."""
    columns = [column for column in frame.columns if column != SENSITIVE[name]][:quasi]
    attributes = [Attribute(column, Role.QUASI_IDENTIFYING, Scale.INTEGER) for column in columns]
    return encode_table(frame.select(columns), attributes, {})[0]


def groups_loss(table: EncodedTable, groups: NDArray[np.int32]) -> float:
    """The loss of all records, over all attributes with their weights, when every group is released as one value."""
    return float((group_costs(table, groups) * np.bincount(groups)).sum())


def group_costs(table: EncodedTable, groups: NDArray[np.int32]) -> NDArray[np.float64]:
    """(groups,) what one record of each group loses."""
    count = int(groups.max()) + 1
    total = np.zeros(count)
    for attribute, codes in zip(table.attributes, table.record_codes, strict=True):
        if attribute.kind is Kind.FLAT:
            pairs = np.unique(groups.astype(np.int64) * attribute.size + codes)
            cost = (np.bincount(pairs // attribute.size, minlength=count) - 1) / max(1, attribute.size - 1)
        else:
            low, high = np.full(count, attribute.size), np.full(count, -1)
            np.minimum.at(low, groups, codes)
            np.maximum.at(high, groups, codes)
            cost = range_costs(attribute, low, high)
        total += attribute.weight * cost
    return total


def boxes_loss(table: EncodedTable, boxes: Boxes) -> float:
    """The loss of all records when each is released as its own box."""
    return sum(
        attribute.weight * float(range_costs(attribute, low, high)[boxes.box_of_record].sum())
        for attribute, low, high in zip(table.attributes, boxes.low, boxes.high, strict=True)
    )


def range_costs(attribute: EncodedAttribute, low: NDArray, high: NDArray) -> NDArray[np.float64]:
    if attribute.kind is not Kind.TREE:
        return np.minimum(1.0, attribute.positions[high] - attribute.positions[low])
    cost = np.zeros(low.shape[0])
    for level in range(attribute.levels - 1, -1, -1):  # the lowest level at which both ends meet is written last
        same = attribute.ancestors[level][low] == attribute.ancestors[level][high]
        cost = np.where(same, attribute.level_cost[level][low], cost)
    return cost
