"""read, plan, encode: from a draft to a table that passed all checks, or every problem on the way in one error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from shoal.algorithms.base import Algorithm
from shoal.encode.codebook import Codebook
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.population import encode_population
from shoal.errors import InputError, Problem, RequirementError
from shoal.job.draft import Draft
from shoal.job.job import Job
from shoal.job.plan import Plan, make_plan
from shoal.models.base import Requirement
from shoal.models.feasible import impossible
from shoal.pipeline.signature import key_problems
from shoal.pipeline.sources import ReadSource, Source, read_population
from shoal.progress import Watch

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that passed all checks, ready to be clustered, with everything that was decided about it."""

    job: Job
    algorithm: Algorithm
    requirement: Requirement
    source: Source
    plan: Plan
    table: EncodedTable
    codebook: Codebook
    population: pl.DataFrame | None = None

    @property
    def frame(self) -> pl.DataFrame:
        return self.source.frame

    def job_to_repeat(self) -> Job:
        """The job with every model in words, so that it can be saved; a frame has no input to name."""
        models = tuple(model.spec() for model in self.requirement.models)
        return self.job.model_copy(update={"models": models, "k": None})


def prepare(draft: Draft, read: ReadSource, watch: Watch) -> Prepared:
    """Each step is tried as far as the earlier ones allow, so that all problems are told at once."""
    problems = [*draft.problems, *key_problems(draft.job.sign)]
    with watch.stage("read"):
        source = tried(problems, read)
        population = tried(problems, lambda: read_population(draft.job))
    if source is not None:
        watch.show("read", source.frame)
    with watch.stage("encode"):
        plan = tried(problems, lambda: _plan(draft, source)) if source is not None else None
        encoded = _tried_encoding(draft, source, plan, population, problems)
    if problems:
        raise InputError(dict.fromkeys(problems))
    assert source is not None
    assert plan is not None
    assert encoded is not None
    watch.show("encode", encoded)
    algorithm, requirement = draft.complete()
    unmet = impossible(requirement, encoded[0])
    if unmet:
        raise RequirementError(unmet)
    return Prepared(draft.job, algorithm, requirement, source, plan, *encoded, population)


def _tried_encoding(
    draft: Draft, source: Source | None, plan: Plan | None, population: pl.DataFrame | None, problems: list[Problem]
) -> tuple[EncodedTable, Codebook] | None:
    """The table as integers, with its population; None if there is nothing to encode, or if something is wrong."""
    if source is None or plan is None or not plan.quasi:
        return None
    encoded = tried(problems, lambda: _encode(draft, source, plan))
    if encoded is None or population is None:
        return encoded
    return tried(problems, lambda: _with_population(draft.job, population, *encoded))


def tried(problems: list[Problem], step: Callable[[], Value]) -> Value | None:
    """What a step finds; None if it fails, and its problems are added to the others."""
    try:
        return step()
    except InputError as error:
        problems.extend(error.problems)
        return None


def _plan(draft: Draft, source: Source) -> Plan:
    return make_plan(draft.job, source.frame, draft.requirement, known=source.coded, described=draft.described)


def _encode(draft: Draft, source: Source, plan: Plan) -> tuple[EncodedTable, Codebook]:
    requirement = draft.requirement
    looked_at = list(requirement.columns()) if requirement is not None else []
    if draft.job.class_column is not None:
        looked_at.append(draft.job.class_column)
    options = EncodeOptions(
        missing=plan.missing,
        weights=plan.weights,
        as_nodes=plan.as_nodes,
        at_most=plan.at_most,
        roundings=plan.roundings,
        model_columns=tuple(looked_at),
        named_values=requirement.named_values() if requirement is not None else (),
    )
    return encode_table(source.frame, plan.attributes, plan.hierarchies, options, plan.coded)


def _with_population(
    job: Job, population: pl.DataFrame, table: EncodedTable, codebook: Codebook
) -> tuple[EncodedTable, Codebook]:
    """The encoded table with the population in its codes."""
    codes, owners = encode_population(population, codebook, job.missing, job.person)
    return replace(table, population=codes, population_owners=owners), codebook
