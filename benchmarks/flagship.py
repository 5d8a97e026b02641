"""Loss against seconds of the default algorithm, by whole commands: from the CSV file to the verified CSV file.

    python -m benchmarks.flagship --data FOLDER [--k 2,5,10,25,50,100] [--effort default,high] [--variants hier,flat]
    python -m benchmarks.flagship --records 1000000 --variants hier --k 10 --effort default,high

FOLDER (or SHOAL_DATA) holds the real tables. `hier` is adult with its hierarchies, `flat` the same without. The loss is
the GCP of the released values; "bound" is the lower bound and "above" how far the release can be from the best one at
most. A larger table is drawn to look like adult. Results go to benchmarks/results/ as dated JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measure import results_file, run_measured, save_results, shoal_command
from benchmarks.tables import data_folder, scaled_adult

TARGETS = {  # loss to reach on adult: k -> (default hier, default flat, high hier, high flat)
    2: (0.0175, 0.0046, 0.0165, 0.0042),
    5: (0.0455, 0.0160, 0.0415, 0.0146),
    10: (0.0745, 0.0310, 0.0715, 0.0285),
    25: (0.1130, 0.0620, 0.1085, 0.0580),
    50: (0.1530, 0.0945, 0.1490, 0.0870),
    100: (0.1970, 0.1450, 0.1920, 0.1350),
}
GAPS = {  # how far above the lower bound a release is at most: k -> (default hier, high hier, high flat)
    2: (0.11, 0.065, 0.07),
    5: (0.13, 0.072, 0.40),
    10: (0.15, 0.085, 0.80),
    25: (0.18, 0.09, 1.40),
    50: (0.20, 0.11, 1.90),
    100: (0.22, 0.125, 2.30),
}
SECONDS = {"default": 10.0, "high": 120.0}  # whole runs on adult, two cores
QUASI = "sex,age,race,marital-status,education,native-country,workclass,occupation"  # in the order of the file
COLUMNS = ("variant", "k", "effort", "GCP", "target", "bound", "above", "seconds", "limit", "CPU s", "MB")


def measure(table: Path, folder: Path, variant: str, k: int, effort: str) -> dict[str, Any]:
    """One whole run: loss, bound and cost."""
    command = shoal_command("anonymize", table, "-o", table.with_name("release.csv"), "--quasi", QUASI, "-k", str(k))
    command += ["--keep-rest", "--effort", effort, "--json"]
    if variant == "hier":
        command += ["--hierarchies", str(folder / "adult" / "hierarchies")]
    cost = run_measured(command)
    if cost.code != 0:
        return {"variant": variant, "k": k, "effort": effort, "failed": cost.code}
    answer = json.loads(cost.out)
    loss = answer["certificate"]["loss"]
    return {
        "variant": variant,
        "k": k,
        "effort": effort,
        "gcp": loss["gcp"],
        "lower_bound": loss["lower_bound"],
        "at_most_above_best": loss["at_most_above_best"],
        "smallest_class": answer["smallest_class"],
        "suppressed": answer["suppressed"],
        "seconds": cost.seconds,
        "stages": answer["seconds"],
        "processor_seconds": cost.processor_seconds,
        "peak_megabytes": cost.peak_megabytes,
    }


def line(row: dict[str, Any], real: bool) -> tuple[str, ...]:
    if "failed" in row:
        return row["variant"], str(row["k"]), row["effort"], f"failed ({row['failed']})"
    target = _target(row["variant"], row["k"], row["effort"]) if real else None
    limit = SECONDS.get(row["effort"]) if real else None
    above = row["at_most_above_best"]
    gap = _gap(row["variant"], row["k"], row["effort"]) if real else None
    return (
        *(row["variant"], str(row["k"]), row["effort"], f"{row['gcp']:.4f}"),
        "" if target is None else f"{target:.4f}" + (" missed" if row["gcp"] > target else ""),
        f"{row['lower_bound']:.4f}",
        "" if above is None else f"{100 * above:.1f} %" + (" missed" if gap is not None and above > gap else ""),
        f"{row['seconds']:.1f}",
        "" if limit is None else f"{limit:.0f}" + (" missed" if row["seconds"] > limit else ""),
        *(f"{row['processor_seconds']:.1f}", f"{row['peak_megabytes']:.0f}"),
    )


def _target(variant: str, k: int, effort: str) -> float | None:
    if k not in TARGETS or effort not in SECONDS:
        return None
    return TARGETS[k][(0 if variant == "hier" else 1) + (0 if effort == "default" else 2)]


def _gap(variant: str, k: int, effort: str) -> float | None:
    places = {("hier", "default"): 0, ("hier", "high"): 1, ("flat", "high"): 2}
    return GAPS[k][places[variant, effort]] if k in GAPS and (variant, effort) in places else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--variants", default="hier,flat")
    parser.add_argument("--k", default="2,5,10,25,50,100")
    parser.add_argument("--effort", default="default", help="low, default, high or numbers, with commas")
    parser.add_argument("--records", type=int, help="so many records like those of adult, instead of adult")
    options = parser.parse_args()
    folder = data_folder(options.data)
    rows = []
    print("".join(f"{name:>14}" for name in COLUMNS))
    with tempfile.TemporaryDirectory() as temporary:
        table = Path(temporary) / "people.csv"
        adult = pl.read_csv(folder / "adult" / "adult_arx.csv")
        (adult if options.records is None else scaled_adult(adult, options.records)).write_csv(table)
        for variant in options.variants.split(","):
            for k in (2, 50):  # the first run on a machine compiles
                measure(table, folder, variant, k, "0.01")
            for k in map(int, options.k.split(",")):
                for effort in options.effort.split(","):
                    rows.append(measure(table, folder, variant, k, effort))
                    print("".join(f"{cell:>14}" for cell in line(rows[-1], options.records is None)), flush=True)
    target = results_file("flagship")
    save_results(target, records=options.records, runs=rows)
    print(f"written: {target}")


if __name__ == "__main__":
    main()
