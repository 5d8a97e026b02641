"""Generalized matching: which released classes contain a given record, for very many records.

Targets are sorted, so that neighbours share their first attributes. For every attribute the classes that are still
possible are kept as a list, and only the attributes that changed since the last target are tried again. A list is
filtered from the one before it, so the last ones are short. Nothing is ever compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.attacks.kernels.match_targets import match_targets
from shoal.released.cells import Cells
from shoal.released.domain import CodeArray, CountArray, Domain, DomainKind, FloatArray, is_missing_text, text_codes
from shoal.released.ranges import parse_numbers
from shoal.released.reading import ReadColumn, ReadTable

LARGEST_WORK = 6_000_000_000  # comparisons of a target with a class before targets are sampled
FEWEST_TARGETS = 2_000
UNKNOWN = -1e300  # the position of a value that the domain does not know: only a suppressed cell covers it


@dataclass(frozen=True, eq=False)
class Covers:
    """What the cells of all classes cover, attribute by attribute."""

    low: FloatArray
    high: FloatArray
    missing: NDArray[np.uint8]
    set_start: NDArray[np.int64]
    set_end: NDArray[np.int64]
    members: FloatArray


@dataclass(frozen=True, eq=False)
class Matches:
    """Per target (in the order given): released records and classes that contain it, and the best guess."""

    records: CountArray
    classes: CodeArray
    best_label: CodeArray
    best_share: FloatArray
    fitting: CountArray  # (classes,) people of the attacker's table who fit each class
    work: int  # comparisons made

    @classmethod
    def empty(cls, targets: int, classes: int) -> Matches:
        """Nothing found yet."""
        return cls(
            records=np.zeros(targets, dtype=np.int64),
            classes=np.zeros(targets, dtype=np.int32),
            best_label=np.zeros(targets, dtype=np.int32),
            best_share=np.zeros(targets),
            fitting=np.zeros(classes, dtype=np.int64),
            work=0,
        )

    def of_targets(self, place: CountArray, work: int) -> Matches:
        """The same for targets that stand at a place among the ones that were matched."""
        records, classes = self.records[place], self.classes[place]
        return Matches(records, classes, self.best_label[place], self.best_share[place], self.fitting, work)


def class_covers(table: ReadTable, names: Sequence[str]) -> Covers:
    """The covers of the given attributes. A mean stands for the range of its class: the worst case."""
    columns = [table.columns[name] for name in names]
    ends = [_ends(column) for column in columns]
    sets = [_scattered(column.domain, column.cells) for column in columns]
    starts, stops = _places_of_sets(columns, sets)
    return Covers(
        low=_lines([low for low, _ in ends], table.classes, np.float64),
        high=_lines([high for _, high in ends], table.classes, np.float64),
        missing=_lines([one.cells.covers_missing[one.text_of_class] for one in columns], table.classes, np.uint8),
        set_start=_lines(starts, table.classes, np.int64),
        set_end=_lines(stops, table.classes, np.int64),
        members=np.concatenate([positions for _, _, positions in sets]) if sets else np.zeros(0),
    )


def _places_of_sets(
    columns: Sequence[ReadColumn], sets: Sequence[tuple[CountArray, CountArray, FloatArray]]
) -> tuple[list[CountArray], list[CountArray]]:
    """Per column (classes,) where the set of a class begins and ends among the members of all columns; -1: no set."""
    starts, stops, used = [], [], 0
    for column, (start, stop, positions) in zip(columns, sets, strict=True):
        is_set = start >= 0
        starts.append(np.where(is_set, start + used, -1)[column.text_of_class])
        stops.append(np.where(is_set, stop + used, -1)[column.text_of_class])
        used += positions.shape[0]
    return starts, stops


def _lines(lines: list[NDArray[Any]], classes: int, kind: type) -> NDArray[Any]:
    """(attributes, classes)"""
    return np.array(lines, dtype=kind).reshape(len(lines), classes)


def _ends(column: ReadColumn) -> tuple[FloatArray, FloatArray]:
    cells, text = column.cells, column.text_of_class
    everything = (cells.suppressed | cells.unreadable)[text]
    low = np.where(np.isnan(cells.low[text]), np.inf, cells.low[text])
    high = np.where(np.isnan(cells.high[text]), -np.inf, cells.high[text])
    if column.aggregated:
        positions = np.append(column.domain.positions, np.nan)
        means = ~np.isnan(cells.number[text])
        low = np.where(means, positions[column.first], low)
        high = np.where(means, positions[column.last], high)
    return np.where(everything, -np.inf, low), np.where(everything, np.inf, high)


def _scattered(domain: Domain, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    start = np.full(cells.loss.shape[0], -1, dtype=np.int64)
    end = np.full(cells.loss.shape[0], -1, dtype=np.int64)
    pieces: list[FloatArray] = []
    used = 0
    for text, codes in cells.members.items():
        positions = np.sort(domain.positions[codes[codes != domain.missing_code]])
        start[text], end[text] = used, used + positions.shape[0]
        used += positions.shape[0]
        pieces.append(positions)
    return start, end, np.concatenate(pieces) if pieces else np.zeros(0)


def target_positions(frame: pl.DataFrame, names: Sequence[str], domains: Mapping[str, Domain]) -> FloatArray:
    """(attributes, records) where the values of an attacker's table lie in the domains of the original."""
    return np.vstack([_positions(frame[name], domains[name]) for name in names])


def _positions(column: pl.Series, domain: Domain) -> FloatArray:
    texts, codes = text_codes(column)
    absent = is_missing_text(texts, domain.missing_texts, domain.scale).to_numpy()
    if domain.kind is DomainKind.NUMBER:
        positions = parse_numbers(texts.fill_null(""), domain.scale)
    else:
        known = _known_positions(domain)
        positions = np.array([known.get(text, np.nan) for text in texts.to_list()], dtype=np.float64)
    positions = np.where(np.isnan(positions) & ~absent, UNKNOWN, positions)
    return np.where(absent, np.nan, positions)[codes]


def _known_positions(domain: Domain) -> Mapping[str, float]:
    """Where each value of a category lies."""
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        return domain.hierarchy.leaf_index
    if domain.kind is DomainKind.ORDER:
        return {value: float(rank) for rank, value in enumerate(domain.order or ())}
    return dict(zip(domain.values, domain.positions.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Targets:
    """The different targets in sorted order, attributes with fewest values first."""

    names: list[str]  # the attributes, in that order
    lines: FloatArray  # (attributes, different targets) positions
    changed: CodeArray  # (different targets,) the first attribute in which a target differs from the one before it
    people: CountArray  # (different targets,) how many targets each is
    of_target: CountArray  # (targets,) which of the different targets each is


def _sort_targets(names: Sequence[str], positions: FloatArray) -> _Targets:
    """Targets in lexicographic order, the attribute with the fewest values first, equal ones once."""
    fewest_first = np.argsort([np.unique(line[~np.isnan(line)]).shape[0] for line in positions], kind="stable")
    lines = positions[fewest_first]
    order = np.lexsort(tuple(lines[::-1]))
    lines = lines[:, order]
    same = _same_as_before(lines)
    differs = np.append(True, ~same.all(axis=0))
    heads = np.flatnonzero(differs)
    of_target = np.empty(order.shape[0], dtype=np.int64)
    of_target[order] = np.cumsum(differs) - 1
    people = np.diff(np.append(heads, order.shape[0])).astype(np.int64)
    in_order = [names[number] for number in fewest_first]
    return _Targets(in_order, np.ascontiguousarray(lines[:, heads]), _first_changed(same, heads), people, of_target)


def _same_as_before(lines: FloatArray) -> NDArray[np.bool_]:
    """(attributes, targets - 1) whether a target has the position of the one before it, or both none."""
    nowhere = np.isnan(lines)
    return np.asarray((lines[:, 1:] == lines[:, :-1]) | (nowhere[:, 1:] & nowhere[:, :-1]))


def _first_changed(same: NDArray[np.bool_], heads: NDArray[np.int64]) -> NDArray[np.int32]:
    """(heads,) the first attribute in which a target differs from the one before it."""
    changed = np.zeros(heads.shape[0], dtype=np.int32)
    if heads.shape[0] > 1:
        changed[1:] = np.argmin(same[:, heads[1:] - 1], axis=0)
    return changed


def match(
    table: ReadTable,
    names: Sequence[str],
    positions: FloatArray,
    label_counts: CountArray | None = None,
    *,
    sizes: CountArray | None = None,
) -> Matches:
    """Match targets against the classes of a release. Equal targets are matched once.

    `sizes` replaces the number of records of each class in what is added up as `records`.
    """
    targets = _sort_targets(names, positions)
    covers = class_covers(table, targets.names)
    counts = label_counts if label_counts is not None else np.zeros((table.classes, 0), dtype=np.int64)
    found = Matches.empty(targets.lines.shape[1], table.classes)
    work = match_targets(
        targets.lines, targets.changed, covers.low, covers.high, covers.missing, covers.set_start, covers.set_end,
        covers.members, table.class_sizes if sizes is None else sizes, counts, found.records, found.classes,
        found.best_label, found.best_share, found.fitting, targets.people,
    )  # fmt: skip
    return found.of_targets(targets.of_target, work)


def sampled_rows(
    table: ReadTable, people: pl.DataFrame, names: Sequence[str], random: np.random.Generator
) -> NDArray[np.int64] | None:
    """None for all, or a random sample of rows where matching all would take too long, judged by a first few."""
    targets = people.height
    if targets * table.classes <= LARGEST_WORK // 10:
        return None
    first = np.sort(random.choice(targets, size=min(targets, FEWEST_TARGETS), replace=False)).astype(np.int64)
    domains = {name: table.columns[name].domain for name in names}
    found = match(table, names, target_positions(people[first].select(names), names, domains))
    allowed = max(FEWEST_TARGETS, int(LARGEST_WORK / max(1.0, found.work / first.shape[0])))
    if allowed >= targets:
        return None
    return np.sort(random.choice(targets, size=allowed, replace=False)).astype(np.int64)
