"""Small pictures drawn as SVG: they need no script and no library, print as they are, and tell values on hover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from math import log
from typing import Any

from shoal.reports.language import digits, tell
from shoal.reports.page import count, share

WIDTH, ROW = 300, 34
BEFORE, AFTER, BAD = "#b4b9c2", "#2563a8", "#a8342a"
MOST_ROWS = 7
# How many records look the same: from one alone to many. Each colour is also named and counted beside the picture.
CROWDS = ("#a8342a", "#d9772b", "#e8b54a", "#a9cbe8", "#5b97d3", "#2563a8", "#17457c", "#0d2c52", "#081c36")
LINES = ("#2563a8", "#d9772b", "#23744a", "#7b4fa3", "#a8342a", "#1d8a99", "#8a6d1f", "#5c6675")


def bars(rows: Sequence[tuple[str, float, str, str]], caption: str, highest: float | None = None) -> str:
    """A figure of bars: (label, length, text, colour) each; `highest` is the length of a full bar."""
    shown = list(rows)[:MOST_ROWS]
    full = highest if highest is not None else max((length for _, length, _, _ in shown), default=1.0) or 1.0
    height = ROW * len(shown) + 4
    drawn = "".join(
        _bar(number * ROW, label, length / full, text, colour)
        for number, (label, length, text, colour) in enumerate(shown)
    )
    left = len(rows) - len(shown)
    more = " " + tell("{count} more are not shown.", count=left) if left > 0 else ""
    title = escape(tell(caption) + more, quote=True)
    return _figure(_drawing(WIDTH, height, title, drawn), title)


def _figure(drawing: str, caption: str, kind: str = "") -> str:
    below = f'<figcaption style="font-size:12.5px;color:#5c6675;margin-top:4px">{caption}</figcaption>'
    return f'<figure class="{kind}" style="margin:0">{drawing}{below}</figure>'


def _drawing(width: int, height: int, title: str, drawn: str) -> str:
    font = "font:13px system-ui,sans-serif;width:100%;height:auto;display:block"
    return f'<svg viewBox="0 0 {width} {height}" style="{font}" role="img" aria-label="{title}">{drawn}</svg>'


def _bar(top: int, label: str, share: float, text: str, colour: str) -> str:
    width = round(max(2.0, min(1.0, share) * (WIDTH - 2)), 1)
    name = label if len(label) <= 30 else label[:29] + "…"
    return (
        f"<g><title>{escape(label)}: {escape(text)}</title>"
        f'<text x="0" y="{top + 13}" font-size="13">{escape(name)}</text>'
        f'<text x="{WIDTH}" y="{top + 13}" font-size="13" text-anchor="end">{escape(text)}</text>'
        f'<rect x="0" y="{top + 18}" width="{WIDTH}" height="9" rx="2" fill="#eef0f3"/>'
        f'<rect x="0" y="{top + 18}" width="{width}" height="9" rx="2" fill="{colour}"/></g>'
    )


def pairs(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """A column before and after: for each `label` two bars, the shares `before` and `after`."""
    full = max((max(row["before"], row["after"]) for row in rows), default=1.0) or 1.0
    drawn = "".join(_pair(28 * number, row, full) for number, row in enumerate(rows))
    title = escape(name, quote=True)
    return (
        f"<figure style='margin:0'><strong>{title}</strong>{_drawing(WIDTH, 28 * len(rows) + 2, title, drawn)}</figure>"
    )


def _pair(top: int, row: Mapping[str, Any], full: float) -> str:
    label, begin = str(row["label"]), 140
    name = label if len(label) <= 19 else label[:18] + "…"
    drawn = ""
    for offset, when, colour in ((4, "before", BEFORE), (14, "after", AFTER)):
        width = round(row[when] / full * (WIDTH - begin - 50), 1)
        drawn += f'<rect x="{begin}" y="{top + offset}" width="{max(1.0, width)}" height="9" fill="{colour}"/>'
    end = begin + round(max(row["before"], row["after"]) / full * (WIDTH - begin - 50), 1) + 5
    told = f"{label}: {tell('before')} {share(row['before'])}, {tell('after')} {share(row['after'])}"
    return (
        f'<g><title>{escape(told)}</title><text x="{begin - 6}" y="{top + 18}" text-anchor="end">{escape(name)}</text>'
        f'{drawn}<text x="{end}" y="{top + 18}">{escape(share(row["after"]))}</text></g>'
    )


def crowds(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> str:
    """Groups as a picture: a hundred squares before and after, coloured by how many records look the same."""
    drawn = _hundred(before, 0, tell("before")) + _hundred(after, 160, tell("after"))
    sizes = {row["order"]: row["sizes"] for row in (*before, *after) if row["records"]}
    records = [{row["order"]: row["records"] for row in rows} for rows in (before, after)]
    legend = ""
    for number, order in enumerate(sorted(sizes)):
        y = 184 + number * 20
        name = tell("alone") if sizes[order] == "1" else tell("among {sizes}", sizes=sizes[order])
        change = f"{count(records[0].get(order, 0))} → {count(records[1].get(order, 0))}"
        legend += f'<rect x="0" y="{y}" width="12" height="12" rx="2" fill="{_crowd(order)}"/>'
        legend += f'<text x="18" y="{y + 11}">{escape(name)}: {change}</text>'
    height = 184 + 20 * len(sizes)
    text = tell("Each square is a hundredth of the records. Its colour says how many records look the same.")
    title = escape(text, quote=True)
    return _figure(_drawing(WIDTH, height, title, drawn + legend), title)


def _hundred(rows: Sequence[Mapping[str, Any]], left: int, title: str) -> str:
    """Ten times ten squares; those of one colour are as many as the nearest whole number of hundredths."""
    ends = [round(100 * end) for end in accumulate(row["share"] for row in rows)]
    drawn = f'<text x="{left}" y="12">{escape(title)}</text>'
    for row, (begin, end) in zip(rows, pairwise([0, *ends]), strict=True):
        told = f"{row['sizes']}: {count(row['records'])} ({share(row['share'])})"
        squares = "".join(
            f'<rect x="{left + number % 10 * 14}" y="{22 + number // 10 * 15}" width="12" height="13" rx="2"/>'
            for number in range(begin, end)
        )
        if squares:
            drawn += f'<g fill="{_crowd(row["order"])}"><title>{escape(told)}</title>{squares}</g>'
    return drawn


def _crowd(order: int) -> str:
    return CROWDS[min(order, len(CROWDS) - 1)]


def curves(lines: Mapping[str, Sequence[tuple[float, float, str]]], across: str, up: str, caption: str) -> str:
    """Lines through points (x on a logarithmic axis, y, text on hover), with both axes named."""
    points = [point for line in lines.values() for point in line]
    left, right, top, bottom = 60, 424, 26 + 18 * len(lines), 212 + 18 * len(lines)
    lowest, highest = min(log(x) for x, _, _ in points), max(log(x) for x, _, _ in points)
    full = max(y for _, y, _ in points) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        along = (log(x) - lowest) / (highest - lowest) if highest > lowest else 0.5
        return round(left + 10 + along * (right - left - 20), 1), round(bottom - y / full * (bottom - top), 1)

    drawn = ""
    for tick in (0.0, full / 2, full):
        y = place(points[0][0], tick)[1]
        drawn += f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="#e3e6eb"/>'
        drawn += f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{share(tick)}</text>'
    for value in sorted({x for x, _, _ in points}):
        x = place(value, 0.0)[0]
        drawn += f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{digits(f"{value:g}")}</text>'
    for number, (name, line) in enumerate(lines.items()):
        drawn += _curve(name, [(*place(x, y), text) for x, y, text in line], number)
    drawn += f'<text x="{right}" y="{bottom + 34}" text-anchor="end">{escape(across)}</text>'
    drawn += f'<text x="0" y="{top - 12}">{escape(up)}</text>'
    title = escape(tell(caption), quote=True)
    drawing = _drawing(430, bottom + 40, title, drawn)
    return _figure(drawing, title, "curves")


def _curve(name: str, points: Sequence[tuple[float, float, str]], number: int) -> str:
    """One line with its points, and its name with its colour above the picture."""
    colour = LINES[number % len(LINES)]
    path = " ".join(f"{x},{y}" for x, y, _ in points)
    drawn = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for x, y, text in points:
        drawn += f'<circle cx="{x}" cy="{y}" r="4.5" fill="{colour}"><title>{escape(text)}</title></circle>'
    y = 4 + 18 * number
    legend = f'<rect x="250" y="{y}" width="12" height="12" rx="2" fill="{colour}"/>'
    return drawn + legend + f'<text x="268" y="{y + 11}">{escape(name)}</text>'
