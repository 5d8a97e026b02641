"""How many steps of what kind: from the size of the table, k and the effort. Steps, never seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shoal.algorithms.shoal.levels import Prices
from shoal.algorithms.shoal.refine import Round
from shoal.encode.items import SearchProblem

_FULL = 40_000  # items up to which every record gets all the steps
_LEAST = 0.045  # share of the steps that is left to each record of a very large table
_TRIES = ((0.05, 1.1), (0.1, 1.2), (0.1, 1.1), (0.05, 1.2), (0.006, 1.2), (0.025, 1.1), (0.012, 1.1), (0.1, 1.15))
_FEW = 6_000  # tables up to this size are searched from several starts, with more steps per record the smaller they are
_MORE = 8.0
_SAFE_TRIALS, _FEW_SAFE_TRIALS = 60.0, 120.0  # per record, where there are models besides k-anonymity
_UNSAFE_FIRST, _UNSAFE_LAST = 0.5, 10.0  # price of a deficit of one record, for each record of a group, rising
_CHARGED_REBUILDS = 0.5  # safe groups are larger, and a rebuild of them takes longer; small tables have the time
_STRICT_ROUNDS = 0.4  # share of the rounds that follow the repair; small tables have them all
_SMALL_K = 15  # up to here rebuilding groups does most of the work, above it moving records under a smoothed cost


@dataclass(frozen=True)
class _Tuned:
    """What trials on adult found best: how much loss a second of each kind of step saves."""

    rounds: int  # at the default effort
    most_rounds: int
    hot: float
    cold: float
    plan: Round  # the first round, but for its number of steps


def _plan(**settings: Any) -> Round:
    return Round(trials=0.0, rebuilds=0.0, hot=0.0, cold=0.0, **settings)


_TUNED = {  # (is k small, are there trees)
    (True, True): _Tuned(
        *(10, 30, 0.15, 0.02),
        _plan(block_size=16_000, power=0.0, heat=2.0, near_share=16, neighbours=8, partners=3, widest=4),
    ),
    (True, False): _Tuned(
        *(10, 30, 0.15, 0.03),
        _plan(block_size=16_000, power=0.35, heat=2.0, near_share=16, neighbours=5, partners=6, widest=3),
    ),
    (False, True): _Tuned(
        *(8, 24, 0.2, 0.04),
        _plan(block_size=22_000, power=0.3, heat=3.0, near_share=12, neighbours=5, partners=6, widest=4),
    ),
    (False, False): _Tuned(
        *(7, 24, 0.15, 0.03),
        _plan(block_size=22_000, power=0.35, heat=4.0, near_share=14, neighbours=3, partners=6, widest=4),
    ),
}


_WIDE: dict[str, Any] = {"block_size": 32_000, "near_part": 700, "fewer": 2}  # for tables that are cut into many blocks
_HASTY: dict[str, Any] = {"widest": 3, "noise": 0.0}  # for less than this share of the steps
_HASTE = 0.3
_WIDE_NEIGHBOURS, _FEW_NEIGHBOURS = 5, 4


@dataclass(frozen=True)
class Schedule:
    """Block sizes and prices of the starts, and the rounds of refinement."""

    starts: int  # how many first groupings are refined; the best result counts
    grown_reach: int
    grown_parts: int
    classed_block: int
    prices: tuple[Prices, ...]
    rounds: tuple[Round, ...]


def make_schedule(problem: SearchProblem, effort: float, part: float = 1.0) -> Schedule:
    """The schedule of a run. Temperatures are shares of the loss of an average record at the start of the round.

    A part of a table is searched as long as the whole would be: no record gets more steps because caps part the table.
    """
    items = problem.items / part
    steps = _steps(items, effort)
    large = items > 4 * _FULL
    small_k = problem.k <= _SMALL_K
    tries = ((0.05, 1.35),) if large else _TRIES[: max(1, min(len(_TRIES), round((2 if small_k else 4) * effort)))]
    return Schedule(
        starts=3 if items <= _FEW else 1,
        grown_reach=500 if large else max(1_500, min(6_000, 300 * problem.k)),
        grown_parts=-(-problem.items // _FULL),
        classed_block=200_000 if large else 40_000,
        prices=tuple(Prices(*one) for one in tries),
        rounds=_rounds(problem, steps, items > 2 * _FULL, items <= _FEW),
    )


def safe_rounds(problem: SearchProblem, effort: float, part: float = 1.0) -> tuple[Round, ...]:
    """The rounds of a search under models besides k-anonymity, from groups that hold them.

    Single records find a safe way more often than whole groups do.
    """
    rounds = make_schedule(problem, effort, part).rounds
    few = problem.items / part <= _FEW or problem.counted is None
    steps = _steps(problem.items / part, effort) ** 0.5
    trials = (_FEW_SAFE_TRIALS if few else _SAFE_TRIALS) * steps / len(rounds)
    left = len(rounds) if few else max(1, round(_STRICT_ROUNDS * len(rounds)))
    return tuple(
        replace(plan, power=0.0, heat=0.0, trials=max(trials, plan.trials), rebuilds=0.3 * plan.rebuilds)
        for plan in rounds[-left:]
    )


def charged_rounds(problem: SearchProblem, rounds: tuple[Round, ...], part: float = 1.0) -> tuple[Round, ...]:
    """The rounds of a search in which groups that models find unsafe are charged, more from round to round."""
    last = max(1, len(rounds) - 1)
    rise = _UNSAFE_LAST / _UNSAFE_FIRST
    rebuilds = 1.0 if problem.items / part <= _FEW else _CHARGED_REBUILDS
    return tuple(
        replace(
            plan,
            unsafe=problem.k * _UNSAFE_FIRST * rise ** (number / last),
            rebuilds=rebuilds * plan.rebuilds,
        )
        for number, plan in enumerate(rounds)
    )


def _steps(items: float, effort: float) -> float:
    """The effort for each record: less of it in a very large table, more in a small one."""
    less: float = min(1.0, max(_LEAST, (_FULL / items) ** 1.35))
    return effort * less * max(1.0, min(_MORE, 2 * _FEW / items))


def _rounds(problem: SearchProblem, steps: float, wide: bool, few: bool) -> tuple[Round, ...]:
    """Rounds that cool down; `wide` tables are cut into many blocks, `few` items are searched more thoroughly."""
    small_k, has_trees = problem.k <= _SMALL_K, bool(problem.saturates.any())
    tuned = _TUNED[small_k, has_trees]
    most = _FEW_NEIGHBOURS if few else _WIDE_NEIGHBOURS if wide else tuned.plan.neighbours
    plan = replace(tuned.plan, neighbours=min(most, tuned.plan.neighbours), **(_WIDE if wide else {}))
    plan = replace(plan, **_HASTY) if wide and steps < _HASTE else plan
    trials, rebuilds = _steps_of_kinds(problem.k, small_k, has_trees, steps)
    count = max(2, min(tuned.most_rounds, round(tuned.rounds * steps**0.5)))
    fall = tuned.cold / tuned.hot
    left = [1.0 - number / (count - 1) for number in range(count)]  # of the way to the last round
    return tuple(
        replace(
            plan,
            trials=trials / count,
            rebuilds=rebuilds / count,
            hot=tuned.hot * fall ** (number / count),
            cold=tuned.hot * fall ** ((number + 1) / count),
            power=plan.power * left[number],
            heat=plan.heat * min(1.0, steps) ** 2 * left[number] ** 2,
        )
        for number in range(count)
    )


def _steps_of_kinds(k: int, small_k: bool, has_trees: bool, steps: float) -> tuple[float, float]:
    """Annealing trials per item, and rebuilds per group, in all rounds together."""
    if small_k:
        return (10.0 if has_trees else 30.0) * steps**0.5, (28.0 if has_trees else 56.0) * min(5, k) * steps
    if has_trees:
        return (20.0 + 0.4 * k) * steps, 240.0 / k**0.25 * steps
    return 200.0 * steps, 530.0 / k**0.5 * steps
