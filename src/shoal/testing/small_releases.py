"""Small random releases, as texts and as sets of values, for the tests that go through every possible world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

NUMBERS, WORDS = range(6), "abcde"
Box = tuple[tuple[str, str], tuple[frozenset[object], ...]]  # as it is written, and as sets of values


@dataclass(frozen=True)
class Small:
    """A release as texts and, for the enumeration, as sets of values."""

    frame: pl.DataFrame
    keys: list[tuple[str, str]]  # what is written: two texts that mean the same are two classes
    sets: list[tuple[frozenset[object], ...]]
    secrets: list[str]


def draw_release(random: np.random.Generator, people: list[tuple[int, str, str]], boxes: int) -> Small:
    """Every person in a randomly drawn box that holds it, or in a box of its own."""
    drawn = [_draw_box(random) for _ in range(boxes)]
    released = [(*_draw_fitting(random, drawn, number, word), secret) for number, word, secret in people]
    rows = [released[place] for place in random.permutation(len(people)).tolist()]
    texts, sets, secrets = ([row[part] for row in rows] for part in range(3))
    frame = pl.DataFrame({"x": [text[0] for text in texts], "y": [text[1] for text in texts], "s": secrets})
    return Small(frame, texts, sets, secrets)


def _draw_box(random: np.random.Generator) -> Box:
    low, high = sorted(random.integers(0, 6, 2).tolist())
    chosen = sorted(set(random.choice(list(WORDS), int(random.integers(1, 6))).tolist()))
    hidden = random.random() < 0.2
    texts = ("*" if hidden else f"[{low}, {high}]", "{" + ", ".join(chosen) + "}")
    return texts, (frozenset(NUMBERS) if hidden else frozenset(range(low, high + 1)), frozenset(chosen))


def _draw_fitting(random: np.random.Generator, drawn: list[Box], number: int, word: str) -> Box:
    """One of the boxes that hold a person."""
    fitting = [box for box in drawn if number in box[1][0] and word in box[1][1]]
    fitting = fitting or [((str(number), word), (frozenset([number]), frozenset([word])))]
    return fitting[int(random.integers(len(fitting)))]


def draw_pair(random: np.random.Generator) -> tuple[Small, Small]:
    old, new = int(random.integers(1, 6)), int(random.integers(0, 3))
    secrets = "pqr"[: int(random.integers(1, 4))]
    people = [
        (int(random.integers(6)), str(random.choice(list(WORDS))), str(random.choice(list(secrets))))
        for _ in range(old + new)
    ]
    return (
        draw_release(random, people[:old], int(random.integers(1, 5))),
        draw_release(random, people, int(random.integers(1, 5))),
    )
