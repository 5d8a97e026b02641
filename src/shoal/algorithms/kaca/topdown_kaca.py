"""TopDown-KACA: blocks from the top, small classes merged inside each block.

J. Yu, J. Han, J. Chen, Z. Xia, TopDown-KACA: an efficient local-recoding algorithm for k-anonymity, IEEE GrC 2009;
described in M. Verma, k-Anonymity using two level clustering, NIT Rourkela, 2013.

1. Top-down specialization (see `topdown`) into blocks of at least c records.
2. KACA (see `kaca`) inside each block.
3. Classes that are still too small go to their nearest class.

Cost: O(n m sum of levels) for the blocks, O(c^2 m) inside a block: O(n c m) in all while blocks have about c records.
A block that cannot be specialized further stays larger.

Deviations: what goes back to a parent block goes in whole branches, so that blocks do not tear equal records apart
(single records, as in `topdown`, made the loss on Adult a quarter higher). A block is never made smaller than k, so
KACA leaves nothing too small behind and step 3 has nothing to do. Other models are left to the shared repair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.kaca.distance import IntegerArray, Ladders, make_ladders
from shoal.algorithms.kaca.kernels.topdown import Rule
from shoal.algorithms.kaca.merging import check_feasible, merge_small, random_state
from shoal.algorithms.kaca.topdown import specialize_table
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import renumber
from shoal.hierarchies.weights import check_scheme
from shoal.models.base import Requirement


@dataclass(frozen=True, kw_only=True)
class TopDownKaca(Algorithm):
    """KACA inside blocks that come from top-down specialization."""

    block: int = 1000  # c: no block has fewer records than this, or than k
    weights: str = "uniform"  # of the levels: uniform or height
    beta: float = 1.0  # exponent of height weights

    name: ClassVar[str] = "topdown-kaca"
    title: ClassVar[str] = "split from the top into blocks, merge small classes inside each"
    citation: ClassVar[str] = "Yu, Han, Chen, Xia 2009"

    def __post_init__(self) -> None:
        check_scheme(self.weights, self.beta)
        if self.block < 1:
            raise ValueError(f"block must be at least 1, not {self.block}")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        check_feasible(table, requirement)
        k = requirement.k
        ladders = make_ladders(table.attributes, self.weights, self.beta)
        smallest = min(max(self.block, k), table.records)
        nothing = np.zeros(table.records, dtype=np.int32)
        blocks = specialize_table(table, ladders, Rule(smallest, 1.0, True), nothing, 1)
        context.report(0.2)
        groups = _merged_in_blocks(table, ladders, blocks, k, context)
        return Clustering(groups, details={"blocks": int(blocks.max()) + 1})


def _merged_in_blocks(
    table: EncodedTable, ladders: Ladders, blocks: IntegerArray, k: int, context: Context
) -> IntegerArray:
    """(records,) the group of every record; the classes of a block are its records with the same row."""
    codes = ladders.flat_codes(table.codes)
    pairs, class_of_record, sizes = np.unique(
        blocks.astype(np.int64) * table.rows + table.row_of_record, return_inverse=True, return_counts=True
    )
    block_of_class, row_of_class = np.divmod(pairs, table.rows)
    ends = np.searchsorted(block_of_class, np.arange(int(blocks.max()) + 2))

    def merge_block(number: int) -> IntegerArray:
        inside = slice(int(ends[number]), int(ends[number + 1]))
        state = random_state(context, number)
        return merge_small(ladders, codes[row_of_class[inside]], sizes[inside], k, state) + np.int32(ends[number])

    merged = np.concatenate(context.map(merge_block, range(ends.shape[0] - 1)))
    context.report(0.9)
    return renumber(merged)[class_of_record]
