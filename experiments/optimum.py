"""How far every algorithm is from the best of all partitions, on tables small enough to know it.

    shoal experiment optimum

Random tables of 8 to 10 records with a number, a category with a hierarchy and one without. The best partition into
groups of at least k records is found exactly: the group of the first record is any set that holds it, and the rest is
parted in the best way. A result below the best would be impossible; how far above it an algorithm is, it shows. Every
case is one line in optimum.csv. Non-homogeneous generalization makes no partition, so it is left out.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from experiments.census import boxes_loss, groups_loss, range_costs
from experiments.charts import bars
from experiments.common import Extent, Finding, append_row, save_chart, waiting_cases
from experiments.pages import write_page
from shoal.algorithms.base import Context
from shoal.algorithms.registry import algorithm_class, algorithm_names, make_algorithm
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import ProgressCallback
from shoal.testing.tables import encode_simple

COLOURS = {"*": {"warm": ["red", "orange", "yellow"], "cold": ["blue", "green"], "none": ["white"]}}
LEAVES = [leaf for group in COLOURS["*"].values() for leaf in group]
CASES = ("algorithm", "records", "k", "seed")
NAMES = tuple(name for name in algorithm_names() if algorithm_class(name).class_based)


def small_table(seed: int, records: int) -> EncodedTable:
    random = np.random.default_rng([seed, records])
    return encode_simple(
        {
            "number": random.integers(0, 12, records).tolist(),
            "colour": random.choice(LEAVES, records).tolist(),
            "letter": random.choice(list("abcd"), records).tolist(),
        },
        hierarchies={"colour": COLOURS},
    )


def subset_losses(table: EncodedTable) -> NDArray[np.float64]:
    """(2^records,) the loss of each set of records when it is one group; bit r of a set says that it has record r."""
    sets = np.arange(1 << table.records)
    inside = (sets[:, np.newaxis] >> np.arange(table.records)) & 1 == 1
    total = np.zeros(sets.size)
    for attribute, codes in zip(table.attributes, table.record_codes, strict=True):
        total += attribute.weight * _costs_inside(attribute, codes, inside)
    return total * inside.sum(axis=1)


def _costs_inside(
    attribute: EncodedAttribute, codes: NDArray[np.int32], inside: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(sets,) what a record of each set loses on one attribute."""
    if attribute.kind is Kind.FLAT:
        present = [(inside & (codes == code)).any(axis=1) for code in range(attribute.size)]
        distinct = np.sum(present, axis=0)
        return np.asarray((np.maximum(1, distinct) - 1) / max(1, attribute.size - 1))
    low = np.where(inside, codes, attribute.size - 1).min(axis=1)
    high = np.where(inside, codes, 0).max(axis=1)
    return range_costs(attribute, np.minimum(low, high), high)


@lru_cache(maxsize=128)
def best_loss(seed: int, records: int, k: int) -> float:
    """The least loss of all partitions of a table into groups of at least k records."""
    alone = subset_losses(small_table(seed, records))
    sizes = np.array([number.bit_count() for number in range(1 << records)])
    best = np.full(1 << records, np.inf)
    best[0] = 0.0
    for everyone in range(1, 1 << records):
        first = everyone & -everyone
        others = everyone ^ first
        part = others
        while True:  # every set of the others, together with the first record
            group = part | first
            if sizes[group] >= k:
                best[everyone] = min(best[everyone], alone[group] + best[everyone ^ group])
            if part == 0:
                break
            part = (part - 1) & others
    return float(best[-1])


def measure(name: str, records: int, k: int, seed: int) -> dict[str, Any]:
    table = small_table(seed, records)
    found = make_algorithm(name).cluster(table, Requirement.of([KAnonymity(k)]), Context(seed=seed))
    loss = groups_loss(table, found.groups) if found.boxes is None else boxes_loss(table, found.boxes)
    return {"loss": round(loss, 9), "best": round(best_loss(seed, records, k), 9)}


def cases(extent: Extent) -> list[tuple[str, int, int, int]]:
    kinds = extent.pick(((8, 2),), ((8, 2), (9, 3), (10, 2)))
    seeds = range(extent.pick(5, 30))
    return [(name, records, k, seed) for records, k in kinds for seed in seeds for name in NAMES]


def run(data: Path, out: Path, extent: Extent, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the chart, and say whether any result is impossible."""
    file = out / "optimum.csv"
    wanted = cases(extent)
    for case in waiting_cases(file, CASES, wanted, progress):
        append_row(file, {**dict(zip(CASES, case, strict=True)), **measure(*case)})
    keys = pl.DataFrame(wanted, schema=list(CASES), orient="row")
    rows = pl.read_csv(file).join(keys, on=list(CASES))
    means = summarized(rows)
    write_page(out, "optimum", "How far from the optimum (all partitions of small tables)", claims(rows), means, [NOTE])
    save_chart(bars(means, "times the best", "algorithm", "loss over that of the best partition"), out / "optimum.svg")
    return claims(rows)


NOTE = (
    "Loss over that of the best partition, summed over all tables and in the worst one, and the share of tables in "
    "which the algorithm found a best partition. Algorithms that split at fixed places have few to choose from in "
    "tables this small; those that measure distortion (KOC, KACA, DBCA) are not after this loss."
)


def summarized(rows: pl.DataFrame) -> pl.DataFrame:
    ratio = pl.col("loss") / pl.col("best")
    return (
        rows.group_by("algorithm")
        .agg(
            (pl.col("loss").sum() / pl.col("best").sum()).alias("times the best"),
            ratio.filter(pl.col("best") > 0).max().alias("worst table"),
            (pl.col("loss") <= pl.col("best") + 1e-6).mean().alias("optimal in"),
            pl.len().alias("tables"),
        )
        .sort("times the best", "algorithm")
    )


def claims(rows: pl.DataFrame) -> list[Finding]:
    lowest = float((rows["loss"] - rows["best"]).min())
    text = f"lowest difference from the best {lowest:.1e}, over {rows.height} results"
    ours = summarized(rows).filter(pl.col("algorithm") == "shoal")["times the best"][0]
    least = summarized(rows)["times the best"].min()
    return [
        Finding("no result is below the best of all partitions", text, lowest >= -1e-6),
        Finding("the default algorithm is nearest to it", f"{ours:.3f} times the best", bool(ours <= least + 1e-9)),
    ]
