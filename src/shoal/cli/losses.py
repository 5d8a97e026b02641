"""Losses on the screen: GCP, and beside it what a mean does not show."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.cli.output import print_table


def loss_rows_beside(metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    """What the loss does not show, a row each."""
    rows = [("Cells kept exact", f"{metrics['exact_cells']:.1%}")]
    if metrics.get("listed_values") is not None:
        rows.append(("Values listed per cell of a category", f"{metrics['listed_values']:.1f}"))
    if metrics.get("lonely_ends"):
        rows.append(("Ends of ranges that one record alone has", f"{metrics['lonely_ends']:,.0f}"))
    return rows


def print_losses(title: str, per_attribute: Mapping[str, Mapping[str, float]]) -> None:
    """Per attribute the loss, the cells that are exact, the values that a cell lists, and the ends of one record."""
    rows = [
        (
            name,
            f"{values['gcp']:.4f}",
            f"{values['exact_cells']:.1%}",
            f"{values['listed_values']:.1f}" if "listed_values" in values else "-",
            f"{values['lonely_ends']:,.0f}" if "lonely_ends" in values else "-",
        )
        for name, values in per_attribute.items()
    ]
    heads = ("attribute", "loss", "cells kept exact", "values listed per cell", "ends of one record")
    print_table(title, heads, rows, right=(1, 2, 3, 4))
