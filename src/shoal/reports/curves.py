"""Lines through points with both axes named, drawn as SVG: what protection costs at each k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log

from shoal.reports.language import digits, tell
from shoal.reports.page import share
from shoal.reports.pictures import LINES, drawing, figure

Point = tuple[float, float, str]  # x, y, and what is told on hover
LEFT, RIGHT, MARGIN = 60, 424, 10
LEGEND_ROW, HEIGHT = 18, 186


@dataclass(frozen=True)
class _Axes:
    """Where a point lies in the picture; x is logarithmic, y begins at 0."""

    lowest: float  # logarithm of the smallest x
    highest: float
    full: float  # the largest y
    top: int
    bottom: int

    def x(self, value: float) -> float:
        span = self.highest - self.lowest
        along = (log(value) - self.lowest) / span if span > 0 else 0.5
        return round(LEFT + MARGIN + along * (RIGHT - LEFT - 2 * MARGIN), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - value / self.full * (self.bottom - self.top), 1)


def curves(lines: Mapping[str, Sequence[Point]], across: str, up: str, caption: str) -> str:
    """Lines through points, the names of the lines above them, those of the axes beside them."""
    points = [point for line in lines.values() for point in line]
    axes = _axes_of(points, 26 + LEGEND_ROW * len(lines))
    drawn = _grid(axes, sorted({x for x, _, _ in points}))
    for number, (name, line) in enumerate(lines.items()):
        drawn += _curve(name, [(axes.x(x), axes.y(y), text) for x, y, text in line], number)
    drawn += _names_of_axes(axes, across, up)
    title = escape(tell(caption), quote=True)
    return figure(drawing(430, axes.bottom + 40, title, drawn), title, "curves")


def _axes_of(points: Sequence[Point], top: int) -> _Axes:
    logarithms = [log(x) for x, _, _ in points]
    full = max(y for _, y, _ in points) or 1.0
    return _Axes(min(logarithms), max(logarithms), full, top, top + HEIGHT)


def _grid(axes: _Axes, values: Sequence[float]) -> str:
    """Three lines across with their shares at the left, and the values of x below."""
    drawn = ""
    for tick in (0.0, axes.full / 2, axes.full):
        y = axes.y(tick)
        drawn += f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}" stroke="#e3e6eb"/>'
        drawn += f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{share(tick)}</text>'
    for value in values:
        text = digits(f"{value:g}")
        drawn += f'<text x="{axes.x(value)}" y="{axes.bottom + 16}" text-anchor="middle">{text}</text>'
    return drawn


def _names_of_axes(axes: _Axes, across: str, up: str) -> str:
    below = f'<text x="{RIGHT}" y="{axes.bottom + 34}" text-anchor="end">{escape(across)}</text>'
    return below + f'<text x="0" y="{axes.top - 12}">{escape(up)}</text>'


def _curve(name: str, points: Sequence[Point], number: int) -> str:
    """One line with its points, and its name with its colour above the picture."""
    colour = LINES[number % len(LINES)]
    path = " ".join(f"{x},{y}" for x, y, _ in points)
    drawn = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for x, y, text in points:
        drawn += f'<circle cx="{x}" cy="{y}" r="4.5" fill="{colour}"><title>{escape(text)}</title></circle>'
    y = 4 + LEGEND_ROW * number
    legend = f'<rect x="250" y="{y}" width="12" height="12" rx="2" fill="{colour}"/>'
    return drawn + legend + f'<text x="268" y="{y + 11}">{escape(name)}</text>'
