"""The way of the data for engines that hold the records elsewhere: the same verbs, on counted rows.

facts, count, plan, encode, cluster, recode, release, count what was written, verify, evaluate, commit. The engine does
the passes over the records; every decision, the check and the metrics are those of `pipeline/run.py`, so the same job
gives the same cells, whoever holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from shoal.algorithms.base import Algorithm, Context
from shoal.encode.counted import CountedRows, CountedTable, encode_counted
from shoal.encode.encode import EncodeOptions
from shoal.encode.population import encode_population
from shoal.encode.stored import StoredRows
from shoal.engines.base import Engine, Facts, Reading
from shoal.engines.local import deals_rows, key_columns
from shoal.errors import InputError, Problem, RequirementError
from shoal.job.checks import check_columns
from shoal.job.draft import Draft
from shoal.job.plan import Plan, kept_columns, make_plan
from shoal.models.base import Requirement
from shoal.models.feasible import impossible
from shoal.pipeline.counted_release import CountedInput, publish_counted
from shoal.pipeline.counted_whole import group_whole
from shoal.pipeline.engines import open_engine
from shoal.pipeline.prepare import tried
from shoal.pipeline.purpose import threads_of
from shoal.pipeline.result import Result
from shoal.pipeline.signature import key_problems
from shoal.pipeline.sources import read_population
from shoal.progress import Watch
from shoal.tables.distinct import CodedColumn

_NOT_IN_BLOCKS = ("mean", "midpoint", "value-suppression")  # these look at other groups, or at records


def make_counted_release(draft: Draft, watch: Watch, frame: Any = None) -> Result:
    """From a draft to a verified release, by the engine that the job names; `frame` is what it holds, if no file is."""
    if draft.job.input is None and frame is None:
        hint = "give 'input'"
        raise InputError([*draft.problems, Problem("no-input", "the job names no input", hint=hint)])
    if draft.problems:  # before any work
        raise InputError(dict.fromkeys(draft.problems))
    with open_engine(draft.job, frame) as engine:
        return release_by(draft, engine, watch)


def release_by(draft: Draft, engine: Engine, watch: Watch) -> Result:
    """From a draft and the engine that holds its table to a verified release."""
    draft.prepare()
    prepared, encode, encoded = prepare_counted(draft, engine, watch)
    context = Context(draft.job.seed, threads_of(draft.job), watch.progress, watch.stop)
    if encoded is None:
        from shoal.pipeline.counted_blocks import group_in_blocks

        groups, block_plan = group_in_blocks(prepared, encode, context, watch)
        return publish_counted(prepared, groups, block_plan, watch)
    whole = group_whole(prepared, encoded, context, watch)
    return publish_counted(prepared, whole, whole.plan, watch)


def prepare_counted(
    draft: Draft, engine: Engine, watch: Watch
) -> tuple[CountedInput, Callable[[CountedRows], CountedTable], CountedTable | None]:
    """What can be told from the names of the columns is told before the records are read; then all other problems.

    Gives the counted table, the way to encode rows of it, and all its rows encoded, if memory holds them.
    """
    with watch.stage("read"):
        facts, population = _facts(draft, engine)
        columns = _counted_columns(draft)
        kept = kept_columns(draft.job, list(facts.schema), draft.requirement, draft.described)
        reading = Reading(draft.job.missing, blocks=can_be_blocks(draft, columns))
        found = engine.distinct(columns, kept, reading, watch.passing("read"))
        watch.show("read", found.rows)
    assert draft.requirement is not None
    assert draft.algorithm is not None
    with watch.stage("encode"):
        empty, known = pl.DataFrame(schema=dict(facts.schema)), _known(found.rows)
        options: Any = {"known": known, "described": draft.described, "kept_facts": found.kept}
        plan = make_plan(draft.job, empty, draft.requirement, **options)
        encode = partial(_encode, draft, plan, population)
        encoded = None if isinstance(found.rows, StoredRows) else encode(found.rows)
        watch.show("encode", None if encoded is None else (encoded.table, encoded.codebook))
    if encoded is not None:
        _refuse_impossible(draft.requirement, draft.algorithm, draft.job.suppression_limit, encoded)
    made = (draft.job, draft.algorithm, draft.requirement, engine, dict(facts.schema))
    return CountedInput(*made, found.rows, plan, population), encode, encoded


def _facts(draft: Draft, engine: Engine) -> tuple[Facts, pl.DataFrame | None]:
    """What is known before the records are read; raises everything that can be told from it."""
    problems = [*draft.problems, *key_problems(draft.job.sign)]
    facts = tried(problems, engine.facts)
    population = tried(problems, lambda: read_population(draft.job))
    if facts is not None:
        empty = pl.DataFrame(schema=dict(facts.schema))
        problems += check_columns(draft.job, empty, draft.requirement, draft.described)
    if problems:
        raise InputError(dict.fromkeys(problems))
    assert facts is not None
    return facts, population


def _refuse_impossible(requirement: Requirement, algorithm: Algorithm, limit: float, encoded: CountedTable) -> None:
    rows_will_do = deals_rows(requirement, algorithm, limit)
    unmet = impossible(requirement, encoded.table if rows_will_do else encoded.with_records())
    if unmet:
        raise RequirementError(unmet)


def can_be_blocks(draft: Draft, columns: list[str]) -> bool:
    """Whether a job can be done block by block: with k-anonymity alone, and values that groups decide by themselves."""
    job, requirement, algorithm = draft.job, draft.requirement, draft.algorithm
    if requirement is None or algorithm is None or columns != list(job.quasi):
        return False
    by_rows = deals_rows(requirement, algorithm, job.suppression_limit)
    recodings = {job.recoding, *job.recodings.values()}
    return by_rows and len(requirement.models) == 1 and recodings.isdisjoint(_NOT_IN_BLOCKS)


def _counted_columns(draft: Draft) -> list[str]:
    """Everything that the groups depend on, or that the check looks at and nobody will see."""
    assert draft.requirement is not None
    assert draft.algorithm is not None
    person = [draft.job.person] if draft.job.person is not None else []
    return list(dict.fromkeys([*draft.job.quasi, *key_columns(draft.requirement, draft.algorithm), *person]))


def _known(counted: CountedRows | StoredRows) -> dict[str, CodedColumn]:
    if isinstance(counted, StoredRows):
        return {
            name: CodedColumn(values, np.arange(len(values), dtype=np.int32), counted.value_counts(name))
            for name, values in counted.values.items()
        }
    return {name: CodedColumn(values, counted.of(name), counted.counts) for name, values in counted.values.items()}


def _encode(draft: Draft, plan: Plan, population: pl.DataFrame | None, counted: CountedRows) -> CountedTable:
    assert draft.requirement is not None
    assert draft.algorithm is not None
    options = EncodeOptions(
        missing=plan.missing,
        weights=plan.weights,
        as_nodes=plan.as_nodes,
        roundings=plan.roundings,
        model_columns=key_columns(draft.requirement, draft.algorithm),
        named_values=draft.requirement.named_values(),
    )
    encoded = encode_counted(counted, plan.attributes, plan.hierarchies, options)
    if population is None:
        return encoded
    codes, owners = encode_population(population, encoded.codebook, draft.job.missing, draft.job.person)
    table = replace(encoded.table, population=codes, population_owners=owners)
    return replace(encoded, table=table)
