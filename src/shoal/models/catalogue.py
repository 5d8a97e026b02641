"""What every model means, in plain words: for `shoal models` and `shoal models --explain NAME`."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from shoal.models.registry import model_class, model_form, model_names

WIDTH = 100  # of an explanation in a terminal


@dataclass(frozen=True)
class Entry:
    """One model for people: how it is written, what it means, what it stops and what it does not."""

    name: str
    form: str
    title: str
    citation: str
    meaning: str
    stops: str
    does_not_stop: str
    monotone: bool

    def as_dict(self) -> dict[str, str | bool]:
        return {
            "name": self.name,
            "form": self.form,
            "title": self.title,
            "citation": self.citation,
            "meaning": self.meaning,
            "stops": self.stops,
            "does_not_stop": self.does_not_stop,
            "monotone": self.monotone,
        }


_LINKING = "Somebody who knows a person's quasi-identifiers and looks for the one record that fits"
_VALUES = "Guessing the sensitive value of a person who is known to be in a class"
_SKEW = "Values that are rare in the table but common in a class: the guess got better all the same"

# meaning, what it stops, what it does not stop
_TEXTS: dict[str, tuple[str, str, str]] = {
    "k-anonymity": (
        "Every record has the same released quasi-identifiers as at least k - 1 others. With a person column, as "
        "the records of at least k - 1 other persons.",
        f"{_LINKING}: at least k fit.",
        "Learning the sensitive value when all k have the same one; several releases of the same table compared "
        "with each other; several records of one person, unless persons are counted.",
    ),
    "qid": (
        "The classes over a set of quasi-identifiers have at least k records. Several sets may be given, each with "
        "its own k; a set that another one covers is redundant.",
        f"{_LINKING}, when no attacker knows more than one of the sets.",
        "Attackers who know attributes of several sets together.",
    ),
    "xy-anonymity": (
        "Every class over X is linked to at least k different values of Y. With persons as Y, a class has at least "
        "k persons, however many records each has.",
        "Singling out a person who has several records in one class.",
        "Learning something that all persons of a class share.",
    ),
    "k-map": (
        "Every released record fits at least k records of a population table, which stays unpublished.",
        "Linking a record to one person of the population, when the attacker does not know who is in the table.",
        "Attackers who know that a person is in the table; attackers with a better population table.",
    ),
    "l-diversity": (
        "In every class the commonest sensitive value has at most a share 1/l of the records.",
        f"{_VALUES}: the best guess is right with probability 1/l at most.",
        f"{_SKEW}; different values that mean the same (three kinds of cancer).",
    ),
    "distinct-l": (
        "Every class has at least l different sensitive values.",
        "Classes in which everybody has the same sensitive value.",
        "A class in which nearly everybody has the same value and a few have others: the guess is nearly certain.",
    ),
    "entropy-l": (
        "The entropy of the sensitive values of every class is at least log l.",
        "Classes in which few values dominate: it is stricter than distinct-l.",
        f"{_SKEW}. It cannot be met where the whole table has a dominating value.",
    ),
    "recursive-cl": (
        "In every class the commonest value is rarer than c times the sum of the l-th commonest and all rarer ones.",
        "The commonest value standing out too much, also after an attacker has ruled out l - 2 values.",
        f"{_SKEW}.",
    ),
    "alpha-k": (
        "No sensitive value has more than a share alpha of its class, or only a named value is bounded. The k comes "
        "from k-anonymity.",
        f"{_VALUES}, or guessing that the person has the named value.",
        f"{_SKEW}, if it stays below alpha; values that are not named.",
    ),
    "confidence": (
        "Whoever knows some quasi-identifiers of a person infers a named value with at most the given confidence.",
        "The inference of one embarrassing value, without protecting values that nobody minds.",
        "Inferring that a person does not have the value; values that are not named.",
    ),
    "t-closeness": (
        "The sensitive values of every class are distributed nearly as in the whole table: the earth mover's "
        "distance is at most t. Values may be equally far apart, ordered, or in a hierarchy.",
        "Learning much from knowing somebody's class, beyond what the whole table tells; values that mean the same, "
        "with the ordered or hierarchical distance.",
        "Singling out a record (add k-anonymity); a rare value that becomes several times likelier, since the "
        "distance adds up shares and not ratios.",
    ),
    "beta-likeness": (
        "No sensitive value is more than 1 + beta times as frequent in a class as in the table; the enhanced form "
        "bounds common values more tightly.",
        "Learning that a rare value is much likelier for a person than for others.",
        "Learning that a value is less likely; singling out a record (add k-anonymity).",
    ),
    "delta-disclosure": (
        "Every sensitive value of the table occurs in every class, about as often as in the table: the logarithm of "
        "the ratio is below delta.",
        "Learning that a value is likelier, or less likely, for the members of a class; every value stays possible.",
        "Singling out a record (add k-anonymity). It costs much: a rare value must be in every class.",
    ),
}  # fmt: skip


def explain_model(name: str) -> Entry:
    """Everything there is to say about a model; an InputError with a hint if there is none of that name."""
    kind = model_class(name)
    meaning, stops, does_not_stop = _TEXTS[name]
    return Entry(name, model_form(name), kind.title, kind.citation, meaning, stops, does_not_stop, kind.monotone)


def explain(name: str) -> str:
    """The same as text for a terminal."""
    entry = explain_model(name)
    lines = {
        "Written as": entry.form,
        "Meaning": entry.meaning,
        "Stops": entry.stops,
        "Does not stop": entry.does_not_stop,
        "Merged groups": f"stay safe: {'yes' if entry.monotone else 'no'}",
        "Source": entry.citation,
    }
    return "\n".join((f"{entry.name}: {entry.title}", "", *(_line(head, text) for head, text in lines.items())))


def _line(head: str, text: str) -> str:
    """A heading and a text that is wrapped below itself."""
    return textwrap.fill(text, WIDTH, initial_indent=f"{head:16}", subsequent_indent=" " * 16, break_long_words=False)


def catalogue() -> tuple[Entry, ...]:
    """All models, in the order of the command-line help."""
    return tuple(explain_model(name) for name in model_names())
