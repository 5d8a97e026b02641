"""The claims of the TDR paper on guidance by clusters, on what masking costs, and on the threshold h."""

from __future__ import annotations

from typing import Any

import polars as pl

from experiments.common import Finding, judged
from experiments.tdr_report import by_guidance

SIGNIFICANT = 0.05
STEADY = 0.2  # by how much F and match points may differ over h
# What the paper states, as shares: benefits of guidance for its clusterers (CRX, bisecting: by number of clusters).
BENEFITS = {
    ("adult", "kmeans"): {2: (0.24, 1.25), 6: (0.24, 1.25), 10: (0.24, 1.25)},
    ("adult", "bisecting"): {2: (0.34, 0.66), 6: (0.34, 0.66), 10: (0.34, 0.66)},
    ("crx", "kmeans"): {2: (0.40, 1.55), 6: (0.40, 1.55), 10: (0.40, 1.55)},
    ("crx", "bisecting"): {2: (0.0, 0.0), 6: (0.45, 0.45), 10: (0.57, 0.57)},
}
MATCH_BENEFITS = {
    ("adult", "kmeans"): (0.28, 0.85),
    ("adult", "bisecting"): (0.05, 0.32),
    ("crx", "kmeans"): (0.09, 0.60),
    ("crx", "bisecting"): (0.08, 0.13),  # with 6 and 10 clusters
}
COSTS = {"adult": (0.02, 0.20), "crx": (0.0, 0.23)}  # in F, 2 and 6 clusters
MATCH_COSTS = {"adult": (0.09, 0.23), "crx": (0.0, 0.20)}
WORST_COSTS = {"adult": ("bisecting", 0.33), "crx": ("kmeans", 0.30)}  # in F, 10 clusters
ROUNDED = 0.005

WHY_RULES = "it depends on the split rule: numbers that stay whole by the paper's leave room to refine categories"
WHY_BOTH_KEEP = "both ways of masking keep nearly all of two clusters, so there is little to gain"
WHY_DISTORTION = "distortion refines what changes most records, not what tells these two clusters apart"
WHY_PAIRS = "a match point counts pairs of records, and most pairs are apart in any clustering"
WHY_OTHER = "not found out: taxonomies, k-means and the features of mixed types are other ones than the paper's"
WHY_F = (
    "F of two clusterings is never far below that of one cluster for all; match points count pairs, most of them apart"
)
WHY_JUMPS = "a taxonomy has few cuts: one refinement more or less moves many records at once"
WHY_HARD = "more clusters differ in details that masking hides"


def guidance(rows: pl.DataFrame) -> list[Finding]:
    keys = ["table", "kind", "clusters"]
    ours = {tuple(line[key] for key in keys): line for line in by_guidance(rows, keys).to_dicts()}
    paper = by_guidance(rows, keys, "paper", "distort-paper").sort(keys).to_dicts()
    return [_benefit(line, ours[tuple(line[key] for key in keys)]["benefit F-measure"]) for line in paper]


def _benefit(line: dict[str, Any], other: float) -> Finding:
    """One table, clusterer and number of clusters; `other` is the benefit with our split rule."""
    table, kind, clusters = line["table"], line["kind"], line["clusters"]
    low, high = BENEFITS[table, kind][clusters]
    benefit, p = line["benefit F-measure"], line["p F-measure"]
    text = f"{line['cluster F-measure']:.3f} against {line['distort F-measure']:.3f}: {benefit:+.0%}"
    text += ("" if p is None else f", p = {p:.1e}") + f"; {other:+.0%} with our split rule"
    who = f"{table}, {kind}, {clusters} clusters"
    if high == 0:
        kept = min(line["cluster F-measure"], line["distort F-measure"]) > 1 - ROUNDED
        return judged(f"{who}: kept perfectly, guided or not", text, kept, WHY_DISTORTION)
    stated = f"{low:.0%}" if low == high else f"{low:.0%} to {high:.0%}"
    holds = benefit >= low - ROUNDED and p is not None and p < SIGNIFICANT
    why = WHY_OTHER if clusters > 2 else WHY_BOTH_KEEP if table == "adult" else WHY_RULES
    return judged(f"{who}: guidance gains {stated} of F", text, holds, why)


def match_points(rows: pl.DataFrame) -> list[Finding]:
    table = by_guidance(rows, ["table", "kind", "clusters"], "paper", "distort-paper")
    found = []
    for (name, kind), stated in MATCH_BENEFITS.items():
        part = table.filter((pl.col("table") == name) & (pl.col("kind") == kind)).sort("clusters")
        part = part.filter(pl.col("clusters") > 2) if (name, kind) == ("crx", "bisecting") else part
        if not part.is_empty():
            found += _match_benefit(f"{name}, {kind}", part, stated)
    return found


def _match_benefit(who: str, part: pl.DataFrame, stated: tuple[float, float]) -> list[Finding]:
    numbers = " and ".join(map(str, part["clusters"].to_list()))
    benefits, ps = part["benefit match point"], part["p match point"].to_list()
    text = ", ".join(f"{value:+.0%}" for value in benefits) + f" with {numbers} clusters"
    told = ", ".join("no difference" if p is None else f"p = {p:.1e}" for p in ps) + f" with {numbers} clusters"
    claim = f"{who}: guidance gains {stated[0]:.0%} to {stated[1]:.0%} of match points"
    sure = all(p is not None and p < SIGNIFICANT for p in ps)
    return [
        judged(claim, text, benefits.min() >= stated[0] - ROUNDED, WHY_PAIRS),
        judged(f"{who}: guidance gains match points significantly", told, sure, WHY_BOTH_KEEP),
    ]


def costs(rows: pl.DataFrame) -> list[Finding]:
    """1 - F and 1 - match point of guided masking, means over h."""
    guided = rows.filter((pl.col("guided") == "paper") & (pl.col("h") <= 100))
    costs_of = [(1 - pl.col(number).mean()).alias(number) for number in ("f_measure", "match_point")]
    means = guided.group_by("table", "kind", "clusters").agg(costs_of).sort("kind", "clusters")
    parts = {name: means.filter(pl.col("table") == name) for name in COSTS}
    return [finding for name, part in parts.items() if not part.is_empty() for finding in _costs_of(name, part)]


def _costs_of(name: str, part: pl.DataFrame) -> list[Finding]:
    few = part.filter(pl.col("clusters") <= 6)["f_measure"]
    kind, stated = WORST_COSTS[name]
    many = part.filter((pl.col("clusters") == 10) & (pl.col("kind") == kind))["f_measure"][0]
    claim = f"{name}, {kind}, 10 clusters: F costs more, {stated:.0%}"
    return [
        _cost(f"{name}: F costs {{}}, 2 and 6 clusters", COSTS[name], few, WHY_HARD),
        _cost(f"{name}: match points cost {{}}", MATCH_COSTS[name], part["match_point"], WHY_HARD),
        judged(claim, f"{many:.0%}", abs(many - stated) < 0.05, WHY_OTHER),
    ]


def _cost(claim: str, stated: tuple[float, float], costs: pl.Series, why: str) -> Finding:
    low, high = stated
    text = f"{costs.min():.0%} to {costs.max():.0%}"
    return judged(claim.format(f"{low:.0%} to {high:.0%}"), text, costs.max() <= high + ROUNDED, why)


def thresholds(rows: pl.DataFrame) -> list[Finding]:
    usual = rows.filter((pl.col("guided") == "paper") & (pl.col("h") <= 100))
    return [
        *_steady(usual),
        _rises(usual),
        _same_masked(usual),
        *_sensitive(usual),
        *_large(rows),
        *_cluster_numbers(usual),
    ]


def _steady(usual: pl.DataFrame) -> list[Finding]:
    found = []
    for number, words in (("f_measure", "F"), ("match_point", "match points")):
        spans = _spans(usual.filter(pl.col("table") == "adult"), number)
        claim = f"adult: {words} differ by less than {STEADY} over h = 5 to 100"
        found.append(judged(claim, f"by up to {spans.max():.2f}", spans.max() < STEADY, WHY_JUMPS))
    return found


def _rises(usual: pl.DataFrame) -> Finding:
    series = usual.sort("h").group_by("table", "kind", "clusters", maintain_order=True)
    rises = series.agg(pl.col("f_measure").diff().max())["f_measure"]
    more = int((rises > 1e-6).sum())
    claim = "a larger h may keep more: neither number falls steadily"
    return judged(claim, f"F rises somewhere in {more} of {rises.len()} series", more > 0)


def _same_masked(usual: pl.DataFrame) -> Finding:
    part = usual.filter((pl.col("table") == "adult") & (pl.col("h").is_in([20, 70])))
    same = part.group_by("kind", "clusters").agg(pl.col("f_measure", "match_point", "classes").n_unique())
    equal = int((same["classes"] == 1).sum())
    claim = "adult: the masked table of h = 20 can be that of h = 70"
    return judged(claim, f"as many classes in {equal} of {same.height} series", equal > 0, WHY_JUMPS)


def _sensitive(usual: pl.DataFrame) -> list[Finding]:
    """CRX is the smaller table: h matters more, and less is kept as it grows."""
    parts = {name: usual.filter((pl.col("table") == name) & (pl.col("clusters") > 2)) for name in ("adult", "crx")}
    means = {name: _spans(part, "f_measure").mean() for name, part in parts.items()}
    text = f"F differs by {means['crx']:.2f} on CRX, by {means['adult']:.2f} on Adult (6 and 10 clusters)"
    slopes = {name: _correlation(part) for name, part in parts.items()}
    falls = f"rank correlation of F with h: {slopes['crx']:.2f} on CRX, {slopes['adult']:.2f} on Adult"
    claim = "CRX, the smaller table, is more sensitive to h than Adult"
    degrades = "less is kept as h grows, on CRX more plainly than on Adult (6 and 10 clusters)"
    return [
        judged(claim, text, means["crx"] > means["adult"], WHY_JUMPS),
        judged(degrades, falls, slopes["crx"] < min(0, slopes["adult"]), WHY_JUMPS),
    ]


def _correlation(rows: pl.DataFrame) -> float:
    """The mean over series of the rank correlation of F and h."""
    series = rows.group_by("kind", "clusters").agg(pl.corr("h", "f_measure", method="spearman").alias("r"))
    return float(series["r"].mean())


def _spans(rows: pl.DataFrame, number: str) -> pl.Series:
    """The difference of highest and lowest over h, of every series."""
    return rows.group_by("table", "kind", "clusters").agg(pl.col(number).max() - pl.col(number).min())[number]


def _large(rows: pl.DataFrame) -> list[Finding]:
    part = rows.filter((pl.col("h") == 5000) & (pl.col("guided") == "paper"))
    if part.is_empty():
        return []
    f, match = float(part["f_measure"].min()), float(part["match_point"].min())
    claim = "adult: with h = 5000 F and match point drop below 0.1"
    return [judged(claim, f"at least {f:.3f} and {match:.3f}", max(f, match) < 0.1, WHY_F)]


def _cluster_numbers(rows: pl.DataFrame) -> list[Finding]:
    means = rows.group_by("table", "kind", "clusters").agg(pl.col("f_measure").mean()).sort("table", "kind", "clusters")
    lists = means.group_by("table", "kind", maintain_order=True).agg("f_measure")["f_measure"].to_list()
    falling = sum(series == sorted(series, reverse=True) for series in lists)
    text = f"F falls with the number of clusters in {falling} of {len(lists)} series"
    return [judged("the number of clusters has no obvious trend", text, falling < len(lists), WHY_HARD)]
