"""Every algorithm as the table grows: time, peak memory, loss and the fitted growth exponent.

    python -m benchmarks.scaling --data FOLDER [--algorithms all] [--sizes 5000,10000] [--large 100000,1000000]

The small sizes are random parts of adult's 45,222 complete records with 8 quasi-identifiers; the large ones are tables
like adult, for the algorithms that scale. Each run is a process of its own, from reading to the verified file; the
exponent is that of the clustering stage. Results go to benchmarks/results/ as dated JSON.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from benchmarks.run import bench_shoal, fit, save
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult
from shoal.algorithms.registry import algorithm_names

LARGE_ENOUGH = ("shoal", "mondrian", "cb", "two-level", "topdown", "topdown-kaca", "tdr")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--algorithms", default="all")
    parser.add_argument("--sizes", default="5000,10000,20000,45222")
    parser.add_argument("--large", default="100000,1000000")
    parser.add_argument("-k", type=int, default=10)
    options = parser.parse_args()
    folder = data_folder(options.data)
    names = list(algorithm_names()) if options.algorithms == "all" else options.algorithms.split(",")
    adult = pl.read_csv(folder / "adult" / "adult_complete.csv").select(ADULT_QUASI)
    sizes = [int(size) for size in options.sizes.split(",") if size]
    large = [int(size) for size in options.large.split(",") if size]
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        table, out = Path(scratch) / "table.csv", Path(scratch) / "out.csv"
        for records in [*sizes, *large]:
            part = adult.sample(records, seed=0) if records <= adult.height else scaled_adult(adult, records)
            part.write_csv(table)
            chosen = [name for name in names if records <= adult.height or name in LARGE_ENOUGH]
            rows = [bench_shoal(table, folder, out, name, options.k, warm=records == sizes[0]) for name in chosen]
            results.append({"records": records, "k": options.k, "rows": rows})
    exponents = fit(results, names)
    show(results, exponents, names)
    save(results, exponents)


def show(results: list[dict[str, Any]], exponents: dict[str, float], names: list[str]) -> None:
    table = Table(title="clustering seconds / peak MB / GCP", title_justify="left")
    table.add_column("algorithm")
    for result in results:
        table.add_column(f"{result['records']:,}", justify="right")
    table.add_column("grows like", justify="right")
    for name in names:
        cells = [_cell(next((row for row in result["rows"] if row["name"] == name), None)) for result in results]
        table.add_row(name, *cells, f"n^{exponents[name]:.2f}" if name in exponents else "")
    Console(width=220).print(table)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if "failed" in row:
        return f"failed ({row['failed']})"
    return f"{row['stages']['cluster']:.2f} / {row['peak_megabytes']:.0f} / {row['gcp']:.4f}"


if __name__ == "__main__":
    main()
