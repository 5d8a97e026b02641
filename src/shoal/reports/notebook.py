"""Results and evaluations as rich output of notebooks: a table, and charts as pictures (no script)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from shoal.evaluation.summary import bound_sentence
from shoal.reports.charts import specs
from shoal.reports.page import MEANING, count, number, share, table

Dict = Mapping[str, Any]


def summary_html(summary: Dict) -> str:
    """What `Result.summary()` gives, as HTML."""
    before, after = summary["risk"]["before"], summary["risk"]["after"]
    losses = {name: values["gcp"] for name, values in summary["per_attribute"].items() if "gcp" in values}
    return _html(summary["records"], summary["smallest_class"], before, after, summary["metrics"]["gcp"], losses, None,
                 summary["metrics"])  # fmt: skip


def evaluation_html(evaluation: Dict) -> str:
    """What `Evaluation.as_dict()` gives, as HTML."""
    risk, scores = evaluation["risk"], evaluation["scores"]
    error = evaluation["queries"]["median_error"] if evaluation.get("queries") else None
    return _html(
        evaluation["records"], risk["after"]["smallest_class"], risk["before"], risk["after"], scores["totals"]["gcp"],
        scores["per_attribute"]["gcp"], error,
    )  # fmt: skip


def _html(
    records: int,
    smallest: int | None,
    before: Dict,
    after: Dict,
    gcp: float,
    losses: Dict,
    error: float | None,
    known: Dict | None = None,
) -> str:
    rows = [
        ["Records", count(records), "In the original table."],
        ["Smallest class", count(smallest), "Every record looks the same as this many or more."],
        ["Highest risk before", share(before["highest"]), "Chance to recognise the most exposed record."],
        ["Highest risk after", share(after["highest"]), "The same, in the release."],
        ["Loss (GCP)", number(round(gcp, 4)), "Mean width of a released cell: 0 is exact, 1 is nothing left."],
    ]
    sentence = bound_sentence(known or {})
    if known and sentence:
        rows.append(["Lower bound", number(round(known["lower_bound"], 4)), sentence])
    if error is not None:
        rows.append(["Query error", share(error), "Half of the random counts are off by less than this."])
    risks = [
        {"measure": title, "when": when, "value": values[key]}
        for key, title in (("highest", "Highest risk"), ("average", "Average risk"))
        for when, values in (("before", before), ("after", after))
    ]
    pictures = _picture(specs.before_and_after(risks, "risk"))
    pictures += _picture(specs.loss_per_attribute([{"attribute": name, "loss": loss} for name, loss in losses.items()]))
    return table(["What", "Value", MEANING], rows, numbers=(1,)) + pictures


def _picture(spec: dict[str, Any]) -> str:
    """A chart as SVG; nothing where vl-convert is not installed."""
    if find_spec("vl_convert") is None:
        return ""
    import vl_convert

    return f"<div>{vl_convert.vegalite_to_svg(spec)}</div>"
