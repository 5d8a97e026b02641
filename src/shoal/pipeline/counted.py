"""The way of the data for engines that hold the records elsewhere: the same verbs, on counted rows.

facts, count, plan, encode, cluster, recode, release, count what was written, verify, evaluate, commit. The engine does
the passes over the records; every decision, the check and the metrics are those of `pipeline/run.py`, so the same job
gives the same cells, whoever holds them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from shoal.algorithms.base import Context
from shoal.encode.counted import CountedRows, CountedTable, encode_counted
from shoal.encode.encode import EncodeOptions
from shoal.encode.population import encode_population
from shoal.engines.base import Engine
from shoal.engines.cluster_counted import cluster_counted
from shoal.engines.local import deals_rows, key_columns
from shoal.errors import InputError, Problem, RequirementError
from shoal.job.checks import check_columns
from shoal.job.draft import Draft
from shoal.job.plan import Plan, kept_columns, make_plan
from shoal.models.feasible import impossible
from shoal.pipeline.counted_release import CountedInput, publish_counted
from shoal.pipeline.engines import open_engine
from shoal.pipeline.prepare import tried
from shoal.pipeline.purpose import threads_of
from shoal.pipeline.result import Result
from shoal.pipeline.signature import key_problems
from shoal.pipeline.sources import read_population
from shoal.progress import Watch
from shoal.recode.plan import make_release_plan
from shoal.tables.distinct import CodedColumn


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
    prepared = prepare_counted(draft, engine, watch)
    with watch.stage("cluster"):
        deals = cluster_counted(
            prepared.encoded,
            prepared.requirement,
            prepared.algorithm,
            Context(draft.job.seed, threads_of(draft.job), watch.progress, watch.stop),
            draft.job.suppression_limit,
            prepared.recode_options,
        )
        watch.show("cluster", deals.clustering)
    watch.end_unless_kept()
    with watch.stage("recode"):
        kept = [name for name in prepared.schema if name not in set(prepared.plan.dropped)]
        plan = make_release_plan(prepared.counted, prepared.encoded, deals, prepared.recode_options, kept)
        watch.show("recode", plan)
    return publish_counted(prepared, deals, plan, watch)


def prepare_counted(draft: Draft, engine: Engine, watch: Watch) -> CountedInput:
    """What can be told from the names of the columns is told before the records are read; then all other problems."""
    problems = [*draft.problems, *key_problems(draft.job.sign)]
    with watch.stage("read"):
        facts = tried(problems, engine.facts)
        population = tried(problems, lambda: read_population(draft.job))
        if facts is not None:
            empty = pl.DataFrame(schema=dict(facts.schema))
            problems += check_columns(draft.job, empty, draft.requirement, draft.described)
        if problems:
            raise InputError(dict.fromkeys(problems))
        assert facts is not None
        assert draft.requirement is not None
        assert draft.algorithm is not None
        found = engine.distinct(
            _counted_columns(draft),
            kept_columns(draft.job, list(facts.schema), draft.requirement, draft.described),
            draft.job.missing,
            watch.passing("read"),
        )
        counted = found.rows
        watch.show("read", counted)
    with watch.stage("encode"):
        plan = make_plan(
            draft.job,
            empty,
            draft.requirement,
            known=_known(counted),
            described=draft.described,
            kept_facts=found.kept,
        )
        encoded = _encode(draft, plan, counted, population)
        watch.show("encode", (encoded.table, encoded.codebook))
    rows_will_do = deals_rows(draft.requirement, draft.algorithm, draft.job.suppression_limit)
    unmet = impossible(draft.requirement, encoded.table if rows_will_do else encoded.with_records())
    if unmet:
        raise RequirementError(unmet)
    made = (draft.job, draft.algorithm, draft.requirement, engine, dict(facts.schema))
    return CountedInput(*made, counted, plan, encoded, population)


def _counted_columns(draft: Draft) -> list[str]:
    """Everything that the groups depend on, or that the check looks at and nobody will see."""
    assert draft.requirement is not None
    assert draft.algorithm is not None
    person = [draft.job.person] if draft.job.person is not None else []
    return list(dict.fromkeys([*draft.job.quasi, *key_columns(draft.requirement, draft.algorithm), *person]))


def _known(counted: CountedRows) -> dict[str, CodedColumn]:
    return {name: CodedColumn(values, counted.of(name), counted.counts) for name, values in counted.values.items()}


def _encode(draft: Draft, plan: Plan, counted: CountedRows, population: pl.DataFrame | None) -> CountedTable:
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
