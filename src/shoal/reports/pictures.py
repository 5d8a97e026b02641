"""Small pictures for the first page, drawn as SVG: they need no script and no library, and print as they are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from shoal.reports.language import tell

WIDTH, ROW = 300, 34
BEFORE, AFTER, BAD = "#b4b9c2", "#2563a8", "#a8342a"
MOST_ROWS = 7


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
    drawing = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">{drawn}</svg>'
    return f"<figure>{drawing}<figcaption>{title}</figcaption></figure>"


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
