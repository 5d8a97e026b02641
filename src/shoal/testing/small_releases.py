"""Small random releases, as texts and as sets of values, for the tests that go through every possible world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

NUMBERS, WORDS = range(6), "abcde"


@dataclass(frozen=True)
class Small:
    """A release as texts and, for the enumeration, as sets of values."""

    frame: pl.DataFrame
    keys: list[tuple[str, str]]  # what is written: two texts that mean the same are two classes
    sets: list[tuple[frozenset[object], ...]]
    secrets: list[str]


def draw_release(random: np.random.Generator, people: list[tuple[int, str, str]], boxes: int) -> Small:
    """Every person in a randomly drawn box that holds it, or in a box of its own."""
    drawn = []
    for _ in range(boxes):
        low, high = sorted(random.integers(0, 6, 2).tolist())
        chosen = sorted(set(random.choice(list(WORDS), int(random.integers(1, 6))).tolist()))
        hidden = random.random() < 0.2
        drawn.append(
            (
                ("*" if hidden else f"[{low}, {high}]", "{" + ", ".join(chosen) + "}"),
                (frozenset(NUMBERS) if hidden else frozenset(range(low, high + 1)), frozenset(chosen)),
            )
        )
    texts, sets = [], []
    for number, word, _ in people:
        fitting = [box for box in drawn if number in box[1][0] and word in box[1][1]]
        fitting = fitting or [((str(number), word), (frozenset([number]), frozenset([word])))]
        text, box = fitting[int(random.integers(len(fitting)))]
        texts.append(text)
        sets.append(box)
    secrets = [secret for _, _, secret in people]
    order = random.permutation(len(people)).tolist()
    frame = pl.DataFrame(
        {"x": [texts[i][0] for i in order], "y": [texts[i][1] for i in order], "s": [secrets[i] for i in order]}
    )
    return Small(frame, [texts[i] for i in order], [sets[i] for i in order], [secrets[i] for i in order])


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
