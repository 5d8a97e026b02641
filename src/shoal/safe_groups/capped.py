"""Caps: attributes that may be generalized up to a level only, or not at all, with any algorithm.

Two values below different nodes of the cap's level must never be released together. So the table falls apart into
strata: records with the same nodes on all capped attributes. Groups inside a stratum never break a cap, and no group
that keeps the caps reaches over two strata. Each stratum is therefore a table of its own for the algorithm, which
searches and mends inside it, with the losses of the whole domain and the distributions of the whole table.

A stratum that is unsafe even as one group cannot be released. Its records are suppressed if the limit allows; if not,
the requirement cannot be met with these caps, and the error says how many records stand in the way.

Cost: that of the algorithm on each stratum, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Boxes, Clustering, Context
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.some_records import some_records
from shoal.errors import Problem, RequirementError
from shoal.models.base import Requirement
from shoal.models.feasible import impossible, raise_if_impossible
from shoal.progress import silent
from shoal.safe_groups.suppress import Hidden, suppress_outliers

Cluster = Callable[[EncodedTable, Requirement, Algorithm, Context], Clustering]
Records = NDArray[np.int64]


def cluster_strata(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    hidden: Hidden | None,
    cluster: Cluster,
    *,
    outliers: bool,
) -> Clustering:
    """Groups that keep every cap and are safe for every model. `cluster` clusters a table without caps.

    With `outliers`, what the suppression limit leaves is used for records that cost less suppressed than released.
    """
    free = _without_caps(table)
    allowed = int(context.suppression_limit * table.records + 1e-9)
    released, out = _released_strata(table, free, requirement, allowed)
    found = []
    for number, records in enumerate(released):
        inner = replace(context, progress=silent, part=len(records) / table.records)
        found.append(_cluster_one(some_records(free, records), requirement, algorithm, inner, cluster))
        context.report((number + 1) / len(released))
    joined = _joined(table, released, found, out)
    left = allowed - int(out.sum())
    whole_groups = joined.boxes is None and joined.attribute_groups is None
    if not (outliers and left > 0 and whole_groups and released):
        return joined
    return _without_outliers(free, joined, requirement, out, left, hidden)


def _without_caps(table: EncodedTable) -> EncodedTable:
    return replace(table, attributes=tuple(replace(attribute, at_most=None) for attribute in table.attributes))


def _released_strata(
    table: EncodedTable, free: EncodedTable, requirement: Requirement, allowed: int
) -> tuple[list[Records], NDArray[np.bool_]]:
    """The strata that can be made safe, and (records,) who is in none of them; an error if these are too many."""
    strata = strata_of(table)
    possible = [not impossible(requirement, some_records(free, records)) for records in strata]
    released = [records for records, safe in zip(strata, possible, strict=True) if safe]
    out = np.ones(table.records, dtype=np.bool_)
    for records in released:
        out[records] = False
    if int(out.sum()) > allowed:
        raise_if_impossible(requirement, table)
        raise RequirementError(_too_strict(table, requirement, strata, possible, int(out.sum())))
    return released, out


def impossible_with_caps(requirement: Requirement, table: EncodedTable, suppression_limit: float) -> list[Problem]:
    """What `cluster_strata` would refuse, told before any work: all strata are looked at at once."""
    if not any(attribute.capped for attribute in table.attributes):
        return []
    strata = strata_of(table)
    stratum_of_record = np.empty(table.records, dtype=np.int32)
    stratum_of_record[np.concatenate(strata)] = np.repeat(np.arange(len(strata)), [len(one) for one in strata])
    unsafe = np.zeros(len(strata), dtype=np.bool_)
    for model in requirement.models:
        if model.monotone:
            unsafe |= model.deficits(table, stratum_of_record, len(strata)) > 0
    out = int(unsafe[stratum_of_record].sum())
    if out <= int(suppression_limit * table.records + 1e-9):
        return []
    return [_too_strict(table, requirement, strata, (~unsafe).tolist(), out)]


def strata_of(table: EncodedTable) -> list[Records]:
    """The records of each stratum, in the order of the table."""
    capped = [number for number, attribute in enumerate(table.attributes) if attribute.capped]
    nodes = np.stack(
        [table.attributes[n].ancestors[table.attributes[n].at_most or 0, table.codes[n]] for n in capped], axis=0
    )
    stratum_of_row = np.unique(nodes, axis=1, return_inverse=True)[1].reshape(-1)
    of_record = stratum_of_row[table.row_of_record]
    order = np.argsort(of_record, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of_record))[:-1])


def _cluster_one(
    table: EncodedTable, requirement: Requirement, algorithm: Algorithm, context: Context, cluster: Cluster
) -> Clustering:
    if table.records < 2 * requirement.k and algorithm.class_based and not algorithm.own_values:
        return Clustering(np.zeros(table.records, dtype=np.int32))
    return cluster(table, requirement, algorithm, context)


def _joined(
    table: EncodedTable, strata: Sequence[Records], found: Sequence[Clustering], out: NDArray[np.bool_]
) -> Clustering:
    """The clusterings of the strata as one; records of no stratum are suppressed, in a group of their own."""
    groups = np.empty(table.records, dtype=np.int32)
    used = 0
    for records, one in zip(strata, found, strict=True):
        groups[records] = one.groups + used
        used += int(one.groups.max()) + 1
    groups[out] = used
    return Clustering(
        groups,
        boxes=_joined_boxes(table, strata, found) if any(one.boxes is not None for one in found) else None,
        suppressed=out if out.any() else None,
        lower_bound=_joined_bound(table, strata, found),
        attribute_groups=_joined_attributes(table, strata, found),
        details={"strata": len(strata), "notes": [note for one in found[:1] for note in one.details.get("notes", [])]},
    )


def _joined_bound(table: EncodedTable, strata: Sequence[Records], found: Sequence[Clustering]) -> float | None:
    """The bounds of the strata, each by its share of the records; a stratum without one loses at least nothing."""
    bounds = [one.lower_bound for one in found]
    if all(bound is None for bound in bounds):
        return None
    return sum((bound or 0.0) * len(records) for bound, records in zip(bounds, strata, strict=True)) / table.records


def _joined_boxes(table: EncodedTable, strata: Sequence[Records], found: Sequence[Clustering]) -> Boxes:
    """The boxes of all strata; suppressed records have the first, which nobody sees."""
    parts = [one.boxes for one in found]
    box_of_record = np.zeros(table.records, dtype=np.int32)
    lows, highs, used = [], [], 0
    for records, part in zip(strata, parts, strict=True):
        assert part is not None
        assert not part.labels
        box_of_record[records] = part.box_of_record + used
        used += part.low.shape[1]
        lowest, highest = _ends_of_stratum(table, records)
        lows.append(np.maximum(part.low, lowest[:, None]).astype(part.low.dtype))
        highs.append(np.minimum(part.high, highest[:, None]).astype(part.high.dtype))
    low, high = (np.ascontiguousarray(np.concatenate(ends, axis=1)) for ends in (lows, highs))
    return Boxes(low, high, box_of_record)


def _ends_of_stratum(table: EncodedTable, records: Records) -> tuple[Records, Records]:
    """(attributes,) the codes between which every box of a stratum lies: those below its nodes at the caps.

    Algorithms that release intervals of their own begin with the whole domain, and may end there.
    """
    row = table.row_of_record[records[0]]
    lowest, highest = np.zeros(table.width, dtype=np.int64), np.full(table.width, np.iinfo(np.int32).max)
    for number, attribute in enumerate(table.attributes):
        if attribute.capped:
            nodes = attribute.ancestors[attribute.at_most or 0]
            below = np.flatnonzero(nodes == nodes[table.codes[number, row]])
            lowest[number], highest[number] = below[0], below[-1]
    return lowest, highest


def _joined_attributes(
    table: EncodedTable, strata: Sequence[Records], found: Sequence[Clustering]
) -> NDArray[np.int32] | None:
    if all(one.attribute_groups is None for one in found):
        return None
    joined = np.zeros((table.width, table.records), dtype=np.int32)
    used = 0
    for records, one in zip(strata, found, strict=True):
        own = one.attribute_groups
        if own is None:
            own = np.repeat(one.groups[None, :], table.width, axis=0)
        joined[:, records] = own + used
        used += int(own.max()) + 1
    return joined


def _without_outliers(
    table: EncodedTable,
    joined: Clustering,
    requirement: Requirement,
    out: NDArray[np.bool_],
    left: int,
    hidden: Hidden | None,
) -> Clustering:
    """Suppress outliers among the records that are released, as many as are left of the limit."""
    kept = np.flatnonzero(~out)

    def whole(part: Clustering) -> Clustering:
        return _with_suppressed(joined, part, out, kept)

    def hidden_in_part(part: Clustering) -> NDArray[np.bool_]:
        every = whole(part)
        stars = hidden(every) if hidden is not None else every.suppressed
        return np.zeros(kept.shape[0], dtype=np.bool_) if stars is None else stars[kept]

    part = replace(joined, groups=joined.groups[kept], suppressed=None)
    limit = left / max(1, kept.shape[0])
    return whole(suppress_outliers(some_records(table, kept), part, requirement, limit, hidden_in_part))


def _with_suppressed(joined: Clustering, part: Clustering, out: NDArray[np.bool_], kept: Records) -> Clustering:
    """The clustering of all records of which the kept ones are `part`; the suppressed ones are a group of their own."""
    suppressed = out.copy()
    groups = np.full(out.shape[0], int(part.groups.max()) + 1, dtype=np.int32)
    groups[kept] = part.groups
    if part.suppressed is not None:
        suppressed[kept] = part.suppressed
        groups[suppressed] = int(part.groups[part.suppressed].max(initial=int(part.groups.max())))
    return replace(joined, groups=groups, suppressed=suppressed if suppressed.any() else None)


def _too_strict(
    table: EncodedTable, requirement: Requirement, strata: Sequence[Records], possible: Sequence[bool], unsafe: int
) -> Problem:
    caps = ", ".join(
        f"'{attribute.name}' as it is"
        if attribute.at_most == 0
        else f"'{attribute.name}' up to level {attribute.at_most}"
        for attribute in table.attributes
        if attribute.capped
    )
    failing = [len(records) for records, safe in zip(strata, possible, strict=True) if not safe]
    message = (
        f"with {caps} the table falls into {len(strata):,} parts that must not be mixed; {len(failing):,} of them, "
        f"with {unsafe:,} of {table.records:,} records, cannot be made safe (the smallest has {min(failing):,}, "
        f"a group needs at least {requirement.k:,})"
    )
    share = np.ceil(unsafe / table.records * 10_000) / 10_000
    hint = f"raise a level, or allow a suppression limit of {share:.4g}"
    return Problem("caps-too-strict", message, hint=hint)
