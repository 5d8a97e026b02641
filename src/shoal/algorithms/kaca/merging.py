"""What the algorithms of the family share: small classes merged with their nearest class until all are large enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.algorithms.kaca.blocks import block_order, make_blocks
from shoal.algorithms.kaca.distance import IntegerArray, Ladders
from shoal.algorithms.kaca.kernels.kaca import Classes, Line, merge_classes
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import Problem, RequirementError
from shoal.models.base import Requirement

COMPARISONS_PER_CALL = 20_000_000  # keeps one kernel call below a second or so


def check_feasible(table: EncodedTable, requirement: Requirement) -> None:
    """A RequirementError when even one group of all records is not safe, which no algorithm here can mend."""
    if table.records < requirement.k:
        message = f"the table has {table.records} records, fewer than one safe group needs ({requirement.k})"
        raise RequirementError(Problem("too-few-records", message))
    whole = np.zeros(table.records, dtype=np.int32)
    unsafe = [model.name for model in requirement.models if model.deficits(table, whole, 1)[0] > 0]
    if requirement.monotone and unsafe:
        raise RequirementError(
            Problem("unreachable", f"not even one group of all records satisfies {name}", hint="relax the model")
            for name in unsafe
        )


def random_state(context: Context, *stream: int) -> NDArray[np.uint64]:
    """The state of a kernel's random numbers."""
    return context.random(*stream).integers(0, 2**63, size=1, dtype=np.uint64)


def roots(parent: IntegerArray) -> IntegerArray:
    """The class that each class ended in, by pointer jumping."""
    while True:
        above = parent[parent]
        if np.array_equal(above, parent):
            return parent
        parent = above


def _no_report(fraction: float) -> None:
    """For callers that report by themselves."""


def merge_waiting(
    ladders: Ladders,
    classes: Classes,
    waiting: NDArray[np.bool_],
    target: int,
    state: NDArray[np.uint64],
    report: Callable[[float], None] = _no_report,
) -> IntegerArray:
    """(classes,) the class each ends in when those that wait are merged until they have `target` records.

    Target 0: a class that waits is merged once.
    """
    order, bounds = block_order(ladders, classes.codes)
    # in the order of the blocks, so that the kernel reads memory from left to right
    classes = Classes(classes.codes[order], classes.lifts[order], classes.sizes[order])
    count = order.shape[0]
    blocks = make_blocks(classes.codes, np.arange(count), bounds)
    highest = np.maximum.reduceat(classes.lifts, blocks.first)
    line = _waiting_line(waiting[order])
    begin = int(line.counters[0])
    parent = np.arange(count, dtype=np.int32)
    while line.counters[0] > 0 and line.counters[1] > 1:
        report(1.0 - line.counters[0] / begin)
        merge_classes(ladders.arrays, classes, blocks, highest, line, target, state, parent, COMPARISONS_PER_CALL)
    ends = np.empty(count, dtype=np.int32)
    ends[order] = order[roots(parent)]
    return ends


def _waiting_line(waiting: NDArray[np.bool_]) -> Line:
    """The classes that wait, in order; the others may still be merged with."""
    queue = np.zeros(waiting.shape[0], dtype=np.int32)
    queued = np.full(waiting.shape[0], -1, dtype=np.int32)
    first = np.flatnonzero(waiting)
    queue[: first.shape[0]] = first
    queued[first] = np.arange(first.shape[0])
    return Line(queue, queued, np.array([first.shape[0], waiting.shape[0]], dtype=np.int64))


def merge_small(
    ladders: Ladders,
    codes: IntegerArray,
    sizes: NDArray[np.int64],
    target: int,
    state: NDArray[np.uint64],
    report: Callable[[float], None] = _no_report,
) -> IntegerArray:
    """KACA on rows (rows, attributes) that each are a class of `sizes` records: the class each ends in."""
    classes = Classes(codes, np.zeros(codes.shape), sizes)
    return merge_waiting(ladders, classes, sizes < target, target, state, report)
