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
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.evaluation.attacks.attacks import run_attacks
from shoal.evaluation.options import (
    DEFAULT_OPTIONS,
    PARTS,
    AttackerTables,
    Compared,
    EvaluationOptions,
    evaluation_problems,
)
from shoal.evaluation.risk.combinations import risky_combinations
from shoal.evaluation.risk.release_risk import Persons, release_risk
from shoal.evaluation.usefulness.learning import model_accuracy
from shoal.evaluation.usefulness.queries import query_errors
from shoal.evaluation.usefulness.shapes import column_shapes
from shoal.evaluation.usefulness.utility import utility
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.score import Scores, score_table
from shoal.progress import Progress, ProgressCallback, silent
from shoal.released.domain import Domain, make_domains
from shoal.released.reading import read_release
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
    hierarchies: Mapping[str, Hierarchy] | None = None,
    missing: Collection[str] = (),
    population: pl.DataFrame | None = None,
    external: pl.DataFrame | None = None,
    control: pl.DataFrame | None = None,
    anonymeter: Path | None = None,
    kept: NDArray[np.bool_] | None = None,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Evaluate any release. `domains` are made from the original, with scales found out, unless they are given.

    `population` is a table of everybody the journalist could look up; `external` is what an attacker links instead of
    a copy of the original; `control` holds people who are not in the release, to tell what being in it adds to the
    success of attacks. All have quasi-identifiers in the form of the original. `anonymeter` is a Python in which
    anonymeter is installed: its attacks are carried out too. `kept` are the records of the original that were
    released, in their order, where it is known and not all of them were: persons are then counted among them.
    """
    quasi = as_names(quasi)
    tables = AttackerTables(population, external, control, anonymeter)
    problems = evaluation_problems(original, release, quasi, options, tables)
    if problems:
        raise InputError(problems)
    if domains is None:
        domains = make_domains(original, find_attributes(original, quasi, missing), hierarchies or {}, missing)
    stages = _Stages(progress, ("loss", *options.parts))
    with stages.stage("loss"):
        table = read_release(original, release, quasi, domains, same_order=options.same_order is not False)
        scores = score_table(
            table,
            release,
            k=options.k,
            class_column=options.class_column,
            weights=options.weights,
            beta=options.beta,
        )
    compared = Compared(table, original, release, options)
    samples: list[str] = []
    work: dict[str, Callable[[], Any]] = {
        "risk": lambda: release_risk(compared, population, Persons(tuple(missing), kept), samples),
        "combinations": lambda: risky_combinations(
            original, quasi, largest=options.combination_size, threshold=options.threshold
        ),
        "attack": lambda: _attack(compared, tables, samples),
        "utility": lambda: utility(table, original, release, _kept(compared)),
        "queries": lambda: query_errors(table, original, queries=options.queries, seed=options.seed),
        "models": lambda: _models(compared, samples),
    }
    found = _carry_out(work, options.parts, stages)
    risk = found.pop("risk", None) or work["risk"]()
    if "utility" in options.parts:
        found["shapes"] = column_shapes(table, original)
    samples += _shortened(found)
    return Evaluation(
        original.height, tuple(quasi), options, scores, risk, samples=tuple(samples), seconds=stages.seconds, **found
    )


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
    options = compared.options
    found, sampled = run_attacks(
        compared.table,
        compared.original,
        compared.release,
        k=options.k,
        sensitive=options.sensitive,
        party=options.party,
        external=tables.external,
        control=tables.control,
        anonymeter=tables.anonymeter,
        seed=options.seed,
    )
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
