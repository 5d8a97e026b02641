"""Small pictures drawn as SVG: they need no script and no library, print as they are, and tell values on hover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import Any

from shoal.reports.language import tell
from shoal.reports.page import count, share

WIDTH, ROW = 300, 34
BEFORE, AFTER, BAD = "#b4b9c2", "#2563a8", "#a8342a"
MOST_ROWS = 7
PAIR_LEFT = 140  # where the bars of a column before and after begin
# How many records look the same: from one alone to many. Each colour is also named and counted beside the picture.
CROWDS = ("#a8342a", "#d9772b", "#e8b54a", "#a9cbe8", "#5b97d3", "#2563a8", "#17457c", "#0d2c52", "#081c36")
SQUARES_END = 184  # below which the legend of the hundred squares begins
LINES = ("#2563a8", "#d9772b", "#23744a", "#7b4fa3", "#a8342a", "#1d8a99", "#8a6d1f", "#5c6675")


def bars(
    rows: Sequence[tuple[str, float, str, str]], caption: str, highest: float | None = None, headline: str = ""
) -> str:
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
    return figure(drawing(WIDTH, height, title, drawn), title, headline=headline)


def figure(drawn: str, caption: str, kind: str = "", headline: str = "") -> str:
    """A drawing with a caption below it and, if there is one, a headline above it."""
    above = f'<div style="font-weight:600;font-size:14px;margin-bottom:6px">{escape(tell(headline))}</div>'
    below = f'<figcaption style="font-size:12.5px;color:#5c6675;margin-top:4px">{caption}</figcaption>'
    return f'<figure class="{kind}" style="margin:0">{above if headline else ""}{drawn}{below}</figure>'


def drawing(width: int, height: int, title: str, drawn: str) -> str:
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
        f"<figure style='margin:0'><strong>{title}</strong>{drawing(WIDTH, 28 * len(rows) + 2, title, drawn)}</figure>"
    )


def _pair(top: int, row: Mapping[str, Any], full: float) -> str:
    label, before, after = str(row["label"]), row["before"], row["after"]
    name = label if len(label) <= 19 else label[:18] + "…"
    widths = [round(value / full * (WIDTH - PAIR_LEFT - 50), 1) for value in (before, after)]
    drawn = _thin_bar(top + 4, widths[0], BEFORE) + _thin_bar(top + 14, widths[1], AFTER)
    end = PAIR_LEFT + max(widths) + 5
    told = escape(_before_and_after(label, before, after))
    left = f'<text x="{PAIR_LEFT - 6}" y="{top + 18}" text-anchor="end">{escape(name)}</text>'
    return f'<g><title>{told}</title>{left}{drawn}<text x="{end}" y="{top + 18}">{escape(share(after))}</text></g>'


def _before_and_after(label: str, before: float, after: float) -> str:
    return f"{label}: {tell('before')} {share(before)}, {tell('after')} {share(after)}"


def _thin_bar(top: int, width: float, colour: str) -> str:
    return f'<rect x="{PAIR_LEFT}" y="{top}" width="{max(1.0, width)}" height="9" fill="{colour}"/>'


def crowds(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> str:
    """Groups as a picture: a hundred squares before and after, coloured by how many records look the same."""
    drawn = _hundred(before, 0, tell("before")) + _hundred(after, 160, tell("after"))
    sizes = {row["order"]: row["sizes"] for row in (*before, *after) if row["records"]}
    old, new = ({row["order"]: row["records"] for row in rows} for rows in (before, after))
    legend = "".join(
        _crowd_in_words(SQUARES_END + number * 20, order, sizes[order], old.get(order, 0), new.get(order, 0))
        for number, order in enumerate(sorted(sizes))
    )
    text = tell("Each square is a hundredth of the records. Its colour says how many records look the same.")
    title = escape(text, quote=True)
    picture = drawing(WIDTH, SQUARES_END + 20 * len(sizes), title, drawn + legend)
    return figure(picture, title, headline="Class sizes")


def _crowd_in_words(y: int, order: int, sizes: str, before: float, after: float) -> str:
    """A line of the legend: a colour, its name, and how many records have it before and after."""
    name = tell("alone") if sizes == "1" else tell("among {sizes}", sizes=sizes)
    square = f'<rect x="0" y="{y}" width="12" height="12" rx="2" fill="{_crowd(order)}"/>'
    return square + f'<text x="18" y="{y + 11}">{escape(name)}: {count(before)} → {count(after)}</text>'


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
