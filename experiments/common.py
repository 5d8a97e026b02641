"""What the experiments share: where the tables are, results that survive an interruption, and pictures.

Results are CSV files to which one line is added per finished case. A run that was stopped goes on where it was: the
cases whose keys are already in the file are left out.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from shoal.errors import InputError, Problem
from shoal.progress import Progress, ProgressCallback
from shoal.reports.charts.draw import save_picture

Case = TypeVar("Case", bound=tuple[Any, ...])
Choice = TypeVar("Choice")


class Extent(Enum):
    """How much is run: enough to see that it works, what the pages show, or all cases of the papers."""

    QUICK = "quick"
    USUAL = "usual"
    FULL = "full"

    def pick(self, quick: Choice, usual: Choice, full: Choice | None = None) -> Choice:
        """One of three; where nothing is said of the full one, the usual one is all there is."""
        chosen = {Extent.QUICK: quick, Extent.USUAL: usual, Extent.FULL: usual if full is None else full}
        return chosen[self]


@dataclass(frozen=True)
class Finding:
    """A claim of a paper and what was measured."""

    claim: str
    measured: str
    holds: bool
    why: str = ""
    part: str = ""  # the heading that it stands below


def judged(claim: str, measured: str, holds: object, why: str = "") -> Finding:
    """A finding that tells why only where the claim does not hold."""
    return Finding(claim, measured, bool(holds), "" if holds else why)


def data_folder(given: str | Path | None = None) -> Path:
    """The folder of real tables: the one given, else the one that SHOAL_DATA names."""
    named = given or os.environ.get("SHOAL_DATA")
    if not named:
        raise InputError(Problem("no-data", "the folder of real tables is not named", hint="--data or SHOAL_DATA"))
    folder = Path(named)
    if not (folder / "adult").is_dir():
        raise InputError(Problem("no-data", f"the folder '{folder}' does not hold the folder 'adult'"))
    return folder


def adult(
    folder: Path, columns: Sequence[str] | None = None, file: str = "adult_complete.csv"
) -> tuple[pl.DataFrame, dict[str, Path]]:
    """A version of adult with the given columns (all by default), and the hierarchy files of these columns."""
    frame = pl.read_csv(folder / "adult" / file)
    if columns is not None:
        frame = frame.select(columns)
    files = {name: folder / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in frame.columns}
    return frame, {name: path for name, path in files.items() if path.is_file()}


def rows_done(file: Path, keys: Sequence[str]) -> set[tuple[str, ...]]:
    """The keys, as text, of the cases that a result file already holds."""
    if not file.is_file():
        return set()
    with file.open(newline="", encoding="utf-8") as lines:
        return {tuple(row[key] for key in keys) for row in csv.DictReader(lines)}


def waiting_cases(file: Path, keys: Sequence[str], cases: Sequence[Case], progress: ProgressCallback) -> Iterator[Case]:
    """The cases that a result file does not hold yet, one after another; progress is told before each and at the end.

    A case is a tuple that begins with its keys.
    """
    done = rows_done(file, keys)
    waiting = [case for case in cases if tuple(map(str, case[: len(keys)])) not in done]
    for number, case in enumerate(waiting):
        progress(Progress("experiment", number / len(waiting), note=f"{file.stem}: {number} of {len(waiting)} cases"))
        yield case
    progress(Progress("experiment", 1.0, note=f"{file.stem}: {len(cases)} cases are there"))


def append_row(file: Path, row: Mapping[str, Any]) -> None:
    """Add one case to a result file; the first one writes the header."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = not file.is_file()
    with file.open("a", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, fieldnames=list(row))
        if new:
            writer.writeheader()
        writer.writerow(dict(row))


def save_chart(spec: dict[str, Any], path: Path) -> None:
    """A chart as PNG or SVG, by the ending of the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_picture(spec, path)
