"""Several quasi-identifier sets, each with its own k, at less loss than their union.

The requirement of B. Fung, K. Wang, P. Yu, Anonymizing classification data for privacy preservation, IEEE TKDE 19(5),
2007, met by clustering instead of by one cut for all records. A release is safe when, for every set, all classes over
the attributes of that set are large enough; nothing is asked of combinations that no set has.

Steps. (1) Sets that another one covers are left out. (2) The sets are ordered by falling k. The first one is
clustered on its own attributes. Of every later set some attributes may have been released by an earlier one; if these
all lie in one earlier set, the classes over them are unions of that set's groups, so they have at least its k, which
is not smaller. Inside each such class the remaining attributes are clustered with the set's own k. (3) A set whose
released attributes come from several earlier sets is joined with the one it shares most with, and (2) starts again.
(4) Attributes that are in no set stay as they are.

Cost: that of the base algorithm on each set, with fewer attributes than the union has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.encode.encoded_table import EncodedColumn, EncodedTable, Kind
from shoal.models.base import Requirement
from shoal.models.feasible import raise_if_impossible
from shoal.models.k_anonymity import KAnonymity
from shoal.models.linkage import without_covered


@dataclass(frozen=True)
class _Part:
    """A set of attributes (by number) with its k, and those of them that an earlier set releases."""

    attributes: frozenset[int]
    k: int
    released: frozenset[int] = frozenset()


def applies(requirement: Requirement) -> bool:
    """True when the requirement is nothing but quasi-identifier sets that count records, or all the same persons."""
    models = requirement.models
    sets = all(model.counts_only and model.class_columns() for model in models)
    return bool(models) and sets and len({model.columns() for model in models}) == 1


def cluster_sets(table: EncodedTable, requirement: Requirement, algorithm: Algorithm, context: Context) -> Clustering:
    """A grouping per attribute such that every set of the requirement is safe; see `applies`."""
    raise_if_impossible(requirement, table)
    kept, said = without_covered(requirement.models)
    names = [attribute.name for attribute in table.attributes]
    parts = plan([(frozenset(names.index(name) for name in m.class_columns()), m.minimal_size()) for m in kept])
    person = next(iter(kept[0].columns()), None)
    groups = _exact_groups(table)
    for part in parts:
        fresh = sorted(part.attributes - part.released)
        found = _cluster_part(table, groups, part, fresh, person, algorithm, context)
        for number in fresh:
            groups[number] = _released_values(table, number, found)
    combined = np.unique(groups, axis=1, return_inverse=True)[1].astype(np.int32).reshape(-1)
    details = {"notes": said, "quasi-identifier sets": len(kept), "clusterings": len(parts)}
    return Clustering(combined, attribute_groups=np.ascontiguousarray(groups), details=details)


def _exact_groups(table: EncodedTable) -> NDArray[np.int32]:
    """(attributes, records) a group per value that occurs. Leaves of a hierarchy that do not occur get no number."""
    groups = np.empty((table.width, table.records), dtype=np.int32)
    for number, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True)):
        occurs = np.bincount(codes, minlength=attribute.size) > 0
        rank = (np.cumsum(occurs) - 1).astype(np.int32)
        groups[number] = rank[codes][table.row_of_record]
    return groups


def plan(sets: list[tuple[frozenset[int], int]]) -> list[_Part]:
    """The order in which the sets are clustered, after joining those that cannot be clustered one after the other."""
    ordered = sorted(sets, key=lambda item: (-item[1], -len(item[0]), sorted(item[0])))
    parts: list[_Part] = []
    for attributes, k in ordered:
        before = frozenset().union(*(part.attributes for part in parts))
        released = attributes & before
        if not released or any(released <= part.attributes for part in parts):
            parts.append(_Part(attributes, k, released))
            continue
        partner = max(parts, key=lambda part: (len(attributes & part.attributes), part.k, sorted(part.attributes)))
        rest = [item for item in ordered if item not in ((attributes, k), (partner.attributes, partner.k))]
        return plan([*rest, (attributes | partner.attributes, max(k, partner.k))])
    return parts


def _cluster_part(
    table: EncodedTable,
    groups: NDArray[np.int32],
    part: _Part,
    fresh: list[int],
    person: str | None,
    algorithm: Algorithm,
    context: Context,
) -> NDArray[np.int32]:
    """(records,) groups over the attributes that the part still has to release, inside the classes of the others."""
    if not fresh:
        return np.zeros(table.records, dtype=np.int32)
    requirement = Requirement.of([KAnonymity(part.k, person)])
    if not part.released:
        return _cluster_safely(_sub_table(table, fresh, None), requirement, algorithm, context)
    released = np.unique(groups[sorted(part.released)], axis=1, return_inverse=True)[1].reshape(-1)
    classes = np.split(np.argsort(released, kind="stable"), np.cumsum(np.bincount(released))[:-1])
    result = np.empty(table.records, dtype=np.int32)
    count = 0
    for records in classes:
        if records.shape[0] < 2 * part.k:
            result[records] = count
        else:
            inside = _cluster_safely(_sub_table(table, fresh, records), requirement, algorithm, context)
            result[records] = inside + count
        count = int(result[records].max()) + 1
    return result


def _cluster_safely(
    table: EncodedTable, requirement: Requirement, algorithm: Algorithm, context: Context
) -> NDArray[np.int32]:
    """(records,) the algorithm's groups, mended where they have k records but not k persons."""
    found = algorithm.cluster(table, requirement, context)
    if requirement.size_only:
        return found.groups
    from shoal.safe_groups.repair import repair

    return repair(table, found, requirement, context).groups


def _released_values(table: EncodedTable, number: int, groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """(records,) equal numbers where the released value of an attribute is equal, whatever the group.

    Groups with one released value are one class for an attacker, so later sets may mix their records.
    """
    attribute = table.attributes[number]
    codes = table.codes[number][table.row_of_record]
    count = int(groups.max()) + 1
    low = np.full(count, attribute.size, dtype=np.int64)
    high = np.full(count, -1, dtype=np.int64)
    np.minimum.at(low, groups, codes)
    np.maximum.at(high, groups, codes)
    if attribute.kind is Kind.INTERVAL:
        keys = low * attribute.size + high
    elif attribute.kind is Kind.TREE:
        level = np.argmax(attribute.ancestors[:, low] == attribute.ancestors[:, high], axis=0)
        keys = attribute.ancestors[level, low].astype(np.int64)
    else:
        keys = _set_numbers(groups, codes, count, attribute.size)
    numbers = np.unique(keys, return_inverse=True)[1].astype(np.int32).reshape(-1)
    return np.asarray(numbers[groups], dtype=np.int32)


def _set_numbers(groups: NDArray[np.int32], codes: NDArray[np.int32], count: int, size: int) -> NDArray[np.int64]:
    """(groups,) equal numbers for equal sets of codes, found by refining once per code that a set may have."""
    pairs = np.unique(groups.astype(np.int64) * size + codes)
    owner, code = pairs // size, pairs % size
    place = np.arange(pairs.shape[0]) - np.searchsorted(owner, np.arange(count))[owner]
    numbers = np.zeros(count, dtype=np.int64)
    for step in range(int(place.max()) + 1):
        here = place == step
        following = np.full(count, size, dtype=np.int64)  # no further code
        following[owner[here]] = code[here]
        numbers = np.unique(numbers * (size + 1) + following, return_inverse=True)[1].reshape(-1)
    return numbers


def _some_records(table: EncodedTable, records: NDArray[np.int64]) -> dict[str, EncodedColumn]:
    return {name: replace(column, codes=column.codes[records]) for name, column in table.columns.items()}


def _sub_table(table: EncodedTable, attributes: list[int], records: NDArray[np.int64] | None) -> EncodedTable:
    """Some attributes of some records as a table of its own, equal rows collapsed."""
    rows = table.row_of_record if records is None else table.row_of_record[records]
    codes, row_of_record, weights = np.unique(
        table.codes[attributes][:, rows], axis=1, return_inverse=True, return_counts=True
    )
    return replace(
        table,
        attributes=tuple(table.attributes[number] for number in attributes),
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        weights=weights.astype(np.int64),
        record_rows=row_of_record.astype(np.int32).reshape(-1),
        columns=table.columns if records is None else _some_records(table, records),
    )
