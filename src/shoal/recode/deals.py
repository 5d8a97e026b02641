"""How the records of a key are dealt out to groups, without a number per record.

Records of one key cannot be told apart by anything that a job looks at, so it does not matter to any model which of
them goes to which group. The rule is: in the order of the input. A deal is a run of records of one key that go to the
same group; nearly every key has one deal. Position p of the canonical order (keys one after the other, records of a
key in the order of the input) belongs to the first deal whose end lies behind p.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, RowClustering
from shoal.encode.counted import CountedTable
from shoal.encode.encoded_table import EncodedTable


@dataclass(frozen=True, eq=False)
class Deals:
    """The deals of all keys, in canonical order, and the group of each as if a deal were a record."""

    key: NDArray[np.int32]  # (deals,) rising
    weight: NDArray[np.int64]  # (deals,) records
    clustering: Clustering  # one entry per deal

    @property
    def count(self) -> int:
        return int(self.key.shape[0])


def deals_of_items(found: RowClustering, counted: CountedTable) -> Deals:
    """From groups by rows. Keys that are finer than rows (a label to be scored) come apart where they must."""
    ends = np.cumsum(found.item_weight)
    key_ends = np.cumsum(counted.key_counts)
    cuts = np.union1d(ends, key_ends)
    item = np.searchsorted(ends, cuts, side="left")
    key = np.searchsorted(key_ends, cuts, side="left")
    groups = found.item_group[item]
    same = np.zeros(cuts.shape[0], dtype=np.bool_)  # as the one before: they are one deal
    same[1:] = (key[1:] == key[:-1]) & (groups[1:] == groups[:-1])
    last = np.append(~same[1:], True)
    weight = np.diff(cuts[last], prepend=0)
    clustering = Clustering(groups[last], lower_bound=found.lower_bound, details=found.details)
    return Deals(key[last].astype(np.int32), weight.astype(np.int64), clustering)


def deals_of_records(found: Clustering, counted: CountedTable) -> Deals:
    """From a group per record, in canonical order."""
    assert found.boxes is None  # algorithms that take rows leave the released values to us
    key = np.repeat(np.arange(counted.key_counts.shape[0], dtype=np.int32), counted.key_counts)
    told = [key, found.groups, found.suppressed, *(() if found.attribute_groups is None else found.attribute_groups)]
    begins = np.ones(key.shape[0], dtype=np.bool_)
    begins[1:] = np.any([line[1:] != line[:-1] for line in told if line is not None], axis=0)
    starts = np.flatnonzero(begins)
    weight = np.diff(starts, append=key.shape[0])
    clustering = replace(
        found,
        groups=found.groups[starts],
        suppressed=None if found.suppressed is None else found.suppressed[starts],
        proof=None,
        attribute_groups=None if found.attribute_groups is None else found.attribute_groups[:, starts],
    )
    return Deals(key[starts], weight.astype(np.int64), clustering)


def deals_as_records(deals: Deals, counted: CountedTable) -> EncodedTable:
    """The table as if every deal were one record: all that released values depend on, but for weights."""
    rows = counted.key_row[deals.key]
    weights = np.bincount(rows, minlength=counted.table.rows).astype(np.int64)
    table = counted.table
    return EncodedTable(table.attributes, table.codes, weights, rows)
