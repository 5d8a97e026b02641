"""The claims of the priority paper, each with the number that it stands or falls by."""

from __future__ import annotations

import numpy as np
import polars as pl

from experiments.common import Finding, judged
from experiments.distortion import ratio

SPARSE_LAST = "sparse records are grouped last, from what is left over (below)"
LABEL_TOO = "the label is one more thing to keep together"
LESS_FOR_EVERY_K = "less distortion than median partitioning for every k"
NO_LABEL = "without its label both group by the same attributes: no difference worth the name"
GREEDY = "k-member grows every group by what it costs least; DBCA takes the k nearest of a centre, whatever they cost "
CASES_OF = (  # measure, algorithm, the one it is held against, the claim, and why it fails where it does
    ("distortion", "dbca", "mondrian", f"DBCA has {LESS_FOR_EVERY_K}", SPARSE_LAST),
    ("distortion", "dbca-cm", "mondrian", f"DBCA:CM has {LESS_FOR_EVERY_K}", SPARSE_LAST),
    ("distortion", "dbca-cm", "dbca", "DBCA:CM has the least distortion, DBCA very close to it", LABEL_TOO),
    ("classification", "dbca", "mondrian", "DBCA has a lower CM than median partitioning for every k", NO_LABEL),
    ("classification", "dbca-cm", "dbca", "DBCA:CM has the lowest CM", ""),
    ("classification", "dbca-cm-forced", "dbca-cm", "... and labels that are forced have a lower one still", ""),
    ("distortion", "dbca-cm-forced", "dbca", "DBCA:CM with forced labels has the least distortion", LABEL_TOO),
    (
        *("distortion", "dbca", "k-member", "(the comparison that the paper leaves to later) less than k-member"),
        f"{GREEDY}together",
    ),
    ("distortion", "dbca", "full-domain", "DBCA distorts significantly less than an optimal (full-domain) method", ""),
)
MUCH = 1.25  # more than this many times is much more distortion


def claims(rows: pl.DataFrame, records: int) -> list[Finding]:
    whole = rows.filter(pl.col("records") == records)
    found = []
    for measured, first, second, claim, why in CASES_OF:
        share = ratio(whole, measured, first, second, ("k", "priorities"))
        text = f"{np.median(share):.3f} of it (median), {share.min():.3f} to {share.max():.3f}"
        found.append(judged(claim, text, share.max() < 1, why))
    return [*found, _little_cost(whole), _priorities(whole), _sizes(whole), *_seconds(rows, whole)]


def _little_cost(rows: pl.DataFrame) -> Finding:
    added = ratio(rows, "distortion", "dbca-cm", "dbca", ("k", "priorities"))
    saved = ratio(rows, "classification", "dbca-cm", "dbca", ("k", "priorities"))
    text = f"CM {np.median(saved):.2f} of DBCA's, distortion {np.median(added):.2f} of it (medians; at most "
    claim = "DBCA:CM reduces CM effectively without increasing distortion much"
    return judged(claim, f"{text}{added.max():.2f})", added.max() < MUCH and saved.max() < 1)


def _priorities(rows: pl.DataFrame) -> Finding:
    """What the most important attribute, age, loses with priorities and without; its priority is 1 in both."""
    dbca = rows.filter(pl.col("algorithm") == "dbca")
    lost = dbca.pivot("priorities", index="k", values="first_attribute").sort("k")
    share = lost["equally scaled"] / lost["none"]
    text = f"age loses {share.median():.2f} of what it loses without priorities (median), {share.min():.2f} to "
    claim = "what has the highest priority is generalized last"
    return judged(claim, f"{text}{share.max():.2f}", share.max() < 1)


def _sizes(rows: pl.DataFrame) -> Finding:
    dbca = rows.filter(pl.col("algorithm") == "dbca")
    largest, smallest = float((dbca["largest"] / dbca["k"]).max()), float((dbca["smallest"] / dbca["k"]).min())
    claim = "no cluster of DBCA has fewer than k records or more than 2k - 1"
    return judged(claim, f"{smallest:.2f} k to {largest:.2f} k", smallest >= 1 and largest < 2)


def _seconds(rows: pl.DataFrame, whole: pl.DataFrame) -> list[Finding]:
    slower = ratio(whole, "seconds", "dbca", "mondrian", ("k", "priorities"))
    text = f"{np.median(slower):.1f} times its time (median)"
    power = {name: _power(rows, name) for name in ("dbca", "mondrian")}
    steep = f"like n^{power['dbca']:.2f}, {rows['records'].min():,} to {rows['records'].max():,} records"
    both = f"its time grows {steep}, that of Mondrian like n^{power['mondrian']:.2f}"
    claim = "DBCA is more scalable than the method it is compared with"
    why = "Mondrian sorts and halves, n log n; DBCA has to look for neighbours"
    return [
        judged("DBCA takes longer than median partitioning", text, np.median(slower) > 1),
        judged("the time of DBCA grows with n^2 at most", steep, power["dbca"] <= 2.1),
        judged(claim, both, power["dbca"] < power["mondrian"], why),
    ]


def _power(rows: pl.DataFrame, name: str) -> float:
    """The time as a power of the number of records."""
    mine = rows.filter((pl.col("algorithm") == name) & (pl.col("k") == 50) & (pl.col("priorities") == "none"))
    return float(np.polyfit(np.log(mine["records"].to_numpy()), np.log(mine["seconds"].to_numpy()), 1)[0])
