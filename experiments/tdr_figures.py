"""The figures of the TDR experiments, from their CSV files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.charts import DASH, in_panels, lines_chart
from experiments.common import save_chart

NUMBERS = ("f_measure", "match_point")
NAMES = {"f_measure": "F-measure", "match_point": "match point"}
GUIDANCE = {"paper": "guided by clusters", "cluster": "guided by clusters"}
GUIDANCE |= {"distort-paper": "by distortion", "distort": "by distortion"}
RULES = {"paper": "the paper's split rule", "distort-paper": "the paper's split rule"}
RULES |= {"cluster": "our split rule", "distort": "our split rule"}
KINDS = {"kmeans": "basic k-means", "bisecting": "bisecting k-means"}


def save_figures(out: Path) -> None:
    """Those whose cases have been run."""
    for name, draw in (("threshold", _thresholds), ("size", _sizes), ("multi", _several), ("scale", _scale)):
        file = out / f"tdr_{name}.csv"
        if file.is_file():
            draw(pl.read_csv(file), out)


def _ways(rows: pl.DataFrame) -> pl.DataFrame:
    """Whether clusters guided the masking, as the series, and the split rule, as the way a line is drawn."""
    guided = pl.col("guided")
    return rows.with_columns(guided.replace(GUIDANCE).alias("guidance"), guided.replace(RULES).alias(DASH))


def _thresholds(rows: pl.DataFrame, out: Path) -> None:
    usual = _ways(rows.filter(pl.col("h") <= 100)).sort("clusters", "kind", "h")
    for (table,), part in usual.group_by(["table"], maintain_order=True):
        words = pl.format("{} clusters, {}", "clusters", pl.col("kind").replace(KINDS)).alias("words")
        panels = in_panels(
            part.with_columns(words).sort("kind", "clusters", "h", descending=[True, False, False]), "words", str
        )
        for number in NUMBERS:
            titles = ("h", NAMES[number])
            chart = lines_chart(panels, "h", number, titles, series="guidance", dash=DASH, domain=(0, 1))
            save_chart(chart, out / f"tdr_{number}_{table}.svg")


def _sizes(rows: pl.DataFrame, out: Path) -> None:
    attributes = pl.col("requirement").str.extract(r"(\d+)$").cast(pl.Int64).alias("attributes")
    keys = ["table", "kind", "attributes", "guidance", DASH]
    means = _ways(rows.with_columns(attributes)).group_by(keys).agg(pl.col("f_measure").mean()).sort(keys)
    named = means.with_columns(pl.format("{}, {}", "table", pl.col("kind").replace(KINDS)).alias("words"))
    titles = ("attributes in the QID", NAMES["f_measure"])
    panels = in_panels(named, "words", str)
    chart = lines_chart(panels, "attributes", "f_measure", titles, series="guidance", dash=DASH, domain=(0, 1))
    save_chart(chart, out / "tdr_size.svg")


def _several(rows: pl.DataFrame, out: Path) -> None:
    form = pl.col("requirement").str.extract(r"^(\w+)-").replace({"multi": "several QIDs", "single": "their union"})
    keys = ["table", "kind", "h", "form", DASH]
    means = _ways(rows.with_columns(form.alias("form"))).group_by(keys).agg(pl.col("f_measure").mean()).sort(keys)
    named = means.with_columns(pl.format("{}, {}", "table", pl.col("kind").replace(KINDS)).alias("words"))
    titles = ("h", NAMES["f_measure"])
    panels = in_panels(named, "words", str)
    chart = lines_chart(panels, "h", "f_measure", titles, series="form", dash=DASH, domain=(0, 1))
    save_chart(chart, out / "tdr_multi.svg")


def _scale(rows: pl.DataFrame, out: Path) -> None:
    form = pl.col("requirement").str.extract(r"^(\w+)")
    named = {"all": "one QID of 14 attributes", "multi": "several QIDs", "suppression": "one QID, values suppressed"}
    words = form.replace(named).alias("form")
    means = rows.with_columns(words).group_by("records", "form").agg(pl.col("seconds").mean()).sort("records", "form")
    titles = ("records", "seconds of processor time")
    save_chart(lines_chart(means, "records", "seconds", titles, series="form"), out / "tdr_scale.svg")
