"""The parts of a report that come from a run: risk, loss, what was checked, and how the release was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.charts import specs
from shoal.evaluate.page import MEANING, Page, count, heading, number, paragraph, section, share, table
from shoal.metrics.base import metrics

Dict = Mapping[str, Any]

_RISK = {
    "highest": (
        "Highest risk",
        "Chance to recognise the most exposed record for someone who knows it is there.",
    ),
    "average": (
        "Average risk",
        "Share of all records that an attacker who links the whole table gets right.",
    ),
    "unique": (
        "Unique records",
        "Records whose quasi-identifiers nobody shares: they are recognised with certainty.",
    ),
}
_META = {one.name: one for one in metrics()}
_EXTRA = {
    "lower_bound": ("Lower bound of the loss", "No release of this table that meets the requirement has a lower GCP."),
    "at_most_above_best": ("At most above the best", "The loss is at most this share above the best that is possible."),
}


def risk_section(page: Page, summary: Dict, *, public: bool) -> str:
    before, after = summary["risk"]["before"], summary["risk"]["after"]
    rows = []
    for name, (title, meaning) in _RISK.items():
        show = count if name == "unique" else share
        rows.append([title, show(before.get(name)), show(after.get(name)), meaning])
    intro = "How easily a person who is known to be in the table can be recognised by the quasi-identifiers."
    if public:
        shown = [[row[0], row[2], row[3]] for row in rows[:2]]
        return section("Risk", intro, table(["Risk", "In the release", MEANING], shown, numbers=(1,)))
    records = [
        {"measure": _RISK[name][0], "when": when, "value": values[name]}
        for name in ("highest", "average")
        for when, values in (("before", before), ("after", after))
    ]
    chart = page.chart(specs.before_and_after(records, "risk"), "Risk before and after; lower is safer.")
    return section("Risk", intro, table(["Risk", "Before", "After", MEANING], rows, numbers=(1, 2)), chart)


def loss_section(page: Page, summary: Dict, *, public: bool) -> str:
    parts = [metric_table(summary["metrics"], public=public)]
    if not public:
        gcp = {name: values["gcp"] for name, values in summary["per_attribute"].items() if "gcp" in values}
        parts += [heading("Per attribute"), *loss_per_attribute(page, gcp)]
    return section("Loss", "What the release no longer tells, compared with the original.", *parts)


def metric_table(totals: Mapping[str, float], *, public: bool) -> str:
    """Every metric with its goal and its sentence; the public version keeps those that say nothing about classes."""
    rows = []
    for name, value in totals.items():
        if public and name not in ("gcp", "precision", "lower_bound"):
            continue
        meta = _META.get(name)
        if meta is not None:
            rows.append([meta.title, number(value), meta.goal, meta.meaning])
        elif name in _EXTRA:
            title, meaning = _EXTRA[name]
            rows.append([title, share(value) if name == "at_most_above_best" else number(value), "", meaning])
    return table(["Metric", "Value", "Better", MEANING], rows, numbers=(1,))


def loss_per_attribute(page: Page, gcp: Mapping[str, float]) -> list[str]:
    records = [{"attribute": name, "loss": value} for name, value in gcp.items()]
    rows = [[name, number(round(value, 4))] for name, value in sorted(gcp.items(), key=lambda item: -item[1])]
    chart = page.chart(specs.loss_per_attribute(records), "Loss (GCP) of each attribute; lower keeps more of the data.")
    meaning = "Mean width of the released cells of each attribute: 0 is exact, 1 is nothing left."
    return [paragraph(meaning), chart, table(["Attribute", "Loss (GCP)"], rows, numbers=(1,))]


def certificate_sections(summary: Dict, *, public: bool) -> list[str]:
    certificate = summary["certificate"]
    checks = [
        [str(check["model"]), "holds" if check["passed"] else "does not hold", _found(check)]
        for check in certificate.get("checks", ())
    ]
    intro = "The check reads the released values alone and shares no code with the algorithm that made them."
    parts = [section("What was checked", intro, table(["Requirement", "Result", "Found"], checks))]
    rows = [["Release (SHA-256)", certificate.get("hashes", {}).get("release", ""), "Identifies the released table."]]
    if not public:
        hashes = certificate.get("hashes", {})
        rows += [
            ["Input (SHA-256)", hashes.get("input", ""), "Identifies the table that came in."],
            ["Job (SHA-256)", hashes.get("job", ""), "Identifies the settings."],
            ["Versions", _words(certificate.get("versions", {})), "What computed it."],
        ]
        rows += [[f"Setting: {name}", _words(value), "As asked for."] for name, value in _settings(certificate)]
        rows += [
            [f"Seconds: {stage}", f"{seconds:.2f}", "Time of this stage."]
            for stage, seconds in summary.get("seconds", {}).items()
        ]
    rows.append(
        ["Missing values", certificate.get("missing", {}).get("rule", ""), "The rule for cells without a value."]
    )
    rows += [["Note", text, "Told by the run."] for text in certificate.get("notes", ()) if not public]
    parts.append(section("How it was made", "To repeat and to check it.", table(["What", "Value", MEANING], rows)))
    return parts


def _settings(certificate: Dict) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in certificate.get("job", {}).items() if value not in (None, [], {}, "")]


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_words(part)}" for name, part in value.items() if name != "sha256")
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(part) for part in value)
    return str(value)


def _found(check: Dict) -> str:
    """What a check measured, as words."""
    measured = check.get("measured")
    return f"{check.get('measure', '')}: {'no bound' if measured is None else number(measured)}"
