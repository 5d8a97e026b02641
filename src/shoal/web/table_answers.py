"""What the page asks about a table: answered by a process that keeps the table in memory.

Everything that is told here is told by `shoal.inspect`, by the evaluation or by the checks of a job; pictures of the
columns are drawn from at most `PICTURED` records, and say so.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.errors import InputError, Problem, RequirementError, ShoalError
from shoal.job.job import Job
from shoal.tables.distinct import as_text
from shoal.tables.formats.files import ReadTable, read_table
from shoal.tables.scales import is_missing
from shoal.web.files import read_json
from shoal.web.pictures import picture_of
from shoal.web.trees import hierarchy_answer

PICTURED = 100_000  # records; a larger table is sampled for the pictures of its columns
MOST_ROWS = 200
MOST_VALUES = 5_000

Question = dict[str, Any]


class Table:
    """The table of one project, read when it is first asked about."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._read: ReadTable | None = None

    def answers(self) -> dict[str, Callable[[Question], Any]]:
        return {
            "open": self.open,
            "overview": self.overview,
            "rows": self.rows,
            "risk": self.risk,
            "values": self.values,
            "hierarchy": self.hierarchy,
            "check": self.check,
            "verify": self.verify,
        }

    @property
    def frame(self) -> pl.DataFrame:
        if self._path is None:
            raise InputError(Problem("no-input", "no table is open"))
        if self._read is None:
            self._read = read_table(self._path)
        return self._read.frame

    def open(self, question: Question) -> dict[str, Any]:
        self._path = Path(question["path"])
        return {"records": self.frame.height, "columns": self.frame.columns}

    def overview(self, question: Question) -> dict[str, Any]:
        """Columns with scale, missing values, suggested role and a picture."""
        found = shoal.inspect(self.frame, missing=tuple(question.get("missing", ())))
        sampled = self.frame.height > PICTURED
        shown = self.frame.sample(PICTURED, seed=0) if sampled else self.frame
        for column in found["columns"]:
            column["picture"] = picture_of(shown[column["name"]], column["scale"])
        return {**found, "pictured": shown.height if sampled else None}

    def rows(self, question: Question) -> dict[str, Any]:
        """Some rows as texts; None is missing."""
        start, count = max(0, int(question.get("start", 0))), min(MOST_ROWS, int(question.get("count", 50)))
        piece = self.frame.slice(start, count)
        rows = piece.select(as_text(piece[name]) for name in piece.columns).rows()
        return {"start": start, "records": self.frame.height, "columns": piece.columns, "rows": rows}

    def risk(self, question: Question) -> dict[str, Any]:
        """How many records stand alone by these columns, and by which combinations of them."""
        from shoal.evaluation.risk.risk import original_class_sizes, risk_profile, size_distribution

        quasi = [str(name) for name in question["quasi"]]
        unknown = [name for name in quasi if name not in self.frame.columns]
        if unknown:
            raise InputError([Problem("unknown-column", "the table has no such column", name) for name in unknown])
        if not quasi:
            return {"profile": None, "sizes": [], "combinations": []}
        sizes = original_class_sizes(self.frame, quasi)
        found = shoal.inspect(self.frame, quasi=quasi)
        return {
            "profile": risk_profile(sizes).as_dict(),
            "sizes": size_distribution(sizes),
            "combinations": found["combinations"],
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
        from shoal.pipeline.run import check

        try:
            check(Job.load(question["job"]))
        except ShoalError as error:
            impossible = isinstance(error, RequirementError)
            return {"problems": [problem.as_dict() for problem in error.problems], "impossible": impossible}
        return {"problems": [], "impossible": False}

    def verify(self, question: Question) -> Any:
        """The written release, read again and checked once more against its certificate."""
        from shoal.pipeline.verify_files import verify_certified

        certificate = read_json(Path(question["certificate"]))
        return verify_certified(Path(question["release"]), certificate, missing=tuple(question.get("missing", ())))

    def _known(self, name: str) -> str:
        if name not in self.frame.columns:
            raise InputError(Problem("unknown-column", "the table has no such column", name))
        return name
