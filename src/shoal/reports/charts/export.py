"""The charts of an evaluation as PNG and SVG files for papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.reports.charts import specs
from shoal.reports.charts.clusters import contingency, contingency_records
from shoal.reports.charts.draw import save_pictures

Dict = Mapping[str, Any]


def evaluation_charts(evaluation: Dict) -> dict[str, dict[str, Any]]:
    """Every chart that the evaluation (as a dict) has numbers for, by name."""
    risk = evaluation["risk"]
    losses = evaluation["scores"]["per_attribute"]["gcp"]
    charts = {
        "class-sizes": specs.class_sizes(_both(risk, "sizes")),
        "risk-curve": specs.risk_curve(_both(risk, "curve")),
        "loss": specs.loss_per_attribute([{"attribute": name, "loss": loss} for name, loss in losses.items()]),
    }
    if evaluation.get("queries") and evaluation["queries"]["by_selectivity"]:
        charts["query-errors"] = specs.query_errors(evaluation["queries"]["by_selectivity"])
    if evaluation.get("models") and "results" in evaluation["models"]:
        charts["accuracy"] = specs.accuracy(evaluation["models"]["results"])
    clusters = evaluation.get("clusters") or {}
    if clusters.get("contingency"):
        charts["clusters"] = contingency(contingency_records(clusters["contingency"]))
    return charts


def save_charts(evaluation: Dict, folder: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write every chart into a folder; returns the files."""
    return save_pictures(evaluation_charts(evaluation), folder, formats)


def _both(risk: Dict, what: str) -> list[dict[str, Any]]:
    return [{**row, "when": when} for when in ("before", "after") for row in risk[f"{what}_{when}"]]
