"""An offline HTML page: escaped text, tables in which every number has its sentence, charts, one embedded script.

Everything that is put into a page goes through `escape`. A policy in the page forbids all network access, so even a
mistake could not load or send anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from shoal.reports.charts.draw import script

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'"
)

_STYLE = """
:root { --ink:#1d2430; --soft:#5c6675; --line:#e3e6eb; --paper:#fff; --back:#f5f6f8; --good:#23744a; --bad:#a8342a;
  --main:#2563a8; }
* { box-sizing:border-box } body { margin:0; background:var(--back); color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif }
main { max-width:960px; margin:0 auto; padding:32px 20px 64px }
header h1 { margin:0 0 4px; font-size:28px; letter-spacing:-.01em } header p { margin:0; color:var(--soft) }
h2 { font-size:20px; margin:0 0 6px } h3 { font-size:16px; margin:22px 0 4px }
section { background:var(--paper); border:1px solid var(--line); border-radius:10px; padding:22px 24px;
  margin-top:20px }
section > p { margin:4px 0 12px; color:var(--soft); max-width:75ch }
.cards { display:grid; grid-template-columns:repeat(auto-fit,minmax(200px,1fr)); gap:14px; margin-top:20px }
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
.chart { margin:14px 0 4px; min-height:40px }
.caption { color:var(--soft); font-size:14px; margin:0 }
.note { border-left:3px solid var(--main); padding:6px 14px; background:#eef4fb; border-radius:0 6px 6px 0;
  margin:12px 0 }
code { font-size:13px; overflow-wrap:anywhere } ul { margin:6px 0; padding-left:20px }
footer { color:var(--soft); font-size:14px; margin-top:24px }
.vega-embed summary { opacity:.35 !important } #vg-tooltip-element { font-family:inherit }
@media print { body { background:#fff } section,.card { break-inside:avoid } .vega-embed summary { display:none } }
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
        label = escape(description, quote=True)
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
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>"
            f"<body><main>{''.join(self.parts)}</main>{drawing}</body></html>\n"
        )


def json_for_script(value: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever the texts hold."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def section(title: str, intro: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2><p>{escape(intro)}</p>{''.join(parts)}</section>"


def heading(title: str) -> str:
    return f"<h3>{escape(title)}</h3>"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def note(text: str) -> str:
    return f'<div class="note">{escape(text)}</div>'


def card(name: str, value: str, meaning: str, mood: str = "") -> str:
    """One large number with the sentence that says what it means."""
    return (
        f'<div class="card {escape(mood, quote=True)}"><div class="name">{escape(name)}</div>'
        f'<div class="value">{escape(value)}</div><div class="meaning">{escape(meaning)}</div></div>'
    )


def cards(*html: str) -> str:
    return f'<div class="cards">{"".join(html)}</div>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table; `numbers` are the columns that are aligned to the right. The last column of meanings is softened."""
    right = set(numbers)

    def cells(row: Sequence[str], tag: str) -> str:
        out = []
        for place, cell in enumerate(row):
            kind = "number" if place in right else ("meaning" if header[place] == MEANING else "")
            out.append(f"<{tag}{f' class={kind}' if kind else ''}>{escape(cell)}</{tag}>")
        return "".join(out)

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{cells(header, "th")}</tr></thead><tbody>{body}</tbody></table></div>'
    )


MEANING = "What it means"


def share(value: float | None) -> str:
    """A share as a percentage, with more digits where it is small."""
    if value is None or value != value:
        return "not known"
    if value >= 10:
        return f"{value:,.0%}"
    if value == 0 or value >= 0.1:
        return f"{value:.1%}".replace(".0%", "%")
    if value >= 0.001:
        return f"{value:.2%}"
    return f"{value:.3%}" if value >= 0.00001 else "< 0.001%"


def count(value: float | None) -> str:
    return "not known" if value is None or value != value else f"{value:,.0f}"


def number(value: float | None) -> str:
    """A number with as many digits as it deserves."""
    if value is None or value != value:
        return "not known"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) < 1e-4:
        digits, exponent = f"{value:.1e}".split("e")
        return f"{digits}\u00d710{str(int(exponent)).translate(_RAISED)}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
