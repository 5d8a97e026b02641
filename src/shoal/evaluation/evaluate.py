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

from shoal.errors import InputError, Problem, did_you_mean
from shoal.evaluation.attacks.attacks import run_attacks
from shoal.evaluation.attacks.linkage import candidates
from shoal.evaluation.attacks.matching import match, target_positions
from shoal.evaluation.risk.combinations import risky_combinations
from shoal.evaluation.risk.risk import (
    THRESHOLD,
    attribute_disclosure,
    journalist_risk,
    original_class_sizes,
    risk_curve,
    risk_profile,
    size_distribution,
)
from shoal.evaluation.summary import persons_alone, persons_per_class
from shoal.evaluation.usefulness.learning import model_accuracy
from shoal.evaluation.usefulness.queries import query_errors
from shoal.evaluation.usefulness.utility import utility
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.score import Scores, score_table
from shoal.progress import Progress, ProgressCallback, silent
from shoal.released.domain import Domain, make_domains
from shoal.released.reading import ReadTable, read_release
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role, as_names
from shoal.verification.classes import Classes, find_classes

PARTS = ("risk", "combinations", "attack", "utility", "queries", "models")


@dataclass(frozen=True)
class EvaluationOptions:
    """What to look at, and how closely."""

    k: int | None = None
    sensitive: tuple[str, ...] = ()
    class_column: str | None = None
    person: str | None = None  # a column of the original that tells persons apart: risks are then of persons
    threshold: float = THRESHOLD
    sampling_fraction: float | None = None  # share of the population that is in the table: the journalist's risk
    combination_size: int = 3
    party: tuple[str, ...] = ()  # quasi-identifiers that the first of two parties knows: the linkability attack
    queries: int = 1000
    seed: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    beta: float = 1.0  # exponent of the height weights of distortion
    same_order: bool | None = None  # whether the rows of release and original belong together; None: taken for granted
    class_based: bool = True  # False: every record has its own cells, so risk is 1 / candidates, not 1 / class size
    parts: tuple[str, ...] = PARTS


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
    ) -> str:
        """The evaluation as one offline HTML page; with the summary of a run (or its certificate), with its checks."""
        from shoal.reports.report import build_report

        return build_report(summary, self.as_dict(), public=public, title=title, language=language)

    def _repr_html_(self) -> str:
        from shoal.reports.notebook import evaluation_html

        return evaluation_html(self.as_dict())


def evaluate_release(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    options: EvaluationOptions = EvaluationOptions(),
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
    _check(original, release, quasi, options, population, external, control)
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
    found: dict[str, Any] = {}
    samples: list[str] = []
    work: dict[str, Callable[[], Any]] = {
        "risk": lambda: _risk(table, original, release, options, population, samples, (missing, kept)),
        "combinations": lambda: risky_combinations(
            original, quasi, largest=options.combination_size, threshold=options.threshold
        ),
        "attack": lambda: _attack(table, original, release, options, external, control, anonymeter, samples),
        "utility": lambda: utility(table, original, release, _kept(table, original, release, options)),
        "queries": lambda: query_errors(table, original, queries=options.queries, seed=options.seed),
        "models": lambda: _models(table, original, options, samples),
    }
    for part in PARTS:
        if part in options.parts:
            # what goes beyond the largest float is infinite, and needs no warning
            with stages.stage(part), np.errstate(over="ignore", invalid="ignore"):
                found[part] = work[part]()
    risk = found.pop("risk", None) or work["risk"]()
    if found.get("combinations") and found["combinations"]["largest"] < found["combinations"]["asked"]:
        samples.append(f"combinations of attributes up to {found['combinations']['largest']} columns")
    left_out = (found.get("utility") or {}).get("pairs_left_out", 0)
    if left_out:
        samples.append(f"tables of two attributes, without {left_out} pairs")
    return Evaluation(
        original.height, tuple(quasi), options, scores, risk, samples=tuple(samples), seconds=stages.seconds, **found
    )


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


def _check(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    options: EvaluationOptions,
    population: pl.DataFrame | None,
    external: pl.DataFrame | None,
    control: pl.DataFrame | None,
) -> None:
    problems = []
    for name in dict.fromkeys([*quasi, *options.sensitive, *([options.class_column] if options.class_column else [])]):
        for role, frame in (("original", original), ("release", release)):
            if name not in frame.columns:
                hint = did_you_mean(name, frame.columns)
                problems.append(Problem("unknown-column", f"the {role} has no such column", name, hint))
    for role, frame_or_none in (("population", population), ("external table", external)):
        if frame_or_none is not None and not set(quasi) & set(frame_or_none.columns):
            problems.append(Problem("no-common-column", f"the {role} has none of the quasi-identifiers"))
    if control is not None:
        lacking = [name for name in quasi if name not in control.columns]
        problems += [Problem("unknown-column", "the control has no such column", name) for name in lacking]
    strangers = [name for name in options.party if name not in quasi]
    problems += [Problem("unknown-column", "a party knows quasi-identifiers only", name) for name in strangers]
    if options.party and set(options.party) == set(quasi):
        problems.append(Problem("bad-party", "the other party must know something too", hint="leave a column out"))
    if options.sampling_fraction is not None and not 0 < options.sampling_fraction <= 1:
        problems.append(Problem("bad-fraction", "the sampling fraction must be above 0 and at most 1"))
    if not 0 <= options.threshold <= 1:
        problems.append(Problem("bad-threshold", "the risk threshold must be between 0 and 1"))
    unknown = [part for part in options.parts if part not in PARTS]
    problems += [
        Problem("unknown-part", f"there is no part '{part}'", None, did_you_mean(part, PARTS)) for part in unknown
    ]
    if problems:
        raise InputError(problems)


def _risk(
    table: ReadTable,
    original: pl.DataFrame,
    release: pl.DataFrame,
    options: EvaluationOptions,
    population: pl.DataFrame | None,
    samples: list[str],
    persons_told_by: tuple[Collection[str], NDArray[np.bool_] | None],
) -> dict[str, Any]:
    missing, kept = persons_told_by
    before = original_class_sizes(original, list(table.columns))
    fitting = None
    if population is not None:
        names = [name for name in table.columns if name in population.columns]
        places = target_positions(population.select(names), names, {name: table.columns[name].domain for name in names})
        fitting = match(table, names, places).fitting
    sizes, members = table.class_sizes, table.class_sizes
    members_before = before
    alone_before = alone_after = None
    if options.person is not None:
        if not table.aligned and (kept is None or int(kept.sum()) != release.height):
            message = "persons can be counted only if the release has the rows of the original, in the same order"
            hint = "give the private key of the release with --key"
            raise InputError(Problem("different-rows", message, options.person, hint))
        persons = _persons(original, options.person)
        classes = find_classes(original, list(table.columns))
        before, members_before = persons_per_class(classes, persons, tuple(missing)), classes.sizes
        alone_before = persons_alone(classes, persons, tuple(missing))
        if options.class_based:
            classes = Classes(table.class_of_row.astype(np.int64), table.class_sizes.astype(np.int64))
            released = persons if kept is None else persons.filter(pl.Series(kept))
            sizes = persons_per_class(classes, released, tuple(missing))
            alone_after = _alone_after(table, classes, released, tuple(missing))
    suppressed: NDArray[np.bool_] | None = table.suppressed_classes
    if not options.class_based:
        sizes, sampled = candidates(table, original, options.seed)
        suppressed, members = None, np.ones(sizes.shape[0], dtype=np.int64)
        if sampled:
            samples.append(f"the risk of {sizes.shape[0]} of {original.height} records")
    return {
        "threshold": options.threshold,
        "basis": "classes" if options.class_based else "candidates",
        "before": risk_profile(before, None, options.threshold, members_before, alone_before).as_dict(),
        "after": risk_profile(sizes, suppressed, options.threshold, members, alone_after).as_dict(),
        "curve_before": risk_curve(before, None, members_before),
        "curve_after": risk_curve(sizes, suppressed, members),
        "sizes_before": size_distribution(before, members_before),
        "sizes_after": size_distribution(sizes, members),
        "journalist": journalist_risk(table, fraction=options.sampling_fraction, population=fitting),
        "disclosure": {name: attribute_disclosure(table, release[name]) for name in options.sensitive},
    }


def _persons(original: pl.DataFrame, person: str) -> pl.Series:
    if person not in original.columns:
        hint = did_you_mean(person, original.columns)
        raise InputError(Problem("unknown-column", "the original has no such column", person, hint))
    return original[person]


def _alone_after(table: ReadTable, classes: Classes, persons: pl.Series, missing: Sequence[str]) -> int:
    """Persons who have a class of the release to themselves; suppressed records fit everybody."""
    if not table.suppressed_classes.any() or table.suppressed_classes.all():
        return persons_alone(classes, persons, missing)
    shown = ~table.suppressed_classes[table.class_of_row]
    number = np.cumsum(~table.suppressed_classes) - 1
    kept = Classes(number[classes.of_record[shown]], classes.sizes[~table.suppressed_classes])
    return persons_alone(kept, persons.filter(pl.Series(shown)), missing)


def _attack(
    table: ReadTable,
    original: pl.DataFrame,
    release: pl.DataFrame,
    options: EvaluationOptions,
    external: pl.DataFrame | None,
    control: pl.DataFrame | None,
    anonymeter: Path | None,
    samples: list[str],
) -> dict[str, Any]:
    found, sampled = run_attacks(
        table,
        original,
        release,
        k=options.k,
        sensitive=options.sensitive,
        party=options.party,
        external=external,
        control=control,
        anonymeter=anonymeter,
        seed=options.seed,
    )
    samples += sampled
    return found


def _kept(table: ReadTable, original: pl.DataFrame, release: pl.DataFrame, options: EvaluationOptions) -> list[str]:
    """Columns that are compared with the quasi-identifiers: sensitive ones and the label, where they can be binned."""
    names = [*options.sensitive, *([options.class_column] if options.class_column else [])]
    return [name for name in dict.fromkeys(names) if name not in table.columns and name in release.columns]


def _models(table: ReadTable, original: pl.DataFrame, options: EvaluationOptions, samples: list[str]) -> dict[str, Any]:
    labels = [options.class_column] if options.class_column else list(options.sensitive)
    if not labels:
        return {"skipped": "no class column was given"}
    found = model_accuracy(table, original, labels[0], seed=options.seed)
    if found.get("sampled"):
        samples.append(f"the models on {found['trained_on'] + found['tested_on']} of {original.height} records")
    return found
