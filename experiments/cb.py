"""The experiment of the CB paper: loss and time of CB and of non-homogeneous generalization (NH).

    shoal experiment cb

Generated SAL and INCOME tables (see `experiments.census`): GCP against k for 3 to 6 quasi-identifiers, against the
number of quasi-identifiers, and against the number of records (with all 7), and time against the number of records.
CB runs in all readings of the paper, `cb` (the increase of loss), `cb-total` and `cb-centres`, and with other numbers
of tries. Every case is one line in cb.csv; a run that was stopped goes on where it was. cb.md puts the claims beside
what was measured. Non-homogeneous generalization takes four fifths of the time of a full run, so the usual one has
fewer of its cases.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments.cb_claims import ALL, DEFAULT_K, claims, why
from experiments.census import boxes_loss, census, encode_census, groups_loss
from experiments.charts import in_panels, lines_chart
from experiments.common import Extent, Finding, append_row, save_chart, waiting_cases
from experiments.pages import write_page
from shoal.algorithms.base import Context
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import ProgressCallback

ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "cb": ("cb", {}),
    "cb-total": ("cb", {"join": "total"}),
    "cb-centres": ("cb", {"join": "centres"}),
    "nh": ("nonhomogeneous", {}),
    "cb-5": ("cb", {"rounds": 5}),
    "cb-30": ("cb", {"rounds": 30}),
}
READINGS = ("cb", "cb-total", "cb-centres", "nh")
OTHERS = READINGS[1:]
CASES = ("table", "records", "attributes", "k", "algorithm")


def measure(name: str, table: EncodedTable, k: int) -> dict[str, Any]:
    kind, parameters = ALGORITHMS[name]
    start, wall = time.process_time(), time.perf_counter()
    requirement = Requirement.of([KAnonymity(k)])
    found = make_algorithm(kind, **parameters).cluster(table, requirement, Context(threads=2))
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    loss = groups_loss(table, found.groups) if found.boxes is None else boxes_loss(table, found.boxes)
    sizes = np.bincount(found.groups)
    return {
        "gcp": round(loss / (table.records * table.width), 6),
        "seconds": round(seconds, 3),
        "wall": round(wall, 3),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
    }


def cases(extent: Extent) -> list[tuple[str, int, int, int, str]]:
    usual = extent.pick(20_000, 50_000, 100_000)
    widths = extent.pick((3, 6), (3, 4, 5, 6))
    ks, few = extent.pick((50, 250), (50, 100, 150, 200, 250)), (50, DEFAULT_K, 250)
    every = (100_000, 200_000, 300_000, 400_000, 500_000)
    sizes = extent.pick((20_000, 40_000), every[::2], every)
    some_ks = {name: ks if name == "cb" or extent is not Extent.USUAL else few for name in READINGS}
    some_sizes = {name: sizes if name == "cb" or extent is not Extent.USUAL else sizes[:2] for name in READINGS}
    tables = ("sal", "income")
    found = [(t, usual, d, k, a) for t in tables for d in widths for a in READINGS for k in some_ks[a]]
    found += [(t, usual, d, DEFAULT_K, a) for t in tables for d in widths for a in READINGS]
    found += [(t, usual, 4, DEFAULT_K, a) for t in tables for a in ("cb", "cb-5", "cb-30")]
    found += [(t, n, ALL, DEFAULT_K, a) for t in tables for a in READINGS for n in some_sizes[a]]
    return sorted(dict.fromkeys(found), key=lambda case: (case[0], case[2] == ALL, case[1]))


def run(data: Path, out: Path, extent: Extent, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold. Needs no data."""
    file = out / "cb.csv"
    wanted = cases(extent)
    frames: dict[tuple[str, int], pl.DataFrame] = {}
    for case in waiting_cases(file, CASES, wanted, progress):
        name, records, width, k, algorithm = case
        if not frames:
            _compile()
        if (name, records) not in frames:
            frames = {(name, records): census(name, records)}
        table = encode_census(name, frames[name, records], width)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **measure(algorithm, table, k)})
    keys = pl.DataFrame(wanted, schema=list(CASES), orient="row")
    rows = pl.read_csv(file).join(keys, on=list(CASES)).sort(CASES)
    findings = claims(rows)
    write_page(out, "cb", "CB (He et al. 2012)", findings, rows, [why(rows)])
    _charts(rows.filter(pl.col("algorithm").is_in(READINGS)), out)
    return findings


def _compile() -> None:
    """So that compiling is not measured."""
    small = encode_census("sal", census("sal", 2000), 3)
    for name in ALGORITHMS:
        measure(name, small, 50)


def _charts(rows: pl.DataFrame, out: Path) -> None:
    for name in ("sal", "income"):
        part = rows.filter(pl.col("table") == name)
        usual = part.filter(pl.col("attributes") < ALL)
        panels = in_panels(usual.sort("attributes", "k"), "attributes", lambda width: f"{width} quasi-identifiers")
        save_chart(lines_chart(panels, "k", "gcp", ("k", "GCP")), out / f"cb_{name}_k.svg")
        middle = usual.filter(pl.col("k") == DEFAULT_K)
        save_chart(
            lines_chart(middle, "attributes", "gcp", ("quasi-identifiers", "GCP")), out / f"cb_{name}_attributes.svg"
        )
        grown = part.filter(pl.col("attributes") == ALL)
        save_chart(lines_chart(grown, "records", "gcp", ("records", "GCP")), out / f"cb_{name}_records.svg")
        titles = ("records", "seconds of CPU time")
        save_chart(lines_chart(grown, "records", "seconds", titles), out / f"cb_{name}_seconds.svg")
