"""The part of a report that tells how attacks on the release went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.language import tell
from shoal.reports.page import MEANING, count, heading, note, paragraph, section, share, table

Dict = Mapping[str, Any]
Rows = list[list[str]]
HEADER = ("What", "Value", MEANING)


def attack_section(evaluation: Dict) -> str:
    attack = evaluation.get("attack")
    if not attack:
        return ""
    link = attack["linkage"]
    parts = [_verdict(link), heading("Finding people"), _table(_linkage(link, attack["source"]))]
    if attack.get("inference"):
        parts += [heading("Guessing a sensitive value"), _table(_inference(attack["inference"]))]
    if attack.get("linkability"):
        parts += [heading("Joining what two parties know"), *_linkability(attack["linkability"])]
    if attack.get("singling_out"):
        parts += [heading("Singling out"), _table(_singling_out(attack["singling_out"]))]
    if attack.get("anonymeter"):
        parts += [heading("What anonymeter finds"), *_anonymeter(attack["anonymeter"])]
    intro = "Attacks that were really carried out: known people were linked to the release, cell by cell."
    return section("Attacks", intro, *parts)


def _table(rows: Rows) -> str:
    return table(HEADER, rows, numbers=(1,))


def _verdict(link: Dict) -> str:
    if link["promised"] is None:
        return ""
    if link["highest_success"] <= link["promised"] + 1e-9:
        return note("No target could be linked with a better chance than the promised 1/k.")
    return note(
        "At least one target could be linked with a better chance than 1/k: the release does not hold its promise."
    )


def _linkage(link: Dict, source: str) -> Rows:
    rows = [
        [
            "Targets",
            count(link["targets"]),
            tell("Records of {source} that the attacker tried to link.", source=tell(source)),
        ],
        ["Pinned down", count(link["pinned"]), "Targets that exactly one released record fits."],
        ["Fewest candidates", count(link["fewest_candidates"]), "Released records that fit the easiest target."],
        ["Median candidates", count(link["median_candidates"]), "Released records that fit a typical target."],
        ["Expected success", share(link["expected_success"]), "Mean chance that a random candidate is the right one."],
        ["Highest success", share(link["highest_success"]), "That chance for the easiest target."],
    ]
    if link["drawn_success"] is not None:
        meaning = "One candidate was drawn for every target: the share that was the right person."
        rows.append(["Success of the draw", share(link["drawn_success"]), meaning])
    if link["promised"] is not None:
        rows.append(["Promised bound", share(link["promised"]), "1/k: no target should be easier than this."])
    if link["unmatched"]:
        rows.append(["Not found", count(link["unmatched"]), "Targets that no released record fits."])
    return rows


def _inference(found: Dict) -> Rows:
    return [
        [tell("Right guesses of {column}", column=found["column"]), share(found["success"]),
         "Targets whose commonest value among the candidates is their own."],
        _interval(found["interval"]),
        ["Without the release", share(found["baseline"]), "Right guesses when everybody gets the commonest value."],
        ["Certain guesses", count(found["certain"]), "Targets whose candidates all share one sensitive value."],
        *_beside(found),
    ]  # fmt: skip


def _linkability(found: Dict) -> list[str]:
    first, second = (", ".join(party) for party in found["parties"])
    intro = tell(
        "One party knows {first}; the other knows {second}. The first finds a released record that fits a person, the "
        "second offers the people who fit that record: is the person among them, and how many are there?",
        first=first,
        second=second,
    )
    same = found["same_record"]
    rows = [
        ["Targets", count(found["targets"]), "People whose two parts the parties tried to join."],
        ["Rightly joined", share(found["success"]), "Mean chance that the two parts of a person are put together."],
        _interval(found["interval"]),
        ["Highest chance", share(found["highest"]), "That chance for the person who is easiest to join."],
        ["Joined blindly", share(found["baseline"]), "The same without the release: one out of all people."],
        *_beside(found),
        ["Same record", share(same["success"]),
         "Both parties come to the same record if they agreed which to take of several that fit; it need not tell them "
         "apart from others."],
        *_beside(same),
        ["Same record by chance", share(same["independent"]), "The same if each draws one of the records that fit."],
    ]  # fmt: skip
    return [paragraph(intro), _table(rows)]


def _singling_out(found: Dict) -> Rows:
    rows = [
        ["Conditions", count(found["conditions"]),
         tell("Conditions on {count} attributes made from the cells of one class that no other class has.",
              count=found["attributes"])],
        ["Single persons", share(found["success"]), "Conditions that exactly one person of the original meets."],
        _interval(found["interval"]),
        ["Single persons by chance", share(found["baseline"]), "The same for conditions made from random values."],
    ]  # fmt: skip
    return [*rows, *_beside(found)] if found["conditions"] else rows[:1]


def _interval(ends: Sequence[float]) -> list[str]:
    """The interval as a row: from, to."""
    between = tell("{low} to {high}", low=share(ends[0]), high=share(ends[1]))
    return ["Interval", between, "The true rate lies in here with 95% confidence."]


def _beside(found: Dict) -> Rows:
    """The rows about people who are not in the release, where some were given."""
    if "control" not in found:
        return []
    risk = found["risk"]
    if risk is None:
        meaning = "Every attack on people who are not in the release succeeds as well, so nothing can be added."
        return [["The same for others", share(found["control"]["success"]), meaning]]
    return [
        ["The same for others", share(found["control"]["success"]),
         "The success on people who are not in the release: what holds for people in general."],
        ["Risk of being in it", share(risk["value"]),
         "Of the attacks that fail on others, the share that succeeds because the person is in the release "
         f"(between {share(risk['interval'][0])} and {share(risk['interval'][1])})."],
    ]  # fmt: skip


_ANONYMETER = {
    "linkability": ("Joined", "Both parties' nearest records are the same one."),
    "agreed_linkability": ("Joined by a rule", "The same, if both take the first of equally near records."),
    "inference": ("Guessed by the nearest", "The sensitive value of the nearest record is the person's own."),
    "tree_inference": ("Guessed by a tree", "A decision tree that learnt from the release guesses the person's value."),
    "singling_out": ("Singled out", "A condition made from the release is met by exactly one person."),
}


def _anonymeter(found: Dict) -> list[str]:
    intro = (
        "The program anonymeter attacked a table of exact values, one drawn for every released cell from the values "
        "that the cell covers."
    )
    rows = []
    for name, (title, meaning) in _ANONYMETER.items():
        if name in found:
            answer = found[name]
            risk = share(answer["risk"]["value"]) if "risk" in answer else "not asked"
            ends = f"{share(answer['interval'][0])} to {share(answer['interval'][1])}"
            rows.append([title, share(answer["success"]), ends, risk, meaning])
    return [paragraph(intro), table(["Attack", "Success", "Interval", "Risk of being in it", MEANING], rows, (1, 2, 3))]
