"""Figures of the experiments: lines of several algorithms or ways, in panels that are named in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from shoal.reports.charts.specs import ACCENTS, AFTER

PANEL, SERIES, DASH = "panel", "series", "way"
WIDTHS = {1: 420, 2: 270}  # of a panel, by how many stand side by side
NARROW = 195


def in_panels(rows: pl.DataFrame, column: str, words: Callable[[Any], str]) -> pl.DataFrame:
    """The rows with the name of the panel that each belongs to, in the order of the column."""
    panels = pl.Series(PANEL, [words(value) for value in rows[column]], dtype=pl.String)
    return rows.with_columns(panels)


def lines_chart(
    rows: pl.DataFrame,
    x: str,
    y: str,
    titles: tuple[str, str],
    *,
    series: str = "algorithm",
    names: Mapping[str, str] | None = None,
    dash: str | None = None,
    domain: Sequence[float] | None = None,
) -> dict[str, Any]:
    """One line per series (and per `dash`), one panel per value of the column `panel` if the rows have one."""
    named = rows.with_columns(pl.col(series).replace(dict(names or {})).alias(SERIES))
    columns = [x, y, SERIES, *([dash] if dash else []), *([PANEL] if PANEL in rows.columns else [])]
    panels = list(dict.fromkeys(rows[PANEL].to_list())) if PANEL in rows.columns else []
    beside = min(3, len(panels)) if len(panels) != 4 else 2
    plot = {
        "width": WIDTHS.get(beside or 1, NARROW),
        "height": 180,
        "mark": {"type": "line", "point": {"size": 28}, "strokeWidth": 1.8},
        "encoding": {
            "x": _across(named[x], titles[0]),
            "y": _up(named[y], titles[1], domain),
            **_colours(named),
            **(_dashes(named, dash) if dash else {}),
        },
    }
    data = {"data": {"values": named.select(columns).to_dicts()}}
    if not panels:
        return {**data, **plot, **STYLE}
    facet = {"field": PANEL, "type": "nominal", "sort": panels, "title": None, "header": {"labelFontWeight": "bold"}}
    spread = {"resolve": {"scale": {"y": "independent"}}} if domain is None else {}
    return {**data, "facet": facet, "columns": beside, "spec": plot, **spread, **STYLE}


def _across(values: pl.Series, title: str) -> dict[str, Any]:
    ticks = sorted(set(values.to_list()))
    return {
        "field": values.name,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": False, "padding": 12},
        "axis": {"format": "~s" if max(ticks) >= 10_000 else "d", **({"values": ticks} if len(ticks) <= 7 else {})},
    }


def _up(values: pl.Series, title: str, domain: Sequence[float] | None) -> dict[str, Any]:
    return {
        "field": values.name,
        "type": "quantitative",
        "title": title,
        "axis": {"format": "~g" if values.max() < 10_000 else "~s", "tickCount": 5},
        "scale": {"domain": list(domain)} if domain else {"zero": True},
    }


def _colours(rows: pl.DataFrame) -> dict[str, Any]:
    order = sorted(set(rows[SERIES].to_list()))
    scale = {"domain": order, "range": ACCENTS[: len(order)]}
    return {"color": {"field": SERIES, "type": "nominal", "legend": legend(), "scale": scale}}


def _dashes(rows: pl.DataFrame, dash: str) -> dict[str, Any]:
    ways = sorted(set(rows[dash].to_list()), reverse=True)
    scale = {"domain": ways, "range": [[1, 0], [5, 3]][: len(ways)]}
    return {"strokeDash": {"field": dash, "type": "nominal", "legend": None, "scale": scale}}  # told in the caption


def legend() -> dict[str, Any]:
    """Above the figure, with room for letters that are wider than those it was drawn with."""
    return {"orient": "top", "title": None, "labelLimit": 0, "columnPadding": 40, "symbolStrokeWidth": 2.5}


STYLE: dict[str, Any] = {
    "padding": {"left": 8, "right": 30, "top": 8, "bottom": 8},
    "config": {"view": {"stroke": "#d8dce2"}, "axis": {"gridColor": "#eceff3"}, "header": {"labelFontSize": 12}},
}


def bars(rows: pl.DataFrame, x: str, y: str, title: str) -> dict[str, Any]:
    """One bar per row, the shortest on top, with its number."""
    place = {
        "y": {"field": y, "type": "nominal", "sort": "x", "title": None, "axis": {"labelLimit": 0, "minExtent": 120}},
        "x": {"field": x, "type": "quantitative", "title": title},
    }
    number = {"align": "left", "dx": 4, "type": "text"}
    return {
        "data": {"values": rows.select(x, y).to_dicts()},
        "width": 420,
        "encoding": place,
        "layer": [
            {"mark": {"type": "bar", "color": AFTER}},
            {"mark": number, "encoding": {"text": {"field": x, "type": "quantitative", "format": ".2f"}}},
        ],
        **STYLE,
    }
