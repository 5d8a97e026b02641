"""The whole evaluation of a release against its original: loss, risk, attacks, utility, queries, models.

The release may come from any tool; it needs the same columns and, for everything that compares record with record, the
same number and order of rows. Samples are drawn only where a full pass would take too long, and every sample is named
in `samples`. The same tables and seed give the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.evaluation.attacks.attacks import run_attacks
from shoal.evaluation.options import (
    DEFAULT_OPTIONS,
    NO_TABLES,
    PARTS,
    AttackerTables,
    Compared,
    EvaluationOptions,
    evaluation_problems,
)
from shoal.evaluation.risk.combinations import risky_combinations
from shoal.evaluation.risk.release_risk import EVERY_RECORD, Persons, release_risk
from shoal.evaluation.usefulness.learning import model_accuracy
from shoal.evaluation.usefulness.queries import query_errors
from shoal.evaluation.usefulness.shapes import column_shapes
from shoal.evaluation.usefulness.utility import utility
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.score import Scores, score_table
from shoal.progress import Progress, ProgressCallback, silent
from shoal.released.domain import Domain, make_domains
from shoal.released.reading import ReadTable, read_release
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role, as_names


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All that was found, as plain numbers and words; no value of the data."""

    records: int
    quasi: tuple[str, ...]
    options: EvaluationOptions
    scores: Scores
    risk: dict[str, Any]
    combinations: dict[str, Any] | None = None
    attack: dict[str, Any] | None = None
    utility: dict[str, Any] | None = None
    queries: dict[str, Any] | None = None
    models: dict[str, Any] | None = None
    shapes: dict[str, Any] | None = None  # what columns look like; it names common values, so only reports have it
    clusters: dict[str, Any] | None = None  # how well clusters are kept; filled in by who asks for it
    together: dict[str, Any] | None = None  # with earlier releases; filled in by who has them
    samples: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what could not be told, and why
    seconds: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "quasi": list(self.quasi),
            "sensitive": list(self.options.sensitive),
            "k": self.options.k,
            "seed": self.options.seed,
            "scores": self.scores.as_dict(),
            "risk": self.risk,
            "combinations": self.combinations,
            "attack": self.attack,
            "utility": self.utility,
            "queries": self.queries,
            "models": self.models,
            "clusters": self.clusters,
            "together": self.together,
            "samples": list(self.samples),
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
        }

    def report(
        self,
        *,
        public: bool = False,
        title: str | None = None,
        summary: Mapping[str, Any] | None = None,
        language: str | None = None,
        frontier: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        """The evaluation as one offline HTML page; with the summary of a run (or its certificate), with its checks."""
        from shoal.reports.report import build_report

        found = {**self.as_dict(), "shapes": self.shapes}
        return build_report(summary, found, public=public, title=title, language=language, frontier=frontier)

    def _repr_html_(self) -> str:
        from shoal.reports.notebook import evaluation_html

        return evaluation_html(self.as_dict())


def evaluate_release(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    options: EvaluationOptions = DEFAULT_OPTIONS,
    *,
    domains: Mapping[str, Domain] | None = None,
    tables: AttackerTables = NO_TABLES,
    persons: Persons = EVERY_RECORD,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Evaluate any release. `domains` are made from the original, with scales found out, unless they are given.

    `tables` are what an attacker may have besides the release. `persons` tells which texts are no person and, where it
    is known and not all of them were released, which records of the original were, in their order.
    """
    quasi = as_names(quasi)
    problems = evaluation_problems(original, release, quasi, options, tables)
    if problems:
        raise InputError(problems)
    if domains is None:
        domains = found_domains(original, quasi)
    stages = _Stages(progress, ("loss", *options.parts))
    with stages.stage("loss"):
        table = read_release(original, release, quasi, domains, same_order=options.same_order is not False)
        scores = _scores(table, release, options)
    found = _all_parts(Compared(table, original, release, options), tables, persons, stages)
    return Evaluation(original.height, quasi, options, scores, seconds=stages.seconds, **found)


def found_domains(
    original: pl.DataFrame, quasi: Sequence[str], hierarchies: Mapping[str, Hierarchy] | None = None
) -> dict[str, Domain]:
    """What released cells are measured against, with scales as the values of the original show them."""
    return make_domains(original, find_attributes(original, quasi), hierarchies or {}, ())


def _scores(table: ReadTable, release: pl.DataFrame, options: EvaluationOptions) -> Scores:
    label = options.class_column
    return score_table(table, release, k=options.k, class_column=label, weights=options.weights, beta=options.beta)


def _all_parts(compared: Compared, tables: AttackerTables, persons: Persons, stages: _Stages) -> dict[str, Any]:
    """What every part has found, and on which samples; what nobody asked for is left out, but for the risk."""
    options, samples = compared.options, list[str]()
    work: dict[str, Callable[[], Any]] = {
        "risk": lambda: release_risk(compared, tables.population, persons, samples),
        "combinations": lambda: _combinations(compared),
        "attack": lambda: _attack(compared, tables, samples),
        "utility": lambda: utility(compared.table, compared.original, compared.release, _kept(compared)),
        "queries": lambda: query_errors(compared.table, compared.original, queries=options.queries, seed=options.seed),
        "models": lambda: _models(compared, samples),
    }
    found = _carry_out(work, options.parts, stages)
    if "risk" not in found:
        found["risk"] = work["risk"]()
    if "utility" in options.parts:
        found["shapes"] = column_shapes(compared.table, compared.original)
    return {**found, "samples": (*samples, *_shortened(found))}


def _combinations(compared: Compared) -> dict[str, Any]:
    columns, options = list(compared.table.columns), compared.options
    return risky_combinations(compared.original, columns, largest=options.combination_size, threshold=options.threshold)


def _carry_out(work: Mapping[str, Callable[[], Any]], parts: Collection[str], stages: _Stages) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in PARTS:
        if part in parts:
            # what goes beyond the largest float is infinite, and needs no warning
            with stages.stage(part), np.errstate(over="ignore", invalid="ignore"):
                found[part] = work[part]()
    return found


def _shortened(found: Mapping[str, Any]) -> list[str]:
    """What was looked at in part only, because all of it would take too long."""
    shortened = []
    if found.get("combinations") and found["combinations"]["largest"] < found["combinations"]["asked"]:
        shortened.append(f"combinations of attributes up to {found['combinations']['largest']} columns")
    left_out = (found.get("utility") or {}).get("pairs_left_out", 0)
    if left_out:
        shortened.append(f"tables of two attributes, without {left_out} pairs")
    return shortened


def find_attributes(original: pl.DataFrame, quasi: Sequence[str], missing: Collection[str] = ()) -> list[Attribute]:
    """The quasi-identifiers with the scales that their values show."""
    return [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(original[name], missing)) for name in quasi]


class _Stages:
    """Times every part and reports how far the evaluation is."""

    def __init__(self, progress: ProgressCallback, names: Sequence[str]) -> None:
        self.progress, self.names = progress, list(names)
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.progress(Progress("evaluate", self.names.index(name) / len(self.names), note=name))
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
        self.progress(Progress("evaluate", (self.names.index(name) + 1) / len(self.names), note=name))


def _attack(compared: Compared, tables: AttackerTables, samples: list[str]) -> dict[str, Any]:
    found, sampled = run_attacks(compared, tables)
    samples += sampled
    return found


def _kept(compared: Compared) -> list[str]:
    """Columns that are compared with the quasi-identifiers: sensitive ones and the label, where they can be binned."""
    options, release = compared.options, compared.release
    names = [*options.sensitive, *([options.class_column] if options.class_column else [])]
    return [name for name in dict.fromkeys(names) if name not in compared.table.columns and name in release.columns]


def _models(compared: Compared, samples: list[str]) -> dict[str, Any]:
    options, original = compared.options, compared.original
    labels = [options.class_column] if options.class_column else list(options.sensitive)
    if not labels:
        return {"skipped": "no class column was given"}
    found = model_accuracy(compared.table, original, labels[0], seed=options.seed)
    if found.get("sampled"):
        samples.append(f"the models on {found['trained_on'] + found['tested_on']} of {original.height} records")
    return found
