"""Compile the kernels of the refinement on the first run on a machine, by searching a little example.

    python -m shoal.algorithms.shoal.compile_search

runs in a second process while the first one compiles the kernels of the first groupings, then that of rebuilding
(`end_compiling`). Both take about as long; what is shared, the second process compiles first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.shoal.blocks import count_values, make_state
from shoal.algorithms.shoal.kernels.rebuild import gather_members, place_members
from shoal.algorithms.shoal.kernels.regrow import regrow
from shoal.algorithms.shoal.kernels.state import State
from shoal.algorithms.shoal.refine import Round, find_near, rebuild_bench, rebuild_groups, search_block
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.encode.items import SearchProblem, make_problem
from shoal.kernels.cache import must_compile
from shoal.kernels.random import random_state
from shoal.kernels.second_process import compile_beside, wait_for
from shoal.progress import StopRequest

_MODULE = "shoal.algorithms.shoal.compile_search"
_SIDE, _LAST = "anneal.anneal", "rebuild.rebuild"
_K = 3
_ITEMS = np.arange(12, dtype=np.int32)
_GROUPS = _ITEMS // _K
_PLAN = Round(block_size=12, trials=1.0, hot=0.1, cold=0.1, power=0.3, rebuilds=0.0)


def begin_compiling() -> None:
    """Start the second process, if anything is to be compiled."""
    compile_beside(_MODULE, _SIDE)


def end_compiling() -> None:
    """Come back when the kernels of the refinement can be loaded."""
    if must_compile(_LAST):
        problem, state, random = _example()
        near = find_near(problem, _ITEMS, state, _PLAN, random)
        rebuild_groups(problem, state, near, None, _PLAN, 1, 1.0, random, StopRequest())
    wait_for(_MODULE)


def compile_side() -> None:
    """The part of the second process."""
    problem, state, random = _example()
    bench = rebuild_bench(problem, state, 12, _PLAN.widest)
    regrow(bench, None, 0, state.step, state.saturates, _K, 0, 0, 0.0, random)
    chosen, items, before = np.arange(4), np.zeros(12, dtype=np.int64), np.zeros(12, dtype=np.int64)
    count = gather_members(state, bench, chosen, 4, items, before)
    place_members(state, chosen, 4, items, before, before, count)
    search_block(problem, _ITEMS, _GROUPS, _PLAN, 1.0, random, StopRequest())


def _example() -> tuple[SearchProblem, State, NDArray[np.uint64]]:
    """A table of a category and a number, its groups, and a random stream."""
    ancestors = np.stack([_ITEMS, np.full_like(_ITEMS, _ITEMS.size)])
    costs = np.stack([np.zeros(_ITEMS.size), np.ones(_ITEMS.size)])
    position = _ITEMS / (_ITEMS.size - 1)
    attributes = (
        EncodedAttribute("category", Kind.FLAT, _ITEMS.size, position, ancestors, costs),
        EncodedAttribute("number", Kind.INTERVAL, _ITEMS.size, position, ancestors, costs),
    )
    codes = np.stack([_ITEMS, _ITEMS[::-1]])
    problem = make_problem(EncodedTable(attributes, codes, np.ones(_ITEMS.size, dtype=np.int64), _ITEMS), _K)
    state = make_state(problem, _ITEMS, _GROUPS, count_values(_K, 0.0, _ITEMS.size + 1))
    return problem, state, random_state(np.random.default_rng(0))


if __name__ == "__main__":
    compile_side()
