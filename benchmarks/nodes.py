"""Releases of nodes, the form that ARX publishes: a search for nodes against a search for ranges that are widened.

    python -m benchmarks.nodes --data FOLDER [--k 2,5,10,25,50,100] [--effort default]

Adult with ARX's hierarchies; with `--recoding nodes` age too is released as a node. "search" is the loss where nodes
are what is searched for (as a release has it), "widened" that of the groups for tight ranges once their ages are
lifted to the lowest node above them. Only the search is run. Results go to benchmarks/results/ as dated JSON.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import polars as pl

from benchmarks.measure import results_file, save_results
from benchmarks.tables import ADULT_QUASI, data_folder
from shoal.algorithms.base import Context
from shoal.algorithms.shoal.shoal import Shoal
from shoal.engines.without_outliers import total_loss
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

ARX = {2: 0.0240, 5: 0.0574, 10: 0.0833, 25: 0.1231, 50: 0.1599, 100: 0.2049}  # its local recoding at its best setting


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--k", default="2,5,10,25,50,100")
    parser.add_argument("--effort", default="default")
    options = parser.parse_args()
    folder = data_folder(options.data)
    adult = pl.read_csv(folder / "adult" / "adult_arx.csv")
    columns = {name: adult[name] for name in ADULT_QUASI}
    trees = {name: str(folder / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in ADULT_QUASI}
    nodes = encode_simple(columns, hierarchies=trees, as_nodes=["age"])
    ranges = encode_simple(columns, hierarchies=trees)
    rows = []
    for k in map(int, options.k.split(",")):
        requirement, context = Requirement.of([KAnonymity(k)]), Context(wants_bound=False)
        start = time.process_time()
        searched = Shoal(effort=options.effort).cluster(nodes, requirement, context)
        spent = time.process_time() - start
        widened = Shoal(effort=options.effort).cluster(ranges, requirement, context)
        scale = nodes.records * nodes.attribute_weights.sum()
        row = {"k": k, "search": total_loss(nodes, searched) / scale, "widened": total_loss(nodes, widened) / scale}
        rows.append({**row, "ranges": total_loss(ranges, widened) / scale, "arx": ARX.get(k), "seconds": spent})
        print({name: round(value, 4) if value else value for name, value in rows[-1].items()}, flush=True)
    target = results_file("nodes")
    save_results(target, effort=options.effort, runs=rows)
    print(f"written: {target}")


if __name__ == "__main__":
    main()
