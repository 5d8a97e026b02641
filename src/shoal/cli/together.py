"""What several releases tell together, as a table on the screen."""

from __future__ import annotations

from typing import Any

from shoal.cli.output import print_table, print_text


def print_together(found: dict[str, Any]) -> None:
    _print_checks("With earlier releases", found["checks"])
    if found["without_joining"]:
        _print_checks("The same for those who cannot join records", found["without_joining"])
    if not found["exact"]:
        print_text("More than two releases were looked at in pairs: all of them together may tell more.")
    if found.get("read_alone") and found["unreadable_cells"]:
        text = "cells cannot be read: they may hide what the releases give away together (--hierarchies?)."
        print_text(f"{found['unreadable_cells']:,} {text}")
    if found.get("taken_as_values"):
        names = ", ".join(found["taken_as_values"])
        print_text(f"Without a hierarchy every label is one value: {names}. If labels are groups, give --hierarchies.")
    if any(check["passed"] and check["classes_below"] for check in found["checks"]):
        text = "Some classes would be below k if a newcomer were in them; the releases alone do not tell who is there"
        print_text(f"{text} (--strict counts them).")


def _print_checks(title: str, checks: list[dict[str, Any]]) -> None:
    rows = [
        (
            str(check["attack"]),
            " and ".join(str(number) for number in check["releases"]),
            "holds" if check["passed"] else "FAILS",
            "-" if check["smallest_anonymity"] is None else f"{check['smallest_anonymity']:,}",
            f"{check['classes_below']:,}",
            f"{check['persons_below']:,}",
        )
        for check in checks
    ]
    heads = ("attack", "releases", "result", "smallest anonymity", "classes below k", "persons in them")
    print_table(title, heads, rows, right=(3, 4, 5))


def print_measured(found: dict[str, Any]) -> None:
    """What earlier releases add to what the release gives away, measured on the people that there are."""
    before, after = found["before"], found["after"]
    rows: list[tuple[str, ...]] = [
        ("fewest candidates", f"{before['fewest']:,}", f"{after['fewest']:,}"),
        ("median candidates", f"{before['median']:,.0f}", f"{after['median']:,.0f}"),
        ("persons pinned down", f"{before['pinned_down']:,}", f"{after['pinned_down']:,}"),
    ]
    if found["k"] is not None:
        rows.append((f"persons with fewer than {found['k']}", f"{before['below_k']:,}", f"{after['below_k']:,}"))
    tried = found["attack"]
    rows.append(("records drawn right", *(f"{tried[when]['drawn_right']:,}" for when in ("before", "after"))))
    for one, other in zip(tried["before"]["secrets"], tried["after"]["secrets"], strict=True):
        rows.append((f"{one['column']} guessed right", f"{one['guessed_right']:.1%}", f"{other['guessed_right']:.1%}"))
        known = (f"{part['known_for_certain']:,}" for part in (one, other))
        rows.append((f"{one['column']} known for certain", *known))
    if found["by_key"] is not None:
        _add_joined(rows, found["by_key"])
    print_table(
        f"Joined with earlier releases, {found['persons']:,} persons",
        ("", "alone", "joined") if found["by_key"] is None else ("", "alone", "joined", "joined by key"),
        rows,
        right=(1, 2) if found["by_key"] is None else (1, 2, 3),
    )
    releases = [f"release {number}" for number in range(1, found["releases"] + 1)]
    rows_of = [
        (
            part["attribute"],
            *(f"{loss:.4f}" for loss in part["loss"]),
            f"{part['joined']:.4f}",
            *(f"{by:.0%}" for by in part["given_away_by"]),
        )
        for part in found["attributes"]
    ]
    heads = ("attribute", *(f"loss, {name}" for name in releases), "joined", *(f"told by {name}" for name in releases))
    print_table("Which release gives an attribute away", heads, rows_of, right=tuple(range(1, len(heads))))


def _add_joined(rows: list[tuple[str, ...]], by_key: dict[str, Any]) -> None:
    """One more column: what they learn who join the releases record by record."""
    candidates, tried = by_key["candidates"], by_key["attack"]
    told = [f"{candidates['fewest']:,}", f"{candidates['median']:,.0f}", f"{candidates['pinned_down']:,}"]
    if candidates["below_k"] is not None:
        told.append(f"{candidates['below_k']:,}")
    told.append(f"{tried['drawn_right']:,}")
    for secret in tried["secrets"]:
        told += [f"{secret['guessed_right']:.1%}", f"{secret['known_for_certain']:,}"]
    rows[:] = [(*row, more) for row, more in zip(rows, told, strict=True)]
