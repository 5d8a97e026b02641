"""How many steps of what kind: from the size of the table, k and the effort. Steps, never seconds."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.algorithms.flagship.problem import SearchProblem
from shoal.algorithms.flagship.refine import Round

_FULL = 40_000  # items up to which every record gets all the steps
_LEAST = 0.06  # share of the steps that is left to each record of a very large table
_SMALL_K = 15  # up to here rebuilding groups does most of the work, above it moving records under a smoothed cost


@dataclass(frozen=True)
class Schedule:
    """Block sizes and price ratios of the starts, and the rounds of refinement."""

    grown_reach: int
    grown_parts: int
    classed_block: int
    price_ratios: tuple[float, ...]
    rounds: tuple[Round, ...]


def make_schedule(problem: SearchProblem, effort: float) -> Schedule:
    """The schedule of a run. Temperatures are shares of the loss of an average record at the start of the round."""
    share = min(1.0, max(_LEAST, (_FULL / problem.items) ** 0.85))
    steps = effort * share
    large = problem.items > 4 * _FULL
    ratios = (1.5,) if large else (1.1, 1.2, 1.15, 1.25, 1.3, 1.08)[: max(1, min(6, round(4 * effort)))]
    return Schedule(
        grown_reach=max(1_500 if not large else 500, min(6_000, 100 * problem.k)),
        grown_parts=-(-problem.items // _FULL),
        classed_block=16_000 if large else 40_000,
        price_ratios=ratios,
        rounds=_rounds(problem, steps, large),
    )


def _rounds(problem: SearchProblem, steps: float, large: bool) -> tuple[Round, ...]:
    small_k = problem.k <= _SMALL_K
    has_trees = bool(problem.saturates.any())
    count = max(2, min(24, round(5 * steps**0.5)))
    power = 0.0 if small_k and has_trees else 0.35
    trials = 200.0 if small_k and has_trees else 400.0
    rebuilds = 80.0 if small_k else 800.0 / problem.k
    block = 7_000 if small_k else 15_500
    if large:
        block = max(1_500, min(block, 100 * problem.k))
    hot, cold = (0.15, 0.02) if has_trees else (0.1, 0.02)
    return tuple(
        Round(
            block_size=block,
            trials=trials * steps / count,
            hot=hot * (cold / hot) ** (number / count),
            cold=hot * (cold / hot) ** ((number + 1) / count),
            power=power * (1.0 - number / (count - 1)),
            rebuilds=rebuilds * steps / count,
            near_share=16 if small_k else 8,
        )
        for number in range(count)
    )
