"""Small tables for the tests of evaluations, and a plain reading of their released cells (fixture `tables`)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import from_paths
from shoal.released.domain import Domain, make_domains
from shoal.released.reading import ReadTable, read_release
from shoal.tables.schema import Attribute, Role, Scale

JOBS = from_paths(
    "job",
    [
        ("Engineer", "Professional", "*"),
        ("Lawyer", "Professional", "*"),
        ("Dancer", "Artist", "*"),
        ("Writer", "Artist", "*"),
    ],
)
PARENT = {"Engineer": "Professional", "Lawyer": "Professional", "Dancer": "Artist", "Writer": "Artist"}
QUASI = ("age", "job", "city")
HIERARCHIES: dict[str, Hierarchy] = {"job": JOBS}


def random_table(records: int, seed: int, cities: str = "ABCDE") -> pl.DataFrame:
    random = np.random.default_rng(seed)
    ages = random.integers(20, 60, records)
    jobs = random.choice(JOBS.leaves, records, p=[0.4, 0.3, 0.2, 0.1])
    towns = random.choice(list(cities), records).tolist()
    illness = np.where((ages > 40) & (random.random(records) < 0.8), "flu", random.choice(["cold", "none"], records))
    return pl.DataFrame({"age": ages, "job": jobs.tolist(), "city": towns, "illness": illness})


def group_in_order(original: pl.DataFrame, k: int) -> np.ndarray:
    """Groups of k neighbours after sorting by job, age and city."""
    order = original.with_row_index("row").sort("job", "age", "city")["row"].to_numpy()
    groups = np.empty(original.height, dtype=np.int64)
    groups[order] = np.minimum(np.arange(original.height) // k, max(0, original.height // k - 1))
    return groups


def release_of(original: pl.DataFrame, groups: np.ndarray) -> pl.DataFrame:
    """The released text of every record, by the rules of the project, written down plainly."""
    columns: dict[str, list[str]] = {name: [] for name in QUASI}
    whole = set(original["city"].to_list())
    ages, jobs, cities = (original[name].to_list() for name in QUASI)
    members = {group: np.flatnonzero(groups == group) for group in set(groups.tolist())}
    for group in groups.tolist():
        rows = members[group]
        low, high = min(ages[row] for row in rows), max(ages[row] for row in rows)
        columns["age"].append(str(low) if low == high else f"[{low}, {high}]")
        found = sorted({jobs[row] for row in rows})
        parents = {PARENT[job] for job in found}
        columns["job"].append(found[0] if len(found) == 1 else (parents.pop() if len(parents) == 1 else "*"))
        town = sorted({cities[row] for row in rows})
        columns["city"].append(
            town[0] if len(town) == 1 else ("*" if set(town) == whole else "{" + ", ".join(town) + "}")
        )
    others = {name: original[name] for name in original.columns if name not in QUASI}
    return pl.DataFrame({**columns, **others})


def contains(cells: dict[str, str], person: dict[str, object]) -> bool:
    """Whether a released record can be a person: a second reading, shared with nobody."""
    age = cells["age"]
    if age != "*":
        low, high = (int(part) for part in age.strip("[]").split(", ")) if age[0] == "[" else (int(age), int(age))
        if not low <= int(str(person["age"])) <= high:
            return False
    if cells["job"] not in ("*", person["job"], PARENT[str(person["job"])]):
        return False
    return cells["city"] == "*" or str(person["city"]) in cells["city"].strip("{}").split(", ")


def domains_of(original: pl.DataFrame) -> dict[str, Domain]:
    scales = {"age": Scale.INTEGER, "job": Scale.CATEGORY, "city": Scale.CATEGORY}
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, scale) for name, scale in scales.items()]
    return make_domains(original, attributes, HIERARCHIES)


def read(original: pl.DataFrame, release: pl.DataFrame) -> ReadTable:
    return read_release(original, release, QUASI, domains_of(original))


def anonymized(records: int, k: int, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    original = random_table(records, seed)
    return original, release_of(original, group_in_order(original, k))


@pytest.fixture(scope="session")
def tables() -> SimpleNamespace:
    """The functions above, for tests."""
    return SimpleNamespace(
        quasi=QUASI,
        hierarchies=HIERARCHIES,
        random_table=random_table,
        group_in_order=group_in_order,
        release_of=release_of,
        contains=contains,
        domains_of=domains_of,
        read=read,
        anonymized=anonymized,
    )
