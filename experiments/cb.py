"""The experiment of the CB paper: loss and time of CB and of non-homogeneous generalization (NH).

    python -m experiments.cb --out FOLDER [--quick]

Generated SAL and INCOME tables (see `experiments.census`): GCP against k for 3 to 6 quasi-identifiers, against the
number of quasi-identifiers, and against the number of records (with all 7), and time against the number of records.
CB runs in both readings of the paper, `cb` (groups) and `cb-centres`. Every case is one line in cb.csv; a run that
was stopped goes on where it was. cb.md puts the claims beside what was measured.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments.census import boxes_loss, census, encode_census, groups_loss
from experiments.common import append_row, rows_done, save_chart
from experiments.distortion import Finding, lines_chart, write_page
from shoal.algorithms.base import Context
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity

ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "cb": ("cb", {}),
    "cb-centres": ("cb", {"join": "centres"}),
    "nh": ("nonhomogeneous", {}),
}
CASES = ("table", "records", "attributes", "k", "algorithm")
DEFAULT_K = 150
ALL = 7  # quasi-identifiers


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


def cases(quick: bool) -> list[tuple[str, int, int, int, str]]:
    usual = 20_000 if quick else 100_000
    ks = (50, 250) if quick else (50, 100, 150, 200, 250)
    widths = (3, 6) if quick else (3, 4, 5, 6)
    sizes = (20_000, 40_000) if quick else (100_000, 200_000, 300_000, 400_000, 500_000)
    found = [(t, usual, d, k, a) for t in ("sal", "income") for d in widths for k in ks for a in ALGORITHMS]
    found += [(t, usual, d, DEFAULT_K, a) for t in ("sal", "income") for d in widths for a in ALGORITHMS]
    found += [(t, n, ALL, DEFAULT_K, a) for t in ("sal", "income") for n in sizes for a in ALGORITHMS]
    return list(dict.fromkeys(found))


def run(out: Path, quick: bool = False) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "cb.csv"
    done = rows_done(file, CASES)
    wanted = cases(quick)
    waiting = [case for case in wanted if tuple(map(str, case)) not in done]
    if waiting:
        small = encode_census("sal", census("sal", 2000), 3)
        for name in ALGORITHMS:  # so that compiling is not measured
            measure(name, small, 50)
    frames: dict[tuple[str, int], pl.DataFrame] = {}
    for number, case in enumerate(waiting):
        name, records, width, k, algorithm = case
        if (name, records) not in frames:
            frames = {(name, records): census(name, records)}
        table = encode_census(name, frames[name, records], width)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **measure(algorithm, table, k)})
        print(f"{number + 1} of {len(waiting)} cases", flush=True)
    keys = pl.DataFrame(wanted, schema=list(CASES), orient="row")
    rows = pl.read_csv(file).join(keys, on=list(CASES)).sort(CASES)
    findings = claims(rows)
    write_page(out, "cb", "CB (He et al. 2012)", findings, rows)
    _charts(rows, out)
    return findings


def _charts(rows: pl.DataFrame, out: Path) -> None:
    for name in ("sal", "income"):
        part = rows.filter(pl.col("table") == name)
        usual = part.filter(pl.col("attributes") < ALL)
        save_chart(lines_chart(usual, "k", "gcp", "attributes", ("k", "GCP")), out / f"cb_{name}_k.png")
        middle = usual.filter(pl.col("k") == DEFAULT_K)
        titles = ("quasi-identifiers", "GCP")
        save_chart(lines_chart(middle, "attributes", "gcp", "k", titles), out / f"cb_{name}_attributes.png")
        grown = part.filter(pl.col("attributes") == ALL)
        save_chart(lines_chart(grown, "records", "gcp", "k", ("records", "GCP")), out / f"cb_{name}_records.png")
        titles = ("records", "seconds of CPU time")
        save_chart(lines_chart(grown, "records", "seconds", "k", titles), out / f"cb_{name}_seconds.png")


def claims(rows: pl.DataFrame) -> list[Finding]:
    """The claims of the paper, each with the number it stands or falls by."""
    findings = []
    for name in ("sal", "income"):
        part = rows.filter(pl.col("table") == name)
        for variant in ("cb", "cb-centres"):
            for few, what in ((True, "3"), (False, "4 to 6")):
                chosen = part.filter((pl.col("attributes") == 3) if few else pl.col("attributes").is_between(4, 6))
                both = chosen.pivot("algorithm", index=["attributes", "k"], values="gcp")
                share = both[variant] / both["nh"]
                text = f"{share.mean():.2f} of its loss on average, {share.min():.2f} to {share.max():.2f}"
                better = bool((share > 1).all() if few and name == "sal" else (share < 1).all())
                word = "above" if few and name == "sal" else "below"
                findings.append(Finding(f"{variant} on {name}, {what} attributes: {word} NH", text, better))
        grown = part.filter((pl.col("attributes") == ALL) & (pl.col("algorithm") == "cb")).sort("records")
        sizes, seconds, gcp = (grown[column].to_numpy() for column in ("records", "seconds", "gcp"))
        exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        spent = f"{seconds[-1]:.1f} s of CPU time, {grown['wall'][-1]:.1f} s by the clock"
        text = f"exponent {exponent:.2f}; with {sizes[-1]} records {spent}"
        findings.append(Finding(f"the time of cb on {name} grows linearly, 500k below 500 s", text, exponent < 1.2))
        text = f"GCP {gcp[0]:.4f} with {sizes[0]} records, {gcp[-1]:.4f} with {sizes[-1]}"
        findings.append(Finding(f"the loss of cb on {name} falls as records are added", text, bool(gcp[-1] < gcp[0])))
        both = part.pivot("algorithm", index=["records", "attributes", "k"], values="seconds")
        slower = (both["cb"] / both["nh"]).median()
        text = f"cb takes {slower:.1f} times its time (median)"
        findings.append(Finding(f"NH is faster than cb on {name}", text, bool(slower > 1)))
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description="The experiment of the CB paper")
    parser.add_argument("--data", help="not needed: the tables are generated")
    parser.add_argument("--out", required=True, type=Path, help="folder for results; finished cases are kept")
    parser.add_argument("--quick", action="store_true", help="a part of the cases, on smaller tables")
    options = parser.parse_args()
    for finding in run(options.out, options.quick):
        print(f"{'holds' if finding.holds else 'FAILS'}  {finding.claim}: {finding.measured}")


if __name__ == "__main__":
    main()
