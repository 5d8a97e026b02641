"""The experiment of the two-level thesis: time, distortion and discernibility of KACA, TopDown-KACA and Two-level.

    python -m experiments.two_level --data FOLDER --out FOLDER [--quick]

Adult, the 32,561 records of the training part, the first 2 to 6 of age, work class, education, marital status, race and
gender, k = 2, 5, 10, with ARX's hierarchies. Every case is one line in two_level.csv; a run that was stopped goes
on where it was. two_level.md puts the thesis' claims beside what was measured; the charts are its figures 4.1 to 4.9.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from experiments.common import append_row, data_folder, rows_done
from experiments.distortion import Finding, encode_adult, measure, ratio, save_lines, summarized, write_page
from shoal.algorithms.registry import make_algorithm

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
ALGORITHMS = ("kaca", "topdown-kaca", "two-level")
RECORDS = 32_561
KEYS = ("algorithm", "k", "attributes")
CASES = (*KEYS, "seed")
MEASURES = {"seconds": "seconds of CPU time", "distortion": "distortion", "discernibility": "discernibility"}


def run(data: Path, out: Path, quick: bool = False) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "two_level.csv"
    done = rows_done(file, CASES)
    widths = (2, 4, 6) if quick else (2, 3, 4, 5, 6)
    for width in widths:
        table = encode_adult(data, QUASI[:width], file="adult.csv", records=RECORDS)
        for name in ALGORITHMS:
            algorithm = make_algorithm(name)
            warm = False
            for k in (2, 5, 10):
                for seed in range(1 if quick else 3):
                    case = (name, str(k), str(width), str(seed))
                    if case in done:
                        continue
                    if not warm:  # so that compiling is not measured
                        measure(algorithm, table, 50, seed)
                        warm = True
                    append_row(file, {**dict(zip(CASES, case, strict=True)), **measure(algorithm, table, k, seed)})
    rows = summarized(pl.read_csv(file), KEYS)
    findings = compare(rows)
    write_page(out, "two_level", "Two-level clustering (Verma 2013)", findings, rows)
    save_lines(rows, out, "two_level", "attributes", "k", "quasi-identifiers", MEASURES)
    return findings


def compare(rows: pl.DataFrame) -> list[Finding]:
    """The claims of the thesis, each with the number it stands or falls by."""
    keys = ("k", "attributes")
    findings = []
    for other in ("kaca", "topdown-kaca"):
        share = ratio(rows, "seconds", "two-level", other, keys)
        text = f"median {np.median(share):.2f} of its time, {share.min():.2f} to {share.max():.2f}"
        findings.append(Finding(f"Two-level takes about half the time of {other}", text, bool(np.median(share) <= 0.6)))
    for measure_name in ("distortion", "discernibility"):
        for other in ("kaca", "topdown-kaca"):
            for k in (2, 5, 10):
                part = rows.filter(pl.col("k") == k)
                share = ratio(part, measure_name, "two-level", other, keys)
                text = f"{np.median(share):.3f} of it (median), {share.min():.3f} to {share.max():.3f}"
                if k < 10:
                    claim, holds = f"k = {k}: Two-level has less {measure_name} than {other}", np.median(share) < 1
                else:
                    claim = f"k = {k}: Two-level has similar or a little more {measure_name} than {other}"
                    holds = np.median(share) <= 1.2
                findings.append(Finding(claim, text, bool(holds)))
    widest = rows.filter(pl.col("attributes") == pl.col("attributes").max())
    faster = ratio(widest, "seconds", "topdown-kaca", "kaca", keys)
    worse = ratio(widest, "distortion", "topdown-kaca", "kaca", keys)
    text = f"all attributes: {np.median(faster):.2f} of its time, {np.median(worse):.3f} of its distortion (medians)"
    is_so = bool(np.median(faster) < 1 < np.median(worse))
    findings.append(Finding("TopDown-KACA is faster than KACA and loses more", text, is_so))
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description="The experiment of the two-level thesis")
    parser.add_argument("--data", help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--out", required=True, type=Path, help="folder for results; finished cases are kept")
    parser.add_argument("--quick", action="store_true", help="a part of the cases")
    options = parser.parse_args()
    for finding in run(data_folder(options.data), options.out, options.quick):
        print(f"{'holds' if finding.holds else 'FAILS'}  {finding.claim}: {finding.measured}")


if __name__ == "__main__":
    main()
