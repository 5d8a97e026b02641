"""A short table of an evaluation for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.evaluate.page import MEANING, count, number, share, table


def evaluation_summary(evaluation: Mapping[str, Any]) -> str:
    before, after = evaluation["risk"]["before"], evaluation["risk"]["after"]
    rows = [
        ["Records", count(evaluation["records"]), "In the original table."],
        ["Smallest class", count(after["smallest_class"]), "Every record looks the same as this many or more."],
        ["Highest risk before", share(before["highest"]), "Chance to recognise the most exposed record."],
        ["Highest risk after", share(after["highest"]), "The same, in the release."],
        ["Loss (GCP)", number(evaluation["scores"]["totals"]["gcp"]), "0 is exact, 1 is nothing left."],
    ]
    if evaluation.get("queries"):
        rows.append(["Query error", share(evaluation["queries"]["median_error"]), "Median relative error of counts."])
    return table(["What", "Value", MEANING], rows, numbers=(1,))
