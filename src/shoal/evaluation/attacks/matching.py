"""Generalized matching: which released classes contain a given record, for very many records.

Targets are sorted, so that neighbours share their first attributes. For every attribute the classes that are still
possible are kept as a list, and only the attributes that changed since the last target are tried again. A list is
filtered from the one before it, so the last ones are short. Nothing is ever compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.compile import kernel
from shoal.released.cells import Cells
from shoal.released.domain import CodeArray, CountArray, Domain, DomainKind, FloatArray, is_missing_text, text_codes
from shoal.released.ranges import parse_numbers
from shoal.released.reading import ReadColumn, ReadTable

LARGEST_WORK = 6_000_000_000  # comparisons of a target with a class before targets are sampled
FEWEST_TARGETS = 2_000
UNKNOWN = -1e300  # the position of a value that the domain does not know: only a suppressed cell covers it


@kernel
def match_targets(
    targets: NDArray[np.float64],
    changed: NDArray[np.int32],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    missing: NDArray[np.uint8],
    set_start: NDArray[np.int64],
    set_end: NDArray[np.int64],
    members: NDArray[np.float64],
    sizes: NDArray[np.int64],
    label_counts: NDArray[np.int64],
    matches: NDArray[np.int64],
    classes: NDArray[np.int32],
    best_label: NDArray[np.int32],
    best_share: NDArray[np.float64],
    fitting: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> int:
    """For every target the released records and classes that contain it, and the likeliest sensitive value.

    IN   targets        (attributes, targets) positions in sorted order; NaN is missing
    IN   changed        (targets,) first attribute in which a target differs from the one before it
    IN   low, high      (attributes, classes) positions that a class's cell covers
    IN   missing        (attributes, classes) 1 where the cell covers missing values
    IN   set_start/end  (attributes, classes) the cell's values in `members` where it is a scattered set, else -1
    IN   members        sorted positions of scattered sets
    IN   sizes          (classes,)
    IN   label_counts   (classes, labels) records of each sensitive value; no labels: (classes, 0)
    IN   weights        (targets,) how many people of the attacker's table are this target
    OUT  matches        (targets,) released records that contain the target
    OUT  classes        (targets,) classes that contain it
    OUT  best_label     (targets,) commonest sensitive value among the matches, -1 without labels
    OUT  best_share     (targets,) its share
    OUT  fitting        (classes,) people of the attacker's table who fit the class

    Returns the number of comparisons it took.
    """
    width, count = targets.shape
    work = 0
    possible = np.empty((width + 1, sizes.shape[0]), dtype=np.int32)
    length = np.zeros(width + 1, dtype=np.int64)
    for number in range(sizes.shape[0]):
        possible[0, number] = number
    length[0] = sizes.shape[0]
    labels = np.zeros(label_counts.shape[1], dtype=np.int64)
    for target in range(count):
        for attribute in range(changed[target], width):
            value = targets[attribute, target]
            absent = np.isnan(value)
            kept = 0
            work += length[attribute]
            for place in range(length[attribute]):
                one = possible[attribute, place]
                if absent:
                    inside = missing[attribute, one] == 1
                elif set_start[attribute, one] >= 0:
                    start, end = set_start[attribute, one], set_end[attribute, one]
                    while start < end:
                        middle = (start + end) // 2
                        if members[middle] < value:
                            start = middle + 1
                        else:
                            end = middle
                    inside = start < set_end[attribute, one] and members[start] == value
                else:
                    inside = low[attribute, one] <= value and value <= high[attribute, one]
                if inside:
                    possible[attribute + 1, kept] = one
                    kept += 1
            length[attribute + 1] = kept
        total = np.int64(0)
        labels[:] = 0
        for place in range(length[width]):
            one = possible[width, place]
            total += sizes[one]
            fitting[one] += weights[target]
            for label in range(labels.shape[0]):
                labels[label] += label_counts[one, label]
        matches[target] = total
        classes[target] = length[width]
        best_label[target] = -1
        best_share[target] = 0.0
        if total > 0 and labels.shape[0] > 0:
            best = 0
            for label in range(1, labels.shape[0]):
                if labels[label] > labels[best]:
                    best = label
            best_label[target] = best
            best_share[target] = labels[best] / total
    return work


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


def class_covers(table: ReadTable, names: Sequence[str]) -> Covers:
    """The covers of the given attributes. A mean stands for the range of its class: the worst case."""
    shape = (len(names), table.classes)
    low, high = np.empty(shape), np.empty(shape)
    missing = np.zeros(shape, dtype=np.uint8)
    start = np.full(shape, -1, dtype=np.int64)
    end = np.full(shape, -1, dtype=np.int64)
    members: list[FloatArray] = []
    used = 0
    for number, name in enumerate(names):
        column = table.columns[name]
        text = column.text_of_class
        low[number], high[number] = _ends(column)
        missing[number] = column.cells.covers_missing[text]
        starts, ends, positions = _scattered(column.domain, column.cells)
        start[number] = np.where(starts[text] >= 0, starts[text] + used, -1)
        end[number] = np.where(starts[text] >= 0, ends[text] + used, -1)
        members.append(positions)
        used += positions.shape[0]
    return Covers(low, high, missing, start, end, np.concatenate(members) if members else np.zeros(0))


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
        known: Mapping[str, float]
        if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
            known = domain.hierarchy.leaf_index
        elif domain.kind is DomainKind.ORDER:
            known = {value: float(rank) for rank, value in enumerate(domain.order or ())}
        else:
            known = dict(zip(domain.values, domain.positions.tolist(), strict=True))
        positions = np.array([known.get(text, np.nan) for text in texts.to_list()], dtype=np.float64)
    positions = np.where(np.isnan(positions) & ~absent, UNKNOWN, positions)
    return np.where(absent, np.nan, positions)[codes]


def match(
    table: ReadTable,
    names: Sequence[str],
    positions: FloatArray,
    label_counts: NDArray[np.int64] | None = None,
    *,
    sizes: NDArray[np.int64] | None = None,
) -> Matches:
    """Match targets against the classes of a release. Equal targets are matched once.

    `sizes` replaces the number of records of each class in what is added up as `records`.
    """
    order_of = np.argsort([np.unique(line[~np.isnan(line)]).shape[0] for line in positions], kind="stable")
    sorted_names = [names[number] for number in order_of]
    lines = positions[order_of]
    order = np.lexsort(tuple(lines[::-1]))
    lines = lines[:, order]
    same = (lines[:, 1:] == lines[:, :-1]) | (np.isnan(lines[:, 1:]) & np.isnan(lines[:, :-1]))
    differs = np.hstack([np.ones((1, 1), dtype=np.bool_), ~same.all(axis=0, keepdims=True)])[0]
    heads = np.flatnonzero(differs)
    changed = np.zeros(heads.shape[0], dtype=np.int32)
    if heads.shape[0] > 1:
        changed[1:] = np.argmin(same[:, heads[1:] - 1], axis=0)
    weights = np.diff(np.append(heads, lines.shape[1])).astype(np.int64)
    covers = class_covers(table, sorted_names)
    counts = label_counts if label_counts is not None else np.zeros((table.classes, 0), dtype=np.int64)
    found = heads.shape[0]
    records, classes = np.zeros(found, dtype=np.int64), np.zeros(found, dtype=np.int32)
    label, share = np.zeros(found, dtype=np.int32), np.zeros(found)
    fitting = np.zeros(table.classes, dtype=np.int64)
    added = table.class_sizes if sizes is None else sizes
    work = match_targets(
        np.ascontiguousarray(lines[:, heads]), changed, covers.low, covers.high, covers.missing, covers.set_start,
        covers.set_end, covers.members, added, counts, records, classes, label, share, fitting, weights,
    )  # fmt: skip
    place = np.empty(lines.shape[1], dtype=np.int64)
    place[order] = np.cumsum(differs) - 1
    return Matches(records[place], classes[place], label[place], share[place], fitting, work)


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
