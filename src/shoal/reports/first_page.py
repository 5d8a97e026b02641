"""The first page of a report: the verdict, five answers in words, three pictures. Its reader may stop after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from shoal.reports.language import tell
from shoal.reports.page import count, share
from shoal.reports.pictures import AFTER, BAD, BEFORE, bars, crowds
from shoal.reports.story import Chapter, Grave, tell_story

Dict = Mapping[str, Any]
BAD_LOSS = 0.75  # of a column, from which on hardly anything of it is left


def first_page(summary: Dict | None, evaluation: Dict | None, *, public: bool) -> str:
    """All that a decision needs; the details come after it."""
    certificate = (summary or {}).get("certificate")
    pictures = [_risk(summary, evaluation, public), _loss(summary, evaluation, public)]
    pictures.append("" if public else _groups(evaluation))
    drawn = "".join(picture for picture in pictures if picture)
    shown = f'<div class="pictures">{drawn}</div>' if drawn else ""
    if certificate is None:
        return shown
    chapters = tell_story(certificate, public=True) if public else holders_story(certificate, evaluation)
    return _grave(chapters) + shown + _chapters(chapters)


def holders_story(certificate: Dict, evaluation: Dict | None) -> tuple[Chapter, ...]:
    """The chapters for the holder of the data, with what an evaluation found."""
    chapters = tell_story(certificate)
    return (*chapters[:-1], _with_uniform_groups(chapters[-1], evaluation))


def _with_uniform_groups(remains: Chapter, evaluation: Dict | None) -> Chapter:
    """What an evaluation adds: how many are in groups that give a sensitive value away."""
    disclosure = (evaluation or {}).get("risk", {}).get("disclosure") or {}
    text = "{count} records are in groups in which all have the same value of {name}: whoever finds the group knows it."
    found = [
        Grave(tell(text, count=count(told["records_in_uniform_classes"]), name=name))
        for name, told in disclosure.items()
        if told["records_in_uniform_classes"]
    ]
    return replace(remains, sentences=(*found, *remains.sentences))


def _grave(chapters: Sequence[Chapter]) -> str:
    """What must not be missed, right below the verdict."""
    found = [sentence for chapter in chapters for sentence in chapter.sentences if isinstance(sentence, Grave)]
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in found)
    return f'<div class="but"><b>{escape(tell("Decide knowingly"))}</b><ul>{lines}</ul></div>' if found else ""


def verdict(summary: Dict | None) -> str:
    """Whether every promise holds, as a banner; nothing where nothing was checked."""
    return _verdict(summary["certificate"]) if summary is not None and "certificate" in summary else ""


def _verdict(certificate: Dict) -> str:
    checks = certificate.get("checks", ())
    holds = bool(checks) and all(check["passed"] for check in checks)
    text = tell("Every promise holds.") if holds else tell("A promise does not hold: do not publish this table.")
    one, several = (
        "1 requirement, checked on the released values.",
        "{count} requirements, checked on the released values.",
    )
    about = tell(one) if len(checks) == 1 else tell(several, count=len(checks))
    kind = "" if holds else " bad"
    return f'<div class="verdict{kind}">{escape(text)}<span>{escape(about)}</span></div>'


def _chapters(chapters: Sequence[Chapter]) -> str:
    told = []
    for chapter in chapters:
        if not chapter.sentences:
            continue
        lines = "".join(
            f"<li{' class=bad' if isinstance(sentence, Grave) else ''}>{escape(sentence)}</li>"
            for sentence in chapter.sentences
        )
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
    return bars(rows, "The chance to recognise a person who is known to be in the table.", highest=1.0, headline="Risk")


def _loss(summary: Dict | None, evaluation: Dict | None, public: bool) -> str:
    if evaluation is None and summary is None:
        return ""
    total, columns = _losses(summary, evaluation)
    rows = [(tell("all columns"), total, share(total), AFTER)]
    bound = ((summary or {}).get("metrics") or {}).get("lower_bound")
    if bound:
        rows.append((tell("least possible"), bound, share(bound), BEFORE))
    if not public:
        worst_first = sorted(columns.items(), key=lambda item: -item[1])
        rows += [(name, loss, share(loss), BAD if loss > BAD_LOSS else AFTER) for name, loss in worst_first]
    return bars(
        rows,
        "How much of the detail is lost (GCP): 0 % is exact, at 100 % nothing is left.",
        highest=1.0,
        headline="Loss",
    )


def _losses(summary: Dict | None, evaluation: Dict | None) -> tuple[float, Dict]:
    """The loss of all columns together, and of each."""
    if evaluation is not None:
        return evaluation["scores"]["totals"]["gcp"], evaluation["scores"]["per_attribute"]["gcp"]
    summary = summary or {}
    columns = {name: values["gcp"] for name, values in summary["per_attribute"].items() if "gcp" in values}
    return summary["metrics"]["gcp"], columns


def _groups(evaluation: Dict | None) -> str:
    """How many records look the same, before and after."""
    risk = (evaluation or {}).get("risk", {})
    return crowds(risk["sizes_before"], risk["sizes_after"]) if risk.get("sizes_after") else ""
