"""What privacy costs: the loss over k, as a picture and a table that show themselves in notebooks and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.curves import Point, curves
from shoal.reports.language import tell
from shoal.reports.page import count, number, section, share, table

Record = dict[str, Any]


class Comparison(list[Record]):
    """Runs side by side: a list of records, one for every algorithm and k, which a notebook shows as a picture."""

    def _repr_html_(self) -> str:
        from shoal.reports.notebook import comparison_html

        return comparison_html(self)


def frontier_picture(records: Sequence[Mapping[str, Any]]) -> str:
    """A line per algorithm: the loss at each k; and the least that any release loses, where that is known."""
    fine = [record for record in records if record.get("gcp") is not None]
    if not fine:
        return ""
    lines: dict[str, list[Point]] = {}
    for record in sorted(fine, key=lambda record: record["k"]):
        _add_point(lines, str(record["algorithm"]), record["k"], record["gcp"])
        if record.get("lower_bound"):
            _add_point(lines, tell("least possible"), record["k"], record["lower_bound"])
    caption = "What protection costs: how much of the detail is lost (GCP) at each k."
    return curves(lines, "k", tell("loss (GCP)"), caption)


def _add_point(lines: dict[str, list[Point]], name: str, k: float, loss: float) -> None:
    lines.setdefault(name, []).append((k, loss, f"{name}, k = {k}: {share(loss)}"))


def frontier_table(records: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [str(record["algorithm"]), str(record["k"]), *_numbers(record)]
        for record in sorted(records, key=lambda record: (record["algorithm"], record["k"]))
    ]
    return table(["Algorithm", "k", "Loss (GCP)", "Highest risk", "Smallest class"], rows, numbers=(1, 2, 3, 4))


def _numbers(record: Mapping[str, Any]) -> list[str]:
    if "error" in record:
        reasons = ", ".join(str(problem["reason"]) for problem in record["error"])
        return [tell("failed: {reasons}", reasons=reasons), "", ""]
    return [number(round(record["gcp"], 4)), share(record.get("highest_risk")), count(record.get("smallest_class"))]


def frontier_section(records: Sequence[Mapping[str, Any]]) -> str:
    intro = "The same table with other k: what more protection would cost, and less would save."
    return section("Other k", intro, frontier_picture(records), frontier_table(records))
