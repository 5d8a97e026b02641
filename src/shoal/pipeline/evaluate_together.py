"""What a release gives away together with earlier ones, measured for `shoal evaluate --with`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl

from shoal.errors import InputError, Problem
from shoal.evaluation.options import EvaluationOptions
from shoal.pipeline.series import releases_before
from shoal.pipeline.verify_together import common_columns
from shoal.released.domain import Domain
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import read_table
from shoal.tables.frames.frames import to_polars


@dataclass(frozen=True)
class EarlierFiles:
    """Releases of the same people, the earliest first, and the table behind the last of them."""

    releases: tuple[Path, ...] = ()
    original: Path | None = None
    person_key: tuple[str, ...] = ()
    join_key: tuple[str, ...] = ()  # columns of all releases by which an attacker joins them record by record

    @classmethod
    def of_series(cls, series: Path, release: Path) -> Self:
        """Those before a release in its series, and the table behind the last of them, if it is still there."""
        entries = releases_before(series, release)
        original = entries[-1].original() if entries else None
        return cls(tuple(entry.file for entry in entries), original)


def original_without_release(original: Path | None, releases: Sequence[Path]) -> list[Problem]:
    if original is None or releases:
        return []
    return [Problem("no-earlier-release", "an earlier table is given, but no release of it", hint="--with")]


@dataclass(frozen=True, eq=False)
class EarlierFrames:
    """The same, read."""

    releases: tuple[pl.DataFrame, ...] = ()
    original: pl.DataFrame | None = None
    person_key: tuple[str, ...] = ()
    join_key: tuple[str, ...] = ()

    @classmethod
    def of(cls, releases: Sequence[Any], original: Any, person_key: Sequence[str], join_key: Sequence[str]) -> Self:
        """The same from frames of any kind."""
        frames = tuple(to_polars(one)[0] for one in releases)
        table = to_polars(original)[0] if original is not None else None
        return cls(frames, table, tuple(person_key), tuple(join_key))

    @classmethod
    def read(cls, files: EarlierFiles, csv: CsvOptions, problems: list[Problem]) -> Self:
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
        problems += original_without_release(files.original, files.releases)
        return cls(tuple(frames), original, files.person_key, files.join_key)

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        return [
            Problem("unknown-column", f"earlier release {number} has no such column", name)
            for number, frame in enumerate(self.releases, start=1)
            for name in (*quasi, *self.join_key)
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
        from shoal.releases.exposure import Measuring, measure_together

        frames = [*self.releases, release]
        shared = common_columns(frames, [*quasi, *self.join_key])
        linking = [name for name in shared if name in original.columns]
        how = Measuring(
            quasi,
            linking,
            domains,
            k=options.k,
            secrets=[name for name in options.sensitive if name in linking],
            earlier_original=self.original,
            person_key=self.person_key,
            join_key=self.join_key,
            seed=options.seed,
        )
        return measure_together(original, frames, how)
