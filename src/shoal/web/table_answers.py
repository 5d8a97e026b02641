"""What the page asks about a table: answered by a process that keeps the table in memory.

Everything that is told here is told by the inspection, by the evaluation or by the checks of a job; pictures of the
columns are drawn from at most `PICTURED` records, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, RequirementError, ShoalError
from shoal.inspection.combinations import risky_combinations
from shoal.inspection.facts import ColumnFacts, find_facts
from shoal.inspection.hierarchies import suggest_hierarchy
from shoal.inspection.inspect import inspect_table
from shoal.job.job import Job
from shoal.progress import Watch
from shoal.tables.distinct import as_text, text_codes
from shoal.tables.formats.files import ReadTable
from shoal.tables.formats.sql.address import place_of
from shoal.tables.near_forms import near_form
from shoal.tables.scales import TEXT_LIKE, is_missing
from shoal.tables.schema import Scale
from shoal.web.files import read_json
from shoal.web.open_table import OpenTable
from shoal.web.pictures import picture_of
from shoal.web.trees import hierarchy_answer

if TYPE_CHECKING:
    from shoal.web.look_answers import Look

PICTURED = 100_000  # records; a larger table is sampled for the pictures of its columns
MOST_ROWS = 200
MOST_VALUES = 5_000
LARGEST_COMBINATION = 3  # columns
JUDGED = 5_000  # distinct values by which a column is nearly of another scale

Question = dict[str, Any]


class Table:
    """The table of one project, read when it is first asked about."""

    def __init__(self) -> None:
        self._open: OpenTable | None = None
        self._read: ReadTable | None = None
        self._seen: dict[tuple[str, ...], dict[str, Any]] = {}  # the overview, by the texts that mean 'missing'
        self._hashes: dict[str, NDArray[np.uint64]] = {}
        self._coded: dict[str, NDArray[np.int32]] = {}
        self._look: tuple[Path, Look] | None = None

    def answers(self) -> dict[str, Callable[[Question], Any]]:
        about_the_table = {
            "overview": self.overview,
            "rows": self.rows,
            "risk": self.risk,
            "values": self.values,
            "hierarchy": self.hierarchy,
            "look": self.look,
        }
        answers = {name: self._when_read(answer) for name, answer in about_the_table.items()}
        return {**answers, "open": self.open, "check": self.check, "verify": self.verify}

    @property
    def frame(self) -> pl.DataFrame:
        return self.read_as({}).frame if self._read is None else self._read.frame

    def read_as(self, stated: Mapping[str, Any]) -> ReadTable:
        """The table as it is stated to be written; what was found out about another one is forgotten."""
        if self._open is None:
            raise InputError(Problem("no-input", "no table is open"))
        before, self._read = self._read, None
        self._read = self._open.read(stated)
        if self._read is not before:
            self._seen, self._hashes, self._coded, self._look = {}, {}, {}, None
        return self._read

    def _when_read(self, answer: Callable[[Question], Any]) -> Callable[[Question], Any]:
        def answered(question: Question) -> Any:
            self.read_as(question.get("stated", {}))
            return answer(question)

        return answered

    def open(self, question: Question) -> dict[str, Any]:
        self._open = OpenTable(place_of(question["table"]))
        return {}

    def overview(self, question: Question) -> dict[str, Any]:
        """Columns with scale, missing values, suggested role and hierarchy, and a picture."""
        missing = tuple(question.get("missing", ()))
        if missing in self._seen:
            return self._seen[missing]
        seen = inspect_table(self.frame, missing=missing)
        sampled = self.frame.height > PICTURED
        shown = self.frame.sample(PICTURED, seed=0) if sampled else self.frame
        found = seen.as_dict()
        for column in found["columns"]:
            name = column["name"]
            column["picture"] = picture_of(shown[name], column["scale"])
            column["hierarchy"] = self._fitting(seen.facts[name], missing)
            column["near"] = self._near(name, column["scale"], missing)
        self._hashes = {name: fact.hashes for name, fact in seen.facts.items()}
        self._seen = {missing: {**found, "pictured": shown.height if sampled else None}}
        return self._seen[missing]

    def _fitting(self, fact: ColumnFacts, missing: tuple[str, ...]) -> dict[str, Any] | None:
        """The hierarchy that suits a column."""
        found = suggest_hierarchy(fact, self.frame[fact.name], missing)
        return asdict(found) if found is not None else None

    def _near(self, name: str, scale: str, missing: tuple[str, ...]) -> dict[str, str] | None:
        """What a category nearly is, such as numbers with a decimal comma."""
        column = self.frame[name]
        if scale != Scale.CATEGORY or not isinstance(column.dtype, TEXT_LIKE):
            return None
        found = near_form(column.unique().sort().head(JUDGED), missing)
        return asdict(found) if found is not None else None

    def rows(self, question: Question) -> dict[str, Any]:
        """Some rows as texts; None is missing."""
        start, count = max(0, int(question.get("start", 0))), min(MOST_ROWS, int(question.get("count", 50)))
        piece = self.frame.slice(start, count)
        rows = piece.select(as_text(piece[name]) for name in piece.columns).rows()
        return {"start": start, "records": self.frame.height, "columns": piece.columns, "rows": rows}

    def risk(self, question: Question) -> dict[str, Any]:
        """How many records stand alone by these columns, and by which combinations of them."""
        from shoal.evaluation.risk.risk import risk_profile, size_distribution
        from shoal.released.reading import group_rows

        quasi = [str(name) for name in question["quasi"]]
        unknown = [name for name in quasi if name not in self.frame.columns]
        if unknown:
            raise InputError([Problem("unknown-column", "the table has no such column", name) for name in unknown])
        if not quasi:
            return {"profile": None, "sizes": [], "combinations": [], "estimated": False}
        sizes = group_rows([self._codes(name) for name in quasi], self.frame.height)[1]
        if not self._hashes:
            self._hashes = {name: fact.hashes for name, fact in find_facts(self.frame).items()}
        return {
            "profile": risk_profile(sizes).as_dict(),
            "sizes": size_distribution(sizes),
            **risky_combinations({name: self._hashes[name] for name in quasi}, largest=LARGEST_COMBINATION),
        }

    def values(self, question: Question) -> dict[str, Any]:
        """The different values of a column with their numbers of records, the commonest first."""
        name = self._known(question["column"])
        column = as_text(self.frame[name])
        missing = is_missing(column, tuple(question.get("missing", ())))
        counts = column.filter(~missing).value_counts(sort=True, name="records")
        start = max(0, int(question.get("start", 0)))
        shown = counts.slice(start, min(MOST_VALUES, int(question.get("count", 200))))
        return {"distinct": counts.height, "start": start, "values": shown.rows()}

    def hierarchy(self, question: Question) -> dict[str, Any]:
        """The tree that a description makes for a column, and the values that it does not cover."""
        name = self._known(question["column"])
        column = self.frame[name].unique()
        present = column.filter(~is_missing(column, tuple(question.get("missing", ())))).sort().cast(pl.String)
        return hierarchy_answer(question["spec"], present.to_list(), name)

    def check(self, question: Question) -> dict[str, Any]:
        """What speaks against a job: nothing, bad settings, or a requirement that no release can meet."""
        from shoal.job.draft import resolve
        from shoal.pipeline.rehearse import rehearse
        from shoal.pipeline.sources import begin_reading

        try:
            job = Job.load(question["job"])
            rehearse(resolve(job), begin_reading(job), Watch())
        except ShoalError as error:
            impossible = isinstance(error, RequirementError)
            return {"problems": [problem.as_dict() for problem in error.problems], "impossible": impossible}
        return {"problems": [], "impossible": False}

    def verify(self, question: Question) -> Any:
        """The written release, read again and checked once more against its certificate."""
        from shoal.pipeline.verify_files import verify_certified

        certificate = read_json(Path(question["certificate"]))
        return verify_certified(Path(question["release"]), certificate, missing=tuple(question.get("missing", ())))

    def look(self, question: Question) -> Any:
        """Something about a finished run; the last one that was looked at is kept in memory."""
        from shoal.web.look_answers import Look

        folder = Path(question["folder"])
        if self._look is None or self._look[0] != folder:
            self._look = (folder, Look(self.read_as(question.get("stated", {})), folder))
        return getattr(self._look[1], question["at"])(question)

    def _codes(self, name: str) -> NDArray[np.int32]:
        """A column as numbers of its texts: kept, since the page asks again with every change of a role."""
        if name not in self._coded:
            self._coded[name] = text_codes(self.frame[name])[1]
        return self._coded[name]

    def _known(self, name: str) -> str:
        if name not in self.frame.columns:
            raise InputError(Problem("unknown-column", "the table has no such column", name))
        return name
