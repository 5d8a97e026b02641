"""Columns that are published as they are: all of them are named, and none of them undoes the release unknowingly.

A column that is neither generalized nor dropped can give away what the others hide. So a job names what it keeps, and a
kept column is refused, unless the job allows it, if

- nearly every record has its own value in it (a name, a case number),
- it is a quasi-identifier once more, or decides one (a code of it, a date in another spelling),
- records that look the same would nearly all be told apart by it.

Cost: one group-by per kept column, and one per pair of a kept column and a quasi-identifier on at most `LOOKED_AT`
records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import Problem
from shoal.job.job import Job
from shoal.tables.distinct import CodedColumn, as_text, code_columns
from shoal.tables.scales import is_missing
from shoal.tables.types import has_text
from shoal.tables.value_sizes import ValueSizes

LOOKED_AT = 200_000  # records that a pair of columns is looked at with
NEAR_UNIQUE = 0.5  # different values per record from which on a column is near unique
DECIDED = 0.9  # from this strength on a column decides another one; 0 is no connection, 1 a function
EQUAL = 0.95  # share of equal cells from which on two columns are the same
TOLD_APART = 0.9  # share of a group whose records are told apart by a column

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Finding:
    """Why a column should not be kept: a reason code and a sentence."""

    reason: str
    message: str


_NOT_READABLE = Finding("not-readable", "its values have no text, so nobody can tell what they give away")


def unnamed_columns(job: Job, columns: Sequence[str], looked_at: Sequence[str]) -> list[str]:
    """The columns of a table that nobody has given a role."""
    named = {*job.quasi, *job.sensitive, *job.identifiers, *job.keep, job.class_column, job.person, *looked_at}
    return [name for name in columns if name not in named]


def role_problems(job: Job, columns: Sequence[str], looked_at: Sequence[str]) -> list[Problem]:
    """Columns that nobody named, and settings about kept columns that contradict each other."""
    problems = []
    if job.keep_rest and job.drop_rest:
        message = "the columns that are not named cannot be both kept and dropped"
        problems.append(Problem("keep-or-drop", message, hint="leave out --keep-rest or --drop-rest"))
    unnamed = unnamed_columns(job, columns, looked_at)
    if unnamed and not job.keep_rest and not job.drop_rest:
        problems.append(_name_them(unnamed))
    changed = {*job.quasi, *job.identifiers, job.person, *(unnamed if job.drop_rest else ())}
    for name in dict.fromkeys(job.allow):
        if name in columns and name in changed:
            problems.append(Problem("not-kept", "it is allowed, but it is not published as it is", name))
    return problems


def _name_them(unnamed: Sequence[str]) -> Problem:
    listed = ", ".join(f"'{name}'" for name in unnamed)
    message = f"nobody said what is to be done with {listed}: kept columns are published as they are"
    names = ",".join(f'"{name}"' if "," in name else name for name in unnamed)
    hint = f"--keep {names} (or --keep-rest), --drop-rest, or name them with --identifiers, --sensitive or --quasi"
    return Problem("unnamed-columns", message, hint=hint)


def find_telling(
    frame: pl.DataFrame,
    kept: Sequence[str],
    quasi: Mapping[str, CodedColumn],
    k: int,
    missing: Sequence[str],
    sizes: Mapping[str, ValueSizes] | None = None,
) -> dict[str, list[Finding]]:
    """What speaks against keeping each column; columns that nothing speaks against are left out.

    `quasi` are the quasi-identifiers as numbers, `k` is the smallest group of the release. `sizes` are those of the
    kept columns in the whole table, where the frame is only a sample of it.
    """
    looked_at = _rows_to_look_at(frame.height)
    others = {name: (frame[name], _chosen(column.codes, looked_at)) for name, column in quasi.items()}
    readable = [name for name in kept if has_text(frame.schema[name])]
    found = {name: [_NOT_READABLE] for name in kept if name not in readable}
    for name, coded in code_columns(frame, readable).items():
        findings = _alone(sizes[name] if sizes is not None else value_sizes(coded, missing), k)
        findings += _about_quasi(frame[name], _chosen(coded.codes, looked_at), others, looked_at)
        if findings:
            found[name] = findings
    return found


def _about_quasi(
    kept: pl.Series, codes: Counts, others: Mapping[str, tuple[pl.Series, Counts]], looked_at: Counts | None
) -> list[Finding]:
    """Which quasi-identifiers a kept column tells, letter by letter or by its own values."""
    findings = []
    for other, (column, other_codes) in others.items():
        if _same_cells(kept, column, looked_at) >= EQUAL and other_codes.max() > 0:
            findings.append(Finding("same-as-quasi", f"it is the quasi-identifier '{other}' once more"))
        elif _strength(codes, other_codes) >= DECIDED:
            findings.append(Finding("decides-quasi", f"its value decides the quasi-identifier '{other}'"))
    return findings


def telling_problems(found: Mapping[str, Sequence[Finding]], allowed: Sequence[str]) -> list[Problem]:
    """The findings about columns that are not allowed, one problem each."""
    return [
        Problem(finding.reason, finding.message, name, f"drop it, or publish it knowingly with --allow {name}")
        for name, findings in found.items()
        if name not in allowed
        for finding in findings
    ]


def value_sizes(column: CodedColumn, missing: Sequence[str]) -> ValueSizes:
    counts = np.bincount(column.codes, minlength=len(column.values)).astype(np.int64)
    present = counts[~is_missing(column.values, tuple(missing)).to_numpy()]
    sizes, values = np.unique(counts[counts > 0], return_counts=True)
    return ValueSizes(sizes, values.astype(np.int64), int(present.size), int(present.sum()))


def _alone(found: ValueSizes, k: int) -> list[Finding]:
    """Whether the values of a column tell records apart: by itself, or within groups of k that look the same."""
    records = int((found.sizes * found.values).sum())
    if found.present_values < 2:
        return []
    if found.present_values >= NEAR_UNIQUE * found.present_records:
        message = f"it is near unique: {found.present_values:,} values in {found.present_records:,} records"
        return [Finding("near-unique", message)]
    share = found.sizes / records * (1.0 - (found.sizes - 1) / max(1, records - 1)) ** (max(2, k) - 1)
    told_apart = float((share * found.values).sum())
    if told_apart < TOLD_APART:
        return []
    message = f"it would tell {told_apart:.0%} of the records in groups of {max(2, k)} apart"
    return [Finding("tells-apart", message)]


def _strength(codes: Counts, other: Counts) -> float:
    """How surely the value of a column tells that of another one, beyond chance: 0 not at all, 1 always.

    It is the mean chance that a record has the other value of a different record with the same value of the column,
    compared with that of any record (Goodman and Kruskal's tau, a record never compared with itself). Records whose
    value nobody shares say nothing.
    """
    pairs = pl.DataFrame({"kept": codes, "other": other}).group_by("kept", "other").len("both")
    pairs = pairs.with_columns(pl.col("both").sum().over("kept").alias("size")).filter(pl.col("size") > 1)
    both, size = (pairs[name].to_numpy().astype(np.float64) for name in ("both", "size"))
    by_chance = _chance_of_equals(np.bincount(other).astype(np.float64))
    if both.sum() == 0 or by_chance >= 1.0:
        return 0.0
    together = float((both * (both - 1) / (size - 1)).sum() / both.sum())
    return (together - by_chance) / (1.0 - by_chance)


def _chance_of_equals(counts: NDArray[np.float64]) -> float:
    """The chance that two different records have the same value; 1 where there are no two records."""
    records = float(counts.sum())
    return float((counts * (counts - 1)).sum() / (records * (records - 1))) if records >= 2 else 1.0


def _same_cells(kept: pl.Series, quasi: pl.Series, looked_at: Counts | None) -> float:
    """The share of records that have the same text in both columns."""
    one, other = (as_text(column if looked_at is None else column.gather(looked_at)) for column in (kept, quasi))
    return float(one.eq_missing(other).mean() or 0.0)  # type: ignore[arg-type]


def _rows_to_look_at(records: int) -> Counts | None:
    """Evenly spread records; None for all of them."""
    if records <= LOOKED_AT:
        return None
    return np.linspace(0, records - 1, LOOKED_AT).astype(np.int64)


def _chosen(codes: NDArray[np.int32], looked_at: Counts | None) -> Counts:
    return (codes if looked_at is None else codes[looked_at]).astype(np.int64)
