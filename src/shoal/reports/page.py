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
from typing import Any

from shoal.reports.charts.draw import script
from shoal.reports.language import digits, spoken, tell

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'"
)

_STYLE = """
:root { --ink:#1d2430; --soft:#5c6675; --line:#e3e6eb; --paper:#fff; --back:#f5f6f8; --good:#23744a; --bad:#a8342a;
  --main:#2563a8; }
* { box-sizing:border-box } body { margin:0; background:var(--back); color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif }
.frame { display:grid; grid-template-columns:230px minmax(0,960px); justify-content:center; gap:28px; padding:0 20px }
main { padding:32px 0 64px; min-width:0 }
nav { position:sticky; top:0; align-self:start; max-height:100vh; overflow:auto; padding:38px 0 20px; font-size:14px }
nav p { margin:0 0 6px; color:var(--soft); font-weight:600 } nav ol { list-style:none; margin:0; padding:0 }
nav a { display:block; padding:4px 10px; color:var(--ink); text-decoration:none; border-left:2px solid var(--line) }
nav a:hover { border-color:var(--main); color:var(--main) }
@media (max-width:1080px) { .frame { grid-template-columns:minmax(0,960px) } nav { position:static; padding:16px 0 0 }
  nav ol { display:flex; flex-wrap:wrap; gap:4px } nav a { border:1px solid var(--line); border-radius:6px;
  background:var(--paper) } main { padding-top:16px } }
header h1 { margin:0 0 4px; font-size:28px; letter-spacing:-.01em } header p { margin:0; color:var(--soft) }
h2 { font-size:20px; margin:0 0 6px } h3 { font-size:16px; margin:22px 0 4px }
section { background:var(--paper); border:1px solid var(--line); border-radius:10px; padding:22px 24px;
  margin-top:20px }
section > p { margin:4px 0 12px; color:var(--soft); max-width:75ch }
.cards { display:grid; grid-template-columns:repeat(auto-fit,minmax(165px,1fr)); gap:14px; margin-top:14px }
.card { background:var(--paper); border:1px solid var(--line); border-radius:10px; padding:16px 18px }
.card .name { color:var(--soft); font-size:14px } .card .value { font-size:23px; font-weight:650; line-height:1.3;
  letter-spacing:-.01em; font-variant-numeric:tabular-nums }
.card .meaning { color:var(--soft); font-size:13.5px; margin-top:4px }
.good .value, .good-text { color:var(--good) } .bad .value, .bad-text { color:var(--bad) }
.scroll { overflow-x:auto } table { border-collapse:collapse; width:100%; margin:8px 0 4px; font-size:14.5px }
th,td { text-align:left; padding:7px 10px 7px 0; border-bottom:1px solid var(--line); vertical-align:top;
  overflow-wrap:anywhere }
th { color:var(--soft); font-weight:600; overflow-wrap:normal }
td.number,th.number { text-align:right; padding-right:16px;
  font-variant-numeric:tabular-nums; white-space:nowrap }
td:first-child { min-width:140px } td.meaning { color:var(--soft); min-width:220px }
.chart { margin:14px 0 4px; min-height:40px } .chart svg { max-width:100%; height:auto }
td.bad { color:var(--bad); font-weight:650 } td.good { color:var(--good) }
.verdict { border-radius:10px; padding:14px 20px; margin-top:18px; color:#fff; background:var(--good); font-size:18px;
  font-weight:600 } .verdict.bad { background:var(--bad) }
.verdict span { font-weight:400; font-size:15px; display:block }
.story { display:grid; grid-template-columns:repeat(2,minmax(0,1fr)); gap:14px; margin-top:14px }
.story div { background:var(--paper); border:1px solid var(--line); border-radius:10px; padding:14px 18px }
.story .wide { grid-column:1 / -1 } .story h3 { margin:0 0 4px } .story li { margin:2px 0; font-size:14.5px }
.pictures { display:grid; grid-template-columns:repeat(3,minmax(0,1fr)); gap:14px; margin-top:14px }
.pictures figure { margin:0; background:var(--paper); border:1px solid var(--line); border-radius:10px;
  padding:12px 14px }
.pictures svg { width:100%; height:auto; display:block } .pictures figcaption { font-size:13.5px; color:var(--soft) }
.pictures text { font:13px system-ui,sans-serif; fill:var(--ink) }
@media (max-width:760px) { .pictures,.story { grid-template-columns:minmax(0,1fr) } }
.caption { color:var(--soft); font-size:14px; margin:0 }
.note { border-left:3px solid var(--main); padding:6px 14px; background:#eef4fb; border-radius:0 6px 6px 0;
  margin:12px 0 }
code { font-size:13px; overflow-wrap:anywhere } ul { margin:6px 0; padding-left:20px }
footer { color:var(--soft); font-size:14px; margin-top:24px }
.vega-embed summary { opacity:.35 !important } #vg-tooltip-element { font-family:inherit }
@page { size:A4; margin:14mm }
@media print { body { background:#fff; font-size:13px } nav,.vega-embed summary { display:none !important }
  .frame { display:block; padding:0 } main { padding:0; max-width:none } .card,.chart,figure,tr,.story div
  { break-inside:avoid } section { border:0; padding:8px 0; break-inside:auto } h2,h3 { break-after:avoid }
  .first-page { break-after:page } .verdict { print-color-adjust:exact; -webkit-print-color-adjust:exact }
  .scroll { overflow:visible } .story { gap:8px } .story div,.pictures figure { padding:8px 12px } }
"""

_DRAW = """
const charts = JSON.parse(document.getElementById("charts").textContent);
const settings = {mode: "vega-lite", renderer: "svg",
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
        self.charts.append(spec)
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
    right = set(numbers)
    of_measures = MEANING in header  # words of ours, not of the data

    def cells(row: Sequence[str], tag: str) -> str:
        out = []
        for place, cell in enumerate(row):
            kind = "number" if place in right else ("meaning" if header[place] == MEANING else "")
            kind = f'"{kind} {cell.mood}"' if isinstance(cell, Cell) and cell.mood else kind
            text = tell(cell) if tag == "th" or (of_measures and place not in right) else str(cell)
            out.append(f"<{tag}{f' class={kind}' if kind else ''}>{escape(text)}</{tag}>")
        return "".join(out)

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{cells(header, "th")}</tr></thead><tbody>{body}</tbody></table></div>'
    )


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
