"""The experiment of the two-level thesis: time, distortion and discernibility of KACA, TopDown-KACA and Two-level.

    shoal experiment two-level

Adult, the 32,561 records of the training part, the first 2 to 6 of age, work class, education, marital status, race and
gender, k = 2, 5, 10, with ARX's hierarchies. Top-down alone and full-domain generalization (found by an exact search)
stand for what the thesis says of top-down and of global recoding. Every case is one line in two_level.csv; a run that
was stopped goes on where it was. two_level.md puts the thesis' claims beside what was measured; the charts are its
figures 4.1 to 4.9.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from experiments.charts import in_panels
from experiments.common import Extent, Finding, append_row, judged, waiting_cases
from experiments.distortion import encode_adult, measure, ratio, save_lines, summarized
from experiments.pages import write_page
from shoal.algorithms.base import Algorithm
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.progress import ProgressCallback

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
ALGORITHMS = ("kaca", "topdown-kaca", "two-level")
OTHERS = ("topdown", "full-domain")
RECORDS = 32_561
KEYS = ("algorithm", "k", "attributes")
CASES = (*KEYS, "seed")
MEASURES = {"seconds": "seconds of CPU time", "distortion": "distortion", "discernibility": "discernibility"}


def cases(extent: Extent) -> list[tuple[str, int, int, int]]:
    widths = extent.pick((2, 4, 6), (2, 3, 4, 5, 6))
    seeds = range(extent.pick(1, 3))
    found = [(name, k, width, seed) for width in widths for name in ALGORITHMS for k in (2, 5, 10) for seed in seeds]
    return [*found, *((name, k, width, 0) for width in widths for name in OTHERS for k in (2, 5, 10))]


def _algorithm(name: str) -> Algorithm:
    return make_algorithm(name, objective="height") if name == "full-domain" else make_algorithm(name)


def run(data: Path, out: Path, extent: Extent, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "two_level.csv"
    tables: dict[int, EncodedTable] = {}
    warm: set[str] = set()
    for case in waiting_cases(file, CASES, cases(extent), progress):
        name, k, width, seed = case
        if width not in tables:
            tables[width] = encode_adult(data, QUASI[:width], file="adult.csv", records=RECORDS)
        if name not in warm:  # so that compiling is not measured
            measure(_algorithm(name), tables[width], 50, seed)
            warm.add(name)
        found = measure(_algorithm(name), tables[width], k, seed)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **found})
    rows = summarized(pl.read_csv(file), KEYS)
    findings = claims(rows)
    write_page(out, "two_level", "Two-level clustering (Verma 2013)", findings, rows, [why(rows)])
    shown = rows.filter(pl.col("algorithm").is_in(ALGORITHMS)).sort("k", "attributes")
    panels = in_panels(shown, "k", lambda k: f"k = {k}")
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
WHY_SPLITS = (
    "it splits on until nothing can be split, whatever that costs, so its classes are smaller; discernibility looks at "
    "their sizes alone"
)
WHY_FAST = "the search of the lattice looks at the columns of many nodes; the classes of local recoding are found once"


def claims(rows: pl.DataFrame) -> list[Finding]:
    """The claims of the thesis, each with the number it stands or falls by."""
    found = [finding for other in ("kaca", "topdown-kaca") for finding in _faster(rows, other)]
    for measured in ("distortion", "discernibility"):
        for other in ("kaca", "topdown-kaca"):
            found += [_less(rows, measured, other, k) for k in (2, 5, 10)]
    return [*found, *_between(rows), *_global(rows)]


def _faster(rows: pl.DataFrame, other: str) -> list[Finding]:
    share = ratio(rows, "seconds", "two-level", other, ("k", "attributes"))
    text = f"median {np.median(share):.2f} of its time, {share.min():.2f} to {share.max():.2f}"
    claim = f"for every k and number of quasi-identifiers Two-level takes less time than {other}"
    return [
        judged(f"Two-level takes about half the time of {other}", text, np.median(share) <= 0.6),
        judged(claim, f"at most {share.max():.2f} of its time", share.max() < 1),
    ]


def _less(rows: pl.DataFrame, measured: str, other: str, k: int) -> Finding:
    share = ratio(rows.filter(pl.col("k") == k), measured, "two-level", other, ("k", "attributes"))
    text = f"{np.median(share):.3f} of it (median), {share.min():.3f} to {share.max():.3f}"
    if k < 10:
        return judged(f"k = {k}: Two-level has less {measured} than {other}", text, np.median(share) < 1, WHY_MORE)
    claim = f"k = {k}: Two-level has similar or a little more {measured} than {other}"
    return judged(claim, text, np.median(share) <= 1.2, WHY_MORE)


def _between(rows: pl.DataFrame) -> list[Finding]:
    """Top-down is fast and loses more than KACA; TopDown-KACA stands between the two."""
    widest = rows.filter(pl.col("attributes") == pl.col("attributes").max())
    found = []
    for name in ("topdown", "topdown-kaca"):
        for measured in ("distortion", "discernibility"):
            time = np.median(ratio(widest, "seconds", name, "kaca", ("k", "attributes")))
            loss = np.median(ratio(widest, measured, name, "kaca", ("k", "attributes")))
            text = f"all attributes: {time:.2f} of its time, {loss:.3f} of its {measured} (medians)"
            claim = f"{name} is faster than KACA and has more {measured}"
            found.append(judged(claim, text, time < 1 < loss, WHY_BLOCKS if name == "topdown-kaca" else WHY_SPLITS))
    return found


def _global(rows: pl.DataFrame) -> list[Finding]:
    """Local recoding against the best full-domain generalization."""
    loss = ratio(rows, "distortion", "two-level", "full-domain", ("k", "attributes"))
    time = ratio(rows, "seconds", "two-level", "full-domain", ("k", "attributes"))
    text = f"Two-level has {np.median(loss):.2f} of its distortion (median), {loss.min():.2f} to {loss.max():.2f}"
    took = f"Two-level takes {np.median(time):.2f} of its time (median)"
    return [
        judged("local recoding loses less than global recoding (full-domain)", text, loss.max() < 1),
        judged("local recoding takes much more time than global recoding", took, np.median(time) > 2, WHY_FAST),
    ]
