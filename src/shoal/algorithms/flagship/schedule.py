"""How many steps of what kind: from the size of the table, k and the effort. Steps, never seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.algorithms.flagship.levels import Prices
from shoal.algorithms.flagship.problem import SearchProblem
from shoal.algorithms.flagship.refine import Round

_FULL = 40_000  # items up to which every record gets all the steps
_LEAST = 0.045  # share of the steps that is left to each record of a very large table
_TRIES = ((0.05, 1.1), (0.1, 1.2), (0.1, 1.1), (0.05, 1.2), (0.006, 1.2), (0.025, 1.1), (0.012, 1.1), (0.1, 1.15))
_FEW = 6_000  # tables up to this size are searched from several starts, with more steps per record the smaller they are
_MORE = 4.0
_SAFE_TRIALS = 150.0  # per record, where there are models besides k-anonymity
_SMALL_K = 15  # up to here rebuilding groups does most of the work, above it moving records under a smoothed cost


@dataclass(frozen=True)
class Schedule:
    """Block sizes and prices of the starts, and the rounds of refinement."""

    starts: int  # how many first groupings are refined; the best result counts
    grown_reach: int
    grown_parts: int
    classed_block: int
    prices: tuple[Prices, ...]
    rounds: tuple[Round, ...]


def make_schedule(problem: SearchProblem, effort: float) -> Schedule:
    """The schedule of a run. Temperatures are shares of the loss of an average record at the start of the round."""
    steps = _steps(problem, effort)
    large = problem.items > 4 * _FULL
    small_k = problem.k <= _SMALL_K
    tries = ((0.05, 1.35),) if large else _TRIES[: max(1, min(len(_TRIES), round((2 if small_k else 4) * effort)))]
    return Schedule(
        starts=3 if problem.items <= _FEW else 1,
        grown_reach=500 if large else max(1_500, min(6_000, 300 * problem.k)),
        grown_parts=-(-problem.items // _FULL),
        classed_block=200_000 if large else 40_000,
        prices=tuple(Prices(*one) for one in tries),
        rounds=_rounds(problem, steps, problem.items > 2 * _FULL),
    )


def safe_rounds(problem: SearchProblem, effort: float) -> tuple[Round, ...]:
    """The rounds of a search under models besides k-anonymity, from groups that hold them.

    Single records find a safe way more often than whole groups do.
    """
    rounds = make_schedule(problem, effort).rounds
    trials = _SAFE_TRIALS * _steps(problem, effort) ** 0.5 / len(rounds)
    return tuple(
        replace(plan, power=0.0, heat=0.0, trials=max(trials, plan.trials), rebuilds=0.3 * plan.rebuilds)
        for plan in rounds
    )


def _steps(problem: SearchProblem, effort: float) -> float:
    """The effort for each record: less of it in a very large table, more in a small one."""
    share: float = min(1.0, max(_LEAST, (_FULL / problem.items) ** 1.2)) * max(1.0, min(_MORE, _FEW / problem.items))
    return effort * share


def _rounds(problem: SearchProblem, steps: float, wide: bool) -> tuple[Round, ...]:
    """Rounds that cool down. The figures come from trials on adult: how much loss a second of each step saves."""
    small_k = problem.k <= _SMALL_K
    has_trees = bool(problem.saturates.any())
    power = 0.0 if small_k and has_trees else 0.3 if has_trees else 0.35
    if small_k:
        count = max(2, min(30, round(10 * steps**0.5)))
        trials, partners = (10.0, 3) if has_trees else (30.0, 6)
        trials *= steps**0.5
        rebuilds, widest = (28.0, 4) if has_trees else (56.0, 3)
        rebuilds *= min(5, problem.k) * steps
        heat = 2.0
    else:
        count = max(2, min(24, round((8 if has_trees else 5) * steps**0.5)))
        trials, partners, widest = (20.0 + 0.4 * problem.k if has_trees else 170.0) * steps, 6, 4
        rebuilds = (240.0 / problem.k**0.25 if has_trees else 440.0 / problem.k**0.5) * steps
        heat = 3.0 if has_trees else 6.0
    heat *= min(1.0, steps) ** 2
    hot, cold = (0.15, 0.02) if small_k and has_trees else (0.2, 0.04) if has_trees else (0.15, 0.03)
    neighbours = 4 if problem.items <= _FEW else 8 if small_k or has_trees else 5
    return tuple(
        Round(
            block_size=32_000 if wide else 16_000 if small_k else 22_000,
            trials=trials / count,
            hot=hot * (cold / hot) ** (number / count),
            cold=hot * (cold / hot) ** ((number + 1) / count),
            power=power * (1.0 - number / (count - 1)),
            rebuilds=rebuilds / count,
            near_share=16 if small_k else 12,
            neighbours=min(neighbours, 6) if wide else neighbours,
            near_part=700 if wide else 4_000,
            partners=partners,
            widest=widest,
            fewer=2 if wide else 4,
            heat=heat * (1.0 - number / (count - 1)) ** 2,
        )
        for number in range(count)
    )
