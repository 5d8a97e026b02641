"""The claims of the TDR paper on guidance by clusters, on what masking costs, and on the threshold h."""

from __future__ import annotations

import polars as pl

from experiments.common import Finding
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
WHY_PAIRS = "a match point counts pairs of records, and most pairs are apart in any clustering"
WHY_OTHER = "not found out: taxonomies, k-means and the features of mixed types are other ones than the paper's"
WHY_F = (
    "F of two clusterings is never far below that of one cluster for all; match points count pairs, most of them apart"
)
WHY_JUMPS = "a taxonomy has few cuts: one refinement more or less moves many records at once"
WHY_HARD = "more clusters differ in details that masking hides"


def guidance(rows: pl.DataFrame) -> list[Finding]:
    found = []
    keys = ["table", "kind", "clusters"]
    ours = {tuple(line[key] for key in keys): line for line in by_guidance(rows, keys).to_dicts()}
    for line in by_guidance(rows, keys, "paper", "distort-paper").sort(keys).to_dicts():
        table, kind, clusters = (line[key] for key in keys)
        low, high = BENEFITS[table, kind][clusters]
        benefit, p = line["benefit F-measure"], line["p F-measure"]
        other = ours[table, kind, clusters]["benefit F-measure"]
        text = f"{line['cluster F-measure']:.3f} against {line['distort F-measure']:.3f}: {benefit:+.0%}"
        text += ("" if p is None else f", p = {p:.1e}") + f"; {other:+.0%} with our split rule"
        who = f"{table}, {kind}, {clusters} clusters"
        if high == 0:
            kept = min(line["cluster F-measure"], line["distort F-measure"]) > 1 - ROUNDED
            why = "distortion refines what changes most records, not what tells these two clusters apart"
            found.append(Finding(f"{who}: kept perfectly, guided or not", text, kept, "" if kept else why))
            continue
        stated = f"{low:.0%}" if low == high else f"{low:.0%} to {high:.0%}"
        holds = benefit >= low - ROUNDED and p is not None and p < SIGNIFICANT
        reason = WHY_BOTH_KEEP if clusters == 2 and table == "adult" else WHY_RULES if clusters == 2 else WHY_OTHER
        found.append(Finding(f"{who}: guidance gains {stated} of F", text, holds, "" if holds else reason))
    return found


def match_points(rows: pl.DataFrame) -> list[Finding]:
    found = []
    table = by_guidance(rows, ["table", "kind", "clusters"], "paper", "distort-paper")
    for (name, kind), (low, high) in MATCH_BENEFITS.items():
        part = table.filter((pl.col("table") == name) & (pl.col("kind") == kind)).sort("clusters")
        part = part.filter(pl.col("clusters") > 2) if (name, kind) == ("crx", "bisecting") else part
        if part.is_empty():
            continue
        numbers = " and ".join(map(str, part["clusters"].to_list()))
        text = ", ".join(f"{value:+.0%}" for value in part["benefit match point"]) + f" with {numbers} clusters"
        holds = bool(part["benefit match point"].min() >= low - ROUNDED)
        claim = f"{name}, {kind}: guidance gains {low:.0%} to {high:.0%} of match points"
        found.append(Finding(claim, text, holds, "" if holds else WHY_PAIRS))
    return found


def costs(rows: pl.DataFrame) -> list[Finding]:
    """1 - F and 1 - match point of guided masking, means over h."""
    guided = rows.filter((pl.col("guided") == "paper") & (pl.col("h") <= 100))
    costs_of = [(1 - pl.col(number).mean()).alias(number) for number in ("f_measure", "match_point")]
    means = guided.group_by("table", "kind", "clusters").agg(costs_of)
    found = []
    for name in COSTS:
        part = means.filter(pl.col("table") == name).sort("kind", "clusters")
        if part.is_empty():
            continue
        few = part.filter(pl.col("clusters") <= 6)["f_measure"]
        found.append(_cost(f"{name}: F costs {{}}, 2 and 6 clusters", COSTS[name], few, WHY_HARD))
        found.append(_cost(f"{name}: match points cost {{}}", MATCH_COSTS[name], part["match_point"], WHY_HARD))
        kind, stated = WORST_COSTS[name]
        many = part.filter((pl.col("clusters") == 10) & (pl.col("kind") == kind))["f_measure"]
        text = f"{many[0]:.0%}"
        claim = f"{name}, {kind}, 10 clusters: F costs more, {stated:.0%}"
        found.append(
            Finding(claim, text, bool(abs(many[0] - stated) < 0.05), "" if abs(many[0] - stated) < 0.05 else WHY_OTHER)
        )
    return found


def _cost(claim: str, stated: tuple[float, float], costs: pl.Series, why: str) -> Finding:
    low, high = stated
    text = f"{costs.min():.0%} to {costs.max():.0%}"
    holds = bool(costs.max() <= high + ROUNDED)
    return Finding(claim.format(f"{low:.0%} to {high:.0%}"), text, holds, "" if holds else why)


def thresholds(rows: pl.DataFrame) -> list[Finding]:
    usual = rows.filter((pl.col("guided") == "paper") & (pl.col("h") <= 100))
    found = []
    for number, words in (("f_measure", "F"), ("match_point", "match points")):
        spans = _spans(usual.filter(pl.col("table") == "adult"), number)
        holds = bool(spans.max() < STEADY)
        claim = f"adult: {words} differ by less than {STEADY} over h = 5 to 100"
        found.append(Finding(claim, f"by up to {spans.max():.2f}", holds, "" if holds else WHY_JUMPS))
    rises = (
        usual.sort("h").group_by("table", "kind", "clusters", maintain_order=True).agg(pl.col("f_measure").diff().max())
    )
    more = int((rises["f_measure"] > 1e-6).sum())
    claim = "a larger h may keep more: neither number falls steadily"
    found.append(Finding(claim, f"F rises somewhere in {more} of {rises.height} series", more > 0))
    part = usual.filter((pl.col("table") == "adult") & (pl.col("h").is_in([20, 70])))
    same = part.group_by("kind", "clusters").agg(pl.col("f_measure", "match_point", "classes").n_unique())
    equal = int((same["classes"] == 1).sum())
    claim = "adult: the masked table of h = 20 can be that of h = 70"
    why = "" if equal else WHY_JUMPS
    found.append(Finding(claim, f"as many classes in {equal} of {same.height} series", equal > 0, why))
    spans = {
        name: _spans(usual.filter((pl.col("table") == name) & (pl.col("clusters") > 2)), "f_measure")
        for name in ("adult", "crx")
    }
    means = {name: span.mean() for name, span in spans.items()}
    text = f"F differs by {means['crx']:.2f} on CRX, by {means['adult']:.2f} on Adult (6 and 10 clusters)"
    holds = bool(spans["crx"].mean() > spans["adult"].mean())
    claim = "CRX, the smaller table, is more sensitive to h than Adult"
    found.append(Finding(claim, text, holds, "" if holds else WHY_JUMPS))
    return found + _large(rows) + _cluster_numbers(usual)


def _spans(rows: pl.DataFrame, number: str) -> pl.Series:
    """The difference of highest and lowest over h, of every series."""
    return rows.group_by("table", "kind", "clusters").agg(pl.col(number).max() - pl.col(number).min())[number]


def _large(rows: pl.DataFrame) -> list[Finding]:
    part = rows.filter((pl.col("h") == 5000) & (pl.col("guided") == "paper"))
    if part.is_empty():
        return []
    f, match = float(part["f_measure"].min()), float(part["match_point"].min())
    text = f"at least {f:.3f} and {match:.3f}"
    holds = max(f, match) < 0.1
    return [Finding("adult: with h = 5000 F and match point drop below 0.1", text, holds, "" if holds else WHY_F)]


def _cluster_numbers(rows: pl.DataFrame) -> list[Finding]:
    means = rows.group_by("table", "kind", "clusters").agg(pl.col("f_measure").mean()).sort("table", "kind", "clusters")
    lists = means.group_by("table", "kind", maintain_order=True).agg("f_measure")["f_measure"].to_list()
    falling = sum(series == sorted(series, reverse=True) for series in lists)
    text = f"F falls with the number of clusters in {falling} of {len(lists)} series"
    holds = falling < len(lists)
    return [Finding("the number of clusters has no obvious trend", text, holds, "" if holds else WHY_HARD)]
