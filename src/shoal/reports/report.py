"""The report: one HTML file that works offline, from plain dicts.

`summary` is what `Result.summary()` gives, `evaluation` what `Evaluation.as_dict()` gives; either may be left out. The
internal version has every detail. The public version holds only what may stand beside the release: sizes, the
guarantee, what was checked, overall loss and overall usefulness. Left out are everything per attribute, the
distribution of class sizes, combinations of attributes, results of attacks, the seed, the settings and the hash of the
input: they could tell an attacker where to look. Charts are drawn where the extra `report` is installed; tables are
always there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.reports.evaluation import evaluation_sections
from shoal.reports.first_page import first_page, verdict
from shoal.reports.frontier import frontier_section
from shoal.reports.language import speaking, tell
from shoal.reports.page import Page, card, cards, count, note, number, share
from shoal.reports.summary import bounds_of, certificate_sections, loss_section, risk_section

Dict = Mapping[str, Any]

PUBLIC_NOTE = (
    "This is the public version. It leaves out everything per attribute, the distribution of class sizes, combinations "
    "of attributes, the results of simulated attacks, the settings and seed of the run and the hash of the input, "
    "because these could help an attacker. The internal version has them."
)
INTERNAL_NOTE = (
    "This is the internal version. It tells which attributes and combinations drive the risk: do not publish it with "
    "the release. A public version can be made without them."
)


def build_report(
    summary: Dict | None = None,
    evaluation: Dict | None = None,
    *,
    public: bool = False,
    title: str | None = None,
    language: str | None = None,
    frontier: Sequence[Dict] = (),
) -> str:
    """The report as one HTML text, in one of the languages of `language.py`; `frontier` are runs with other k."""
    with speaking(language):
        return _build(summary, evaluation, public=public, title=title, frontier=frontier)


def _build(
    summary: Dict | None, evaluation: Dict | None, *, public: bool, title: str | None, frontier: Sequence[Dict]
) -> str:
    page = Page(title or tell("Anonymization report"))
    page.add('<div class="first-page">')
    page.heading(_subtitle(summary, evaluation, public))
    page.add(verdict(summary), _top_cards(summary, evaluation), first_page(summary, evaluation, public=public))
    page.add(note(PUBLIC_NOTE if public else INTERNAL_NOTE), "</div>")
    if evaluation is None and summary is not None:
        page.add(risk_section(page, summary, public=public), loss_section(page, summary, public=public))
    if evaluation is not None:
        page.add(*evaluation_sections(page, evaluation, public=public, bounds=bounds_of(summary)))
    if frontier:
        page.add(frontier_section(frontier))
    if summary is not None:
        page.add(*certificate_sections(summary, public=public))
    page.add(f"<footer>{tell('Made with Shoal. This page needs no network and sends nothing.')}</footer>")
    return page.html()


def write_report(
    path: str | Path,
    summary: Dict | None = None,
    evaluation: Dict | None = None,
    *,
    public: bool = False,
    title: str | None = None,
    language: str | None = None,
) -> None:
    """Write the report to a file."""
    html = build_report(summary, evaluation, public=public, title=title, language=language)
    Path(path).write_text(html, encoding="utf-8")


def _subtitle(summary: Dict | None, evaluation: Dict | None, public: bool) -> str:
    version = tell("public version") if public else tell("internal version")
    if summary is not None:
        made = summary.get("certificate", {}).get("versions", {}).get("shoal")
        return f"{version}, {tell('of a release made by shoal {version}', version=made)}" if made else version
    about = tell("an evaluation of a release against its original")
    return f"{version}, {about}" if evaluation is not None else version


def _top_cards(summary: Dict | None, evaluation: Dict | None) -> str:
    """The four numbers that a decision starts from."""
    if evaluation is not None:
        after = evaluation["risk"]["after"]
        records, hidden_among = evaluation["records"], after["smallest_class"]
        before_risk, after_risk = evaluation["risk"]["before"]["highest"], after["highest"]
        loss, by_classes = evaluation["scores"]["totals"]["gcp"], evaluation["risk"].get("basis") != "candidates"
    elif summary is not None:
        records, hidden_among = summary["records"], summary["smallest_class"]
        before_risk, after_risk = summary["risk"]["before"]["highest"], summary["risk"]["after"]["highest"]
        loss, by_classes = summary["metrics"]["gcp"], summary["certificate"].get("class_based", True)
        if not by_classes:
            hidden_among = round(1 / after_risk) if after_risk else None
    else:
        return ""
    mood = "good" if hidden_among is not None and hidden_among >= 2 else "bad"
    if by_classes:
        hidden = ("Smallest class", count(hidden_among), "Every record looks the same as this many or more.")
    else:
        hidden = ("Fewest candidates", count(hidden_among), "This many released records or more fit every person.")
    change = f"{share(before_risk)} → {share(after_risk)}"
    return cards(
        card("Records", count(records), "People or events in the original table."),
        card(*hidden, mood),
        card("Highest risk", change, "Chance to recognise the most exposed person, before and after.", mood),
        card("Loss (GCP)", number(round(loss, 4)), "Mean width of a released cell: 0 is exact, 1 is nothing left."),
    )
