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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.reports.evaluation import evaluation_sections
from shoal.reports.first_page import first_page, verdict
from shoal.reports.frontier import frontier_section
from shoal.reports.language import speaking, tell
from shoal.reports.page import Page, card, cards, count, note, number, share
from shoal.reports.summary import bounds_of, certificate_sections, loss_section, risk_section
from shoal.tables.formats.atomic import atomic_output

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
    _add_first_page(page, summary, evaluation, public=public)
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


def _add_first_page(page: Page, summary: Dict | None, evaluation: Dict | None, *, public: bool) -> None:
    page.add('<div class="first-page">')
    page.heading(_subtitle(summary, evaluation, public))
    page.add(verdict(summary), _top_cards(_facts(summary, evaluation)))
    page.add(first_page(summary, evaluation, public=public))
    page.add("</div>", note(PUBLIC_NOTE if public else INTERNAL_NOTE))


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
    with atomic_output(path, private=not public) as waiting:
        waiting.write_text(html, encoding="utf-8")


def _subtitle(summary: Dict | None, evaluation: Dict | None, public: bool) -> str:
    version = tell("public version") if public else tell("internal version")
    if summary is not None:
        made = summary.get("certificate", {}).get("versions", {}).get("shoal")
        return f"{version}, {tell('of a release made by shoal {version}', version=made)}" if made else version
    about = tell("an evaluation of a release against its original")
    return f"{version}, {about}" if evaluation is not None else version


@dataclass(frozen=True)
class _Facts:
    """The four numbers that a decision starts from."""

    records: int
    hidden_among: int | None  # the smallest class, or the fewest candidates
    risk_before: float
    risk_after: float
    loss: float
    by_classes: bool


def _facts(summary: Dict | None, evaluation: Dict | None) -> _Facts | None:
    """From the evaluation where there is one, else from the run."""
    if evaluation is not None:
        risk, loss = evaluation["risk"], evaluation["scores"]["totals"]["gcp"]
        hidden, by_classes = risk["after"]["smallest_class"], risk.get("basis") != "candidates"
        return _Facts(
            evaluation["records"], hidden, risk["before"]["highest"], risk["after"]["highest"], loss, by_classes
        )
    if summary is None:
        return None
    before, after = summary["risk"]["before"]["highest"], summary["risk"]["after"]["highest"]
    hidden, by_classes = summary["smallest_class"], summary["certificate"].get("class_based", True)
    if not by_classes:
        hidden = round(1 / after) if after else None
    return _Facts(summary["records"], hidden, before, after, summary["metrics"]["gcp"], by_classes)


def _top_cards(facts: _Facts | None) -> str:
    if facts is None:
        return ""
    mood = "good" if facts.hidden_among is not None and facts.hidden_among >= 2 else "bad"
    if facts.by_classes:
        hidden = ("Smallest class", count(facts.hidden_among), "Every record looks the same as this many or more.")
    else:
        hidden = (
            "Fewest candidates",
            count(facts.hidden_among),
            "This many released records or more fit every person.",
        )
    change = f"{share(facts.risk_before)} → {share(facts.risk_after)}"
    lost = number(round(facts.loss, 4))
    return cards(
        card("Records", count(facts.records), "People or events in the original table."),
        card(*hidden, mood),
        card("Highest risk", change, "Chance to recognise the most exposed person, before and after.", mood),
        card("Loss (GCP)", lost, "Mean width of a released cell: 0 is exact, 1 is nothing left."),
    )
