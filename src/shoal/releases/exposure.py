"""How much of every person several releases give away together: numbers over the people that there are.

The check (`check.py`) asks for the worst case; this measures. It is for the data holder, who knows the table: every
person is found again in every release by values and, of several records that look alike, by any of them. A person's
candidates *before* are the records of the own class in the last release. *After* are those that are left once an
earlier release is joined, by the flows of `together.py`: as an old person for pairs of classes (F, C), as a newcomer
for a class (B); of several earlier releases the one that leaves least. The attack is then carried out by draws and
guesses (`join_attack.py`). For attributes it is counted whose cells are the narrowest: which release gives it away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.released.domain import CodeArray, CountArray, Domain, as_text
from shoal.released.reading import read_release
from shoal.releases.classes import ReleaseClasses, read_classes
from shoal.releases.join_attack import Draws, attack_alone, attack_joint, attack_newcomers, attack_pairs
from shoal.releases.joining import join_by_key
from shoal.releases.who import NEWCOMER, Looking, find_people
from shoal.releases.worlds import Worlds, make_worlds

EDGES = (1, 2, 3, 5, 10, 20, 50, 100)  # numbers of candidates at which a bar of the distribution begins


@dataclass(frozen=True, eq=False)
class People:
    """Everybody of the last table in every release, and what is published unchanged about them."""

    class_in: list[CodeArray]  # per release (persons,), -1: not in it
    values: Mapping[str, CodeArray]  # (persons,) of the linking columns, numbered as in the releases
    tables: list[ReleaseClasses]

    @property
    def count(self) -> int:
        return int(self.class_in[-1].shape[0])


@dataclass(frozen=True)
class Measuring:
    """What is known when releases are measured together.

    `linking` are columns that are published unchanged in all releases, `secrets` those among them that the attacker
    wants to guess. `earlier_original` is the table behind the last but one release, `person_key` tells who is who in
    it and the last table. By `join_key`, columns of all releases, an attacker can join them record by record.
    """

    quasi: Sequence[str]
    linking: Sequence[str]
    domains: Mapping[str, Domain]
    k: int | None = None
    secrets: Sequence[str] = ()
    earlier_original: pl.DataFrame | None = None
    person_key: Sequence[str] = ()
    join_key: Sequence[str] = ()
    seed: int = 0


def measure_together(original: pl.DataFrame, releases: Sequence[pl.DataFrame], how: Measuring) -> dict[str, Any]:
    """`original` is the table behind the last of the releases, which come the earliest first.

    Raises InputError where the people of a release are not those of the table.
    """
    texts = [_as_texts(frame) for frame in releases]
    people = _find(original, texts, how)
    alone = people.tables[-1].sizes[people.class_in[-1]]
    draws = Draws(np.random.default_rng([how.seed, 17]), how.secrets)
    before = attack_alone(people.tables[-1], people.class_in[-1], people.values, draws)
    after, worst, newcomers = alone.copy(), before, []
    for number in range(len(releases) - 1):
        worlds = make_worlds(people.tables[number], people.tables[-1])
        left, found = _joined(worlds, people, number, draws)
        newcomers.append(int((people.class_in[number] == NEWCOMER).sum()))
        better = left < after
        worst = worst.where(better, found)
        after = np.where(better, left, after)
    return {
        "releases": len(releases),
        "persons": people.count,
        "k": how.k,
        "newcomers": newcomers,
        "linked_by": list(how.linking),
        "before": _summed(alone, how.k),
        "after": _summed(after, how.k),
        "distribution": _distribution(alone, after),
        "attack": {"before": before.as_dict(people.values), "after": worst.as_dict(people.values)},
        "by_key": _by_key(releases, people, draws, how) if how.join_key else None,
        "attributes": _attributes(texts, how.quasi, how.domains, people),
    }


def _by_key(releases: Sequence[pl.DataFrame], people: People, draws: Draws, how: Measuring) -> dict[str, Any]:
    """What they learn who join the releases record by record, of everybody in the last one."""
    joined = join_by_key(releases, how.join_key)
    joint, sizes = joined.joint_classes(people.tables)
    here = joined.row_in[-1] != NEWCOMER
    values = {name: joined.last_value(people.tables, name)[here] for name in people.values}
    tried = attack_joint(joint[here], values, draws)
    candidates = sizes[joint[here]]
    return {
        "candidates": _summed(candidates, how.k),
        "distribution": _distribution(candidates, candidates),
        "attack": tried.as_dict(values),
    }


def _joined(worlds: Worlds, people: People, number: int, draws: Draws) -> tuple[CountArray, Any]:
    """What one earlier release leaves of everybody's candidates, and how the attack with it went."""
    earlier, later = people.class_in[number], people.class_in[-1]
    old = earlier != NEWCOMER
    pair = worlds.pair_of(earlier[old], later[old])
    worlds.ask(np.unique(pair))
    worlds.ask_newcomers(np.unique(later[~old]).astype(np.int64))
    left = np.empty(people.count, dtype=np.int64)
    left[old] = worlds.of_pairs(worlds.found)[pair]
    left[~old] = worlds.of_classes(worlds.free)[later[~old]]
    values = {name: codes[old] for name, codes in people.values.items()}
    of_new = {name: codes[~old] for name, codes in people.values.items()}
    tried = attack_pairs(worlds, pair, values, draws).put(old, attack_newcomers(worlds, later[~old], of_new, draws))
    return left, tried


def _find(original: pl.DataFrame, releases: Sequence[pl.DataFrame], how: Measuring) -> People:
    """From the last release to the first: who is in one was found among those of the next."""
    present = np.arange(original.height)
    class_in: list[CodeArray] = []
    for place, release in enumerate(reversed(releases)):
        known = how.earlier_original if place == 1 else None
        key = how.person_key if known is not None else ()
        found = find_people(original[present], release, known, Looking(how.quasi, how.linking, how.domains, key))
        classes = np.full(original.height, NEWCOMER, dtype=np.int32)
        classes[present] = found.class_of_row
        class_in.insert(0, classes)
        present = present[found.class_of_row != NEWCOMER]
    columns = [*how.quasi, *(name for name in how.linking if name not in how.quasi)]
    rows = original.select(as_text(original[name]).alias(name) for name in columns)
    *tables, table_rows = read_classes([*releases, rows], how.quasi, how.domains, how.linking)
    values = {name: codes[table_rows.cell_of_row] for name, codes in table_rows.cell_columns.items()}
    return People(class_in, values, tables)


def _summed(candidates: CountArray, k: int | None) -> dict[str, Any]:
    return {
        "fewest": int(candidates.min()) if candidates.shape[0] else 0,
        "median": float(np.median(candidates)) if candidates.shape[0] else 0.0,
        "pinned_down": int((candidates == 1).sum()),
        "below_k": int((candidates < k).sum()) if k is not None else None,
        "highest_risk": float(1 / candidates.min()) if candidates.shape[0] else 0.0,
        "average_risk": float((1 / candidates).mean()) if candidates.shape[0] else 0.0,
    }


def _distribution(alone: CountArray, after: CountArray) -> list[dict[str, Any]]:
    """Persons by their number of candidates."""
    ends = np.array([*EDGES, np.iinfo(np.int64).max])
    counted = [np.histogram(candidates, ends)[0] for candidates in (alone, after)]
    return [
        {
            "from": start,
            "to": EDGES[place + 1] - 1 if place + 1 < len(EDGES) else None,
            "before": int(counted[0][place]),
            "after": int(counted[1][place]),
        }
        for place, start in enumerate(EDGES)
    ]


def _attributes(
    releases: Sequence[pl.DataFrame], quasi: Sequence[str], domains: Mapping[str, Domain], people: People
) -> list[dict[str, Any]]:
    """Per attribute the mean loss of each release and of the narrowest cells; whose cells these are, and how often."""
    read = [read_release(frame, frame, quasi, domains, same_order=False) for frame in releases]
    found = []
    for name in quasi:
        losses = np.full((len(releases), people.count), np.inf)
        for line, table, classes in zip(losses, read, people.class_in, strict=True):
            there = classes != NEWCOMER
            line[there] = table.columns[name].loss[classes[there]]
        least = losses.min(axis=0)
        second = np.partition(losses, 1, axis=0)[1]
        alone = least < second - 1e-12  # one release is narrower than all others
        found.append(
            {
                "attribute": name,
                "loss": [_mean(line[np.isfinite(line)]) for line in losses],
                "joined": _mean(least),
                "given_away_by": [float(((line == least) & alone).mean()) for line in losses],
            }
        )
    return found


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.shape[0] else 0.0


def _as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(as_text(frame[name]).alias(name) for name in frame.columns)
