"""The results of the TDR experiments as one Markdown page and charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from scipy.stats import ttest_rel

from experiments.common import Finding, save_chart
from shoal.reports.charts.clusters import quality_against_h

NUMBERS = ("f_measure", "match_point")
NAMES = {"f_measure": "F-measure", "match_point": "match point"}


TITLE = "# TDR: publishing for cluster analysis (Fung, Wang, Wang, Hung 2009)"


def report(out: Path, findings: Sequence[Finding]) -> None:
    """Write tdr.md and the charts next to the CSV files; experiments that were not run are left out."""
    lines = [TITLE, "", "| claim | measured | holds |", "|---|---|---|"]
    lines += [f"| {one.claim} | {one.measured} | {'yes' if one.holds else 'no'} |" for one in findings]
    parts = ["\n".join(lines), *why(out)]
    for name, section in SECTIONS.items():
        file = out / f"tdr_{name}.csv"
        if file.is_file():
            parts.append(section(pl.read_csv(file)))
    (out / "tdr.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    if (out / "tdr_threshold.csv").is_file():
        _charts(pl.read_csv(out / "tdr_threshold.csv"), out)


def why(out: Path) -> list[str]:
    """How much two clusterers differ on the raw table: what masking does below that cannot be told from chance."""
    file = out / "tdr_mixed.csv"
    if not file.is_file():
        return []
    raw = pl.read_csv(file).filter((pl.col("guided") == "raw") & (pl.col("clusters") == 6))
    agreed = {table: part["f_measure"].mean() for (table,), part in raw.group_by("table", maintain_order=True)}
    told = ", ".join(f"{value:.2f} on {table}" for table, value in agreed.items())
    return [
        "Why: with 2 clusters on Adult both ways of masking keep nearly everything, so there is nothing to win. With 6 "
        f"clusters k-means is not stable: on the raw tables it agrees with bisecting k-means to an F-measure of only "
        f"{told}, so small differences between several QIDs and their union are within what another start would give. "
        "F jumps over h because a taxonomy has few cuts: one refinement more or less moves many records at once."
    ]


def markdown(frame: pl.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * frame.width]
    return "\n".join([*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in frame.rows())])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3f}"
    return "" if value is None else str(value)


def paired(better: pl.Series, worse: pl.Series) -> float | None:
    """p of the one-tail t-test that the first is larger; None if the pairs do not differ."""
    if len(better) < 2 or (better - worse).std() == 0:
        return None
    return float(ttest_rel(better.to_numpy(), worse.to_numpy(), alternative="greater").pvalue)


def by_guidance(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Means of cluster-guided and distortion-guided masking over all h, benefit, and p."""
    found = []
    for values, part in rows.group_by(keys, maintain_order=True):
        guided = part.filter(pl.col("guided") == "cluster").sort("h")
        plain = part.filter(pl.col("guided") == "distort").sort("h")
        line = dict(zip(keys, values, strict=True))
        for number in NUMBERS:
            mean, other = guided[number].mean(), plain[number].mean()
            line |= {f"cluster {NAMES[number]}": mean, f"distort {NAMES[number]}": other}
            line |= {
                f"benefit {NAMES[number]}": mean / other - 1,
                f"p {NAMES[number]}": paired(guided[number], plain[number]),
            }
        found.append(line)
    return pl.DataFrame(found, infer_schema_length=None)


def threshold_section(rows: pl.DataFrame) -> str:
    table = by_guidance(rows, ["table", "kind", "clusters"])
    spread = (
        rows.filter(pl.col("guided") == "cluster")
        .group_by(["table", "kind", "clusters"], maintain_order=True)
        .agg((pl.col(number).max() - pl.col(number).min()).alias(f"spread {NAMES[number]}") for number in NUMBERS)
    )
    return (
        "## Guided by clusters or by distortion, mean over h\n\n"
        + markdown(table)
        + "\n\nSpread over h:\n\n"
        + markdown(spread)
    )


def size_section(rows: pl.DataFrame) -> str:
    return "## Size of the QID, 6 clusters, mean over h\n\n" + markdown(
        by_guidance(rows, ["table", "kind", "requirement"])
    )


def multi_section(rows: pl.DataFrame) -> str:
    split = rows.with_columns(
        pl.col("requirement").str.extract(r"^(\w+)-").alias("form"),
        pl.col("requirement").str.extract(r"(\d+)$").alias("case"),
    )
    found = []
    for (table, kind, h), part in split.sort("table", "kind", "h").group_by(
        ["table", "kind", "h"], maintain_order=True
    ):
        several = part.filter(pl.col("form") == "multi").sort("case")
        single = part.filter(pl.col("form") == "single").sort("case")
        line: dict[str, object] = {"table": table, "kind": kind, "h": h, "cases": several.height}
        for number in NUMBERS:
            line |= {
                f"several {NAMES[number]}": several[number].mean(),
                f"union {NAMES[number]}": single[number].mean(),
            }
            line[f"p {NAMES[number]}"] = paired(several[number], single[number])
        found.append(line)
    return "## Several QIDs against their union\n\n" + markdown(pl.DataFrame(found, infer_schema_length=None))


def mixed_section(rows: pl.DataFrame) -> str:
    table = rows.group_by(["table", "kind", "recipient", "clusters", "guided"], maintain_order=True).agg(
        pl.col(number).mean().alias(NAMES[number]) for number in NUMBERS
    )
    return "## Publisher and recipient cluster in different ways\n\n" + markdown(table)


def scale_section(rows: pl.DataFrame) -> str:
    form = pl.col("requirement").str.extract(r"^(\w+)").alias("requirement")
    table = rows.group_by(["records", form], maintain_order=True).agg(
        pl.len().alias("runs"), pl.col("seconds").mean(), pl.col("wall").mean(), pl.col("steps").mean()
    )
    return "## Seconds of masking at h = 50\n\n" + markdown(table)


SECTIONS = {
    "threshold": threshold_section,
    "size": size_section,
    "multi": multi_section,
    "mixed": mixed_section,
    "scale": scale_section,
}


def _charts(rows: pl.DataFrame, out: Path) -> None:
    for (table, clusters), part in rows.group_by(["table", "clusters"]):
        for number in NUMBERS:
            series = part.select(
                "h",
                pl.col(number).alias("value"),
                (pl.col("kind") + ", " + pl.col("guided") + "-guided").alias("series"),
            )
            chart = quality_against_h(series.to_dicts(), f"{NAMES[number]} on {table}, {clusters} clusters")
            save_chart(chart, out / f"tdr_{number}_{table}_{clusters}.png")
