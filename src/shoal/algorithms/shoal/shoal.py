"""Shoal: the best of several first groupings, refined by annealing and by rebuilding neighbouring groups.

Steps
1. Equal rows are one; every record is an item that can move on its own (`flagship.problem`).
2. First groupings (`flagship.construct`): grown record by record as in greedy k-member clustering (J.-W. Byun et al.,
   DASFAA 2007), in blocks of the table; and, where hierarchies rule, classes of generalized rows in the manner of
   ARX's local recoding; and, with k-anonymity alone, from boxes that bind in the lower bound (`priced`). The one that
   loses least is the start.
3. Rounds (`flagship.refine`): the groups are cut into blocks of neighbours, each time differently. Inside a block
   single records move and change places while the temperature falls (simulated annealing, S. Kirkpatrick et al.,
   1983), for large k under a cost that counts rare values less; then small sets of neighbouring groups are dissolved
   and grown anew, and kept if they lose no more, or little more while there is heat (large neighbourhood search,
   P. Shaw, 1998, with an annealed acceptance). Groups that lose much are tried more often.
   With models besides k-anonymity the groups are then made safe by the shared repair, and the rounds go on from
   there: no step makes a group less safe. Where different persons are counted, groups with too few of them are
   charged for it in the rounds before, more from round to round, so that little is left to the repair.
4. A lower bound tells how far from the best possible the result can be (`lower_bound`).

Effort counts steps, not seconds: the same table, parameters and seed give the same groups on any machine and with
any number of threads. Blocks have a bounded size and very large tables get fewer steps per record, so the time grows
no faster than n log n (the cuts into blocks). What only some runs need is imported where it is used.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.algorithms.base import Algorithm, BoundProof, Clustering, Context, RowClustering
from shoal.algorithms.shoal.compile_search import begin_compiling, end_compiling
from shoal.algorithms.shoal.construct import classed_groups, grown_groups, total_energy
from shoal.algorithms.shoal.levels import Prices
from shoal.algorithms.shoal.objectives import OBJECTIVES, objective_table, size_price
from shoal.algorithms.shoal.priced import priced_start, with_prices
from shoal.algorithms.shoal.refine import refine
from shoal.algorithms.shoal.schedule import Schedule, charged_rounds, make_schedule, safe_rounds
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import IntegerArray, SearchProblem, make_problem, record_groups, renumber
from shoal.errors import Problem, RequirementError
from shoal.lower_bound.bound import LowerBound, bound_proof, lower_bound, price_guide
from shoal.lower_bound.prices import PriceGuide
from shoal.models.base import Requirement
from shoal.models.safety import bind_search_rules
from shoal.progress import silent

_WIDEST = 4_000  # model columns with more values than this are left to the repair after the search
_STOPPED = "the search was ended early by the user: the same job may give another release, with another loss"
_EFFORTS = {"low": 0.25, "default": 1.0, "high": 15.0}
_AFTER = 10_000  # number of the first round after a charged search: a random stream of its own
_MOST_EFFORT = 10_000  # a slip of the hand, beyond: years on a large table


@dataclass(frozen=True, kw_only=True)
class Shoal(Algorithm):
    """The flagship. `effort` is low, default, high or a positive number (1 is default)."""

    effort: str | float | int = "default"
    objective: str = "gcp"  # gcp, distortion, discernibility, class or squares
    class_column: str | None = None  # the label of the objective 'class'
    name: ClassVar[str] = "shoal"
    title: ClassVar[str] = "the least loss: first groups, improved by annealing and rebuilding as long as it pays"
    citation: ClassVar[str] = "this project"
    takes_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.effort, str) and self.effort not in _EFFORTS:
            raise ValueError("effort must be low, default, high or a positive number")
        if not isinstance(self.effort, str) and not 0 < self.effort <= _MOST_EFFORT:
            raise ValueError(f"effort must be low, default, high or a positive number up to {_MOST_EFFORT:,}")
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}")
        if self.objective == "class" and self.class_column is None:
            raise ValueError("objective class needs a class label: name it with --class (class_column in Python)")

    @property
    def steps(self) -> float:
        """The effort as a number."""
        return _EFFORTS[self.effort] if isinstance(self.effort, str) else float(self.effort)

    def prepare(self) -> None:
        """On the first run on a machine, a second process compiles the kernels of the refinement."""
        begin_compiling()

    def looks_at(self) -> tuple[str, ...]:
        return () if self.class_column is None else (self.class_column,)

    def searches_again(self) -> bool:
        return self.objective == "gcp"

    def deals_rows(self, requirement: Requirement) -> bool:
        """Models look at records, as do the objectives that need more of them than their row."""
        return requirement.size_only and self.objective not in ("class", "squares")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        _refuse_too_few(table, requirement)
        if self.objective == "squares":
            return self._with_small_squares(table, requirement, context)
        target = objective_table(table, self.objective, self.class_column)
        problem, found = self._found(table, target, requirement, context)
        groups = record_groups(problem, found.item_group, target.row_of_record)
        return Clustering(groups, lower_bound=found.lower_bound, proof=found.proof, details=found.details)

    def cluster_rows(self, table: EncodedTable, requirement: Requirement, context: Context) -> RowClustering | None:
        if not self.deals_rows(requirement):
            return None
        _refuse_too_few(table, requirement)
        target = objective_table(table, self.objective)
        found = self._found(table, target, requirement, context)[1]
        return replace(found, item_group=renumber(found.item_group))

    def _found(
        self, table: EncodedTable, target: EncodedTable, requirement: Requirement, context: Context
    ) -> tuple[SearchProblem, RowClustering]:
        """The items and their groups; `target` is the table whose loss is the objective."""
        safety, counted = (None, None) if requirement.size_only else bind_search_rules(requirement, table, _WIDEST)
        problem = make_problem(target, requirement.k, safety, size_price(table, self.objective, requirement.k))
        if counted is not None and counted.wanted.shape[0] > 0:
            problem = replace(problem, counted=counted.codes, wanted=counted.wanted)
        schedule = make_schedule(problem, self.steps, context.part)
        free = replace(problem, safety=None)

        comparable = target is table  # else the search makes something small that the bound is not about
        guide: Future[PriceGuide | None] = Future()
        if not comparable or safety is not None:
            guide.set_result(None)

        def searched() -> tuple[IntegerArray, float]:
            starts = _starts(target, free, schedule, context)
            priced, starts = _guided(free, starts, guide.result(), context)
            if safety is None or not requirement.monotone:
                return self._searched(priced, schedule, starts, context, 0.85 if safety is None else 0.5)
            if problem.counted is None:
                group, _ = self._searched(priced, schedule, starts, context, 0.5)
            else:
                group = self._searched_charged(problem, schedule, starts, context)
            return self._searched_safely(target, problem, requirement, group, context)

        aside = context if comparable else replace(context, progress=silent)
        (bound, proof), (group, energy) = context.both(
            lambda: _bound(table, requirement, aside, self.steps, problem if comparable else None, guide), searched
        )
        if comparable:
            context.report_bound(bound.value)
        context.report(1.0, loss=energy / problem.scale)
        notes = [_STOPPED] if context.stop.asked else []
        details = {"loss": energy / problem.scale, "lower_bound": bound.as_dict(), "notes": notes}
        return problem, RowClustering(problem.item_row, problem.item_weight, group, bound.value, proof, details)

    def _with_small_squares(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        """Groups for a release of means; models besides k are left to the repair."""
        from shoal.algorithms.shoal.microaggregation import check_numbers, square_groups

        check_numbers(table)
        (bound, proof), (groups, square) = context.both(
            lambda: _bound(table, requirement, replace(context, progress=silent), self.steps),
            lambda: square_groups(table, requirement.k, self.steps, context),
        )
        notes = [_STOPPED] if context.stop.asked else []
        details = {"mean_square": square, "lower_bound": bound.as_dict(), "notes": notes}
        return Clustering(groups, lower_bound=bound.value, proof=proof, details=details)

    def _searched(
        self,
        problem: SearchProblem,
        schedule: Schedule,
        starts: list[tuple[IntegerArray, float]],
        context: Context,
        share: float,
    ) -> tuple[IntegerArray, float]:
        """Groups of at least k and their energy, whatever other models say; `share` of the progress is made here."""
        end_compiling()
        whole = share / (len(starts) * len(schedule.rounds))
        done = 0
        best = starts[0]
        with context.stop.listening():
            for group, energy in starts:
                for plan in schedule.rounds:
                    context.report(0.1 + whole * done, loss=best[1] / problem.scale)
                    if context.stop.asked:
                        return best
                    group, energy, _ = refine(problem, group, plan, energy / problem.records, context, done)
                    done += 1
                    best = min(best, (group, energy), key=lambda one: one[1])
        return best

    def _searched_charged(
        self,
        problem: SearchProblem,
        schedule: Schedule,
        starts: list[tuple[IntegerArray, float]],
        context: Context,
    ) -> IntegerArray:
        """Groups of which few are unsafe for models besides k-anonymity: unsafe ones are charged."""
        end_compiling()
        best, least, done = starts[0][0], np.inf, 0
        rounds = charged_rounds(problem, schedule.rounds, context.part)
        with context.stop.listening():
            for group, energy in starts:
                charge = np.inf
                for plan in rounds:
                    if context.stop.asked:
                        return best
                    context.report(0.1 + 0.5 * done / (len(starts) * len(rounds)), loss=energy / problem.scale)
                    group, energy, charge = refine(problem, group, plan, energy / problem.records, context, done)
                    done += 1
                if energy + charge < least:
                    best, least = group, energy + charge
        return best

    def _searched_safely(
        self,
        table: EncodedTable,
        problem: SearchProblem,
        requirement: Requirement,
        group: IntegerArray,
        context: Context,
    ) -> tuple[IntegerArray, float]:
        """Repair the groups, then search on from there; no step makes a group less safe."""
        group, energy = _made_safe(table, problem, requirement, group, context)
        rounds = safe_rounds(problem, self.steps, context.part)
        best, first = (group, energy), len(rounds) if problem.counted is None else _AFTER
        with context.stop.listening():
            for number, plan in enumerate(rounds):
                if context.stop.asked:
                    break
                group, energy, _ = refine(problem, group, plan, energy / problem.records, context, first + number)
                best = min(best, (group, energy), key=lambda one: one[1])
                context.report(0.6 + 0.35 * (number + 1) / len(rounds), loss=best[1] / problem.scale)
        return best


def _refuse_too_few(table: EncodedTable, requirement: Requirement) -> None:
    if table.records < requirement.k:
        message = f"the table has {table.records} records, fewer than a group needs ({requirement.k})"
        raise RequirementError(Problem("too-few-records", message))


def _bound(
    table: EncodedTable,
    requirement: Requirement,
    context: Context,
    effort: float,
    problem: SearchProblem | None = None,
    guide: Future[PriceGuide | None] | None = None,
) -> tuple[LowerBound, BoundProof | None]:
    """What no release loses less than, whoever makes it: nothing is presumed of it but the requirement.

    OUT guide  gets prices for the search as soon as there are some, None if there are none; it may have that already
    """
    smallest = requirement.smallest_class([one.name for one in table.attributes])
    may_suppress = context.may_suppress
    guided = guide is not None and not guide.done() and smallest == requirement.k
    tell = guide.set_result if guide is not None and guided else None
    try:
        if not context.wants_bound:
            if tell is not None:
                tell(price_guide(table, smallest, context, may_suppress, effort))
            return LowerBound(0.0, "not asked for", 1.0, 0), None
        bound = lower_bound(
            table, smallest, context, problem=problem, suppression=may_suppress, effort=effort, tell=tell
        )
        return bound, bound_proof(bound, smallest, may_suppress)
    finally:
        if guide is not None and not guide.done():
            guide.set_result(None)


def _guided(
    problem: SearchProblem,
    starts: list[tuple[IntegerArray, float]],
    guide: PriceGuide | None,
    context: Context,
) -> tuple[SearchProblem, list[tuple[IntegerArray, float]]]:
    """The problem with the prices of a guide, and as many starts as before: the best, with that from the prices."""
    if guide is None:
        return problem, starts
    priced = priced_start(problem, guide, context)
    if priced is not None:
        starts = sorted([*starts, priced], key=lambda one: one[1])[: len(starts)]
    return with_prices(problem, guide), starts


def _starts(
    table: EncodedTable, problem: SearchProblem, schedule: Schedule, context: Context
) -> list[tuple[IntegerArray, float]]:
    """First groupings with their energies, the least first: so many as the schedule wants to go on from."""
    alone = replace(context, threads=1)  # with one block for all, the threads are better used on several tries
    several = problem.items <= schedule.classed_block

    def classed(prices: Prices) -> IntegerArray | None:
        return classed_groups(table, problem, alone if several else context, schedule.classed_block, prices)

    groups = []
    if problem.saturates.any():
        found = context.map(classed, schedule.prices) if several else [classed(one) for one in schedule.prices]
        groups = [renumber(group) for group in found if group is not None]
    starts = sorted(((group, total_energy(problem, group, context)) for group in groups), key=lambda one: one[1])
    starts = starts[: max(1, schedule.starts - 1)]
    if not starts or schedule.starts > 1:
        grown = renumber(grown_groups(problem, context, schedule.grown_reach, schedule.grown_parts))
        starts.append((grown, total_energy(problem, grown, context)))
    return starts


def _made_safe(
    table: EncodedTable, problem: SearchProblem, requirement: Requirement, group: IntegerArray, context: Context
) -> tuple[IntegerArray, float]:
    """Groups that hold all models, from which the search can start: none of its moves makes a group less safe."""
    from shoal.safe_groups.repair import repair

    records = record_groups(problem, group, table.row_of_record)
    quiet = replace(context, progress=silent)  # the repair counts its progress from 0 again
    safe = repair(table, Clustering(records), requirement, quiet, polish=problem.counted is None).groups
    assert problem.item_record is not None
    group = renumber(safe[problem.item_record])
    return group, total_energy(problem, group, context)
