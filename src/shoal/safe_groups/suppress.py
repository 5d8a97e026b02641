"""Record suppression: a share of the records may be released as `*` where that is the smaller loss.

A suppressed record costs 1 in every attribute, the most there is. It pays when an outlier makes the released values
of its whole group wide: without it, all others are released more exactly. Groups give up such members one by one, the
one that saves most first, as long as the group stays safe; over all groups those that save most are taken, up to the
limit. The default limit is 0: nothing is suppressed.

Suppressed records look like those of a group that is generalized to `*` in every attribute. All of them together are
exempt from the models only within the limit; above it they are one class, which must be safe. Where it would not be,
fewer records are suppressed, or none: without suppressed records the class is a union of safe groups, which is safe.

Cost: O(m) per member and record that leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.kernels.safety import Safety
from shoal.models.base import Requirement
from shoal.models.safety import bind_safety
from shoal.safe_groups.kernels.suppress import suppress_block
from shoal.safe_groups.repair_blocks import empty_detail, make_block

MOST_LISTED = 1_000  # members of one group that are looked at
MOST_TRIES = 8  # how often fewer records are tried before none is suppressed

Hidden = Callable[[Clustering], NDArray[np.bool_]]  # (records,) which of them are released as `*` in every attribute


def suppress_outliers(
    table: EncodedTable, clustering: Clustering, requirement: Requirement, limit: float, hidden: Hidden | None = None
) -> Clustering:
    """The clustering with at most `limit * records` records suppressed, in a group of their own, the last one.

    Models that are no rules on histograms are left alone: nothing is suppressed then. `hidden` knows how groups are
    released; without it, no group is taken to be released as `*` throughout.
    """
    allowed = _allowed(table.records, limit)
    safety = bind_safety(requirement, table)
    if allowed < 1 or not safety.complete:
        return clustering
    groups = np.unique(clustering.groups, return_inverse=True)[1].reshape(-1).astype(np.int32)
    leaving = _leaving_records(table, safety, groups, allowed)
    numbered = replace(clustering, groups=groups, boxes=None)
    return _suppress_safely(table, numbered, requirement, leaving, allowed, hidden) or clustering


def _allowed(records: int, limit: float) -> int:
    """How many records are within the limit."""
    allowed = int(limit * records + 1e-9)
    # rounded up too far: the check would not exempt them
    return allowed - 1 if allowed / max(1, records) > limit else allowed


def _leaving_records(table: EncodedTable, safety: Safety, groups: NDArray[np.int32], allowed: int) -> NDArray[np.int32]:
    """The records that are best suppressed, the one that saves most first; no more than are allowed."""
    records = np.argsort(groups, kind="stable").astype(np.int32)
    sizes = np.bincount(groups)
    geometry = table_geometry(table)
    block = make_block(table, safety, records, sizes)
    local = safety._replace(codes=np.ascontiguousarray(safety.codes[:, records]))
    here = empty_detail(geometry, safety, table.width, min(MOST_LISTED, int(sizes.max())))
    leaving = np.empty(table.records, dtype=np.int64)
    gains = np.empty(table.records)
    price = float(table.attribute_weights.sum())
    found = suppress_block(geometry, local, block, here, price, allowed, leaving, gains)
    # Gains never rise within a group, so a stable sort keeps the order in which its members leave.
    return records[leaving[:found][np.argsort(-gains[:found], kind="stable")][:allowed]]


def _suppress_safely(
    table: EncodedTable,
    clustering: Clustering,
    requirement: Requirement,
    leaving: NDArray[np.int32],
    allowed: int,
    hidden: Hidden | None,
) -> Clustering | None:
    """The clustering with as many of the leaving records suppressed, first ones first, as is safe; None if none is."""
    count = int(leaving.shape[0])
    for _ in range(MOST_TRIES):
        if count <= 0:
            break
        found = _suppressed(clustering, leaving[:count])
        stars = hidden(found) if hidden is not None else found.suppressed
        assert stars is not None
        total = int(stars.sum())
        if total <= allowed or requirement.deficits(table, stars.astype(np.int32), 2)[1] == 0:
            return found
        others = total - count
        count = max(allowed - others, count // 2)  # always fewer than before
    return None


def _suppressed(clustering: Clustering, leaving: NDArray[np.int32]) -> Clustering:
    suppressed = np.zeros(clustering.groups.shape[0], dtype=np.bool_)
    suppressed[leaving] = True
    groups = np.where(suppressed, clustering.groups.max() + 1, clustering.groups).astype(np.int32)
    return replace(clustering, groups=groups, suppressed=suppressed)
