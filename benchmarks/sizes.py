"""Processor seconds and loss of the default algorithm by the size of the table: more records must not lose more.

    python -m benchmarks.sizes --data FOLDER [--sizes 30000,...,1000000] [--k 10] [--flat]

Tables are drawn to look like adult (benchmarks/tables.py), the smaller ones the first records of the largest. Only the
search is measured, on one thread and without the lower bound. Results go to benchmarks/results/ as dated JSON.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import polars as pl

from benchmarks.measure import results_file, save_results
from benchmarks.tables import ADULT_QUASI, data_folder, scaled_adult
from shoal.algorithms.base import Context
from shoal.algorithms.shoal.shoal import Shoal
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

SIZES = "30000,45000,65000,100000,150000,200000,300000,450000,700000,1000000"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--flat", action="store_true", help="without hierarchies")
    options = parser.parse_args()
    folder = data_folder(options.data)
    sizes = [int(size) for size in options.sizes.split(",")]
    adult = pl.read_csv(folder / "adult" / "adult_complete.csv").select(ADULT_QUASI)
    whole = scaled_adult(adult, max(sizes))
    trees = {
        name: str(folder / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv")
        for name in ADULT_QUASI
        if name != "age" and not options.flat
    }
    rows = []
    for size in (2_000, *sizes):  # the first one compiles
        table = encode_simple({name: whole[name].head(size) for name in ADULT_QUASI}, hierarchies=trees)
        context = Context(wants_bound=False)
        start = time.process_time()
        found = Shoal().cluster_rows(table, Requirement.of([KAnonymity(options.k)]), context)
        spent = time.process_time() - start
        assert found is not None
        if size in sizes:
            rows.append({"records": size, "rows": table.rows, "items": found.item_row.shape[0],
                         "seconds": round(spent, 2), "gcp": found.details["loss"]})  # fmt: skip
            print(rows[-1], flush=True)
    target = results_file("sizes")
    save_results(target, k=options.k, flat=options.flat, runs=rows)
    print(f"written: {target}")


if __name__ == "__main__":
    main()
