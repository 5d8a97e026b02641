"""Hierarchies as ladders, and blocks of similar rows, for the algorithms whose distance is climbing hierarchies.

Columns of codes of all attributes share one flat numbering: attribute `a` owns `starts[a]` to `starts[a + 1] - 1`.
Codes are in tree order, so the cost of lifting to where neighbouring codes meet says all there is to know: two codes
meet where the dearest of the steps between them does. A cell that was lifted is any code below it and the cost of
its level (its lift); it meets another cell at the highest of three costs: the two lifts, and where the codes meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32
from shoal.kernels.compile import kernel


class Ladder(NamedTuple):
    """The hierarchies of all attributes."""

    starts: Int32  # (attributes + 1,)
    join_costs: Float64  # (all codes,) cost of lifting a code to where it meets the next one


class Blocks(NamedTuple):
    """Rows in blocks of similar ones. Rows can be taken out; the others keep their block and its bounds."""

    first: Int32  # (blocks,) where the members of a block begin
    counts: Int32  # (blocks,) how many members it has left
    members: Int32  # (rows,) rows, block by block
    places: Int32  # (rows,) where a row stands in members
    homes: Int32  # (rows,) the block of a row
    low: Int32  # (blocks, attributes) lowest flat code of the rows that the block began with
    high: Int32  # (blocks, attributes) highest one


@kernel
def fill_attribute(ladder: Any, attribute: Any, here: Any, lift: Any, costs: Any) -> None:
    """The cost of lifting the cell (code `here`, `lift`) to where it meets each code of its attribute.

    OUT costs  float64 (all codes,), written for the codes of the attribute
    """
    starts, join_costs = ladder
    costs[here] = lift
    reached = lift
    for code in range(here + 1, starts[attribute + 1]):
        reached = max(reached, join_costs[code - 1])
        costs[code] = reached
    reached = lift
    for code in range(here - 1, starts[attribute] - 1, -1):
        reached = max(reached, join_costs[code])
        costs[code] = reached


@kernel
def fill_costs(ladder: Any, codes: Any, lifts: Any, costs: Any) -> None:
    """The same for all cells of a row or class.

    IN  codes  int32 (attributes,); lifts float64 (attributes,)
    OUT costs  float64 (all codes,)
    """
    for attribute in range(codes.shape[0]):
        fill_attribute(ladder, attribute, codes[attribute], lifts[attribute], costs)


@kernel
def take_out(blocks: Any, row: Any) -> None:
    """Take a row out of its block; the last member takes its place."""
    home = blocks.homes[row]
    blocks.counts[home] -= 1
    moved = blocks.members[blocks.first[home] + blocks.counts[home]]
    blocks.members[blocks.places[row]] = moved
    blocks.places[moved] = blocks.places[row]


@kernel
def next_random(state: Any) -> Any:
    """One step of splitmix64.

    IN/OUT state  uint64 (1,)
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
