"""Records to Vega-Lite specs. A spec is a plain dict that holds its data: no library is needed to make one.

Every chart can be hovered. Field names are fixed words of this module; what comes from the data stands only in data
values, which Vega-Lite draws as text and never as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]
Record = dict[str, Any]

BEFORE, AFTER = "#b4b9c2", "#2563a8"
ACCENTS = ["#2563a8", "#d9772b", "#3a8f5c", "#a23b72", "#7a6bb0", "#8a8f98", "#c2a01e", "#2a9d9d", "#b04a3a", "#5c6f2b"]
ACCENTS += ["#1b1f3b", "#e58fb0", "#6b4226", "#7fb3e6", "#9acd32", "#5e2a84"]  # as many as there are algorithms
WIDTH = 660


def _spec(records: Sequence[Record], height: int, **parts: Any) -> Spec:
    return {
        "width": WIDTH,
        "height": height,
        "data": {"values": list(records)},
        "config": {
            "font": "system-ui, sans-serif",
            "view": {"stroke": None},
            "axis": {
                "gridColor": "#e8eaee",
                "domainColor": "#9aa1ac",
                "tickColor": "#9aa1ac",
                "labelLimit": 220,
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": 500,
            },
            "legend": {
                "orient": "top",
                "title": None,
                "labelFontSize": 12,
                "labelLimit": 0,
                "symbolLimit": 0,
                "columns": 6,
            },
        },
        **parts,
    }


def _text(field: str, title: str) -> Record:
    return {"field": field, "type": "nominal", "title": title}


def _number(field: str, title: str, form: str) -> Record:
    return {"field": field, "type": "quantitative", "title": title, "format": form}


def _short(form: str) -> str:
    """The format of an axis: no digits that all ticks share."""
    return "~%" if form.endswith("%") else ",~r"


def loss_per_attribute(records: Sequence[Record]) -> Spec:
    """Bars of `loss` for each `attribute`."""
    return _spec(
        records,
        max(60, 26 * len(records)),
        mark={"type": "bar", "color": AFTER, "cornerRadiusEnd": 2},
        encoding={
            "y": {"field": "attribute", "type": "nominal", "sort": "-x", "title": None},
            "x": {
                "field": "loss",
                "type": "quantitative",
                "title": "loss: 0 is exact, 1 is nothing left",
                "axis": {"tickCount": 8},
                "scale": {"domainMin": 0},
            },
            "tooltip": [_text("attribute", "attribute"), _number("loss", "loss", ".4f")],
        },
    )


def before_and_after(records: Sequence[Record], title: str, form: str = ".1%") -> Spec:
    """Paired bars of `value` for each `measure`, by `when` (before, after)."""
    height = max(80, 46 * len({record["measure"] for record in records}))
    return _spec(
        records,
        height,
        mark={"type": "bar", "cornerRadiusEnd": 2},
        encoding={
            "y": {"field": "measure", "type": "nominal", "title": None, "sort": None},
            "yOffset": {"field": "when", "sort": ["before", "after"]},
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": title,
                "axis": {"format": form},
                "scale": {"domainMin": 0},
            },
            "color": {
                "field": "when",
                "type": "nominal",
                "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
            },
            "tooltip": [_text("measure", "what"), _text("when", "when"), _number("value", "value", form)],
        },
    )


def class_sizes(records: Sequence[Record]) -> Spec:
    """Bars of `share` of the records whose class has a size in `sizes`, by `when`; `order` sorts the sizes."""
    last = max((record["order"] for record in records if record["records"]), default=0)
    records = [record for record in records if record["order"] <= last]
    return _spec(
        records,
        220,
        mark={"type": "bar", "cornerRadiusEnd": 2},
        encoding={
            "x": {
                "field": "sizes",
                "type": "ordinal",
                "sort": {"field": "order"},
                "title": "records in the class",
                "axis": {"labelAngle": 0},
            },
            "xOffset": {"field": "when", "sort": ["before", "after"]},
            "y": {"field": "share", "type": "quantitative", "title": "share of the records", "axis": {"format": "%"}},
            "color": {
                "field": "when",
                "type": "nominal",
                "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
            },
            "tooltip": [
                _text("sizes", "records in the class"),
                _text("when", "when"),
                _number("records", "records", ",d"),
                _number("share", "share", ".2%"),
            ],
        },
    )


def risk_curve(records: Sequence[Record]) -> Spec:
    """`share` of the records whose risk is above `risk`, by `when`."""
    return _spec(
        records,
        220,
        mark={"type": "line", "interpolate": "step-after", "point": {"size": 28}},
        encoding={
            "x": {
                "field": "risk",
                "type": "quantitative",
                "title": "risk threshold",
                "axis": {"format": "%"},
                "scale": {"type": "sqrt", "domain": [0, 1]},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "records above the threshold",
                "axis": {"format": "%"},
                "scale": {"domain": [0, 1]},
            },
            "color": {
                "field": "when",
                "type": "nominal",
                "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
            },
            "tooltip": [
                _text("when", "when"),
                _number("risk", "risk above", ".1%"),
                _number("share", "share of the records", ".2%"),
            ],
        },
    )


def query_errors(records: Sequence[Record]) -> Spec:
    """Median relative error of queries per selectivity, with the middle half as a band: `median`, `low`, `high`."""
    return _spec(
        records,
        220,
        encoding={
            "x": {
                "field": "selectivity",
                "type": "ordinal",
                "sort": {"field": "order"},
                "title": "share of the records that the query asks for",
                "axis": {"labelAngle": 0},
            },
            "tooltip": [
                _text("selectivity", "selectivity"),
                _number("queries", "queries", ",d"),
                _number("median", "median error", ".2%"),
                _number("low", "quarter below", ".2%"),
                _number("high", "quarter above", ".2%"),
            ],
        },
        layer=[
            {
                "mark": {"type": "rule", "color": BEFORE, "strokeWidth": 10},
                "encoding": {
                    "y": {
                        "field": "low",
                        "type": "quantitative",
                        "title": "relative error",
                        "axis": {"format": ",%", "values": [0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 50, 200]},
                        "scale": {"type": "symlog", "constant": 0.05},
                    },
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "color": AFTER, "opacity": 1},
                "encoding": {"y": {"field": "median", "type": "quantitative"}},
            },
        ],
    )


def accuracy(records: Sequence[Record]) -> Spec:
    """Dots of `accuracy` per `model`, by the table it was `trained` on."""
    return _spec(
        records,
        max(90, 60 * len({record["model"] for record in records})),
        mark={"type": "point", "filled": True, "size": 150, "opacity": 0.95},
        encoding={
            "y": {"field": "model", "type": "nominal", "title": None},
            "x": {
                "field": "accuracy",
                "type": "quantitative",
                "title": "correct on untouched originals",
                "axis": {"format": "~%", "tickCount": 8},
                "scale": {"zero": False, "padding": 20},
            },
            "color": {
                "field": "trained",
                "type": "nominal",
                "scale": {"domain": ["original", "release", "majority"], "range": [BEFORE, AFTER, "#d9772b"]},
            },
            "shape": {
                "field": "trained",
                "type": "nominal",
                "scale": {"domain": ["original", "release", "majority"], "range": ["square", "circle", "triangle-up"]},
            },
            "tooltip": [
                _text("model", "model"),
                _text("trained", "trained on"),
                _number("accuracy", "accuracy", ".2%"),
            ],
        },
    )


def tradeoff(records: Sequence[Record], field: str, title: str, form: str = ".3f") -> Spec:
    """The frontier itself: one measure against `average_risk`, a line through the k of each `algorithm`."""
    return _spec(
        records,
        300,
        mark={"type": "line", "point": {"size": 55}},
        encoding={
            "x": {
                "field": "average_risk",
                "type": "quantitative",
                "title": "average risk",
                "scale": {"type": "log", "nice": False, "padding": 12},
                "axis": {"format": "~%", "tickCount": 6},
            },
            "y": {"field": field, "type": "quantitative", "title": title, "axis": {"format": _short(form)}},
            "order": {"field": "k", "type": "quantitative"},
            "color": {"field": "algorithm", "type": "nominal", "scale": {"range": ACCENTS}},
            "tooltip": [
                _text("algorithm", "algorithm"),
                _number("k", "k", "d"),
                _number("average_risk", "average risk", ".2%"),
                _number(field, title, form),
            ],
        },
    )


def frontier(
    records: Sequence[Record], field: str, title: str, form: str = ".3f", *, scale: Record | None = None
) -> Spec:
    """Lines of one measure over `k`, one for each `algorithm`."""
    return _spec(
        records,
        280,
        mark={"type": "line", "point": {"size": 50}},
        encoding={
            "x": {
                "field": "k",
                "type": "quantitative",
                "title": "k",
                "scale": {"type": "log", "nice": False, "padding": 10},
                "axis": {"values": sorted({record["k"] for record in records}), "format": "d"},
            },
            "y": {
                "field": field,
                "type": "quantitative",
                "title": title,
                "axis": {"format": _short(form)},
                "scale": scale or {"zero": True},
            },
            "color": {"field": "algorithm", "type": "nominal", "scale": {"range": ACCENTS}},
            "tooltip": [
                _text("algorithm", "algorithm"),
                _number("k", "k", "d"),
                _number(field, title, form),
                _number("seconds", "seconds", ".2f"),
            ],
        },
    )
