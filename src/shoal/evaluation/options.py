"""What an evaluation is to look at, what it looks at, and what speaks against that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.errors import Problem, did_you_mean
from shoal.evaluation.risk.risk import THRESHOLD, exempt_classes
from shoal.released.cells import BoolArray
from shoal.released.reading import ReadTable

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
    suppression_limit: float = 1.0  # share of suppressed records up to which they fit everybody; else they are a class
    class_based: bool = True  # False: every record has its own cells, so risk is 1 / candidates, not 1 / class size
    parts: tuple[str, ...] = PARTS


DEFAULT_OPTIONS = EvaluationOptions()


@dataclass(frozen=True, eq=False)
class Compared:
    """A release, read beside its original."""

    table: ReadTable
    original: pl.DataFrame
    release: pl.DataFrame
    options: EvaluationOptions

    @cached_property
    def exempt(self) -> BoolArray | None:
        """The classes of suppressed records that fit everybody, if there are any."""
        return exempt_classes(self.table.suppressed_classes, self.table.class_sizes, self.options.suppression_limit)


@dataclass(frozen=True, eq=False)
class AttackerTables:
    """What an attacker may have besides the release.

    `population` is a table of everybody the journalist could look up; `external` is what is linked instead of a copy
    of the original; `control` holds people who are not in the release, to tell what being in it adds to the success
    of attacks. All have quasi-identifiers in the form of the original. `anonymeter` is a Python in which anonymeter is
    installed: its attacks are carried out too.
    """

    population: pl.DataFrame | None = None
    external: pl.DataFrame | None = None
    control: pl.DataFrame | None = None
    anonymeter: Path | None = None


NO_TABLES = AttackerTables()


def evaluation_problems(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    options: EvaluationOptions,
    tables: AttackerTables,
) -> list[Problem]:
    """Everything that speaks against an evaluation."""
    named = [*quasi, *options.sensitive, *([options.class_column] if options.class_column else [])]
    return [
        *_missing_columns(original, release, named),
        *_other_tables(quasi, tables),
        *_party_problems(quasi, options.party),
        *_number_problems(options),
        *(
            Problem("unknown-part", f"there is no part '{part}'", None, did_you_mean(part, PARTS))
            for part in options.parts
            if part not in PARTS
        ),
    ]


def _missing_columns(original: pl.DataFrame, release: pl.DataFrame, names: Sequence[str]) -> Iterator[Problem]:
    for name in dict.fromkeys(names):
        for role, frame in (("original", original), ("release", release)):
            if name not in frame.columns:
                hint = did_you_mean(name, frame.columns)
                yield Problem("unknown-column", f"the {role} has no such column", name, hint)


def _other_tables(quasi: Sequence[str], tables: AttackerTables) -> Iterator[Problem]:
    for role, frame in (("population", tables.population), ("external table", tables.external)):
        if frame is not None and not set(quasi) & set(frame.columns):
            yield Problem("no-common-column", f"the {role} has none of the quasi-identifiers")
    if tables.control is not None:
        for name in quasi:
            if name not in tables.control.columns:
                yield Problem("unknown-column", "the control has no such column", name)


def _party_problems(quasi: Sequence[str], party: Sequence[str]) -> Iterator[Problem]:
    for name in party:
        if name not in quasi:
            yield Problem("unknown-column", "a party knows quasi-identifiers only", name)
    if party and set(party) == set(quasi):
        yield Problem("bad-party", "the other party must know something too", hint="leave a column out")


def _number_problems(options: EvaluationOptions) -> Iterator[Problem]:
    if options.sampling_fraction is not None and not 0 < options.sampling_fraction <= 1:
        yield Problem("bad-fraction", "the sampling fraction must be above 0 and at most 1")
    if not 0 <= options.threshold <= 1:
        yield Problem("bad-threshold", "the risk threshold must be between 0 and 1")
