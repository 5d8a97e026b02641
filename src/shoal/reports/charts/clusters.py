"""Charts of a release made for cluster analysis: where records went, quality against h, and grown intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.charts.specs import ACCENTS, AFTER, WIDTH, Record, Spec, _number, _spec, _text

ROW = 34  # height of a row of cells
PANEL = 270  # width of one of two panels that stand side by side
LETTER = 7.5  # width of a letter in a box, in pixels: a text that does not fit is shown on hovering only


def contingency_records(table: Sequence[Sequence[int]]) -> list[Record]:
    """One record per cell: `raw` and `masked` cluster (from 1), `records`, and their `share` of the raw cluster."""
    return [
        {"raw": f"raw {i + 1}", "masked": f"masked {j + 1}", "records": count, "share": count / max(1, sum(row))}
        for i, row in enumerate(table)
        for j, count in enumerate(row)
    ]


def contingency(records: Sequence[Record]) -> Spec:
    """A matrix of raw against masked clusters; the darker a cell, the more of the raw cluster is in it."""
    rows = {record["raw"] for record in records}
    columns = {record["masked"] for record in records}
    cell = {
        "x": {
            "field": "masked",
            "type": "nominal",
            "sort": None,
            "title": "clusters of the release",
            "axis": {"labelAngle": 0, "orient": "top"},
        },
        "y": {"field": "raw", "type": "nominal", "sort": None, "title": "clusters of the raw table"},
        "tooltip": [
            _text("raw", "raw cluster"),
            _text("masked", "masked cluster"),
            _number("records", "records", ",d"),
            _number("share", "of the raw cluster", ".1%"),
        ],
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, 1], "range": ["#f4f6f9", AFTER]},
    }
    contrast = {"condition": {"test": "datum.share > 0.5", "value": "white"}, "value": "#333"}
    spec = _spec(
        records,
        ROW * len(rows),
        encoding=cell,
        layer=[
            {"mark": {"type": "rect", "stroke": "white"}, "encoding": {"color": shade}},
            {
                "mark": "text",
                "encoding": {
                    "text": {"field": "records", "type": "quantitative", "format": ",d"},
                    "color": contrast,
                },
            },
        ],
    )
    spec["width"] = min(WIDTH, 92 * len(columns))
    return spec


def quality_against_h(records: Sequence[Record], title: str = "overall F-measure") -> Spec:
    """Lines of `value` over the threshold `h`, one for each `series`.

    Records may also say in which `panel` they are drawn, and in which `mode` the table was masked: each mode is a kind
    of line.
    """
    panels = list(dict.fromkeys(record["panel"] for record in records if "panel" in record))
    modes = list(dict.fromkeys(record["mode"] for record in records if record.get("mode")))
    lines = {"mark": {"type": "line", "point": {"size": 36}}, "encoding": _over_h(title, modes)}
    if len(panels) < 2:
        return _spec(records, 260, **lines)
    whole = _spec(records, 0)
    beside = {key: part for key, part in whole.items() if key not in ("width", "height")}
    facet = {"field": "panel", "type": "nominal", "sort": panels, "title": None}
    return {**beside, "facet": facet, "columns": 2, "spec": {"width": PANEL, "height": 180, **lines}}


def _over_h(title: str, modes: Sequence[str]) -> Spec:
    """What is drawn where, in which colour, and with which kind of line."""
    encoding: Spec = {
        "x": {"field": "h", "type": "quantitative", "title": "h: records that every group has at least"},
        "y": {"field": "value", "type": "quantitative", "title": title, "scale": {"domain": [0, 1]}},
        "color": {"field": "series", "type": "nominal", "scale": {"range": ACCENTS}},
        "tooltip": [_text("series", "series"), _number("h", "h", "d"), _number("value", title, ".3f")],
    }
    if modes:
        kinds = {"domain": modes, "range": [[1, 0], [5, 3]][: len(modes)]}
        told = {"title": None, "symbolType": "stroke", "symbolSize": 300, "symbolStrokeWidth": 2}
        encoding["strokeDash"] = {"field": "mode", "type": "nominal", "scale": kinds, "legend": told}
        encoding["tooltip"].append(_text("mode", "mode"))
    return encoding


def taxonomy_records(nodes: Sequence[Mapping[str, Any]]) -> list[Record]:
    """The grown intervals of one attribute as boxes: `left` and `right` in records, `level` from the root.

    A node has `node`, `parent` (None for the root), `records` and its text `value`. They come from left to right,
    parents before their children.
    """
    by_number = {node["node"]: node for node in nodes}
    before: dict[int, int] = {}
    placed = {node["node"]: 0 for node in nodes if node["parent"] is None}
    records: list[Record] = []
    for node in nodes:
        number, parent = node["node"], node["parent"]
        if parent is not None:
            placed[number] = before.get(parent, placed[parent])
            before[parent] = placed[number] + node["records"]
        records.append(
            {
                "left": placed[number],
                "right": placed[number] + node["records"],
                "level": _depth(by_number, number),
                "records": node["records"],
                "value": node["value"],
            }
        )
    return records


def _depth(by_number: Mapping[int, Mapping[str, Any]], number: int) -> int:
    depth, parent = 0, by_number[number]["parent"]
    while parent is not None:
        depth, parent = depth + 1, by_number[parent]["parent"]
    return depth


def grown_taxonomy(records: Sequence[Record], attribute: str) -> Spec:
    """The intervals of a number, the widest on top, each as wide as its share of the records."""
    levels = 1 + max((record["level"] for record in records), default=0)
    drawn = [{**record, "top": record["level"], "bottom": record["level"] + 0.92} for record in records]
    total = max((record["right"] for record in records), default=1)
    for record in drawn:
        record["middle"] = (record["left"] + record["right"]) / 2
        room = WIDTH * record["records"] / total
        record["shown"] = record["value"] if room >= LETTER * len(record["value"]) else ""
    title = {"text": attribute, "anchor": "start", "fontSize": 13}
    return _spec(drawn, ROW * levels, title=title, layer=_boxes_and_texts(total, levels))


def _boxes_and_texts(total: int, levels: int) -> list[Spec]:
    """The intervals as boxes, and their texts in the middle of those that are wide enough."""
    place = {
        "x": {
            "field": "left",
            "type": "quantitative",
            "title": "records",
            "scale": {"nice": False, "domain": [0, total]},
            "axis": {"grid": False, "tickCount": 8},
        },
        "y": {
            "field": "top",
            "type": "quantitative",
            "title": None,
            "axis": None,
            "scale": {"reverse": True, "domain": [0, levels]},
        },
    }
    boxes = {
        "mark": {"type": "rect", "color": "#c8d8ea", "stroke": "white", "strokeWidth": 1.5},
        "encoding": {
            **place,
            "x2": {"field": "right"},
            "y2": {"field": "bottom"},
            "tooltip": [_text("value", "interval"), _number("records", "records", ",d")],
        },
    }
    texts = {
        "mark": {"type": "text", "fontSize": 11, "dy": ROW * 0.42},
        "encoding": {
            "x": {"field": "middle", "type": "quantitative"},
            "y": place["y"],
            "text": {"field": "shown", "type": "nominal"},
        },
    }
    return [boxes, texts]
