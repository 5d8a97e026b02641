"""What the experiments on distortion share: encoding adult, one measured run, charts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from experiments.charts import lines_chart
from experiments.common import adult, save_chart
from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.kaca.distance import group_covers, make_ladders
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role

MISSING = ("?",)


def encode_adult(
    folder: Path, quasi: Sequence[str], *, file: str = "adult_complete.csv", records: int | None = None
) -> EncodedTable:
    """The first records of a version of adult; the column `income` can be looked at as a class label."""
    frame, files = adult(folder, [*quasi, "income"], file)
    frame = frame.head(records) if records is not None else frame
    attributes = [
        Attribute(name, Role.QUASI_IDENTIFYING if name in quasi else Role.SENSITIVE, find_scale(frame[name], MISSING))
        for name in frame.columns
    ]
    trees = {}
    for name in quasi:
        values = frame[name].unique().sort().cast(pl.String).to_list()
        trees[name] = make_hierarchy(files[name], [value for value in values if value not in MISSING], name)
    return encode_table(frame, attributes, trees, EncodeOptions(missing=MISSING))[0]


def measure(algorithm: Algorithm, table: EncodedTable, k: int, seed: int) -> dict[str, Any]:
    """One run: seconds of CPU time of clustering alone, and what the groups lose."""
    requirement = Requirement.of([KAnonymity(k)])
    start = time.process_time()
    found = algorithm.cluster(table, requirement, Context(seed=seed))
    seconds = time.process_time() - start
    groups, sizes = found.groups, np.bincount(found.groups)
    costs = attribute_distortions(table, found)
    return {
        "seconds": round(seconds, 4),
        "distortion": round(float(costs.sum()), 3),
        "first_attribute": round(float(costs[0]), 3),
        "discernibility": int((sizes.astype(np.int64) ** 2).sum()),
        "classification": round(classification_metric(groups, table.columns["income"].codes), 6),
        "groups": int(sizes.size),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
    }


def attribute_distortions(table: EncodedTable, found: Clustering) -> NDArray[np.float64]:
    """(attributes,) what all records lose when lifted to the closest common generalization of their group, or to the
    values that an algorithm releases of its own."""
    ladders = make_ladders(table.attributes)
    if found.boxes is None:
        low, high, sizes = group_covers(ladders.flat_codes(table.codes)[table.row_of_record], found.groups)
    else:
        low, high = (ladders.flat_codes(codes) for codes in (found.boxes.low, found.boxes.high))
        sizes = np.bincount(found.boxes.box_of_record, minlength=low.shape[0]).astype(np.int64)
    return np.asarray(sizes @ ladders.cover_costs(low, high), dtype=np.float64)


def classification_metric(groups: NDArray[np.int32], labels: NDArray[np.int32]) -> float:
    """CM: the share of records whose label is not the commonest one of their group."""
    size = int(labels.max()) + 1
    counts = np.bincount(groups.astype(np.int64) * size + labels, minlength=(int(groups.max()) + 1) * size)
    return float(1.0 - counts.reshape(-1, size).max(axis=1).sum() / labels.shape[0])


def save_lines(rows: pl.DataFrame, out: Path, name: str, x: str, x_title: str, measures: dict[str, str]) -> None:
    """A chart per measure, as name_measure.svg."""
    for measure_name, title in measures.items():
        save_chart(lines_chart(rows, x, measure_name, (x_title, title)), out / f"{name}_{measure_name}.svg")


def summarized(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Means over the seeds; the seconds are the least of the repetitions, since other work only ever adds to them."""
    numbers = ("distortion", "first_attribute", "discernibility", "classification", "groups", "smallest", "largest")
    return rows.group_by(keys, maintain_order=True).agg(pl.col("seconds").min(), *(pl.col(n).mean() for n in numbers))


def ratio(rows: pl.DataFrame, measure_name: str, first: str, second: str, keys: Sequence[str]) -> NDArray[np.float64]:
    """(cases,) the measure of one algorithm over that of another."""
    one = rows.filter(pl.col("algorithm") == first).select(*keys, pl.col(measure_name).alias("first"))
    two = rows.filter(pl.col("algorithm") == second).select(*keys, pl.col(measure_name).alias("second"))
    both = one.join(two, on=list(keys))
    return np.asarray(both["first"].to_numpy() / both["second"].to_numpy(), dtype=np.float64)
