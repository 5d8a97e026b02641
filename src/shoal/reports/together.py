"""The part of a report that tells what a release gives away together with earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.reports.language import tell
from shoal.reports.page import MEANING, bad_if, count, heading, number, paragraph, section, share, table

Dict = Mapping[str, Any]


def together_section(evaluation: Dict) -> str:
    found = evaluation.get("together")
    if not found:
        return ""
    heads = ["What", "This release alone", "Joined with the others", MEANING]
    return section(
        "Together with earlier releases",
        "The same people were published before. Candidates are the released records that may be a person's.",
        table(heads, [*_candidates(found), *_attack(found)], numbers=(1, 2)),
        heading("Persons by candidates"),
        table(["Candidates", "This release alone", "Joined with the others"], _distribution(found), numbers=(1, 2)),
        heading("Which release gives an attribute away"),
        paragraph(
            "The mean loss of every release and of the narrowest cells that a person has in any of them; and how many "
            "persons have them in one release alone."
        ),
        _attributes(found),
    )


def _candidates(found: Dict) -> list[list[str]]:
    before, after = found["before"], found["after"]
    rows = [
        ["Fewest candidates", count(before["fewest"]), count(after["fewest"]), "Of the most exposed person."],
        ["Median candidates", number(before["median"]), number(after["median"]), "Of a typical person."],
        ["Pinned down", count(before["pinned_down"]), bad_if(after["pinned_down"] > 0, count(after["pinned_down"])),
         "Persons of whom one record is left."],
    ]  # fmt: skip
    if found["k"] is not None:
        row = [tell("Fewer than {k} candidates", k=count(found["k"])), count(before["below_k"])]
        rows.append([*row, bad_if(after["below_k"] > 0, count(after["below_k"])), "Persons below what was asked for."])
    return rows


def _attack(found: Dict) -> list[list[str]]:
    before, after = found["attack"]["before"], found["attack"]["after"]
    rows = [
        ["Records drawn right", count(before["drawn_right"]), count(after["drawn_right"]),
         "One of the candidates was drawn for everybody: how often it was the person's."],
    ]  # fmt: skip
    for one, other in zip(before["secrets"], after["secrets"], strict=True):
        rows += [
            [tell("Right guesses of {column}", column=one["column"]), share(one["guessed_right"]),
             share(other["guessed_right"]), "Persons whose commonest value among the candidates is their own."],
            [tell("{column} known for certain", column=one["column"]), count(one["known_for_certain"]),
             bad_if(other["known_for_certain"] > one["known_for_certain"], count(other["known_for_certain"])),
             "Persons whose candidates all have one value."],
        ]  # fmt: skip
    return rows


def _distribution(found: Dict) -> list[list[str]]:
    def candidates(row: Dict) -> str:
        if row["to"] is None:
            return tell("{count} and more", count=count(row["from"]))
        return count(row["from"]) if row["to"] == row["from"] else f"{count(row['from'])}-{count(row['to'])}"

    return [[candidates(row), count(row["before"]), count(row["after"])] for row in found["distribution"]]


def _attributes(found: Dict) -> str:
    numbers = range(1, found["releases"] + 1)
    heads = ["Attribute", *(tell("Loss of release {number}", number=number) for number in numbers), "Loss of all"]
    heads += [tell("Told by release {number}", number=number) for number in numbers]
    rows = [
        [
            part["attribute"],
            *(number(round(loss, 4)) for loss in part["loss"]),
            number(round(part["joined"], 4)),
            *(share(by) for by in part["given_away_by"]),
        ]
        for part in found["attributes"]
    ]
    return table(heads, rows, numbers=tuple(range(1, len(heads))))
