"""Blocks of neighbouring groups: how the repair cuts a table into pieces that its kernels work on.

Blocks do not share records, so they can run on all threads without changing the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.encode.items import renumber as without_gaps
from shoal.kernels.geometry import Geometry
from shoal.kernels.group_loss import group_losses
from shoal.kernels.safety import Safety
from shoal.models.safety import empty_row
from shoal.safe_groups.kernels.group_bounds import Block, GroupDetail

MOST_MOVING = 40  # members of a large group that may be exchanged

Action = Callable[[Geometry, Safety, Block, GroupDetail, GroupDetail], object]


@dataclass(frozen=True)
class Workbench:
    """What all blocks of a run share."""

    table: EncodedTable
    safety: Safety
    geometry: Geometry
    context: Context

    @classmethod
    def of(cls, table: EncodedTable, safety: Safety, context: Context) -> Workbench:
        return cls(table, safety, table_geometry(table), context)

    def loss(self, groups: NDArray[np.int32]) -> float:
        """The loss of these groups, summed over all records."""
        members = np.argsort(groups, kind="stable").astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
        marks = np.full(int(self.geometry.code_offsets[-1]), -1, dtype=np.int64)
        losses = np.zeros(starts.shape[0] - 1)
        group_losses(self.geometry, self.table.record_codes, members, starts, marks, losses)
        return float(losses.sum())

    def change_blocks(
        self,
        groups: NDArray[np.int32],
        chosen: NDArray[np.bool_],
        block_size: int,
        stretch: NDArray[np.float64],
        action: Action,
    ) -> tuple[NDArray[np.int32], int]:
        """Let `action` change every block that has a chosen group; the new groups and their number.

        `stretch` stretches the attributes before blocks are cut, so that another pass gets other blocks.
        """
        order = np.argsort(groups, kind="stable").astype(np.int32)
        sizes = np.bincount(groups, minlength=chosen.shape[0])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        blocks = cut_blocks(group_centres(self.table, groups, sizes) * stretch, block_size)

        def work(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            records = np.concatenate([order[starts[number] : starts[number + 1]] for number in numbers])
            local = self._change(records, sizes[numbers], action)
            return records, numbers[local].astype(np.int32)

        changed = groups.copy()
        for records, numbers in self.context.map(work, [block for block in blocks if chosen[block].any()]):
            changed[records] = numbers
        return renumber(changed)

    def _change(self, records: NDArray[np.int32], sizes: NDArray[np.int64], action: Action) -> NDArray[np.int32]:
        """(records,) the number within the block of every record's group, after the action."""
        block = make_block(self.table, self.safety, records, sizes)
        local = self.safety._replace(codes=np.ascontiguousarray(self.safety.codes[:, records]))
        details = [empty_detail(self.geometry, self.safety, self.table.width, MOST_MOVING) for _ in range(2)]
        action(self.geometry, local, block, details[0], details[1])
        return _read_groups(block, records.shape[0])


def renumber(groups: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Groups numbered 0..count-1 without gaps, in the order of their numbers before."""
    numbers = without_gaps(groups)
    return numbers, int(numbers.max(initial=-1)) + 1


def make_block(table: EncodedTable, safety: Safety, records: NDArray[np.int32], sizes: NDArray[np.int64]) -> Block:
    """Groups of the given sizes, one after the other in `records`, as the kernels take them."""
    ends = np.cumsum(sizes)
    following = np.arange(1, records.shape[0] + 1, dtype=np.int64)
    following[ends - 1] = -1
    return Block(
        codes=np.ascontiguousarray(table.codes[:, table.row_of_record[records]].T),
        chain=np.stack([following, find_sorts(safety.codes[:, records])]),
        groups=np.stack([ends - sizes, sizes]).astype(np.int64),
        box=np.zeros((2, table.width, sizes.shape[0]), dtype=np.int32),
        scores=np.zeros((2, sizes.shape[0])),
    )


def empty_detail(geometry: Geometry, safety: Safety, width: int, members: int) -> GroupDetail:
    """Room for one group, with at most so many members listed."""
    return GroupDetail(
        edges=np.zeros((5, width), dtype=np.int32),
        codes=np.zeros((2, int(geometry.code_offsets[-1])), dtype=np.int64),
        row=empty_row(safety),
        listing=np.zeros((3, members), dtype=np.int64),
        without=np.zeros(members + 1),
        growth=np.zeros(members + 1),
    )


def find_sorts(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Equal numbers for records that have the same value in every column that a rule looks at."""
    numbers = np.zeros(codes.shape[1], dtype=np.int64)
    for line in codes:
        numbers = numbers * (int(line.max(initial=0)) + 1) + line
        numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64).reshape(-1)
    return numbers


def _read_groups(block: Block, records: int) -> NDArray[np.int32]:
    """The group of every record, by following the lists of all groups at once, one step at a time."""
    numbers = np.empty(records, dtype=np.int32)
    first, following = block.groups[0], block.chain[0]
    group = np.flatnonzero(first >= 0).astype(np.int32)
    record = first[group]
    while record.size:
        numbers[record] = group
        record = following[record]
        group, record = group[record >= 0], record[record >= 0]
    return numbers


def group_centres(table: EncodedTable, groups: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """(groups, attributes) the mean position of every group's members, times the weight of the attribute."""
    centres = np.empty((sizes.shape[0], table.width))
    for number, attribute in enumerate(table.attributes):
        positions = np.minimum(1.5, attribute.positions)[table.codes[number]][table.row_of_record]
        centres[:, number] = np.bincount(groups, weights=positions, minlength=sizes.shape[0]) / np.maximum(1, sizes)
    return centres * table.attribute_weights


def cut_blocks(centres: NDArray[np.float64], size: int) -> list[NDArray[np.int64]]:
    """Pieces of at most `size` neighbours: halves at the median of the widest attribute, again and again."""
    pieces = [np.arange(centres.shape[0])]
    blocks: list[NDArray[np.int64]] = []
    while pieces:
        piece = pieces.pop()
        if piece.shape[0] <= max(2, size):
            blocks.append(piece)
            continue
        values = centres[piece]
        attribute = int(np.argmax(values.std(axis=0)))
        ordered = piece[np.argsort(values[:, attribute], kind="stable")]
        half = ordered.shape[0] // 2
        pieces += [ordered[half:], ordered[:half]]
    return blocks
