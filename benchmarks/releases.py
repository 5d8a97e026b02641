"""Several releases of the same people: loss and processor seconds of the strategies, and of the check.

    python -m benchmarks.releases --data FOLDER [--waves 6000,12000,18000,24000,30000] [--large 1000000]

Adult comes in waves (8 quasi-identifiers with hierarchies, one published sensitive column, k = 10): every wave is
released alone, with the classes of before kept, and searched anew; each of the latter two is its own series. `--large`
makes a table like adult with a tenth of newcomers: its next release, and the check of two releases made apart.
Every run is a process of its own, so its seconds hold starting up and reading.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measure import Cost, results_file, run_measured, save_results, shoal_command
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult

SENSITIVE = "salary-class"
SEED = 1
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--waves", default="6000,12000,18000,24000,30000", help="records of each wave; empty for none")
    parser.add_argument("--large", type=int, default=0, help="records of the first large release; 0 for none")
    options = parser.parse_args()
    folder = data_folder(options.data) / "adult"
    adult = pl.read_csv(folder / "adult_arx.csv", infer_schema=False)
    rows: list[Row] = []
    file = results_file("releases")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Path(scratch), folder / "hierarchies")
        sizes = [int(size) for size in options.waves.split(",") if size]
        large = bench.large(adult, options.large) if options.large else iter(())
        for row in chain(bench.waves(adult, sizes), large):
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
            save_results(file, rows=rows)
    print(markdown(rows))
    print(f"written: {file}")


class Bench:
    """Runs of the command line in a folder."""

    def __init__(self, folder: Path, hierarchies: Path) -> None:
        self.folder = folder
        self.common = ["--quasi", ",".join(ADULT_QUASI), "--sensitive", SENSITIVE, "--hierarchies", hierarchies]
        self.common += ["-k", "10"]

    def release(self, table: Path, name: str, *more: str | Path) -> tuple[Path, Row]:
        release = self.folder / f"{name}{table.suffix}"
        cost = run_measured(shoal_command("anonymize", table, "-o", release, *self.common, "--json", *more), 3600)
        found = json.loads(cost.out) if cost.code == 0 else {}
        gcp = found.get("metrics", {}).get("gcp")
        strategy = found.get("certificate", {}).get("together", {}).get("strategy")
        return release, {"gcp": gcp, "released_by": strategy, **_costs(cost)}

    def waves(self, adult: pl.DataFrame, sizes: list[int]) -> Iterator[Row]:
        shuffled = adult.sample(fraction=1, shuffle=True, seed=SEED)
        for number, size in enumerate(sizes, start=1):
            table = self.folder / f"wave_{number}.csv"
            shuffled[:size].write_csv(table)
            for strategy in ("plain", "keep", "search"):
                more: list[str | Path] = []
                if strategy != "plain":
                    more = ["--series", self.folder / f"{strategy}.json", "--strategy", strategy]
                _, row = self.release(table, f"{strategy}_{number}", *more)
                yield {"case": f"wave {number}", "records": size, "strategy": strategy, **row}

    def large(self, adult: pl.DataFrame, records: int) -> Iterator[Row]:
        everybody = scaled_adult(adult, records + records // 10)
        tables = [self.folder / "large_1.parquet", self.folder / "large_2.parquet"]
        everybody[:records].write_parquet(tables[0])
        everybody.write_parquet(tables[1])
        first, row = self.release(tables[0], "alone_1")
        yield {"case": "large, first", "records": records, "strategy": "plain", **row}
        other, row = self.release(tables[1], "alone_2")
        yield {"case": "large, next", "records": everybody.height, "strategy": "plain", **row}
        with_first = ["--with", first, "--with-original", tables[0]]
        kept, row = self.release(tables[1], "kept_2", *with_first)
        yield {"case": "large, next", "records": everybody.height, "strategy": "keep", **row}
        for name, release in (("made apart", other), ("made together", kept)):
            cost = run_measured(shoal_command("verify", release, *self.common, "--with", first, "--json"), 3600)
            row = {"holds": {0: True, 3: False}.get(cost.code), **_costs(cost)}
            yield {"case": f"check, {name}", "records": everybody.height, "strategy": "-", **row}


def _costs(cost: Cost) -> Row:
    return {
        "code": cost.code,
        "processor_seconds": round(cost.processor_seconds, 1),
        "seconds": round(cost.seconds, 1),
        "peak_megabytes": round(cost.peak_megabytes),
    }


def markdown(rows: list[Row]) -> str:
    lines = ["| case | records | strategy | GCP | cpu s | MB |", "|---|---|---|---|---|---|"]
    for row in rows:
        gcp = "-" if row.get("gcp") is None else f"{row['gcp']:.4f}"
        lines.append(
            f"| {row['case']} | {row['records']:,} | {row['strategy']} | {gcp} | {row['processor_seconds']} | "
            f"{row['peak_megabytes']:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
