"""The experiment of the priority paper: total distortion, CM and time of Mondrian, DBCA and DBCA:CM.

    shoal experiment dbca

Adult, the 45,222 complete records, eight quasi-identifiers, k = 10 to 200, with ARX's hierarchies; the class label is
the income. Two measures of distortion: plain WHD, and WHD with equally scaled priorities in the order of QUASI. Every
case is one line in dbca.csv; a run that was stopped goes on where it was. dbca.md puts the paper's claims beside what
was measured; the charts are its figures 2 to 4.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from experiments.charts import in_panels
from experiments.common import Finding, append_row, waiting_cases
from experiments.distortion import encode_adult, measure, ratio, save_lines, summarized
from experiments.pages import write_page
from shoal.algorithms.base import Algorithm, Context
from shoal.algorithms.dbca.dbca import prioritized
from shoal.algorithms.kaca.distance import group_covers, make_ladders
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import ProgressCallback

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
KEYS = ("algorithm", "k", "priorities")
CASES = (*KEYS, "seed")
MEASURES = {
    "seconds": "seconds of CPU time",
    "distortion": "total distortion",
    "classification": "classification metric",
}


PRIORITIES = {"none": "all attributes alike", "equally scaled": "equally scaled priorities"}


def algorithms() -> dict[str, Algorithm]:
    return {
        "mondrian": make_algorithm("mondrian"),
        "dbca": make_algorithm("dbca"),
        "dbca-cm": make_algorithm("dbca-cm", class_column="income"),
        "dbca-cm-forced": make_algorithm("dbca-cm", class_column="income", labels="forced"),
        "k-member": make_algorithm("k-member"),
    }


def cases(quick: bool) -> list[tuple[str, int, str, int]]:
    ks = (10, 50, 200) if quick else (10, 25, 50, 100, 200)
    return [(name, k, scale, 0) for name in algorithms() for scale in ("none", "equally scaled") for k in ks]


def run(data: Path, out: Path, quick: bool, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "dbca.csv"
    plain = encode_adult(data, QUASI)
    tables = {"none": plain, "equally scaled": replace(plain, attributes=prioritized(plain, QUASI))}
    warm: set[str] = set()
    for case in waiting_cases(file, CASES, cases(quick), progress):
        name, k, priorities, seed = case
        algorithm = algorithms()[name]
        if name not in warm:  # so that compiling is not measured
            measure(algorithm, plain, 500, seed)
            warm.add(name)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **measure(algorithm, tables[priorities], k, seed)})
    rows = summarized(pl.read_csv(file), KEYS)
    findings = compare(rows)
    title = "Priority driven k-anonymisation (Sun, Wang, Li 2008)"
    write_page(out, "dbca", title, findings, rows, [WHY.format("; ".join(early_and_late(plain, k) for k in (10, 100)))])
    panels = in_panels(
        rows.sort("priorities", "k", "algorithm", descending=[True, False, False]), "priorities", PRIORITIES.__getitem__
    )
    save_lines(panels, out, "dbca", "k", "k", MEASURES)
    return findings


WHY = (
    "Why: the densest records are served first and take what is near; the sparse ones are grouped last, from what is "
    "left over: {}. The hierarchies are ARX's; of the paper's its table 2 prints the heights only. That the distance "
    "of two records keeps the triangle inequality is a property test (tests/property/test_papers34.py); between "
    "classes, weighted by their sizes, it fails."
)


SPARSE_LAST = "sparse records are grouped last, from what is left over (below)"
LABEL_TOO = "the label is one more thing to keep together"
LESS_FOR_EVERY_K = "less distortion than median partitioning for every k"
CLAIMS = (  # measure, algorithm, the one it is held against, the claim, and why it fails where it does
    ("distortion", "dbca", "mondrian", f"DBCA has {LESS_FOR_EVERY_K}", SPARSE_LAST),
    ("distortion", "dbca-cm", "mondrian", f"DBCA:CM has {LESS_FOR_EVERY_K}", SPARSE_LAST),
    ("distortion", "dbca-cm", "dbca", "DBCA:CM has the least distortion, DBCA very close to it", LABEL_TOO),
    (
        *("classification", "dbca", "mondrian", "DBCA has a lower CM than median partitioning for every k"),
        "without its label both group by the same attributes: no difference worth the name",
    ),
    ("classification", "dbca-cm", "dbca", "DBCA:CM has the lowest CM", ""),
    ("classification", "dbca-cm-forced", "dbca-cm", "... and labels that are forced have a lower one still", ""),
    ("distortion", "dbca-cm-forced", "dbca", "DBCA:CM with forced labels has the least distortion", LABEL_TOO),
    (
        *("distortion", "dbca", "k-member", "(the comparison that the paper leaves to later) less than k-member"),
        "k-member grows every group by what it costs least; DBCA takes the k nearest of a centre, whatever they cost "
        "together",
    ),
)


def early_and_late(table: EncodedTable, k: int) -> str:
    """Distortion per record in the first and the last tenth of DBCA's groups, which are numbered as they are formed."""
    groups = make_algorithm("dbca").cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups
    ladders = make_ladders(table.attributes)
    low, high, _ = group_covers(ladders.flat_codes(table.codes)[table.row_of_record], groups)
    costs = ladders.cover_costs(low, high).sum(axis=1)
    tenth = max(1, costs.shape[0] // 10)
    first, last = costs[:tenth].mean(), costs[-tenth:].mean()
    return f"at k = {k} a record of the first tenth of the groups costs {first:.2f}, of the last tenth {last:.2f}"


def compare(rows: pl.DataFrame) -> list[Finding]:
    """The claims of the paper, each with the number it stands or falls by."""
    keys = ("k", "priorities")
    findings = []
    for measure_name, first, second, claim, reason in CLAIMS:
        share = ratio(rows, measure_name, first, second, keys)
        text = f"{np.median(share):.3f} of it (median), {share.min():.3f} to {share.max():.3f}"
        holds = bool(share.max() < 1)
        findings.append(Finding(claim, text, holds, "" if holds else reason))
    dbca = rows.filter(pl.col("algorithm") == "dbca")
    largest = float((dbca["largest"] / dbca["k"]).max())
    smallest = float((dbca["smallest"] / dbca["k"]).min())
    text = f"{smallest:.2f} k to {largest:.2f} k"
    claim = "no cluster of DBCA has fewer than k records or more than 2k - 1"
    findings.append(Finding(claim, text, smallest >= 1 and largest < 2))
    slower = ratio(rows, "seconds", "dbca", "mondrian", keys)
    text = f"{np.median(slower):.1f} times its time (median)"
    findings.append(Finding("DBCA takes longer than median partitioning", text, bool(np.median(slower) > 1)))
    return findings
