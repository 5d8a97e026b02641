"""The parts of a report that come from a run: risk, loss, what was checked, and how the release was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.evaluation.summary import LOOSE
from shoal.metrics.base import metrics
from shoal.reports.charts import specs
from shoal.reports.language import digits, tell
from shoal.reports.page import MEANING, Page, bad_if, count, heading, note, number, paragraph, section, share, table

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
_ROW_ORDERS = {
    "released": "by the released values: it tells nothing more",
    "input": "that of the input: if it was sorted, ranges narrow each other",
}
_PUBLIC = ("gcp", "precision", "lower_bound", "at_most_above_best", "exact_cells", "listed_values")
_META = {one.name: one for one in metrics()}
_EXTRA = {
    "lower_bound": ("Lower bound of the loss", "No release of this table that meets the requirement has a lower GCP."),
    "weighted_gcp": ("Loss with priorities", "The loss with the attributes weighted by the priorities of the job."),
    "weighted_lower_bound": ("Its lower bound", "No release that meets the requirement has a lower weighted loss."),
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
        rows = [[row[0], row[2], row[3]] for row in rows[:2]]
        return section("Risk", intro, table(["Risk", "In the release", MEANING], rows, numbers=(1,)))
    shown = table(["Risk", "Before", "After", MEANING], rows, numbers=(1, 2))
    return section("Risk", intro, shown, _risk_chart(page, before, after))


def _risk_chart(page: Page, before: Dict, after: Dict) -> str:
    records = [
        {"measure": _RISK[name][0], "when": when, "value": values[name]}
        for name in ("highest", "average")
        for when, values in (("before", before), ("after", after))
    ]
    return page.chart(specs.before_and_after(records, "risk"), "Risk before and after; lower is safer.")


def loss_section(page: Page, summary: Dict, *, public: bool) -> str:
    parts = [bound_note(summary["metrics"]), metric_table(summary["metrics"], public=public)]
    if not public:
        gcp = {name: values["gcp"] for name, values in summary["per_attribute"].items() if "gcp" in values}
        parts += [heading("Per attribute"), *loss_per_attribute(page, gcp)]
    return section("Loss", "What the release no longer tells, compared with the original.", *parts)


def bound_note(found: Dict) -> str:
    """One sentence about how much of the loss could be avoided at all, where a bound is known."""
    bound = found.get("weighted_lower_bound", found.get("lower_bound"))
    if not bound:
        return ""
    kind = tell("loss with priorities") if "weighted_lower_bound" in found else tell("loss (GCP)")
    text = tell(
        "No release of this table that meets the requirement can have a {kind} below {bound}",
        kind=kind,
        bound=digits(f"{bound:.4f}"),
    )
    above = found.get("at_most_above_best")
    if above is not None and above > LOOSE:
        text += tell("; the bound is loose here, and does not tell how close to the best possible this one is")
    elif above is not None:
        over = "; the loss of this one is at most {share} above the best that is possible"
        text += tell(over, share=share(above))
    return note(text + ".")


def bounds_of(summary: Dict | None) -> dict[str, float]:
    """The numbers of a run that an evaluation of its release cannot find out by itself."""
    metrics = (summary or {}).get("metrics", {})
    return {name: metrics[name] for name in _EXTRA if name in metrics}


def metric_table(totals: Mapping[str, float], *, public: bool) -> str:
    """Every metric with its goal and its sentence; the public version keeps those that say nothing about classes."""
    rows = []
    for name, value in totals.items():
        if public and name not in _PUBLIC:
            continue
        meta = _META.get(name)
        if meta is not None:
            rows.append([meta.title, number(value), meta.goal, meta.meaning])
        elif name in _EXTRA:
            title, meaning = _EXTRA[name]
            rows.append([title, _above(value) if name == "at_most_above_best" else number(value), "", meaning])
    return table(["Metric", "Value", "Better", MEANING], rows, numbers=(1,))


def _above(value: float) -> str:
    return share(value) if value <= LOOSE else tell("the bound is loose here")


def loss_per_attribute(page: Page, gcp: Mapping[str, float]) -> list[str]:
    records = [{"attribute": name, "loss": value} for name, value in gcp.items()]
    rows = [[name, f"{value:.4f}"] for name, value in sorted(gcp.items(), key=lambda item: -item[1])]
    chart = page.chart(specs.loss_per_attribute(records), "Loss (GCP) of each attribute; lower keeps more of the data.")
    meaning = "Mean width of the released cells of each attribute: 0 is exact, 1 is nothing left."
    return [paragraph(meaning), chart, table(["Attribute", "Loss (GCP)"], rows, numbers=(1,))]


def certificate_sections(summary: Dict, *, public: bool) -> list[str]:
    certificate = summary["certificate"]
    checks = [[str(check["model"]), _verdict(check), _found(check)] for check in certificate.get("checks", ())]
    intro = "The check reads the released values alone and shares no code with the algorithm that made them."
    inside = [table(["What", "Value", MEANING], _proof_rows(certificate, public=public))]
    if certificate.get("kept"):
        inside += _kept_table(certificate, public=public)
    if not public:
        inside += _run_tables(certificate, summary.get("seconds", {}))
    return [
        section("What was checked", intro, table(["Requirement", "Result", "Found"], checks)),
        section("How it was made", "To repeat and to check it.", *inside),
    ]


def _proof_rows(certificate: Dict, *, public: bool) -> list[list[str]]:
    """Hashes, versions and rules: what is needed to repeat a run and to check a release."""
    hashes = certificate.get("hashes", {})
    rows = [["Release (SHA-256)", hashes.get("release", ""), "Identifies the released table."]]
    if not public:
        rows += [
            ["Input (SHA-256)", hashes.get("input", ""), "Identifies the table that came in."],
            ["Job (SHA-256)", hashes.get("job", ""), "Identifies the settings."],
            ["Versions", _words(certificate.get("versions", {})), "The programs that computed it."],
        ]
    rows.append(
        ["Missing values", certificate.get("missing", {}).get("rule", ""), "The rule for cells without a value."]
    )
    order = certificate.get("row_order", "input")
    rows.append(["Order of the rows", _ROW_ORDERS.get(order, order), "What the order of the file can tell."])
    return rows + [["Note", text, "Told by the run."] for text in certificate.get("notes", ()) if not public]


def _kept_table(certificate: Dict, *, public: bool) -> list[str]:
    rows = [[name, "; ".join(against)] for name, against in certificate["kept"].items()]
    text = "These columns are neither generalized nor dropped."
    if public:
        return [heading("Published as they are"), paragraph(text), table(["Column"], [row[:1] for row in rows])]
    alone = "Whoever knows them too tells {count} records from all others."
    told = [paragraph(text), paragraph(tell(alone, count=count(certificate.get("alone_with_kept"))))]
    shown = table(["Column", "What speaks against it, allowed knowingly"], rows)
    return [heading("Published as they are"), *told, shown]


def _run_tables(certificate: Dict, seconds: Mapping[str, float]) -> list[str]:
    settings = [[name, _words(value)] for name, value in _settings(certificate)]
    parts = []
    if settings:
        parts += [heading("Settings"), paragraph("What was asked for; the same settings give the same release.")]
        parts.append(table(["Setting", "Value"], settings))
    if seconds:
        times = [[stage, f"{took:.2f}"] for stage, took in seconds.items()]
        parts += [heading("Time"), paragraph("How long every stage of the run took.")]
        parts.append(table(["Stage", "Seconds"], times, numbers=(1,)))
    return parts


def _settings(certificate: Dict) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in certificate.get("job", {}).items() if value not in (None, [], {}, "")]


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_words(part)}" for name, part in value.items() if name != "sha256")
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(part) for part in value)
    return str(value)


def _verdict(check: Dict) -> str:
    return bad_if(not check["passed"], tell("holds") if check["passed"] else tell("does not hold"))


def _found(check: Dict) -> str:
    """What a check measured, as words."""
    measured = check.get("measured")
    return f"{check.get('measure', '')}: {'no bound' if measured is None else number(measured)}"
