"""Results and evaluations in notebooks: the verdict, what it means in numbers, and two pictures with values on hover.

Plain HTML and SVG with styles of their own: no script, no library, the same in Jupyter, VS Code and marimo, light or
dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from shoal.reports.frontier import frontier_picture, frontier_table
from shoal.reports.language import tell
from shoal.reports.page import MEANING, count, number, share, table
from shoal.reports.pictures import AFTER, BAD, BEFORE, bars, crowds

Dict = Mapping[str, Any]
BAD_LOSS = 0.75
_STYLE = (
    "font-family:system-ui,sans-serif;max-width:900px;background:#fff;color:#1d2430;padding:14px 18px;"
    "border:1px solid #e3e6eb;border-radius:10px"
)
_GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:18px;margin:10px 0 12px"
_WIDEST = 285  # pixels of a picture, so that its words are as large as those of the page


def summary_html(summary: Dict) -> str:
    """What `Result.summary()` gives, as HTML."""
    before, after = summary["risk"]["before"], summary["risk"]["after"]
    losses = {name: values["gcp"] for name, values in summary["per_attribute"].items() if "gcp" in values}
    facts = {"records": summary["records"], "smallest": summary["smallest_class"], "gcp": summary["metrics"]["gcp"]}
    facts["bound"] = summary["metrics"].get("lower_bound")
    checks = summary.get("certificate", {}).get("checks", ())
    return _html(_verdict(checks), facts, before, after, losses)


def evaluation_html(evaluation: Dict) -> str:
    """What `Evaluation.as_dict()` gives, as HTML."""
    risk, scores = evaluation["risk"], evaluation["scores"]
    facts = {
        "records": evaluation["records"],
        "smallest": risk["after"]["smallest_class"],
        "gcp": scores["totals"]["gcp"],
        "error": evaluation["queries"]["median_error"] if evaluation.get("queries") else None,
    }
    groups = crowds(risk["sizes_before"], risk["sizes_after"])
    return _html("", facts, risk["before"], risk["after"], scores["per_attribute"]["gcp"], groups)


def comparison_html(records: Sequence[Dict]) -> str:
    """Runs with several algorithms or k: the picture, and every run in a table."""
    picture = f'<div style="max-width:430px;margin-bottom:12px">{frontier_picture(records)}</div>'
    return f'<div style="{_STYLE}">{picture}{_aligned(frontier_table(records))}</div>'


def _aligned(html: str) -> str:
    """A table whose texts stand at the left and numbers at the right, whatever the page around it says."""
    left, right = (f'style="text-align:{side};padding:3px 14px 3px 0;font-size:13.5px"' for side in ("left", "right"))
    for cell in ("td", "th"):
        html = html.replace(f"<{cell}>", f"<{cell} {left}>").replace(f"<{cell} class=meaning>", f"<{cell} {left}>")
        html = html.replace(f"<{cell} class=number>", f"<{cell} {right}>")
    return html


def _verdict(checks: Any) -> str:
    if not checks:
        return ""
    holds = all(check["passed"] for check in checks)
    text = tell("Every promise holds.") if holds else tell("A promise does not hold: do not publish this table.")
    names = ", ".join(str(check["model"]) for check in checks)
    colour = "#23744a" if holds else BAD
    return (
        f'<div style="background:{colour};color:#fff;border-radius:8px;padding:8px 14px;font-weight:600">{escape(text)}'
        f'<span style="font-weight:400;margin-left:10px">{escape(names)}</span></div>'
    )


def _html(verdict: str, facts: Dict, before: Dict, after: Dict, losses: Mapping[str, float], more: str = "") -> str:
    pictures = _risk_picture(before, after) + _loss_picture(losses) + more
    shown = table(["What", "Value", MEANING], _rows(facts, before, after), numbers=(1,))
    widest = f"max-width:{_WIDEST * (3 if more else 2)}px"
    return f'<div style="{_STYLE}">{verdict}<div style="{_GRID};{widest}">{pictures}</div>{_aligned(shown)}</div>'


def _rows(facts: Dict, before: Dict, after: Dict) -> list[list[str]]:
    """What a release is, in numbers, each with the sentence that says what it means."""
    rows = [
        ["Records", count(facts["records"]), "In the original table."],
        ["Smallest class", count(facts["smallest"]), "Every record looks the same as this many or more."],
        ["Highest risk before", share(before["highest"]), "Chance to recognise the most exposed record."],
        ["Highest risk after", share(after["highest"]), "The same, in the release."],
        ["Loss (GCP)", number(round(facts["gcp"], 4)), "Mean width of a released cell: 0 is exact, 1 is nothing left."],
    ]
    if facts.get("bound"):
        meaning = "No release of this table that meets the requirement has a lower loss."
        rows.append(["Lower bound", number(round(facts["bound"], 4)), meaning])
    if facts.get("error") is not None:
        rows.append(["Query error", share(facts["error"]), "Half of the random counts are off by less than this."])
    return rows


def _risk_picture(before: Dict, after: Dict) -> str:
    risks = [
        (f"{title}, {when}", values[key], share(values[key]), BEFORE if when == "before" else AFTER)
        for key, title in (("highest", "Highest risk"), ("average", "Average risk"))
        for when, values in (("before", before), ("after", after))
    ]
    return bars(
        risks, "The chance to recognise a person who is known to be in the table.", highest=1.0, headline="Risk"
    )


def _loss_picture(losses: Mapping[str, float]) -> str:
    worst_first = sorted(losses.items(), key=lambda item: -item[1])
    columns = [(name, loss, share(loss), BAD if loss > BAD_LOSS else AFTER) for name, loss in worst_first]
    return bars(
        columns,
        "How much of the detail is lost (GCP): 0 % is exact, at 100 % nothing is left.",
        highest=1.0,
        headline="Loss",
    )
