"""The claims of the TDR paper beside what was measured, from the CSV files of its experiments."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.common import Finding
from experiments.tdr_report import by_guidance, paired

SIGNIFICANT = 0.05
STEADY = 0.2  # by how much F may differ over h
SECONDS_THEN = 80


def claims(out: Path) -> list[Finding]:
    """Only what has been run is judged."""
    found: list[Finding] = []
    for name, judge in (("threshold", _guidance), ("threshold", _steadiness), ("multi", _several), ("scale", _speed)):
        file = out / f"tdr_{name}.csv"
        if file.is_file():
            found += judge(pl.read_csv(file))
    return found


def _guidance(rows: pl.DataFrame) -> list[Finding]:
    found = []
    for line in by_guidance(rows, ["table", "kind", "clusters"]).to_dicts():
        benefit, p = line["benefit F-measure"], line["p F-measure"]
        claim = (
            f"{line['table']}, {line['kind']}, {line['clusters']} clusters: guided by clusters beats distortion in F"
        )
        significance = "no difference" if p is None else f"p = {p:.1e}"
        text = (
            f"{line['cluster F-measure']:.3f} against {line['distort F-measure']:.3f}: {benefit:+.0%}, {significance}"
        )
        found.append(Finding(claim, text, benefit > 0 and p is not None and p < SIGNIFICANT))
    return found


def _steadiness(rows: pl.DataFrame) -> list[Finding]:
    guided = rows.filter((pl.col("guided") == "cluster") & (pl.col("table") == "adult"))
    if guided.is_empty():
        return []
    spread = guided.group_by(["kind", "clusters"]).agg(pl.col("f_measure").max() - pl.col("f_measure").min())
    widest = float(spread["f_measure"].max())
    return [Finding(f"F differs by less than {STEADY} over h on adult", f"by up to {widest:.2f}", widest < STEADY)]


def _several(rows: pl.DataFrame) -> list[Finding]:
    found = []
    form, case = pl.col("requirement").str.extract(r"^(\w+)-"), pl.col("requirement").str.extract(r"(\d+)$")
    split = rows.with_columns(form.alias("form"), case.alias("case")).sort("table", "kind", "h", "case")
    for (table, kind, h), part in split.group_by(["table", "kind", "h"], maintain_order=True):
        several = part.filter(pl.col("form") == "multi")["f_measure"]
        union = part.filter(pl.col("form") == "single")["f_measure"]
        p = paired(several, union)
        text = f"{several.mean():.3f} against {union.mean():.3f}" + ("" if p is None else f", p = {p:.1e}")
        claim = f"{table}, {kind}, h = {h}: several QIDs keep more F than their union"
        found.append(Finding(claim, text, p is not None and p < SIGNIFICANT))
    return found


def _speed(rows: pl.DataFrame) -> list[Finding]:
    largest = rows.filter(pl.col("records") == rows["records"].max())
    records, seconds = int(largest["records"][0]), float(largest["seconds"].max())
    text = f"{seconds:.1f} s of processor time at most"
    claim = f"{records:,} records with 14 attributes at h = 50 take less than {SECONDS_THEN} s"
    return [Finding(claim, text, seconds < SECONDS_THEN)]
