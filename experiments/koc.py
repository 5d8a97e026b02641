"""The experiment of the KOC paper: loss and time of KOC and k-means on Adult.

    shoal experiment koc

Adult, 45,222 records, 7 quasi-identifiers (age and the years of education as numbers, the rest with ARX's hierarchies),
k = 20..250, with and without WID; time against k, the number of quasi-identifiers and the number of records. k-member
stands for the other clusterings that there were. Every case is one line in koc.csv; a run that was stopped goes on
where it was. koc.md puts the claims beside what was measured.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments.census import group_costs, groups_loss
from experiments.charts import in_panels, lines_chart
from experiments.common import Extent, Finding, adult, append_row, save_chart, waiting_cases
from experiments.koc_claims import claims
from experiments.pages import write_page
from shoal.algorithms.base import Algorithm, Context
from shoal.algorithms.greedy.koc import closest_rows, distortion_table
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encode import encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import ProgressCallback
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role

QUASI = ("age", "sex", "education-num", "native-country", "workclass", "marital-status", "race")
CASES = ("algorithm", "wid", "k", "attributes", "records", "seed")
RECORDS = 45_222
BOTH = ("koc", "kmeans")
Case = tuple[str, bool, int, int, int, int]


def encode(folder: Path, quasi: tuple[str, ...], records: int = RECORDS) -> EncodedTable:
    """The first records of the complete ones of Adult, with so many quasi-identifiers."""
    frame, files = adult(folder, list(quasi))
    frame = frame.head(records)
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(frame[name])) for name in quasi]
    values = {name: frame[name].unique().sort().cast(pl.String).to_list() for name in files}
    trees = {name: make_hierarchy(path, values[name], name) for name, path in files.items()}
    return encode_table(frame, attributes, trees)[0]


def _algorithm(name: str, wid: bool) -> Algorithm:
    return make_algorithm(name, wid=wid) if name in BOTH else make_algorithm(name)


def measure(name: str, table: EncodedTable, k: int, wid: bool, seed: int) -> dict[str, Any]:
    """One run: CPU seconds of clustering, the paper's loss (WHD, with or without WID), GCP, and those of counting."""
    start = time.process_time()
    found = _algorithm(name, wid).cluster(table, Requirement.of([KAnonymity(k)]), Context(seed=seed))
    seconds = time.process_time() - start
    sizes = np.bincount(found.groups)
    lifted = distortion_table(table, "uniform", 1.0, wid)
    start = time.process_time()
    loss = groups_loss(lifted, found.groups)
    middle = time.process_time()
    ncp = groups_loss(table, found.groups)
    return {
        "seconds": round(seconds, 4),
        "loss": round(loss, 3),
        "gcp": round(ncp / (table.records * table.width), 6),
        "groups": int(sizes.size),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "suppressed": 0 if found.suppressed is None else int(found.suppressed.sum()),
        "seconds_whd": round(middle - start, 4),
        "seconds_ncp": round(time.process_time() - middle, 4),
    }


def cases(extent: Extent) -> list[Case]:
    ks = extent.pick((20, 100, 250), (20, 50, 100, 150, 200, 250))
    seeds = range(extent.pick(1, 3))
    widths = extent.pick((2, 7), (2, 3, 4, 5, 6, 7))
    parts = extent.pick((11_000, RECORDS), (11_000, 22_000, RECORDS))
    found = [(name, wid, k, 7, RECORDS, seed) for wid in (False, True) for k in ks for seed in seeds for name in BOTH]
    found += [(name, False, 100, width, RECORDS, seed) for width in widths for seed in seeds for name in BOTH]
    found += [(name, False, 100, 7, records, seed) for records in parts for seed in seeds for name in BOTH]
    found += [("k-member", False, k, 7, RECORDS, 0) for k in ks]
    return [case for case in dict.fromkeys(found) if case[0] != "koc" or case[5] == 0]  # KOC has nothing random


def run(data: Path, out: Path, extent: Extent, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "koc.csv"
    wanted = cases(extent)
    tables: dict[tuple[int, int], EncodedTable] = {}
    for case in waiting_cases(file, CASES, wanted, progress):
        name, wid, k, width, records, seed = case
        if not tables:  # so that compiling is not measured
            for warm in (*BOTH, "k-member"):
                measure(warm, encode(data, QUASI[:width]), 2000, wid, seed)
        if (width, records) not in tables:
            tables[width, records] = encode(data, QUASI[:width], records)
        found = measure(name, tables[width, records], k, wid, seed)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **found})
    means = summarized(pl.read_csv(file))
    findings = claims(means)
    notes = [RECORDS_NOTE, f"Why: {MIDDLE} {'; '.join(why(encode(data, QUASI), k) for k in (20, 250))}."]
    write_page(out, "koc", "KOC (Pramanik, Lau, Zhang 2016)", findings, means, notes)
    _charts(means.filter(pl.col("algorithm").is_in(BOTH)), out)
    return findings


def summarized(rows: pl.DataFrame) -> pl.DataFrame:
    """Means over the seeds; the seconds are the least of the repetitions, since other work only ever adds to them."""
    seconds = pl.col("seconds", "seconds_whd", "seconds_ncp").min()
    numbers = pl.col("loss", "gcp", "groups", "smallest", "largest", "suppressed").mean()
    keys = ["wid", "attributes", "records", "k", "algorithm"]
    return rows.group_by(keys, maintain_order=True).agg(seconds, numbers).sort(keys)


def _charts(means: pl.DataFrame, out: Path) -> None:
    whole = means.filter(pl.col("records") == RECORDS)
    full = in_panels(whole.filter(pl.col("attributes") == 7), "wid", lambda wid: "with WID" if wid else "without WID")
    save_chart(lines_chart(full, "k", "loss", ("k", "loss (WHD)")), out / "koc_loss.svg")
    save_chart(lines_chart(full, "k", "seconds", ("k", "seconds of CPU time")), out / "koc_seconds_k.svg")
    widths = whole.filter((pl.col("k") == 100) & ~pl.col("wid"))
    titles = ("quasi-identifiers", "seconds of CPU time")
    save_chart(lines_chart(widths, "attributes", "seconds", titles), out / "koc_seconds_attributes.svg")


RECORDS_NOTE = (
    "The paper counts 45,345 records of Adult without missing values; training and test part together have 45,222, "
    "which are used here. Its generalization steps, which decide WID, are: age 3, sex 1, education 4, native country "
    "3, work class 2, marital status 1, race 1. ARX's hierarchies, used here, have 4 steps for age, 1 for sex, 2 for "
    "native country, work class and marital status, 1 for race; years of education are a number of one step."
)
MIDDLE = (
    "the records closest to all others stand in the middle of the table, so the clusters formed first take what is "
    "near, and the last ones what is left:"
)


def why(table: EncodedTable, k: int) -> str:
    """Where the centres are, and what the clusters formed first and last lose; the last centre is served first."""
    groups = make_algorithm("koc").cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups
    centres = closest_rows(distortion_table(table, "uniform", 1.0, False), table.records // k)
    costs = group_costs(table, groups) / table.width
    tenth = max(1, costs.size // 10)
    first, last = costs[-tenth:].mean(), costs[:tenth].mean()
    return (
        f"at k = {k} the {centres.size} centres are {np.unique(centres).size} different rows, and a record loses "
        f"{first:.3f} (GCP) in the first tenth of the clusters, {last:.3f} in the last"
    )
