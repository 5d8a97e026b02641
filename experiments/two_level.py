"""The experiment of the two-level thesis: time, distortion and discernibility of KACA, TopDown-KACA and Two-level.

    shoal experiment two-level

Adult, the 32,561 records of the training part, the first 2 to 6 of age, work class, education, marital status, race and
gender, k = 2, 5, 10, with ARX's hierarchies. Every case is one line in two_level.csv; a run that was stopped goes
on where it was. two_level.md puts the thesis' claims beside what was measured; the charts are its figures 4.1 to 4.9.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from experiments.charts import in_panels
from experiments.common import Finding, append_row, waiting_cases
from experiments.distortion import encode_adult, measure, ratio, save_lines, summarized
from experiments.pages import write_page
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.progress import ProgressCallback

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
ALGORITHMS = ("kaca", "topdown-kaca", "two-level")
RECORDS = 32_561
KEYS = ("algorithm", "k", "attributes")
CASES = (*KEYS, "seed")
MEASURES = {"seconds": "seconds of CPU time", "distortion": "distortion", "discernibility": "discernibility"}


def cases(quick: bool) -> list[tuple[str, int, int, int]]:
    widths = (2, 4, 6) if quick else (2, 3, 4, 5, 6)
    seeds = range(1 if quick else 3)
    return [(name, k, width, seed) for width in widths for name in ALGORITHMS for k in (2, 5, 10) for seed in seeds]


def run(data: Path, out: Path, quick: bool, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "two_level.csv"
    tables: dict[int, EncodedTable] = {}
    warm: set[str] = set()
    for case in waiting_cases(file, CASES, cases(quick), progress):
        name, k, width, seed = case
        if width not in tables:
            tables = {width: encode_adult(data, QUASI[:width], file="adult.csv", records=RECORDS)}
        if name not in warm:  # so that compiling is not measured
            measure(make_algorithm(name), tables[width], 50, seed)
            warm.add(name)
        found = measure(make_algorithm(name), tables[width], k, seed)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **found})
    rows = summarized(pl.read_csv(file), KEYS)
    findings = compare(rows)
    write_page(out, "two_level", "Two-level clustering (Verma 2013)", findings, rows, [why(rows)])
    panels = in_panels(rows.sort("k", "attributes"), "k", lambda k: f"k = {k}")
    save_lines(panels, out, "two_level", "attributes", "quasi-identifiers", MEASURES)
    return findings


def why(rows: pl.DataFrame) -> str:
    """The steps that differ, with the number of groups that come of them."""
    more = ratio(rows, "groups", "two-level", "kaca", ("k", "attributes"))
    return (
        "Why: KACA merges a small class with the nearest of all classes; Two-level first merges inside an outer "
        "cluster, a whole progression at a time, even if a nearer class is outside it. That costs distortion, and it "
        f"makes {np.median(more):.3f} times as many groups (median), which is why discernibility is lower."
    )


WHY_MORE = "what is merged inside an outer cluster may have had a nearer class outside it"
WHY_BLOCKS = (
    "KACA takes its classes at random and never looks back, so that keeping to blocks of similar classes costs nothing "
    "that can be measured here"
)


def compare(rows: pl.DataFrame) -> list[Finding]:
    """The claims of the thesis, each with the number it stands or falls by."""
    keys = ("k", "attributes")
    findings = []
    for other in ("kaca", "topdown-kaca"):
        share = ratio(rows, "seconds", "two-level", other, keys)
        text = f"median {np.median(share):.2f} of its time, {share.min():.2f} to {share.max():.2f}"
        findings.append(Finding(f"Two-level takes about half the time of {other}", text, bool(np.median(share) <= 0.6)))
        claim = f"for every k and number of quasi-identifiers Two-level takes less time than {other}"
        findings.append(Finding(claim, f"at most {share.max():.2f} of its time", bool(share.max() < 1)))
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
                findings.append(Finding(claim, text, bool(holds), "" if holds else WHY_MORE))
    widest = rows.filter(pl.col("attributes") == pl.col("attributes").max())
    faster = ratio(widest, "seconds", "topdown-kaca", "kaca", keys)
    worse = ratio(widest, "distortion", "topdown-kaca", "kaca", keys)
    text = f"all attributes: {np.median(faster):.2f} of its time, {np.median(worse):.3f} of its distortion (medians)"
    is_so = bool(np.median(faster) < 1 < np.median(worse))
    findings.append(
        Finding("TopDown-KACA is faster than KACA and loses more", text, is_so, "" if is_so else WHY_BLOCKS)
    )
    return findings
