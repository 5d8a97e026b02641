"""m-invariance: groups for a table from which people leave and to which others come, safe over all releases.

X. Xiao, Y. Tao, m-Invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007.

A release is *m-unique* if every group has at least m records and no sensitive value twice. The *signature* of a group
is the set of its values. A series is *m-invariant* if all its releases are m-unique and everybody is in groups of one
signature as long as the person is published. Then an attacker who has all releases, and knows who is in which group
and when everybody came and left, still finds each value of the signature equally likely: permuting the values of a
signature among all its people turns any possible world into another one. So nobody's value is guessed with a better
chance than 1/m. Values do not change.

Steps, as in the paper. (1) *Division*: who stays goes into a bucket by signature. (2) *Balancing*: every value of a
bucket becomes as frequent as its commonest; with newcomers of that value, as long as those that are left can still
be grouped (no value has more than a share 1/m), else with *counterfeits*: records of nobody, whose number per group
is published. (3) *Assignment*: the newcomers left are put together, each time one of the m commonest values; what
remains joins groups that lack its value. If they cannot be grouped, counterfeits of the rarest values are added. This
is done among neighbours: in halves of halves of the table, as small as can be grouped. (4)
*Split*: a bucket is cut into groups with each value once, neighbours together.

Deviations: in step 3 newcomers do not fill up old buckets beyond balance, but make groups of their own, whose
signatures may be old ones; in step 4 records are matched along one order of the table (halves of halves), not cut by
the best attribute. Both cost loss, not safety. Cost: O(n log n) for the order, O(n V) for the assignment with V values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Problem, RequirementError
from shoal.releases.kernels.anatomy import commonest_together

NOBODY = -1  # a counterfeit, and the signature of a newcomer
Signature = tuple[int, ...]
BLOCK = 16


@dataclass(frozen=True, eq=False)
class Groups:
    """A grouping that goes on with the signatures of before."""

    group_of_row: NDArray[np.int32]  # (rows,)
    signatures: list[Signature]  # of each group, values in order
    counterfeit_group: NDArray[np.int32]  # (counterfeits,)
    counterfeit_value: NDArray[np.int32]


@dataclass
class _Bucket:
    """Rows of one signature, per value; a row of -1 is a counterfeit."""

    rows: list[list[NDArray[np.int64]]]  # for each value of the signature, in parts

    @classmethod
    def of(cls, values: int) -> _Bucket:
        return cls([[] for _ in range(values)])


def m_invariant_groups(
    values: NDArray[np.int32],
    signature_of: NDArray[np.int32],
    signatures: Sequence[Signature],
    points: NDArray[np.float64],
    m: int,
) -> Groups:
    """Groups for the rows of a table.

    IN  values        (rows,) the sensitive value
    IN  signature_of  (rows,) the number of the signature that a person has had so far; -1: a newcomer
    IN  points        (rows, attributes) what neighbours are told by

    Raises RequirementError if the table has fewer than m values.
    """
    kinds = int(values.max(initial=-1)) + 1
    present = np.unique(np.concatenate([values, *(np.array(one, dtype=np.int32) for one in signatures)]))
    if present.shape[0] < m:
        message = f"the sensitive column has {present.shape[0]} values, and {m} are needed in every group"
        raise RequirementError(Problem("too-few-values", message, hint=f"at most m = {present.shape[0]}"))
    kinds = int(present.max()) + 1
    order = _near_each_other(points)
    queues = [_of_value(order, values, signature_of, value) for value in range(kinds)]
    left = np.array([queue.shape[0] for queue in queues], dtype=np.int64)
    buckets: dict[Signature, _Bucket] = {}
    for number, signature in enumerate(signatures):
        _balance(signature, order[signature_of[order] == number], values, queues, left, buckets, m)
    newcomers = np.isin(order, np.concatenate(queues))
    for part in _neighbourhoods(order[newcomers], values, kinds, m):
        near = [part[values[part] == value] for value in range(kinds)]
        _group_newcomers(near, np.bincount(values[part], minlength=kinds), present, buckets, m)
    rank = np.empty(order.shape[0], dtype=np.int64)
    rank[order] = np.arange(order.shape[0])
    return _split(buckets, rank)


def _balance(
    signature: Signature,
    stayed: NDArray[np.int64],
    values: NDArray[np.int32],
    queues: list[NDArray[np.int64]],
    left: NDArray[np.int64],
    buckets: dict[Signature, _Bucket],
    m: int,
) -> None:
    """Division and balancing of one signature; newcomers that are used leave their queues."""
    if not stayed.shape[0]:
        return
    parts = [stayed[values[stayed] == value] for value in signature]
    most = max(part.shape[0] for part in parts)
    bucket = buckets.setdefault(signature, _Bucket.of(len(signature)))
    for place, (value, part) in enumerate(zip(signature, parts, strict=True)):
        lacking = most - part.shape[0]
        others = np.delete(left, value)
        spare = int(left.sum() - m * others.max(initial=0))  # as many may go, and the rest can still be grouped
        used = max(0, min(lacking, int(left[value]), spare))
        taken, queues[value] = queues[value][:used], queues[value][used:]
        left[value] -= used
        bucket.rows[place] += [part, taken, np.full(lacking - used, NOBODY, dtype=np.int64)]


def _neighbourhoods(rows: NDArray[np.int64], values: NDArray[np.int32], kinds: int, m: int) -> list[NDArray[np.int64]]:
    """Newcomers in their order, in halves of halves as long as both halves can be grouped without counterfeits.

    A group is made within one part, so its members are neighbours.
    """
    waiting, ready = [rows], []
    while waiting:
        part = waiting.pop()
        half = part.shape[0] // 2 // m * m  # a whole number of groups: few records are left over
        halves = (part[:half], part[half:])
        if half and all(np.bincount(values[one], minlength=kinds).max() * m <= one.shape[0] for one in halves):
            waiting += [halves[1], halves[0]]
        else:
            ready.append(part)
    return ready


def _group_newcomers(
    queues: list[NDArray[np.int64]],
    left: NDArray[np.int64],
    present: NDArray[np.int32],
    buckets: dict[Signature, _Bucket],
    m: int,
) -> None:
    """Assignment: groups of m different values, and a few larger ones."""
    if not left.sum():
        return
    counts = left.copy()
    while counts.max() * m > counts.sum():  # counterfeits of the rarest values
        rarest = present[np.argmin(counts[present])]
        counts[rarest] += 1
    rows_of = [
        np.concatenate([queue, np.full(int(count) - queue.shape[0], NOBODY, dtype=np.int64)])
        for queue, count in zip(queues, counts, strict=True)
    ]
    made = np.full((int(counts.sum()) // m, m), NOBODY, dtype=np.int32)
    groups = int(commonest_together(counts, m, made))
    found = [tuple(sorted(one)) for one in made[:groups].tolist()]
    for value in np.flatnonzero(counts).tolist():  # fewer than m of them, all different
        place = min((len(one), number) for number, one in enumerate(found) if value not in one)[1]
        found[place] = tuple(sorted((*found[place], value)))
    _fill_buckets(found, rows_of, buckets)


def _fill_buckets(found: list[Signature], rows_of: list[NDArray[np.int64]], buckets: dict[Signature, _Bucket]) -> None:
    """The rows of each value go to the groups that hold it, one each, in their order."""
    used = np.zeros(len(rows_of), dtype=np.int64)
    for signature, count in Counter(found).items():
        bucket = buckets.setdefault(signature, _Bucket.of(len(signature)))
        for place, value in enumerate(signature):
            bucket.rows[place].append(rows_of[value][used[value] : used[value] + count])
            used[value] += count


def _split(buckets: dict[Signature, _Bucket], rank: NDArray[np.int64]) -> Groups:
    """The i-th row of every value of a bucket, in the order of the table, is its i-th group."""
    group_of_row = np.full(rank.shape[0], NOBODY, dtype=np.int32)
    signatures: list[Signature] = []
    fake_groups, fake_values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for signature, bucket in buckets.items():
        columns = np.stack([_in_order(np.concatenate(parts), rank) for parts in bucket.rows])
        columns = columns[:, (columns != NOBODY).any(axis=0)]  # a group of counterfeits alone helps nobody
        numbers = np.arange(columns.shape[1]) + len(signatures)
        for value, column in zip(signature, columns, strict=True):
            real = column != NOBODY
            group_of_row[column[real]] = numbers[real]
            fake_groups.append(numbers[~real])
            fake_values.append(np.full(int((~real).sum()), value))
        signatures += [signature] * numbers.shape[0]
    fakes = (np.concatenate(parts).astype(np.int32) for parts in (fake_groups, fake_values))
    return Groups(group_of_row, signatures, *fakes)


def _in_order(column: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows by their place in the table, with the counterfeits spread evenly among them."""
    real = column[column != NOBODY]
    placed = np.full(column.shape[0], NOBODY, dtype=np.int64)
    places = (np.arange(real.shape[0]) * column.shape[0]) // max(real.shape[0], 1)
    placed[places] = real[np.argsort(rank[real], kind="stable")]
    return placed


def _of_value(
    order: NDArray[np.int64], values: NDArray[np.int32], signature_of: NDArray[np.int32], value: int
) -> NDArray[np.int64]:
    """Newcomers with a value, in the order of the table."""
    return np.asarray(order[(values[order] == value) & (signature_of[order] == NOBODY)])


def _near_each_other(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows in an order in which neighbours are near: halves of halves, by the attribute of widest spread."""
    waiting, ready = [np.arange(points.shape[0])], []
    while waiting:
        part = waiting.pop()
        if part.shape[0] <= BLOCK or not np.ptp(points[part], axis=0).any():
            ready.append(part)
            continue
        widest = int(np.argmax(np.std(points[part], axis=0)))
        sorted_part = part[np.argsort(points[part, widest], kind="stable")]
        half = part.shape[0] // 2
        waiting += [sorted_part[half:], sorted_part[:half]]
    return np.concatenate([np.zeros(0, dtype=np.int64), *ready]).astype(np.int64)
