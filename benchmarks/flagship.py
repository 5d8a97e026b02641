"""Loss against seconds of the flagship, and how far it is from the lower bound.

    python benchmarks/flagship.py --data FOLDER --k 2,5,10,25,50,100 --effort default,high
    python benchmarks/flagship.py --copies 33 --k 10          # a million records

FOLDER (or SHOAL_DATA) holds the real tables. `hier` is adult with its hierarchies, `flat` the same without. Copies of
the table get noise: in every copy but the first, 15 of 100 values are replaced by that of another record. The last
line is one JSON object with all figures. CPU seconds are less disturbed by other work on the machine than wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.algorithms.base import Context
from shoal.algorithms.shoal import Shoal
from shoal.encode import EncodedTable, encode_table
from shoal.hierarchies.tree import from_paths
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.tables.schema import Attribute, Role, Scale

TARGETS = {  # loss to reach: k -> (default hier, default flat, high hier, high flat)
    2: (0.0175, 0.0046, 0.0165, 0.0042),
    5: (0.0455, 0.0160, 0.0415, 0.0146),
    10: (0.0745, 0.0310, 0.0715, 0.0285),
    25: (0.1130, 0.0620, 0.1085, 0.0580),
    50: (0.1530, 0.0945, 0.1490, 0.0870),
    100: (0.1970, 0.1450, 0.1920, 0.1350),
}


def load_adult(folder: Path, variant: str, copies: int) -> EncodedTable:
    """adult with 8 quasi-identifiers, age as a number."""
    frame = pl.read_csv(folder / "adult" / "adult_arx.csv").drop("salary-class")
    if copies > 1:
        frame = _noisy_copies(frame, copies)
    attributes, hierarchies = [], {}
    for name in frame.columns:
        scale = Scale.INTEGER if name == "age" else Scale.CATEGORY
        attributes.append(Attribute(name, Role.QUASI_IDENTIFYING, scale))
        if variant == "hier" and name != "age":
            text = (folder / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
            hierarchies[name] = from_paths(name, [line.split(";") for line in text.splitlines() if line.strip()])
    return encode_table(frame, attributes, hierarchies)[0]


def _noisy_copies(frame: pl.DataFrame, copies: int) -> pl.DataFrame:
    random = np.random.default_rng(0)
    records = frame.height
    columns = {}
    for name in frame.columns:
        values = frame[name].to_numpy()
        repeated = np.tile(values, copies)
        changed = np.flatnonzero(random.random(records * copies) < 0.15)
        changed = changed[changed >= records]
        repeated[changed] = values[random.integers(0, records, changed.size)]
        columns[name] = repeated
    return pl.DataFrame(columns)


def measure(table: EncodedTable, k: int, effort: str, threads: int) -> dict[str, Any]:
    """One run: loss, bound, gap, seconds and the loss after every round."""
    rounds: list[tuple[float, float]] = []
    wall, cpu = time.perf_counter(), time.process_time()
    context = Context(
        threads=threads,
        progress=lambda now: rounds.append((round(time.perf_counter() - wall, 2), round(now.loss or 0.0, 5))),
    )
    algorithm = Shoal(effort=effort if effort in ("low", "default", "high") else float(effort))
    found = algorithm.cluster(table, Requirement.of([KAnonymity(k)]), context)
    loss, bound = found.details["loss"], found.lower_bound or 0.0
    return {
        "loss": round(loss, 5),
        "lower_bound": round(bound, 5),
        "above_bound_percent": round(100 * (loss / bound - 1), 1) if bound > 0 else None,
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "smallest_group": int(np.bincount(found.groups).min()),
        "rounds": rounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", default=os.environ.get("SHOAL_DATA"), help="folder of the real tables (or SHOAL_DATA)"
    )
    parser.add_argument("--variants", default="hier,flat")
    parser.add_argument("--k", default="2,5,10,25,50,100")
    parser.add_argument("--effort", default="default", help="low, default, high or numbers, with commas")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if not options.data:
        parser.error("name the folder of the real tables with --data or SHOAL_DATA")
    results = []
    print(
        f"{'variant':8}{'k':>5}{'effort':>9}{'loss':>9}{'target':>9}{'bound':>9}{'above':>8}{'wall s':>8}{'cpu s':>8}"
    )
    for variant in options.variants.split(","):
        table = load_adult(Path(options.data), variant, options.copies)
        for k in map(int, options.k.split(",")):
            for effort in options.effort.split(","):
                one = measure(table, k, effort, options.threads)
                target = _target(variant, k, effort) if options.copies == 1 else None
                results.append({"variant": variant, "records": table.records, "k": k, "effort": effort, **one})
                print(
                    f"{variant:8}{k:>5}{effort:>9}{one['loss']:>9.4f}{target or float('nan'):>9.4f}"
                    f"{one['lower_bound']:>9.4f}{one['above_bound_percent'] or float('nan'):>7.0f}%"
                    f"{one['seconds']:>8.1f}{one['cpu_seconds']:>8.1f}",
                    flush=True,
                )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"peak_megabytes": memory, "results": results}))


def _target(variant: str, k: int, effort: str) -> float | None:
    if k not in TARGETS or effort not in ("default", "high"):
        return None
    return TARGETS[k][(0 if variant == "hier" else 1) + (0 if effort == "default" else 2)]


if __name__ == "__main__":
    main()
