"""Singling out: conditions made from the release that exactly one person of the original meets.

The attacker takes the released cells of a random class in a few random attributes as a condition, and keeps it if no
other class has the same cells: these are the most promising ones, as in anonymeter. The baseline draws the conditions
from random values of the domains. A control, people who are not in the release, shows how many conditions would single
out somebody anyhow; it is compared on as many people of either kind, since in a larger table fewer stand alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.attacks.matching import Covers, class_covers, target_positions
from shoal.evaluation.attacks.rates import rate_words, success_rate
from shoal.released.domain import text_codes
from shoal.released.reading import ReadTable, group_rows

CONDITIONS = 500
ATTRIBUTES = 3  # in a condition, if there are so many
ATTEMPTS = 20  # conditions that are tried for each that is wanted

Condition = tuple[int, tuple[int, ...]]  # a class, and the attributes whose cells are taken


class _People:
    """The distinct people of a table as positions, and how many there are of each."""

    def __init__(self, table: ReadTable, frame: pl.DataFrame) -> None:
        names = list(table.columns)
        domains = {name: table.columns[name].domain for name in names}
        _, self.weights, first = group_rows([text_codes(frame[name])[1] for name in names], frame.height)
        self.positions = target_positions(frame.select(names)[first], names, domains)
        self.everybody = np.arange(self.positions.shape[1])

    def single(self, covers: Covers, condition: Condition) -> bool:
        one, attributes = condition
        met = self.everybody
        for attribute in attributes:
            met = met[_inside(covers, attribute, one, self.positions[attribute, met])]
        return bool(self.weights[met].sum() == 1)

    def single_value(self, attributes: tuple[int, ...], values: tuple[float, ...]) -> bool:
        met = self.everybody
        for attribute, value in zip(attributes, values, strict=True):
            met = met[self.positions[attribute, met] == value]
        return bool(self.weights[met].sum() == 1)


def singling_out_attack(
    table: ReadTable,
    original: pl.DataFrame,
    *,
    conditions: int = CONDITIONS,
    attributes: int = ATTRIBUTES,
    control: pl.DataFrame | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """How many conditions from released cells does exactly one original record meet?"""
    random = np.random.default_rng([seed, 12])
    names = list(table.columns)
    width = min(attributes, len(names))
    people = _People(table, original)
    covers = class_covers(table, names)
    kept = _promising_conditions(table, conditions, width, random)
    single = sum(people.single(covers, condition) for condition in kept)
    found = rate_words(success_rate(single, len(kept)), len(kept))
    if control is not None:
        found.update(_beside_control(table, original, control, covers, kept, random))
    return {
        **found,
        "conditions": len(kept),
        "attributes": width,
        "single": single,
        "baseline": _blind(table, people, conditions, width, random),
    }


def _promising_conditions(table: ReadTable, wanted: int, width: int, random: np.random.Generator) -> list[Condition]:
    """Conditions that the cells of one class alone meet, each once."""
    texts = [column.text_of_class for column in table.columns.values()]
    kept: dict[tuple[tuple[int, int], ...], Condition] = {}
    for _ in range(ATTEMPTS * wanted):
        if len(kept) == wanted:
            break
        chosen = tuple(sorted(random.choice(len(texts), size=width, replace=False).tolist()))
        one = int(random.integers(table.classes))
        if _is_alone(one, [texts[attribute] for attribute in chosen]):
            kept[tuple((attribute, int(texts[attribute][one])) for attribute in chosen)] = (one, chosen)
    return list(kept.values())


def _is_alone(one: int, texts: list[NDArray[np.int32]]) -> bool:
    """Whether no other class has the same texts."""
    same = np.flatnonzero(texts[0] == texts[0][one])
    for text in texts[1:]:
        same = same[text[same] == text[one]]
    return same.shape[0] == 1


def _blind(table: ReadTable, people: _People, conditions: int, width: int, random: np.random.Generator) -> float:
    """The share of conditions from random values of the domains that single somebody out."""
    domains = [column.domain for column in table.columns.values()]
    single = 0
    for _ in range(conditions):
        chosen = tuple(random.choice(len(domains), size=width, replace=False).tolist())
        values = tuple(
            float(random.choice(domains[attribute].positions)) if domains[attribute].values else 0.0
            for attribute in chosen
        )
        single += people.single_value(chosen, values)
    return single / conditions


def _beside_control(
    table: ReadTable,
    original: pl.DataFrame,
    control: pl.DataFrame,
    covers: Covers,
    kept: list[Condition],
    random: np.random.Generator,
) -> dict[str, Any]:
    """The same conditions on equally many people in and not in the release; only control and risk are told."""
    size = min(original.height, control.height)
    rates = []
    for frame in (original, control):
        chosen = frame if frame.height == size else frame[np.sort(random.choice(frame.height, size, replace=False))]
        people = _People(table, chosen)
        rates.append(success_rate(sum(people.single(covers, condition) for condition in kept), len(kept)))
    words = rate_words(rates[0], len(kept), rates[1], size)
    return {"control": words["control"], "risk": words["risk"]}


def _inside(covers: Covers, attribute: int, one: int, line: NDArray[np.float64]) -> NDArray[np.bool_]:
    absent = np.isnan(line)
    start = covers.set_start[attribute, one]
    if start >= 0:
        inside = np.isin(line, covers.members[start : covers.set_end[attribute, one]])
    else:
        inside = (line >= covers.low[attribute, one]) & (line <= covers.high[attribute, one])
    return np.where(absent, covers.missing[attribute, one] == 1, inside)
