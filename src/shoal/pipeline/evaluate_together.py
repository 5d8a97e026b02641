"""What a release gives away together with earlier ones, measured for `shoal evaluate --with`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.evaluation.options import EvaluationOptions
from shoal.pipeline.verify_together import common_columns
from shoal.released.domain import Domain
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import read_table


@dataclass(frozen=True)
class EarlierFiles:
    """Releases of the same people, the earliest first, and the table behind the last of them."""

    releases: tuple[Path, ...] = ()
    original: Path | None = None
    person_key: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class EarlierFrames:
    """The same, read."""

    releases: tuple[pl.DataFrame, ...]
    original: pl.DataFrame | None
    person_key: tuple[str, ...]

    @classmethod
    def read(cls, files: EarlierFiles, csv: CsvOptions, problems: list[Problem]) -> EarlierFrames:
        frames: list[pl.DataFrame] = []
        original = None
        for path in files.releases:
            try:
                frames.append(read_table(path).frame)
            except InputError as error:
                problems += error.problems
        if files.original is not None:
            try:
                original = read_table(files.original, csv).frame
            except InputError as error:
                problems += error.problems
            if not files.releases:
                message = "an earlier table is given, but no release of it"
                problems.append(Problem("no-earlier-release", message, hint="--with"))
        return cls(tuple(frames), original, files.person_key)

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        return [
            Problem("unknown-column", f"earlier release {number} has no such column", name)
            for number, frame in enumerate(self.releases, start=1)
            for name in quasi
            if name not in frame.columns
        ]

    def measure(
        self,
        original: pl.DataFrame,
        release: pl.DataFrame,
        quasi: Sequence[str],
        domains: Mapping[str, Domain],
        options: EvaluationOptions,
    ) -> dict[str, Any] | None:
        """None if there is no earlier release."""
        if not self.releases:
            return None
        from shoal.releases.exposure import measure_together

        frames = [*self.releases, release]
        shared = common_columns(frames, quasi)
        linking = [name for name in shared if name in original.columns]
        return measure_together(
            original,
            frames,
            quasi,
            linking,
            domains,
            k=options.k,
            secrets=[name for name in options.sensitive if name in linking],
            earlier_original=self.original,
            person_key=self.person_key,
            seed=options.seed,
        )
