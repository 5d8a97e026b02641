"""A release of a table that people leave and enter, m-invariant with those before it; see `releases/m_invariance.py`.

    first = release_m_invariant(spring, quasi=["age", "sex"], sensitive="disease", person_key="id", m=3)
    second = release_m_invariant(autumn, ..., before=first.persons)

Every group is published with a number, and of every group how many of its records are counterfeits. What is kept for
the next release (`persons`) is private: it says who is in which group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.errors import InputError, InternalError, Problem
from shoal.job.draft import Draft, resolve
from shoal.job.job import Job
from shoal.metrics.score import score
from shoal.models.base import Requirement
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.purpose import recoded
from shoal.pipeline.sources import frame_source
from shoal.progress import Watch
from shoal.released.domain import as_text
from shoal.releases.m_invariance import NOBODY, Groups, m_invariant_groups
from shoal.tables.formats.atomic import StagedFiles, check_outputs
from shoal.tables.formats.files import read_table, write_table
from shoal.tables.frames.frames import to_polars
from shoal.tables.row_order import inverse, published_order
from shoal.tables.schema import as_names

GROUP, COUNTERFEITS, SIGNATURE = "group", "counterfeits", "signature"
BETWEEN = "\x1f"  # values of a signature that is compared as one text


@dataclass(frozen=True, eq=False)
class MInvariantRelease:
    """What is published, and what the holder keeps."""

    release: pl.DataFrame  # quasi-identifiers, the sensitive column, `group`; counterfeits look like others
    counterfeits: pl.DataFrame  # published: `group`, `counterfeits`, for every group
    persons: pl.DataFrame  # private: the key of everybody ever published, and the signature
    group_of_row: NDArray[np.int32]  # private: (rows of the table,)
    loss: float  # GCP over all released records


def release_m_invariant(
    table: Any,
    *,
    quasi: Sequence[str] | str,
    sensitive: str,
    person_key: Sequence[str] | str,
    m: int,
    before: pl.DataFrame | None = None,
    hierarchies: Mapping[str, Any] | str | Path | None = None,
    seed: int = 0,
) -> MInvariantRelease:
    """Release a table so that nobody's sensitive value is told with a better chance than 1/m, by all releases at once.

    `before` is `persons` of the last release; without it this is the first one. People may leave, come, and come
    back; their sensitive values do not change.
    """
    frame, quasi, key = to_polars(table)[0], as_names(quasi), list(as_names(person_key))
    _check(frame, quasi, sensitive, key, m)
    job = Job.make(quasi=quasi, sensitive=(sensitive,), drop_rest=True, k=2, hierarchies=hierarchies or {}, seed=seed)
    draft = replace(resolve(job), requirement=Requirement(()))  # what groups need is known here
    keys = _texts(frame, key)
    known = _known(keys, before)
    plain = prepare(draft, lambda: frame_source(frame), Watch())
    made, names = _groups(plain, as_text(frame[sensitive]).fill_null(""), known, m)
    release, prepared = _released(frame, draft, made, names, sensitive)
    numbered = _numbers_of_groups(release.select(quasi), made, names)
    release = release.with_columns(
        pl.Series(GROUP, numbered[np.concatenate([made.group_of_row, made.counterfeit_group])])
    )
    _verify(release, quasi, sensitive, m, known)
    return _as_published(release, prepared, made, numbered, _persons(keys, made, names, before))


def _numbers_of_groups(cells: pl.DataFrame, made: Groups, names: Sequence[str]) -> NDArray[np.int32]:
    """(groups,) the number of each in the order of what is published of it: cells, values, counterfeits.

    A number that came from the order in which groups were made would tell who lies before whom.
    """
    row = np.zeros(len(made.signatures), dtype=np.int64)
    row[made.group_of_row] = np.arange(made.group_of_row.shape[0])
    invented = np.bincount(made.counterfeit_group, minlength=row.shape[0])
    values = [BETWEEN.join(names[value] for value in one) for one in made.signatures]
    shown = cells[row].with_columns(
        pl.Series("\0values", values, dtype=pl.String),
        pl.Series("\0invented", [str(count) for count in invented.tolist()], dtype=pl.String),
    )
    return inverse(published_order(shown)).astype(np.int32)


def _as_published(
    release: pl.DataFrame, prepared: Prepared, made: Groups, numbered: NDArray[np.int32], persons: pl.DataFrame
) -> MInvariantRelease:
    """The rows in the order of what they say, which does not tell which of them are invented."""
    job = prepared.job
    (sensitive,) = job.sensitive
    invented = np.bincount(made.counterfeit_group, minlength=numbered.shape[0])
    domains = prepared.plan.domains(prepared.frame)
    shown = release.select([*job.quasi, sensitive, GROUP])
    return MInvariantRelease(
        release=shown[published_order(shown)],
        counterfeits=pl.DataFrame({GROUP: numbered, COUNTERFEITS: invented}).sort(GROUP),
        persons=persons,
        group_of_row=numbered[made.group_of_row],
        loss=float(score(prepared.frame, release, job.quasi, domains).totals["gcp"]),
    )


def _groups(plain: Prepared, secrets: pl.Series, known: _Known, m: int) -> tuple[Groups, list[str]]:
    """The groups, and the sensitive values that their numbers stand for."""
    names = sorted({*secrets.to_list(), *(value for one in known.signatures for value in one)})
    numbers = {name: number for number, name in enumerate(names)}
    values = secrets.replace_strict(numbers, return_dtype=pl.Int32).to_numpy()
    signatures = [tuple(sorted(numbers[value] for value in one)) for one in known.signatures]
    _check_values(values, known.of_row, signatures)
    codes = plain.table.codes[:, plain.table.row_of_record].T
    points = codes / np.array([max(attribute.size - 1, 1) for attribute in plain.table.attributes])
    return m_invariant_groups(values, known.of_row, signatures, points, m), names


def _persons(keys: pl.DataFrame, made: Groups, names: Sequence[str], before: pl.DataFrame | None) -> pl.DataFrame:
    """Everybody ever published, with the signature of the last time."""
    of_group = [[names[value] for value in one] for one in made.signatures]
    now = keys.with_columns(pl.Series(SIGNATURE, [of_group[one] for one in made.group_of_row.tolist()]))
    return now if before is None else pl.concat([before.join(now, on=keys.columns, how="anti"), now])


def _released(
    frame: pl.DataFrame, draft: Draft, made: Groups, names: Sequence[str], sensitive: str
) -> tuple[pl.DataFrame, Prepared]:
    """The records and, after them, the counterfeits: these have the quasi-identifiers of somebody in their group."""
    member = np.zeros(len(made.signatures), dtype=np.int64)
    member[made.group_of_row] = np.arange(frame.height)
    texts = frame.with_columns(as_text(frame[sensitive]).fill_null("").alias(sensitive))
    fakes = texts[member[made.counterfeit_group]].with_columns(
        pl.Series(sensitive, [names[value] for value in made.counterfeit_value.tolist()], dtype=pl.String)
    )
    both = pl.concat([texts, fakes])
    prepared = prepare(draft, lambda: frame_source(both), Watch())
    groups = np.concatenate([made.group_of_row, made.counterfeit_group]).astype(np.int32)
    return recoded(prepared, Clustering(groups)), prepared


@dataclass(frozen=True, eq=False)
class _Known:
    of_row: NDArray[np.int32]  # (rows,) the number of the signature; -1: a newcomer
    signatures: list[list[str]]


def _known(keys: pl.DataFrame, before: pl.DataFrame | None) -> _Known:
    """Who was published before, with which signature."""
    if before is None:
        return _Known(np.full(keys.height, NOBODY, dtype=np.int32), [])
    told = before.with_columns(pl.col(SIGNATURE).list.join(BETWEEN).alias("joined"))
    distinct = told.unique("joined", maintain_order=True).select("joined", SIGNATURE).with_row_index("number")
    numbered = told.join(distinct.select("joined", "number"), on="joined")
    joined = keys.join(numbered, on=keys.columns, how="left", maintain_order="left")
    return _Known(joined["number"].cast(pl.Int32).fill_null(NOBODY).to_numpy(), distinct[SIGNATURE].to_list())


def _texts(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return frame.select(as_text(frame[name]).alias(name) for name in names)


def _check(frame: pl.DataFrame, quasi: Sequence[str], sensitive: str, key: Sequence[str], m: int) -> None:
    problems = [
        Problem("unknown-column", "the table has no such column", name)
        for name in dict.fromkeys([*quasi, sensitive, *key])
        if name not in frame.columns
    ]
    if m < 2:
        problems.append(Problem("bad-setting", "m must be at least 2"))
    if not key:
        problems.append(Problem("no-person-key", "who is who in all releases must be told", hint="person_key='id'"))
    if GROUP in (*quasi, sensitive):
        problems.append(Problem("name-taken", "this column is added by the release", GROUP, "rename yours"))
    if not problems and _texts(frame, key).is_duplicated().any():
        problems.append(Problem("repeated-person", "several rows have one key; everybody may be there once"))
    if problems:
        raise InputError(problems)


def _check_values(
    values: NDArray[np.int32], signature_of: NDArray[np.int32], signatures: Sequence[tuple[int, ...]]
) -> None:
    changed = 0
    for number, signature in enumerate(signatures):
        changed += int((~np.isin(values[signature_of == number], signature)).sum())
    if changed:
        message = f"{changed} people have another sensitive value than before; m-invariance needs values that stay"
        raise InputError(Problem("changed-values", message))


def _verify(release: pl.DataFrame, quasi: Sequence[str], sensitive: str, m: int, known: _Known) -> None:
    """From the released values: every group is m-unique, with one cell per attribute; signatures are those of before.

    The first rows are those of the table, which may have had a signature before.
    """
    groups = release.group_by(GROUP).agg(
        pl.len().alias("records"),
        pl.col(sensitive).n_unique().alias("values"),
        pl.max_horizontal(pl.col(quasi).n_unique()).alias("cells"),
        pl.col(sensitive).unique().sort().alias(SIGNATURE),
    )
    unique = groups.select(((pl.col("records") >= m) & (pl.col("values") == pl.col("records"))).all()).item()
    one_cell = groups.select((pl.col("cells") == 1).all()).item()
    if not (unique and one_cell and _keeps_signatures(release, groups, known)):
        failed = Problem("check-failed", f"the release is not {m}-invariant with those before it")
        raise InternalError([failed, Problem("nothing-written", "the release was thrown away")])


def _keeps_signatures(release: pl.DataFrame, groups: pl.DataFrame, known: _Known) -> bool:
    """Whether everybody who was there before is in a group with the same sensitive values."""
    expected = known.of_row
    old = expected != NOBODY
    now = release[: expected.shape[0]].join(groups, on=GROUP, how="left", maintain_order="left")[SIGNATURE]
    before = [BETWEEN.join(sorted(one)) for one in known.signatures]
    told = now.filter(pl.Series(old)).list.join(BETWEEN).to_list()
    return told == [before[number] for number in expected[old].tolist()]


def publish_m_invariant(
    table: Path, release: Path, counterfeits: Path, persons: Path, *, before: Path | None = None, **settings: Any
) -> MInvariantRelease:
    """The same for files: the release, how many counterfeits each group has, and the private file for the next one.

    What was written is read back and compared before any file takes its place.
    """
    places = {"release": release, "counterfeits": counterfeits, "persons": persons}
    inputs = [table, before, settings.get("hierarchies")]
    problems = check_outputs(places.values(), [path for path in inputs if isinstance(path, Path)])
    if persons.suffix != ".parquet":
        problems.append(Problem("unknown-format", f"'{persons}' must be a Parquet file", hint="persons.parquet"))
    frame = _read(table, problems)
    known = _read_persons(before, problems) if before is not None else None
    if problems or frame is None:
        raise InputError(problems)
    made = release_m_invariant(frame, before=known, **settings)
    with StagedFiles(places, ("persons",)) as files:
        for name in places:
            _write_and_compare(getattr(made, name), files.waiting[name])
        files.commit()
    return made


def _read_persons(file: Path, problems: list[Problem]) -> pl.DataFrame | None:
    known = _read(file, problems)
    if known is not None and known.schema.get(SIGNATURE) != pl.List(pl.String):
        problems.append(Problem("no-persons", f"'{file}' is not the private file of an m-invariant release"))
    return known


def _read(path: Path, problems: list[Problem]) -> pl.DataFrame | None:
    try:
        return read_table(path).frame
    except InputError as error:
        problems += error.problems
        return None


def _write_and_compare(content: pl.DataFrame, waiting: Path) -> None:
    write_table(content, waiting)
    written = read_table(waiting).frame
    texts = [
        pl.DataFrame(as_text(frame[column]) for column in content.columns if column != SIGNATURE)
        for frame in (content, written)
    ]
    if not texts[0].equals(texts[1], null_equal=True):
        raise InternalError(Problem("check-failed", "what was written reads otherwise; nothing was written"))
