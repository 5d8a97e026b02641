"""The experiment of the CB paper: loss and time of CB and of non-homogeneous generalization (NH).

    shoal experiment cb

Generated SAL and INCOME tables (see `experiments.census`): GCP against k for 3 to 6 quasi-identifiers, against the
number of quasi-identifiers, and against the number of records (with all 7), and time against the number of records.
CB runs in both readings of the paper, `cb` (groups) and `cb-centres`. Every case is one line in cb.csv; a run that
was stopped goes on where it was. cb.md puts the claims beside what was measured.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from experiments.census import boxes_loss, census, encode_census, groups_loss
from experiments.charts import in_panels, lines_chart
from experiments.common import Finding, append_row, save_chart, waiting_cases
from experiments.pages import write_page
from shoal.algorithms.base import Context
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import ProgressCallback

ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "cb": ("cb", {}),
    "cb-total": ("cb", {"join": "total"}),
    "cb-centres": ("cb", {"join": "centres"}),
    "nh": ("nonhomogeneous", {}),
}
CASES = ("table", "records", "attributes", "k", "algorithm")
DEFAULT_K = 150
ALL = 7  # quasi-identifiers
NOISE = 0.03  # of a fitted exponent


def measure(name: str, table: EncodedTable, k: int) -> dict[str, Any]:
    kind, parameters = ALGORITHMS[name]
    start, wall = time.process_time(), time.perf_counter()
    requirement = Requirement.of([KAnonymity(k)])
    found = make_algorithm(kind, **parameters).cluster(table, requirement, Context(threads=2))
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    loss = groups_loss(table, found.groups) if found.boxes is None else boxes_loss(table, found.boxes)
    sizes = np.bincount(found.groups)
    return {
        "gcp": round(loss / (table.records * table.width), 6),
        "seconds": round(seconds, 3),
        "wall": round(wall, 3),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
    }


def cases(quick: bool) -> list[tuple[str, int, int, int, str]]:
    usual = 20_000 if quick else 100_000
    ks = (50, 250) if quick else (50, 100, 150, 200, 250)
    widths = (3, 6) if quick else (3, 4, 5, 6)
    sizes = (20_000, 40_000) if quick else (100_000, 200_000, 300_000, 400_000, 500_000)
    found = [(t, usual, d, k, a) for t in ("sal", "income") for d in widths for k in ks for a in ALGORITHMS]
    found += [(t, usual, d, DEFAULT_K, a) for t in ("sal", "income") for d in widths for a in ALGORITHMS]
    found += [(t, n, ALL, DEFAULT_K, a) for t in ("sal", "income") for n in sizes for a in ALGORITHMS]
    return list(dict.fromkeys(found))


def run(data: Path, out: Path, quick: bool, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing, write the table, the page and the charts, and say which claims hold. Needs no data."""
    file = out / "cb.csv"
    wanted = cases(quick)
    frames: dict[tuple[str, int], pl.DataFrame] = {}
    for case in waiting_cases(file, CASES, wanted, progress):
        name, records, width, k, algorithm = case
        if not frames:  # so that compiling is not measured
            small = encode_census("sal", census("sal", 2000), 3)
            for warm in ALGORITHMS:
                measure(warm, small, 50)
        if (name, records) not in frames:
            frames = {(name, records): census(name, records)}
        table = encode_census(name, frames[name, records], width)
        append_row(file, {**dict(zip(CASES, case, strict=True)), **measure(algorithm, table, k)})
    keys = pl.DataFrame(wanted, schema=list(CASES), orient="row")
    rows = pl.read_csv(file).join(keys, on=list(CASES)).sort(CASES)
    findings = claims(rows)
    write_page(out, "cb", "CB (He et al. 2012)", findings, rows, [why(rows)])
    _charts(rows, out)
    return findings


def _charts(rows: pl.DataFrame, out: Path) -> None:
    for name in ("sal", "income"):
        part = rows.filter(pl.col("table") == name)
        usual = part.filter(pl.col("attributes") < ALL)
        panels = in_panels(usual.sort("attributes", "k"), "attributes", lambda width: f"{width} quasi-identifiers")
        save_chart(lines_chart(panels, "k", "gcp", ("k", "GCP")), out / f"cb_{name}_k.svg")
        middle = usual.filter(pl.col("k") == DEFAULT_K)
        save_chart(
            lines_chart(middle, "attributes", "gcp", ("quasi-identifiers", "GCP")), out / f"cb_{name}_attributes.svg"
        )
        grown = part.filter(pl.col("attributes") == ALL)
        save_chart(lines_chart(grown, "records", "gcp", ("records", "GCP")), out / f"cb_{name}_records.svg")
        titles = ("records", "seconds of CPU time")
        save_chart(lines_chart(grown, "records", "seconds", titles), out / f"cb_{name}_seconds.svg")


def why(rows: pl.DataFrame) -> str:
    """What the two readings of the paper make of it."""
    usual = rows.filter(pl.col("attributes") < ALL)
    both = usual.pivot("algorithm", index=["table", "attributes", "k"], values="gcp")
    share, total = both["cb"] / both["cb-centres"], both["cb"] / both["cb-total"]
    return (
        "Why: the paper can be read in three ways. By its text a record joins the half that loses less in total with "
        "it (cb-total), by its pseudo-code the nearer of two bare centres (cb-centres); ours is the half whose loss it "
        f"raises less (cb), which loses {share.mean():.2f} of cb-centres ({share.min():.2f} to {share.max():.2f}) and "
        f"{total.mean():.2f} of cb-total ({total.min():.2f} to {total.max():.2f}). The tables are generated, so "
        "margins on the originals may differ."
    )


def exponent(sizes: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """The slope of log(seconds) over log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(name: str, sizes: NDArray[np.float64], seconds: NDArray[np.float64], wall: float) -> list[Finding]:
    """Expected is n log n; exactly, the tree of splits has log(n / k) levels, each of which reads all records."""
    found, levels = exponent(sizes, seconds), exponent(sizes, sizes * np.log(sizes / DEFAULT_K))
    text = f"exponent {found:.2f}; n log n has {exponent(sizes, sizes * np.log(sizes)):.2f} over these sizes, "
    text += f"n log(n / k) {levels:.2f}"
    spent = f"{seconds[-1]:.1f} s of CPU time with {sizes[-1]:,.0f} records, {wall:.1f} s by the clock"
    return [
        Finding(f"the time of cb on {name} grows like n log n, nearly linearly", text, found <= levels + NOISE),
        Finding(f"the largest table of {name} takes cb less than 500 s", spent, bool(seconds[-1] < 500)),
    ]


def shapes(name: str, rows: pl.DataFrame) -> list[Finding]:
    """Loss grows with the attributes and linearly with k."""
    usual = rows.filter((pl.col("algorithm") == "cb") & (pl.col("attributes") < ALL))
    wide = usual.filter(pl.col("k") == DEFAULT_K).sort("attributes")["gcp"].to_list()
    text = " ".join(f"{value:.4f}" for value in wide)
    grows = wide == sorted(wide)
    reason = "" if grows else ADDED
    found = [Finding(f"the loss of cb on {name} grows with the attributes", text, grows, reason)]
    fits = []
    for _, part in usual.group_by("attributes"):
        fits.append(float(np.corrcoef(part["k"].to_numpy(), part["gcp"].to_numpy())[0, 1] ** 2))
    text = f"a straight line explains {min(fits):.1%} to {max(fits):.1%}"
    found.append(
        Finding(f"the loss of cb on {name} is linear in k", text, min(fits) > 0.95, "" if min(fits) > 0.95 else BENT)
    )
    return found


ADDED = "GCP is a mean over attributes, and the fourth, gender, has two values and loses less than the first three"
BENT = "loss rises fast at small k and flattens out: a group cannot lose more than everything"


def domain_sizes(rows: pl.DataFrame) -> Finding:
    """INCOME has attributes of 711 and 983 values, SAL none above 83."""
    usual = rows.filter(pl.col("attributes") < ALL)
    both = usual.pivot("table", index=["algorithm", "attributes", "k"], values="gcp")
    two = {name: part for (name,), part in both.group_by(["algorithm"]) if name in ("cb", "nh")}
    growth = {name: float((part["income"] / part["sal"]).mean()) for name, part in two.items()}
    added = {name: float((part["income"] - part["sal"]).mean()) for name, part in two.items()}
    text = (
        f"from SAL to INCOME the loss of cb grows {growth['cb']:.2f} times (by {added['cb']:.3f}), that of NH "
        f"{growth['nh']:.2f} times (by {added['nh']:.3f})"
    )
    holds = growth["cb"] < growth["nh"]
    return Finding("CB is less sensitive to the size of domains than NH", text, holds, "" if holds else FROM_LITTLE)


FROM_LITTLE = "cb begins lower on SAL; in absolute terms its loss grows less than that of NH"


def claims(rows: pl.DataFrame) -> list[Finding]:
    """The claims of the paper, each with the number it stands or falls by."""
    findings = [domain_sizes(rows)]
    for name in ("sal", "income"):
        part = rows.filter(pl.col("table") == name)
        findings += shapes(name, part)
        for variant in ("cb", "cb-total", "cb-centres"):
            findings += [against_nh(name, variant, part, few) for few in (True, False)]
        grown = part.filter((pl.col("attributes") == ALL) & (pl.col("algorithm") == "cb")).sort("records")
        sizes, seconds, gcp = (grown[column].to_numpy() for column in ("records", "seconds", "gcp"))
        findings += growth(name, sizes.astype(np.float64), seconds, float(grown["wall"][-1]))
        text = f"GCP {gcp[0]:.4f} with {sizes[0]} records, {gcp[-1]:.4f} with {sizes[-1]}"
        findings.append(Finding(f"the loss of cb on {name} falls as records are added", text, bool(gcp[-1] < gcp[0])))
        both = part.pivot("algorithm", index=["records", "attributes", "k"], values="seconds")
        slower = (both["cb"] / both["nh"]).median()
        text = f"cb takes {slower:.1f} times its time (median)"
        findings.append(Finding(f"NH is faster than cb on {name}", text, bool(slower > 1), "" if slower > 1 else RINGS))
    return [replace(finding, part=headed(finding.claim)) for finding in findings]


def headed(claim: str) -> str:
    return "INCOME" if "income" in claim else "SAL" if " sal" in claim else "Both tables"


RINGS = (
    "its rings are built record by record from nearest neighbours and its assignment is drawn for every record; the "
    "rounds of cb are a few passes over columns"
)
READINGS = {
    "cb": "the half whose loss a record raises less is the better of the readings, so cb gains with 3 attributes too",
    "cb-total": "the half that loses less in total is joined wherever the record lies: totals decide, not nearness",
    "cb-centres": "two bare centres know nothing of how far the halves have grown",
}


def against_nh(name: str, variant: str, part: pl.DataFrame, few: bool) -> Finding:
    """Below NH everywhere, but for SAL with 3 attributes."""
    chosen = part.filter((pl.col("attributes") == 3) if few else pl.col("attributes").is_between(4, 6))
    both = chosen.pivot("algorithm", index=["attributes", "k"], values="gcp")
    share = both[variant] / both["nh"]
    text = f"{share.mean():.2f} of its loss on average, {share.min():.2f} to {share.max():.2f}"
    above = few and name == "sal"
    holds = bool((share > 1).all() if above else (share < 1).all())
    claim = f"{variant} on {name}, {'3' if few else '4 to 6'} attributes: {'above' if above else 'below'} NH"
    return Finding(claim, text, holds, "" if holds else READINGS[variant])
