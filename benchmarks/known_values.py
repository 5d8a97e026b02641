"""Optima that others have published, beside what the exact full-domain search finds.

    python -m benchmarks.known_values --data FOLDER

Adult with ARX's hierarchies. ARX's own tests name the optimum of its full-domain search in bits of non-uniform entropy,
without suppression; a search that is exact must find the same number. The last rows have no published value: they say
what a run costs with the 8 attributes that most papers use. Results go to benchmarks/results/ as dated JSON.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

import shoal
from benchmarks.measure import results_file, save_results
from benchmarks.tables import ADULT_QUASI, data_folder

AGREES = 1e-9  # relatively


@dataclass(frozen=True)
class Case:
    title: str
    settings: dict[str, Any]
    quasi: tuple[str, ...] | None = None  # all but the sensitive column
    known: float | None = None  # in bits of entropy over the whole table


CASES = (
    Case("9 attributes, k = 5", {"k": 5, "objective": "entropy"}, known=407289.5388925293),
    Case("9 attributes, k = 100", {"k": 100, "objective": "entropy"}, known=453196.8932458743),
    Case(
        "8 attributes, entropy 5-diversity of the occupation",
        {"models": ["entropy-l:occupation:5"], "sensitive": ["occupation"], "objective": "entropy"},
        known=324620.5269918695,
    ),
    Case("8 attributes, k = 5, GCP", {"k": 5}, ADULT_QUASI),
    Case("8 attributes, k = 5, GCP, 4 % suppressed", {"k": 5, "suppression_limit": 0.04}, ADULT_QUASI),
)


def measure(case: Case, adult: pl.DataFrame, hierarchies: dict[str, Path]) -> dict[str, Any]:
    sensitive = case.settings.get("sensitive", [])
    quasi = [name for name in case.quasi or adult.columns if name not in sensitive]
    files = {name: path for name, path in hierarchies.items() if name in quasi}
    start = time.process_time()
    found = shoal.anonymize(
        adult.select(*quasi, *sensitive), quasi=quasi, hierarchies=files, algorithm="full-domain", recoding="nodes",
        **case.settings,
    )  # fmt: skip
    seconds = time.process_time() - start
    bits = found.details["loss"] * adult.height if case.settings.get("objective") == "entropy" else None
    agrees = None if case.known is None or bits is None else abs(bits / case.known - 1) < AGREES
    return {
        "case": case.title,
        "known": case.known,
        "bits": bits,
        "gcp": found.metrics["gcp"],
        "agrees": agrees,
        "optimal": found.details["optimal"],
        "nodes checked": found.details["checked"],
        "processor_seconds": round(seconds, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real tables (or SHOAL_DATA)")
    folder = data_folder(parser.parse_args().data) / "adult"
    adult = pl.read_csv(folder / "adult_arx.csv")
    names = {name: name.replace("salary-class", "income") for name in adult.columns}
    hierarchies = {name: folder / "hierarchies" / f"adult_hierarchy_{file}.csv" for name, file in names.items()}
    measure(CASES[0], adult.head(500), hierarchies)  # so that compiling is not measured
    rows = [measure(case, adult, hierarchies) for case in CASES]
    shown = Table(title="full-domain: known optima")
    for title in ("case", "known (bits)", "ours (bits)", "agrees", "GCP", "nodes checked", "processor s"):
        shown.add_column(title, justify="left" if title == "case" else "right")
    for row in rows:
        bits = ["" if row[name] is None else f"{row[name]:,.6f}" for name in ("known", "bits")]
        agrees = "" if row["agrees"] is None else "yes" if row["agrees"] else "NO"
        numbers = (f"{row['gcp']:.4f}", f"{row['nodes checked']:,}", f"{row['processor_seconds']:.2f}")
        shown.add_row(row["case"], *bits, agrees, *numbers)
    Console(width=130).print(shown)
    save_results(results_file("known-values"), rows=rows)
    return 0 if all(row["agrees"] is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
