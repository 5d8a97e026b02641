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
from shoal.releases.classes import ReleaseClasses, pairs_that_fit, read_classes
from shoal.releases.join_attack import Draws, attack_alone, attack_joint, attack_newcomers, attack_pairs
from shoal.releases.joining import join_by_key
from shoal.releases.who import NEWCOMER, Looking, find_people
from shoal.releases.worlds import Worlds, make_worlds

EDGES = (1, 2, 3, 5, 10, 20, 50, 100)  # numbers of candidates at which a bar of the distribution begins


PairArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """Everybody of the last table in every release, and what is published unchanged about them."""

    class_in: list[CodeArray]  # per release (persons,), -1: not in it
    values: Mapping[str, CodeArray]  # (persons,) of the linking columns, numbered as in the releases
    tables: list[ReleaseClasses]
    points: ReleaseClasses  # the table itself: equal rows are a class

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
    enough = how.k if how.k is not None else int(alone.min(initial=1))
    for number in range(len(releases) - 1):
        worlds = make_worlds(people.tables[number], people.tables[-1])
        left, found = _joined(worlds, people, number, draws, enough)
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


def _joined(worlds: Worlds, people: People, number: int, draws: Draws, enough: int) -> tuple[CountArray, Any]:
    """What one earlier release leaves of everybody's candidates, and how the attack with it went.

    Who has fewer than `enough` in the own pair of classes, or class of newcomers, has those of another one around the
    same values, as in the check.
    """
    earlier, later = people.class_in[number], people.class_in[-1]
    old = earlier != NEWCOMER
    pair = _pairs_around(worlds, people, old, worlds.pair_of(earlier[old], later[old]), enough)
    class_of_new = _classes_around(worlds, people, ~old, later[~old], enough).astype(np.int32)
    left = np.empty(people.count, dtype=np.int64)
    left[old] = worlds.of_pairs(worlds.found)[pair]
    left[~old] = worlds.of_classes(worlds.free)[class_of_new]
    values = {name: codes[old] for name, codes in people.values.items()}
    of_new = {name: codes[~old] for name, codes in people.values.items()}
    tried = attack_pairs(worlds, pair, values, draws).put(old, attack_newcomers(worlds, class_of_new, of_new, draws))
    return left, tried


def _pairs_around(worlds: Worlds, people: People, old: NDArray[np.bool_], pair: PairArray, enough: int) -> PairArray:
    """(old persons,) the own pair, or one around the same values that leaves enough: the values do not tell which."""
    worlds.ask(np.unique(pair))
    left = worlds.of_pairs(worlds.found)
    weak = left[pair] < enough
    points = people.points.class_of_row[old]
    bad = np.unique(points[weak])
    good = np.flatnonzero(left >= enough)
    pairs = pl.DataFrame(
        {"earlier": worlds.pairs.earlier[good], "later": worlds.pairs.later[good], "instead": good}
    )  # fmt: skip
    around = (
        _fitting(people, bad, worlds.one, "earlier")
        .join(_fitting(people, bad, worlds.other, "later"), on="point")
        .join(pairs, on=["earlier", "later"])
    )
    return _instead(points, weak, pair, around)


def _classes_around(
    worlds: Worlds, people: People, new: NDArray[np.bool_], class_of: CodeArray, enough: int
) -> PairArray:
    """(newcomers,) the same for the class of the last release."""
    if not class_of.shape[0]:
        return class_of.astype(np.int64)
    worlds.ask_newcomers(np.arange(worlds.other.sizes.shape[0], dtype=np.int64))
    left = worlds.of_classes(worlds.free)
    weak = left[class_of] < enough
    points = people.points.class_of_row[new]
    around = _fitting(people, np.unique(points[weak]), worlds.other, "instead")
    return _instead(
        points, weak, class_of.astype(np.int64), around.filter(pl.Series(left[around["instead"]] >= enough))
    )


def _fitting(people: People, points: CodeArray, release: ReleaseClasses, name: str) -> pl.DataFrame:
    """The classes around some points."""
    place, classes = pairs_that_fit(people.points.covers.of(points.astype(np.int64)), release.covers)
    return pl.DataFrame({"point": points[place], name: classes})


def _instead(points: CodeArray, weak: NDArray[np.bool_], own: PairArray, around: pl.DataFrame) -> PairArray:
    """Of weak persons the first of what is around their point, if there is something."""
    first = around.group_by("point").agg(pl.col("instead").min().cast(pl.Int64))
    found = pl.DataFrame({"point": points}).join(first, on="point", how="left", maintain_order="left")["instead"]
    return np.asarray(np.where(weak & found.is_not_null().to_numpy(), found.fill_null(0).to_numpy(), own))


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
    return People(class_in, values, tables, table_rows)


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
