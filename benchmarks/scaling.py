"""Every algorithm as the table grows: processor time, peak memory, loss and the fitted growth exponent.

    python -m benchmarks.scaling --data FOLDER [--algorithms all] [--sizes 5000,10000] [--limit 300] [--page FILE]

Sizes up to 45,222 are random parts of adult's complete records with 8 quasi-identifiers and hierarchies; larger tables
are drawn to look like it. Each run is a process of its own with one thread, from reading to the verified file; time
and exponent are those of the clustering stage, in processor seconds. An algorithm that is expected to exceed the limit
at a size (by its own growth so far), or does, is named with the reason and not asked for more. Results go to
benchmarks/results/ as dated JSON, written after every run; --page also writes them as Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from benchmarks.measure import growth_exponent, results_file, run_measured, save_results
from benchmarks.scaling_page import growth_of_n_log_n, markdown, rich_table
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult
from shoal.algorithms.registry import algorithm_names

SIZES = "5000,10000,20000,45222,100000,300000,1000000"
CLASS = "income"  # the label that dbca-cm and tdr keep predictable
WARM_RECORDS = 1000
TARGETS = {"cb": 5.0, "two-level": 5.0, "kmeans": 120.0}  # processor seconds with all of adult; 60 for all others
TARGET = 60.0
MEASURABLE = 0.02  # seconds; what is shorter is noise and says nothing about growth
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--algorithms", default="all", help="names with commas between, or 'all'")
    parser.add_argument("--sizes", default=SIZES, help="numbers of records, with commas between")
    parser.add_argument("--limit", type=float, default=300.0, help="processor seconds that one run may take")
    parser.add_argument("--page", type=Path, help="also write the table as Markdown")
    parser.add_argument("-k", type=int, default=10)
    options = parser.parse_args()
    folder = data_folder(options.data)
    names = list(algorithm_names()) if options.algorithms == "all" else options.algorithms.split(",")
    sizes = sorted(int(size) for size in options.sizes.split(",") if size)
    file = results_file("scaling")
    rows: list[Row] = []
    for row in measure_all(folder, names, sizes, options.k, options.limit):
        rows.append(row)
        print(_line(row), file=sys.stderr, flush=True)
        save_results(file, k=options.k, exponents=exponents(rows), rows=rows)
    Console(width=240).print(rich_table(rows, names, exponents(rows), options.k))
    late = too_late(rows)
    print("\n".join(late) if late else "every algorithm keeps its time with all of adult")
    if options.page is not None:
        options.page.write_text(markdown(rows, names, exponents(rows), options.k, late), encoding="utf-8")
        print(f"written: {options.page}")
    print(f"written: {file}")


def measure_all(folder: Path, names: list[str], sizes: list[int], k: int, limit: float) -> Iterator[Row]:
    """Size by size, so that a benchmark that is stopped has told something about every algorithm."""
    adult = pl.read_csv(folder / "adult" / "adult_complete.csv").select(*ADULT_QUASI, CLASS)
    done: dict[str, list[Row]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as scratch:
        for records in sizes:
            part = adult.sample(records, seed=0) if records <= adult.height else scaled_adult(adult, records)
            part.write_csv(Path(scratch) / "table.csv")
            part.head(WARM_RECORDS).write_csv(Path(scratch) / "warm.csv")
            for name in names:
                reason = reason_to_skip(done[name], records, limit)
                row = {"skipped": reason} if reason else one_run(Path(scratch), folder, name, k, limit)
                done[name].append({"name": name, "records": records, **row})
                yield done[name][-1]


def reason_to_skip(done: list[Row], records: int, limit: float) -> str | None:
    """Why a run would be in vain, from the smaller ones; None if it may well end in time."""
    if done and "gcp" not in done[-1]:
        return "not asked for more"
    if len(done) < 2:
        return None
    last = done[-1]
    growth = growth_exponent([row["records"] for row in done[-2:]], [_cluster(row) for row in done[-2:]])
    assert growth is not None
    expected = _cluster(last) * (records / last["records"]) ** max(1.0, growth)
    return f"about {expected:,.0f} s expected" if expected > limit else None


def one_run(scratch: Path, folder: Path, name: str, k: int, limit: float) -> Row:
    job = {
        "input": "table.csv",
        "output": "out.csv",
        "quasi": list(ADULT_QUASI),
        "keep_rest": True,
        "class": CLASS,
        "k": k,
        "hierarchies": str(folder.resolve() / "adult" / "hierarchies"),
        "algorithm": name,
        "threads": 1,
    }
    (scratch / "job.json").write_text(json.dumps(job))
    (scratch / "warm.json").write_text(json.dumps({**job, "input": "warm.csv"}))
    program = [sys.executable, "-m", "benchmarks.one_run", str(scratch / "job.json"), str(scratch / "warm.json")]
    cost = run_measured(program, timeout=4 * limit + 120)  # by the clock: others may use the machine too
    if cost.code == -9:
        return {"failed": f"stopped after {cost.seconds:,.0f} s"}
    if cost.code != 0:
        return {"failed": f"exit code {cost.code}"}
    found: Row = json.loads(cost.out)
    return found


def _cluster(row: Row) -> float:
    return float(row["stages"]["cluster"])


def exponents(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Of each algorithm that ran measurably long at two sizes or more, and of n log n over the same sizes."""
    found = {}
    for name in dict.fromkeys(row["name"] for row in rows):
        points = [(row["records"], _cluster(row)) for row in rows if row["name"] == name and "gcp" in row]
        points = [point for point in points if point[1] >= MEASURABLE]
        exponent = growth_exponent([size for size, _ in points], [seconds for _, seconds in points])
        if exponent is not None:
            found[name] = {"measured": exponent, "n_log_n": growth_of_n_log_n([size for size, _ in points])}
    return found


def too_late(rows: list[Row]) -> list[str]:
    """The algorithms that take longer with all of adult than they should."""
    return [
        f"{row['name']} takes {_cluster(row):.1f} s with {row['records']:,} records, more than "
        f"{TARGETS.get(row['name'], TARGET):.0f} s"
        for row in rows
        if row["records"] == 45_222 and "gcp" in row and _cluster(row) > TARGETS.get(row["name"], TARGET)
    ]


def _line(row: Row) -> str:
    told = row.get("skipped") or row.get("failed") or f"{_cluster(row):.2f} s, {row['peak_megabytes']:.0f} MB"
    return f"{row['records']:>9,}  {row['name']:15} {told}"


if __name__ == "__main__":
    main()
