"""An offline HTML page: escaped text, tables in which every number has its sentence, charts, one embedded script.

Everything that is put into a page goes through `escape`. A policy in the page forbids all network access, so even a
mistake could not load or send anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from shoal.reports.charts.draw import script
from shoal.reports.language import ENGLISH, digits, spoken, tell

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'"
)

_STYLE = files("shoal.reports").joinpath("page.css").read_text(encoding="utf-8")

_DRAW = """
const charts = JSON.parse(document.getElementById("charts").textContent);
const settings = {mode: "vega-lite", renderer: "svg", ...(document.documentElement.lang === "de" ?
  {formatLocale: {decimal: ",", thousands: ".", grouping: [3], currency: ["", " €"]}} : {}),
  actions: {export: {svg: true, png: true}, source: false, compiled: false, editor: false}};
Promise.all(charts.map((spec, number) => vegaEmbed("#chart-" + number, spec, settings)))
  .then(() => { document.body.dataset.charts = "drawn"; })
  .catch(error => { document.body.dataset.charts = "failed"; console.error(error); });
"""


@dataclass
class Page:
    """The parts of a page in their order; charts are numbered as they come."""

    title: str
    parts: list[str] = field(default_factory=list)
    charts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, *html: str) -> None:
        self.parts.extend(html)

    def heading(self, subtitle: str) -> None:
        self.add(f"<header><h1>{escape(self.title)}</h1><p>{escape(subtitle)}</p></header>")

    def chart(self, spec: dict[str, Any], description: str) -> str:
        """The place of a chart, with its description; nothing where charts cannot be drawn."""
        if script() is None:
            return ""
        self.charts.append(_in_words(spec))
        number = len(self.charts) - 1
        label = escape(tell(description), quote=True)
        place = f'<div class="chart" id="chart-{number}" role="img" aria-label="{label}"></div>'
        return f'<div class="scroll">{place}</div><p class="caption">{label}</p>'

    def html(self) -> str:
        drawing = ""
        if self.charts:
            data = json_for_script(self.charts)
            drawing = (
                f"<script>{script()}</script>"
                f'<script type="application/json" id="charts">{data}</script><script>{_DRAW}</script>'
            )
        return (
            f'<!DOCTYPE html>\n<html lang="{spoken()}"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>"
            f'<body><div class="frame">{self._contents()}<main>{"".join(self.parts)}</main></div>{drawing}'
            "</body></html>\n"
        )

    def _contents(self) -> str:
        """Links to all sections, for the side of the page."""
        links = "".join(
            f'<li><a href="#{place}">{title}</a></li>' for place, title in _SECTION.findall("".join(self.parts))
        )
        return f"<nav><p>{escape(tell('Contents'))}</p><ol>{links}</ol></nav>" if links else ""


def _in_words(spec: Any) -> Any:
    """A chart with its titles and the words of its legend in the language that is spoken."""
    if isinstance(spec, list):
        return [_in_words(part) for part in spec]
    if not isinstance(spec, dict) or spoken() == ENGLISH:
        return spec
    told = {
        name: tell(part) if name == "title" and isinstance(part, str) else _in_words(part)
        for name, part in spec.items()
    }
    words = spec.get("scale", {}).get("domain") if isinstance(spec.get("scale"), dict) else None
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        labels = json.dumps({word: tell(word) for word in words})
        told["legend"] = {"labelExpr": f"{labels}[datum.label]"}
    return told


def json_for_script(value: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever the texts hold."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_SECTION = re.compile(r'<section id="([a-z0-9-]+)"><h2>(.*?)</h2>')


class Cell(str):
    """A cell of a table with a mood: good or bad, shown by its colour."""

    __slots__ = ("mood",)
    mood: str


def bad_if(condition: bool, text: str) -> str:
    """A cell that is shown as bad where it is."""
    cell = Cell(text)
    cell.mood = "bad" if condition else ""
    return cell


def section(title: str, intro: str, *parts: str) -> str:
    place = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
    inside = f"<h2>{escape(tell(title))}</h2><p>{escape(tell(intro))}</p>{''.join(parts)}"
    return f'<section id="{place}">{inside}</section>'


def heading(title: str) -> str:
    return f"<h3>{escape(tell(title))}</h3>"


def paragraph(text: str) -> str:
    return f"<p>{escape(tell(text))}</p>"


def note(text: str) -> str:
    return f'<div class="note">{escape(tell(text))}</div>'


def card(name: str, value: str, meaning: str, mood: str = "") -> str:
    """One large number with the sentence that says what it means."""
    return (
        f'<div class="card {escape(mood, quote=True)}"><div class="name">{escape(tell(name))}</div>'
        f'<div class="value">{escape(value)}</div><div class="meaning">{escape(tell(meaning))}</div></div>'
    )


def cards(*html: str) -> str:
    return f'<div class="cards">{"".join(html)}</div>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table; `numbers` are the columns that are aligned to the right. The last column of meanings is softened."""
    kinds = ["number" if place in set(numbers) else "" for place in range(len(header))]
    kinds = ["meaning" if name == MEANING and not kind else kind for name, kind in zip(header, kinds, strict=True)]
    top = "".join(_cell("th", tell(name), kind) for name, kind in zip(header, kinds, strict=True))
    of_measures = MEANING in header  # words of ours, not of the data
    body = ""
    for row in rows:
        cells = (
            _cell("td", tell(cell) if of_measures and kind != "number" else str(cell), kind, getattr(cell, "mood", ""))
            for cell, kind in zip(row, kinds, strict=True)
        )
        body += f"<tr>{''.join(cells)}</tr>"
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(tag: str, text: str, kind: str, mood: str = "") -> str:
    classes = f'"{kind} {mood}"' if mood else kind
    return f"<{tag}{f' class={classes}' if classes else ''}>{escape(text)}</{tag}>"


MEANING = "What it means"


def share(value: float | None) -> str:
    """A share as a percentage, with more digits where it is small."""
    if value is None or value != value:
        return tell("not known")
    if value >= 10:
        return digits(f"{value:,.0%}")
    if value == 0 or value >= 0.1:
        return digits(f"{value:.1%}".replace(".0%", "%"))
    if value >= 0.001:
        return digits(f"{value:.2%}")
    return digits(f"{value:.3%}" if value >= 0.00001 else "< 0.001%")


def count(value: float | None) -> str:
    return tell("not known") if value is None or value != value else digits(f"{value:,.0f}")


def number(value: float | None) -> str:
    """A number with as many digits as it deserves."""
    if value is None or value != value:
        return tell("not known")
    if value == int(value) and abs(value) < 1e15:
        return digits(f"{int(value):,}")
    if abs(value) < 1e-4:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{digits(mantissa)}\u00d710{str(int(exponent)).translate(_RAISED)}"
    return digits(f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}")


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
