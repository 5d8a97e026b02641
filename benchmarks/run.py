"""`make bench`: adult and tables like it, our algorithms and peers in one run.

    python -m benchmarks.run --data FOLDER [--sizes 30162,100000,1000000] [-k 10] [--algorithms shoal] [--quick]

Prints a table per size (seconds per stage, peak memory, loss), the growth exponent of the clustering stage, and how the
whole run compares with the floor: reading, encoding, one group-by and writing with polars. Floor and run take turns and
the medians count, so that both have their share of what else the machine does. Results go to benchmarks/results/ as
dated JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from benchmarks.measure import growth_exponent, results_file, run_measured, save_results, shoal_command
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult
from shoal.hierarchies.files import find_hierarchy_files, read_hierarchy_file
from shoal.metrics.score import score
from shoal.released.domain import make_domains
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role

STAGES = ("read", "encode", "cluster", "recode", "write", "verify", "evaluate")
QUADRATIC = {"k-member": 100_000}  # the largest table that these are asked to do
PEER_LIMIT = 180.0  # seconds after which a peer is stopped


def floor_seconds(table: Path, out: Path) -> float:
    """What any tool must do: read, turn into codes, group once, write; all with polars."""
    start = time.perf_counter()
    frame = pl.read_csv(table, infer_schema=False)
    codes = frame.with_columns(pl.col(list(ADULT_QUASI)).cast(pl.Categorical).to_physical())
    codes.group_by(ADULT_QUASI).len()
    frame.write_csv(out)
    return time.perf_counter() - start


def bench_in_turns(
    table: Path, folder: Path, out: Path, algorithm: str, k: int, warm: bool, turns: int
) -> tuple[dict[str, Any], list[float]]:
    """The median of several runs of an algorithm, and the floors that were measured between them."""
    if warm:  # the first run on a machine compiles
        bench_shoal(table, folder, out, algorithm, k)
    floors, rows = [], []
    for _ in range(turns):
        floors.append(floor_seconds(table, out))
        rows.append(bench_shoal(table, folder, out, algorithm, k))
    done = sorted((row for row in rows if "failed" not in row), key=lambda row: row["seconds"])
    return (done[len(done) // 2] if done else rows[0]), floors


def bench_shoal(table: Path, folder: Path, out: Path, algorithm: str, k: int) -> dict[str, Any]:
    command = shoal_command(
        *("anonymize", table, "-o", out, "--quasi", ",".join(ADULT_QUASI), "-k", str(k), "--json", "--keep-rest"),
        *("--hierarchies", folder / "adult" / "hierarchies", "--algorithm", algorithm),
    )
    cost = run_measured(command)
    if cost.code != 0:
        return {"name": algorithm, "failed": cost.code}
    answer = json.loads(cost.out)
    return {
        "name": algorithm,
        "seconds": cost.seconds,
        "stages": answer["seconds"],
        "peak_megabytes": cost.peak_megabytes,
        "gcp": answer["metrics"]["gcp"],
        "smallest_class": answer["smallest_class"],
    }


def bench_peer(peer: str, table: Path, folder: Path, out: Path, k: int, python: Path) -> dict[str, Any]:
    program = Path(__file__).parent / "peer_program.py"
    trees = folder / "adult" / "hierarchies"
    command = [python, program, peer, table, out, k, ",".join(ADULT_QUASI), trees]
    cost = run_measured([str(part) for part in command], PEER_LIMIT)
    if cost.code != 0:
        return {"name": peer, "failed": f"stopped after {cost.seconds:.0f} s" if cost.code == -9 else cost.code}
    released = pl.read_csv(out, infer_schema=False)
    return {
        "name": peer,
        "seconds": cost.seconds,
        "stages": {"cluster": float(cost.out.split()[-1])},
        "peak_megabytes": cost.peak_megabytes,
        "gcp": loss_of(pl.read_csv(table, infer_schema=False), released, folder),
        "smallest_class": released.group_by(ADULT_QUASI).len()["len"].min(),
    }


def loss_of(original: pl.DataFrame, released: pl.DataFrame, folder: Path) -> float:
    """GCP of any release of adult by the one reader that scores all tools."""
    files = find_hierarchy_files(folder / "adult" / "hierarchies", ADULT_QUASI)
    trees = {name: read_hierarchy_file(path, name) for name, path in files.items()}
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(original[name])) for name in ADULT_QUASI]
    domains = make_domains(original, attributes, trees)
    return float(score(original, released, ADULT_QUASI, domains).totals["gcp"])


def show(console: Console, records: int, k: int, floors: list[float], rows: list[dict[str, Any]]) -> None:
    floor = statistics.median(floors)
    title = f"{records:,} records, k = {k}; floor {floor:.2f} s (at its best {min(floors):.2f} s)"
    table = Table(title=title, title_justify="left")
    headings = ("algorithm", "seconds", *STAGES, "x floor", "peak MB", "loss (GCP)", "smallest class")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right")
    for row in rows:
        if "failed" in row:
            table.add_row(row["name"], str(row["failed"]))
            continue
        stages = [f"{row['stages'][stage]:.2f}" if stage in row["stages"] else "" for stage in STAGES]
        ratio, memory = f"{row['seconds'] / floor:.1f}", f"{row['peak_megabytes']:.0f}"
        table.add_row(
            row["name"],
            f"{row['seconds']:.2f}",
            *stages,
            ratio,
            memory,
            f"{row['gcp']:.4f}",
            str(row["smallest_class"]),
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sizes", default="30162,100000,1000000")
    parser.add_argument("--algorithms", default="shoal,mondrian,k-member")
    parser.add_argument("--peers", default="anonypy,anjana")
    parser.add_argument(
        "--oracle", type=Path, default=Path(os.environ.get("SHOAL_ORACLE_PYTHON", ".venv-oracle/bin/python"))
    )
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3, help="how often each algorithm and the floor are measured")
    parser.add_argument("--quick", action="store_true", help="up to 100,000 records, no peers")
    options = parser.parse_args()
    folder = data_folder(options.data)
    sizes = [int(size) for size in options.sizes.split(",")]
    peers = [peer for peer in options.peers.split(",") if peer]
    if options.quick:
        sizes, peers = [size for size in sizes if size <= 100_000], []
    if peers and not options.oracle.exists():
        print(f"peers are left out: there is no {options.oracle} ('make .venv-oracle/.ready' makes it)")
        peers = []
    console = Console(width=200)
    adult = pl.read_csv(folder / "adult" / "adult_arx.csv")
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for records in sizes:
            table, out = Path(scratch) / "table.csv", Path(scratch) / "out.csv"
            (adult if records == adult.height else scaled_adult(adult, records)).write_csv(table)
            floors, rows = [floor_seconds(table, out) for _ in range(2)][1:], []
            for name in options.algorithms.split(","):
                if records <= QUADRATIC.get(name, records):
                    row, between = bench_in_turns(
                        table, folder, out, name, options.k, records == sizes[0], options.turns
                    )
                    rows.append(row)
                    floors += between
            if records == sizes[0]:
                rows += [bench_peer(peer, table, folder, out, options.k, options.oracle) for peer in peers]
            show(console, records, options.k, floors, rows)
            results.append({"records": records, "k": options.k, "floors": floors, "rows": rows})
    exponents = fit(results, options.algorithms.split(","))
    for name, exponent in exponents.items():
        console.print(f"clustering time of {name} grows like n^{exponent:.2f}")
    path = results_file("run")
    save_results(path, exponents=exponents, results=results)
    print(f"written: {path}")


def fit(results: list[dict[str, Any]], names: list[str]) -> dict[str, float]:
    found = {}
    for name in names:
        points = [
            (result["records"], row["stages"]["cluster"])
            for result in results
            for row in result["rows"]
            if row["name"] == name and "failed" not in row
        ]
        exponent = growth_exponent([size for size, _ in points], [seconds for _, seconds in points])
        if exponent is not None:
            found[name] = exponent
    return found


if __name__ == "__main__":
    main()
