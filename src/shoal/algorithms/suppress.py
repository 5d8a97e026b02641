"""Record suppression: a share of the records may be released as `*` where that is the smaller loss.

A suppressed record costs 1 in every attribute, the most there is. It pays when an outlier makes the released values
of its whole group wide: without it, all others are released more exactly. Groups give up such members one by one, the
one that saves most first, as long as the group stays safe; over all groups those that save most are taken, up to the
limit. The default limit is 0: nothing is suppressed.

Cost: O(m) per member and record that leaves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.algorithms.base import Clustering
from shoal.algorithms.geometry import table_geometry
from shoal.algorithms.repair_blocks import make_block, make_outline
from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.suppress import suppress_block
from shoal.models.base import Requirement
from shoal.models.safety import bind_safety

MOST_LISTED = 1_000  # members of one group that are looked at


def suppress_outliers(
    table: EncodedTable, clustering: Clustering, requirement: Requirement, limit: float
) -> Clustering:
    """The clustering with at most `limit * records` records suppressed, in a group of their own, the last one.

    Models that are no rules on histograms are left alone: nothing is suppressed then.
    """
    allowed = int(limit * table.records + 1e-9)
    safety = bind_safety(requirement, table)
    if allowed < 1 or not safety.complete:
        return clustering
    groups = np.unique(clustering.groups, return_inverse=True)[1].reshape(-1)
    records = np.argsort(groups, kind="stable").astype(np.int32)
    sizes = np.bincount(groups)
    geometry = table_geometry(table)
    block = make_block(table, safety, records, sizes)
    local = safety._replace(codes=np.ascontiguousarray(safety.codes[:, records]))
    here = make_outline(geometry, safety, table.width, min(MOST_LISTED, int(sizes.max())))
    leaving = np.empty(table.records, dtype=np.int64)
    gains = np.empty(table.records)
    price = float(table.attribute_weights.sum())
    found = suppress_block(geometry, local, block, here, price, allowed, leaving, gains)
    # Gains never rise within a group, so a stable sort keeps the order in which its members leave.
    chosen = leaving[:found][np.argsort(-gains[:found], kind="stable")][:allowed]
    if chosen.shape[0] == 0:
        return clustering
    suppressed = np.zeros(table.records, dtype=np.bool_)
    suppressed[records[chosen]] = True
    groups[suppressed] = int(sizes.shape[0])
    return replace(clustering, groups=groups.astype(np.int32), suppressed=suppressed, boxes=None)
