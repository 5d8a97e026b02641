"""Tables larger than memory: what `--engine stream` takes, beside a floor that only reads, counts and writes.

    python -m benchmarks.scale --data FOLDER [--sizes 1000000,10000000] [--format parquet] [--local] [--spark]
                               [--carried COLUMNS] [--folder SCRATCH]

The table is drawn to look like adult: 8 quasi-identifiers, their hierarchies and k = 10 (benchmarks/tables.py). The
floor is one process that reads the table piece by piece, counts its distinct rows and writes it again, with the same
code and pieces as the engine: what remains is the price of clustering, recoding and the check. Every run is a process
of its own; kernels are compiled before. `--local` also runs the engine that holds everything, `--spark` Spark on two
processors of this machine (Parquet only): peak memory is that of the driver's Python, processor seconds are those of
the driver's Python and, apart, those that Spark's tasks report, and `shuffle_mb` is what Spark wrote to be shuffled, as
its event log has it. `--carried` adds so many columns of measurements that are kept as they are: ten make 100 million
records a table of 8.4 GB. Room for the table, its release and the rows that wait to be sorted is needed in `--folder`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import growth_exponent, results_file, run_measured, save_results, shoal_command
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult
from shoal.engines.counting import RowCounter
from shoal.tables.formats.pieces import TablePieces
from shoal.tables.formats.write_pieces import write_pieces

PART = 1_000_000
SENSITIVE = "income"
CARRIED = "measure"
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--sizes", default="1000000,10000000", help="numbers of records, with commas between")
    parser.add_argument("--format", default="parquet", choices=("parquet", "csv"))
    parser.add_argument("--carried", type=int, default=0, help="columns of measurements that are kept as they are")
    parser.add_argument("--folder", type=Path, help="where the tables go; there must be room")
    parser.add_argument("--local", action="store_true", help="also run the engine that holds everything")
    parser.add_argument("--spark", action="store_true", help="also run Spark on this machine")
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
            engines = ["stream", *(["local"] if options.local else []), *(["spark"] if options.spark else [])]
            for row in measure(Path(scratch), data, (records, options.carried), options.format, engines):
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                save_results(file, rows=rows)
    print(markdown(rows))
    print(f"written: {file}")


def measure(scratch: Path, data: Path, size: tuple[int, int], ending: str, engines: list[str]) -> Iterator[Row]:
    """The runs on a table of so many records and carried columns."""
    records, carried = size
    table, warm = scratch / f"table.{ending}", scratch / f"warm.{ending}"
    draw(data, records, carried, table)
    draw(data, 2_000, carried, warm)
    run_measured(command(warm, scratch / f"warm-out.{ending}", data, "stream", carried))
    again = scratch / f"again.{ending}"
    floor = run_measured([sys.executable, "-m", "benchmarks.scale", "--floor", str(table), str(again)], timeout=7200)
    yield {"run": "floor", **_cost(floor), "records": records, "carried": carried, "bytes": table.stat().st_size}
    for engine in engines:
        out = scratch / f"{engine}.{ending}"
        events = scratch / f"events-{records}"
        events.mkdir(exist_ok=True)
        cost = run_measured(command(table, out, data, engine, carried, events), timeout=7200)
        told = json.loads(cost.out) if cost.code == 0 else {}
        yield {
            "run": engine,
            **_cost(cost),
            "records": records,
            "gcp": told.get("metrics", {}).get("gcp"),
            "stages": {name: round(seconds, 2) for name, seconds in told.get("seconds", {}).items()},
            "cpu_over_floor": round(cost.processor_seconds / max(0.01, floor.processor_seconds), 2),
            **(_told_by_spark(events) if engine == "spark" else {}),
        }
        if out.is_dir():
            shutil.rmtree(out)
        out.unlink(missing_ok=True)


def _told_by_spark(events: Path) -> Row:
    """What the tasks of a run wrote to be shuffled, and how long its processors were busy in Java."""
    shuffled = busy = peak = 0
    for file in events.rglob("*"):
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            if '"SparkListenerTaskEnd"' in line and (metrics := json.loads(line).get("Task Metrics")):
                shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                busy += metrics["Executor CPU Time"]
                peak = max(peak, metrics["Peak Execution Memory"])
    return {"shuffle_mb": round(shuffled / 1e6), "java_cpu": round(busy / 1e9, 1), "task_peak_mb": round(peak / 1e6)}


def _cost(cost: Any) -> Row:
    return {
        "code": cost.code,
        "wall": round(cost.seconds, 1),
        "cpu": round(cost.processor_seconds, 1),
        "peak_mb": round(cost.peak_megabytes),
    }


def command(table: Path, out: Path, data: Path, engine: str, carried: int = 0, events: Path | None = None) -> list[str]:
    job = _spark_job(events) if engine == "spark" and events is not None else ()
    measures = [f"{CARRIED} {number}" for number in range(carried)]
    allowed = ("--allow", ",".join(measures)) if measures else ()
    return shoal_command(
        "anonymize", *job, table, "-o", out, "--quasi", ",".join(ADULT_QUASI), "--sensitive", SENSITIVE, "-k", "10",
        "--hierarchies", data / "adult" / "hierarchies", "--engine", engine, "--json", "--keep-rest", *allowed,
    )  # fmt: skip


def _spark_job(events: Path) -> tuple[str, Path]:
    """A job file with the settings of Spark: two processors, and a log of what its tasks did."""
    log = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{events}",
    }
    path = events.with_suffix(".json")
    path.write_text(json.dumps({"spark": {"master": "local[2]", "config": log}}), encoding="utf-8")
    return "--job", path


def draw(data: Path, records: int, carried: int, path: Path) -> None:
    """A table like adult, drawn and written a million records at a time."""
    adult = pl.read_csv(data / "adult" / "adult_complete.csv").select(*ADULT_QUASI, SENSITIVE)
    parts = [min(PART, records - start) for start in range(0, records, PART)]
    measured = {f"{CARRIED} {number}": pl.Float64() for number in range(carried)}

    def piece(number: int, size: int) -> pl.DataFrame:
        noise = np.random.default_rng([1, number]).normal(size=(size, carried))
        return scaled_adult(adult, size, seed=number).cast(pl.String).hstack(pl.DataFrame(noise, schema=measured))

    schema: dict[str, pl.DataType] = {**dict.fromkeys(adult.columns, pl.String()), **measured}
    write_pieces((piece(number, size) for number, size in enumerate(parts)), schema, path)


def read_count_write(table: Path, out: Path) -> None:
    """The floor: one pass that counts, one that writes."""
    pieces = TablePieces(table)
    schema = pieces.schema()
    RowCounter(schema, ADULT_QUASI).add_all(pieces.read(ADULT_QUASI)).result()
    write_pieces(pieces.read(), schema, out, pieces.like)
    out.unlink()


def markdown(rows: list[Row]) -> str:
    told = ("java_cpu", "shuffle_mb")
    lines = ["| records | run | wall s | cpu s | peak MB | cpu / floor | loss | Java cpu s | shuffle MB |"]
    lines.append("|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        loss = f"{row['gcp']:.7f}" if row.get("gcp") is not None else ""
        cells = (
            row["wall"],
            row["cpu"],
            row["peak_mb"],
            row.get("cpu_over_floor", ""),
            loss,
            *(row.get(name, "") for name in told),
        )
        lines.append(f"| {row['records']:,} | {row['run']} | " + " | ".join(str(cell) for cell in cells) + " |")
    streamed = [row for row in rows if row["run"] == "stream" and row.get("stages")]
    for stage in streamed[0]["stages"] if len(streamed) > 1 else ():
        spent = [row["stages"].get(stage, 0.0) for row in streamed]
        exponent = growth_exponent([row["records"] for row in streamed], spent)
        lines.append(f"stage {stage}: {spent} s, grows like n^{exponent:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
