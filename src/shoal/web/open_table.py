"""The table of a project, kept in memory: read as its settings state, and read anew when its file has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.job.job import Job
from shoal.pipeline.sources import as_stated
from shoal.tables.formats.files import ReadTable, read_table
from shoal.tables.formats.sql.address import SqlAddress

STATED = ("csv", "date_formats", "missing")  # settings that say how a table is written


def stated_by(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings of a project say about how its table is written."""
    return {name: settings[name] for name in STATED if settings.get(name)}


class OpenTable:
    """A table with the last way in which it was read."""

    def __init__(self, place: Path | SqlAddress) -> None:
        self._place = place
        self._read: ReadTable | None = None
        self._as: tuple[Any, ...] = ()

    def read(self, stated: Mapping[str, Any]) -> ReadTable:
        """The table as it is stated to be written. The same object as before, if nothing has changed."""
        job = Job.make(**stated)
        usual = not job.date_formats and job.csv == Job().csv
        now = (self._stamp(), None if usual else job.model_dump_json(include=set(STATED)))
        if self._read is None or now != self._as:
            self._read = None  # so that two tables are never in memory at once
            found = read_table(self._place, job.csv_options())
            self._read = replace(found, frame=as_stated(found.frame, job))
            self._as = now
        return self._read

    def _stamp(self) -> tuple[int, int] | None:
        """What changes when somebody writes the file; a database tells nothing of that kind."""
        if isinstance(self._place, SqlAddress) or not self._place.exists():
            return None
        found = self._place.stat()
        return found.st_mtime_ns, found.st_size
