"""Tables larger than memory: what `--engine stream` takes, beside a floor that only reads, counts and writes.

    python -m benchmarks.scale --data FOLDER [--sizes 1000000,10000000] [--format parquet] [--local] [--folder SCRATCH]

The table is drawn to look like adult: 8 quasi-identifiers, their hierarchies and k = 10 (benchmarks/tables.py). The
floor is one process that reads the table piece by piece, counts its distinct rows and writes it again, with the same
code and pieces as the engine: what remains is the price of clustering, recoding and the check. Every run is a process
of its own; kernels are compiled before. `--local` also runs the engine that holds everything. The table and the release
of 100 million records take about 2 GB of disk each as Parquet.
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

from benchmarks.measure import growth_exponent, results_file, run_measured, save_results, shoal_command
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult
from shoal.engines.counting import RowCounter
from shoal.tables.formats.pieces import TablePieces
from shoal.tables.formats.write_pieces import write_pieces

PART = 1_000_000
SENSITIVE = "income"
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--sizes", default="1000000,10000000", help="numbers of records, with commas between")
    parser.add_argument("--format", default="parquet", choices=("parquet", "csv"))
    parser.add_argument("--folder", type=Path, help="where the tables go; there must be room")
    parser.add_argument("--local", action="store_true", help="also run the engine that holds everything")
    parser.add_argument("--floor", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.floor is not None:
        read_count_write(*options.floor)
        return
    data = data_folder(options.data)
    file = results_file("scale")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        for records in sorted(int(size) for size in options.sizes.split(",")):
            for row in measure(Path(scratch), data, records, options.format, options.local):
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                save_results(file, rows=rows)
    print(markdown(rows))
    print(f"written: {file}")


def measure(scratch: Path, data: Path, records: int, ending: str, local: bool) -> Iterator[Row]:
    table, warm = scratch / f"table.{ending}", scratch / f"warm.{ending}"
    draw(data, records, table)
    draw(data, 2_000, warm)
    run_measured(command(warm, scratch / f"warm-out.{ending}", data, "stream"))
    again = scratch / f"again.{ending}"
    floor = run_measured([sys.executable, "-m", "benchmarks.scale", "--floor", str(table), str(again)], timeout=7200)
    yield {"run": "floor", **_cost(floor), "records": records, "bytes": table.stat().st_size}
    for engine in ("stream", "local") if local else ("stream",):
        out = scratch / f"{engine}.{ending}"
        cost = run_measured(command(table, out, data, engine), timeout=7200)
        told = json.loads(cost.out) if cost.code == 0 else {}
        yield {
            "run": engine,
            **_cost(cost),
            "records": records,
            "gcp": told.get("metrics", {}).get("gcp"),
            "stages": {name: round(seconds, 2) for name, seconds in told.get("seconds", {}).items()},
            "cpu_over_floor": round(cost.processor_seconds / max(0.01, floor.processor_seconds), 2),
        }
        out.unlink(missing_ok=True)


def _cost(cost: Any) -> Row:
    return {
        "code": cost.code,
        "wall": round(cost.seconds, 1),
        "cpu": round(cost.processor_seconds, 1),
        "peak_mb": round(cost.peak_megabytes),
    }


def command(table: Path, out: Path, data: Path, engine: str) -> list[str]:
    return shoal_command(
        "anonymize", table, "-o", out, "--quasi", ",".join(ADULT_QUASI), "--sensitive", SENSITIVE, "-k", "10",
        "--hierarchies", data / "adult" / "hierarchies", "--engine", engine, "--json",
    )  # fmt: skip


def draw(data: Path, records: int, path: Path) -> None:
    """A table like adult, drawn and written a million records at a time."""
    adult = pl.read_csv(data / "adult" / "adult_complete.csv").select(*ADULT_QUASI, SENSITIVE)
    parts = [min(PART, records - start) for start in range(0, records, PART)]
    pieces = (scaled_adult(adult, size, seed=number).cast(pl.String) for number, size in enumerate(parts))
    write_pieces(pieces, dict.fromkeys(adult.columns, pl.String()), path)


def read_count_write(table: Path, out: Path) -> None:
    """The floor: one pass that counts, one that writes."""
    pieces = TablePieces(table)
    schema = pieces.schema()
    RowCounter(schema, ADULT_QUASI).add_all(pieces.read(ADULT_QUASI)).result()
    write_pieces(pieces.read(), schema, out, pieces.like)
    out.unlink()


def markdown(rows: list[Row]) -> str:
    lines = ["| records | run | wall s | cpu s | peak MB | cpu / floor | loss |", "|--:|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        loss = f"{row['gcp']:.7f}" if row.get("gcp") is not None else ""
        cells = (row["wall"], row["cpu"], row["peak_mb"], row.get("cpu_over_floor", ""), loss)
        lines.append(f"| {row['records']:,} | {row['run']} | " + " | ".join(str(cell) for cell in cells) + " |")
    streamed = [row for row in rows if row["run"] == "stream" and row.get("stages")]
    for stage in streamed[0]["stages"] if len(streamed) > 1 else ():
        spent = [row["stages"].get(stage, 0.0) for row in streamed]
        exponent = growth_exponent([row["records"] for row in streamed], spent)
        lines.append(f"stage {stage}: {spent} s, grows like n^{exponent:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
