"""What every model means, in plain words: for `shoal models` and `shoal models --explain NAME`."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from shoal.models.registry import model_class, model_names

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


def explain_model(name: str) -> Entry:
    """Everything there is to say about a model; an InputError with a hint if there is none of that name."""
    kind = model_class(name)
    return Entry(
        name, kind.form, kind.title, kind.citation, kind.meaning, kind.stops, kind.does_not_stop, kind.monotone
    )


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
