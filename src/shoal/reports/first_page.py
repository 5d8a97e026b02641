"""The first page of a report: the verdict, five answers in words, three pictures. Its reader may stop after it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from shoal.reports.language import tell
from shoal.reports.page import count, share
from shoal.reports.pictures import AFTER, BAD, BEFORE, bars
from shoal.reports.story import tell_story

Dict = Mapping[str, Any]
BAD_LOSS = 0.75  # of a column, from which on hardly anything of it is left


def first_page(summary: Dict | None, evaluation: Dict | None, *, public: bool) -> str:
    """All that a decision needs; the details come after it."""
    certificate = (summary or {}).get("certificate")
    pictures = [_risk(summary, evaluation, public), _loss(summary, evaluation, public)]
    pictures.append("" if public else _groups(evaluation))
    drawn = "".join(picture for picture in pictures if picture)
    shown = f'<div class="pictures">{drawn}</div>' if drawn else ""
    return shown + (_chapters(certificate, public) if certificate is not None else "")


def verdict(summary: Dict | None) -> str:
    """Whether every promise holds, as a banner; nothing where nothing was checked."""
    return _verdict(summary["certificate"]) if summary is not None and "certificate" in summary else ""


def _verdict(certificate: Dict) -> str:
    checks = certificate.get("checks", ())
    holds = bool(checks) and all(check["passed"] for check in checks)
    text = tell("Every promise holds.") if holds else tell("A promise does not hold: do not publish this table.")
    about = tell("Checked on the released values themselves, {count} requirement(s).", count=len(checks))
    kind = "" if holds else " bad"
    return f'<div class="verdict{kind}">{escape(text)}<span>{escape(about)}</span></div>'


def _chapters(certificate: Dict, public: bool) -> str:
    chapters = tell_story(certificate, public=public)
    told = []
    for chapter in chapters:
        if not chapter.sentences:
            continue
        lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in chapter.sentences)
        wide = ' class="wide"' if chapter is chapters[-1] else ""
        told.append(f"<div{wide}><h3>{escape(chapter.title)}</h3><ul>{lines}</ul></div>")
    return f'<div class="story">{"".join(told)}</div>'


def _risk(summary: Dict | None, evaluation: Dict | None, public: bool) -> str:
    risk = (evaluation or summary or {}).get("risk")
    if not risk:
        return ""
    before, after = risk["before"], risk["after"]
    rows = []
    for name, title in (("highest", "Highest risk"), ("average", "Average risk")):
        if not public:
            rows.append((f"{tell(title)}, {tell('before')}", before[name], share(before[name]), BEFORE))
        colour = BAD if after[name] > 0.5 else AFTER
        rows.append((f"{tell(title)}, {tell('after')}", after[name], share(after[name]), colour))
    return bars(rows, "The chance to recognise a person who is known to be in the table.", highest=1.0)


def _loss(summary: Dict | None, evaluation: Dict | None, public: bool) -> str:
    if evaluation is not None:
        totals, columns = evaluation["scores"]["totals"]["gcp"], evaluation["scores"]["per_attribute"]["gcp"]
    elif summary is not None:
        totals = summary["metrics"]["gcp"]
        columns = {name: values["gcp"] for name, values in summary["per_attribute"].items() if "gcp" in values}
    else:
        return ""
    rows = [(tell("all columns"), totals, share(totals), AFTER)]
    bound = ((summary or {}).get("metrics") or {}).get("lower_bound")
    if bound:
        rows.append((tell("least possible"), bound, share(bound), BEFORE))
    if not public:
        worst_first = sorted(columns.items(), key=lambda item: -item[1])
        rows += [(name, loss, share(loss), BAD if loss > BAD_LOSS else AFTER) for name, loss in worst_first]
    return bars(rows, "How much of the detail is lost (GCP): 0 % is exact, at 100 % nothing is left.", highest=1.0)


def _groups(evaluation: Dict | None) -> str:
    """How large the groups are, by the share of records in groups of each size."""
    sizes = (evaluation or {}).get("risk", {}).get("sizes_after")
    if not sizes:
        return ""
    rows = [
        (tell("groups of {sizes}", sizes=row["sizes"]), row["share"], f"{count(row['records'])}", AFTER)
        for row in sizes
        if row["records"]
    ]
    return bars(rows, "Records by how many records look the same as they do.")
