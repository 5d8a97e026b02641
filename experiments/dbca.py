"""The experiment of the priority paper: total distortion, CM and time of Mondrian, DBCA and DBCA:CM.

    shoal experiment dbca

Adult, the 45,222 complete records, eight quasi-identifiers, k = 10 to 200, with ARX's hierarchies; the class label is
the income. Two measures of distortion: plain WHD, and WHD with equally scaled priorities in the order of QUASI.
k-member is the comparison that the paper leaves to later, full-domain the best of the methods that it calls optimal.
Every case is one line in dbca.csv; a run that was stopped goes on where it was. dbca.md puts the paper's claims beside
what was measured; the charts are its figures 2 to 4.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from experiments.charts import in_panels
from experiments.common import Extent, Finding, append_row, waiting_cases
from experiments.dbca_claims import claims
from experiments.distortion import encode_adult, measure, save_lines, summarized
from experiments.pages import write_page
from shoal.algorithms.base import Algorithm, Context
from shoal.algorithms.dbca.dbca import prioritized
from shoal.algorithms.kaca.distance import group_covers, make_ladders
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import ProgressCallback

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
KEYS = ("algorithm", "k", "priorities", "records")
CASES = (*KEYS, "seed")
RECORDS = 45_222
PARTS = (11_000, 22_000)  # of the records, for how the time grows
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
        "full-domain": make_algorithm("full-domain", objective="height"),
    }


def cases(extent: Extent) -> list[tuple[str, int, str, int, int]]:
    ks = extent.pick((10, 50, 200), (10, 25, 50, 100, 200))
    found = [(name, k, scale, RECORDS, 0) for name in algorithms() for scale in PRIORITIES for k in ks]
    return [*found, *((name, 50, "none", records, 0) for name in ("dbca", "mondrian") for records in PARTS)]


def run(data: Path, out: Path, extent: Extent, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold."""
    file = out / "dbca.csv"
    plain = encode_adult(data, QUASI)
    tables = {(name, RECORDS): replace(plain, attributes=_weighed(plain, name)) for name in PRIORITIES}
    warm: set[str] = set()
    for case in waiting_cases(file, CASES, cases(extent), progress):
        name, k, priorities, records, seed = case
        algorithm = algorithms()[name]
        if name not in warm:  # so that compiling is not measured
            measure(algorithm, plain, 500, seed)
            warm.add(name)
        if (priorities, records) not in tables:
            tables[priorities, records] = encode_adult(data, QUASI, records=records)
        found = measure(algorithm, tables[priorities, records], k, seed)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **found})
    rows = summarized(pl.read_csv(file), KEYS)
    findings = claims(rows, RECORDS)
    title = "Priority driven k-anonymisation (Sun, Wang, Li 2008)"
    write_page(out, "dbca", title, findings, rows, [WHY.format("; ".join(early_and_late(plain, k) for k in (10, 100)))])
    whole = rows.filter((pl.col("records") == RECORDS) & (pl.col("algorithm") != "full-domain"))
    order = whole.sort("priorities", "k", "algorithm", descending=[True, False, False])
    save_lines(in_panels(order, "priorities", PRIORITIES.__getitem__), out, "dbca", "k", "k", MEASURES)
    return findings


def _weighed(table: EncodedTable, priorities: str) -> tuple[EncodedAttribute, ...]:
    return tuple(table.attributes) if priorities == "none" else tuple(prioritized(table, QUASI))


WHY = (
    "Why: the densest records are served first and take what is near; the sparse ones are grouped last, from what is "
    "left over: {}. The hierarchies are ARX's; of the paper's its table 2 prints the heights only. That the distance "
    "of two records keeps the triangle inequality is a property test (tests/property/test_papers34.py); between "
    "classes, weighted by their sizes, it fails. Full-domain generalization, found by an exact search, is the optimal "
    "method that the conclusion speaks of; it is left out of the figures, which it would flatten."
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
