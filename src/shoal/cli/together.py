"""What several releases tell together, as a table on the screen."""

from __future__ import annotations

from typing import Any

from shoal.cli.output import print_table, print_text


def print_together(found: dict[str, Any]) -> None:
    rows = [
        (
            str(check["attack"]),
            " and ".join(str(number) for number in check["releases"]),
            "holds" if check["passed"] else "FAILS",
            "-" if check["smallest_anonymity"] is None else f"{check['smallest_anonymity']:,}",
            f"{check['classes_below']:,}",
            f"{check['persons_below']:,}",
        )
        for check in found["checks"]
    ]
    heads = ("attack", "releases", "result", "smallest anonymity", "classes below k", "persons in them")
    print_table("With earlier releases", heads, rows, right=(3, 4, 5))
    if not found["exact"]:
        print_text("More than two releases were looked at in pairs: all of them together may tell more.")
    if any(check["passed"] and check["classes_below"] for check in found["checks"]):
        text = "Some classes would be below k if a newcomer were in them; the releases alone do not tell who is there"
        print_text(f"{text} (--strict counts them).")
