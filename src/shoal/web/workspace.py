"""Projects on the disk: one folder each, below one folder per user.

    USER/PROJECT/project.json     name, where the table is, the settings
                 job.yaml         the same settings as a job, as far as they make one
                 series.json      the releases that were given out
                 history.json     earlier settings, to be gone back to
                 table/           the table, if it was uploaded or is the sample; newer versions below it, by number
                 earlier/         releases that were published before
                 population/      a table of all who could be meant
                 runs/RUN/        run.json, job.yaml, and what the run wrote

A table that was opened where it lies is only named. Deleting a project deletes its folder and nothing else.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress, parse_address
from shoal.web.files import plain, private_folder, read_json, write_json
from shoal.web.users import NAME

BESIDE = ("earlier", "population")  # further tables: releases that were published before; who else there is
LARGEST_HISTORY = 500_000  # characters
ELSEWHERE = ("file", "database")  # kinds of sources that are only named
_NUMBER = re.compile(r"[0-9a-f]{12}")


class NotThereError(Exception):
    """There is no such project or run, or it belongs to somebody else: nobody is told which."""


@dataclass(frozen=True)
class Project:
    """One table with its settings and runs."""

    folder: Path

    @property
    def number(self) -> str:
        return self.folder.name

    @property
    def table_folder(self) -> Path:
        return self.folder / "table"

    def beside_folder(self, kind: str) -> Path:
        """Where further tables of a kind are."""
        if kind not in BESIDE:
            raise NotThereError
        return self.folder / kind

    def beside(self, kind: str) -> list[Path]:
        """The further tables of a kind, the earliest first."""
        folder = self.beside_folder(kind)
        found = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
        return sorted(found, key=lambda path: (path.stat().st_mtime, path.name))

    @property
    def population(self) -> Path | None:
        return next(iter(self.beside("population")), None)

    @property
    def runs_folder(self) -> Path:
        return self.folder / "runs"

    def read(self) -> dict[str, Any]:
        content: dict[str, Any] = read_json(self.folder / "project.json")
        return content

    def change(self, **changes: Any) -> dict[str, Any]:
        content = {**self.read(), **changes, "changed": time.time()}
        write_json(self.folder / "project.json", content)
        return content

    def keep_history(self, steps: Mapping[str, list[dict[str, Any]]]) -> None:
        """Keep the settings before and after the present ones; of large ones the nearest only."""
        while any(steps.values()) and len(json.dumps(steps)) > LARGEST_HISTORY:
            steps = {name: of[len(of) // 2 + 1 :] for name, of in steps.items()}
        write_json(self.folder / "history.json", steps)

    def history(self) -> dict[str, list[dict[str, Any]]]:
        kept = self.folder / "history.json"
        return dict(read_json(kept)) if kept.is_file() else {"past": [], "future": []}

    @property
    def fills_frontier(self) -> bool:
        """Whether the frontier fills by itself; it does unless that was switched off."""
        return self.read().get("frontier") is not False

    @property
    def table(self) -> Path | SqlAddress:
        """Where the table is."""
        source = self.read()["source"]
        if source["kind"] == "database":
            return parse_address(source["address"])
        return self._table_below(source) if source["kind"] != "file" else Path(source["path"])

    @property
    def kept_table(self) -> Path:
        """The table, if it was uploaded or is the sample; one that lies elsewhere is not handed out."""
        source = self.read()["source"]
        if source["kind"] in ELSEWHERE:
            raise NotThereError
        return self._table_below(source)

    def _table_below(self, source: Mapping[str, Any]) -> Path:
        return self.table_folder / str(source.get("version", "")) / str(source["name"])

    @property
    def series(self) -> Path:
        return self.folder / "series.json"

    def run_folder(self, number: str) -> Path:
        folder = self.runs_folder / number
        if not _NUMBER.fullmatch(number) or not (folder / "run.json").is_file():
            raise NotThereError
        return folder

    def new_run_folder(self) -> Path:
        return private_folder(self.runs_folder / new_number())

    def runs(self) -> list[dict[str, Any]]:
        """All runs, the oldest first."""
        found = [read_json(path) for path in self.runs_folder.glob("*/run.json")]
        return sorted(found, key=lambda run: float(run["made"]))

    def shown(self) -> dict[str, Any]:
        """What the page gets: no path and no host, but the name of the table."""
        content = self.read()
        source = {key: value for key, value in content["source"].items() if key not in ("path", "address")}
        beside = {kind: [path.name for path in self.beside(kind)] for kind in BESIDE}
        return {**content, **beside, "number": self.number, "source": source, "runs": self.runs()}


class Workspace:
    """All projects of all users."""

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder)

    def make(self, user: str, name: str, source: Mapping[str, Any], settings: Mapping[str, Any]) -> Project:
        project = Project(private_folder(self._user_folder(user) / new_number()))
        private_folder(project.table_folder)
        private_folder(project.runs_folder)
        content = {"name": name, "made": time.time(), "source": dict(source), "settings": dict(settings)}
        write_json(project.folder / "project.json", plain(content))
        return project

    def get(self, user: str, number: str) -> Project:
        folder = self._user_folder(user) / number
        if not _NUMBER.fullmatch(number) or not (folder / "project.json").is_file():
            raise NotThereError
        return Project(folder)

    def all(self, user: str) -> list[Project]:
        """The projects of a user, the newest first."""
        folder = self._user_folder(user)
        found = [Project(path.parent) for path in folder.glob("*/project.json")]
        return sorted(found, key=lambda project: -float(project.read()["made"]))

    def every_project(self) -> list[Project]:
        return [Project(path.parent) for path in self.folder.glob("*/*/project.json")]

    def delete(self, user: str, number: str) -> None:
        shutil.rmtree(self.get(user, number).folder)

    def _user_folder(self, user: str) -> Path:
        if not NAME.fullmatch(user):
            raise InputError(Problem("bad-user", "a user name has small letters, digits, '_', '.' and '-'"))
        return self.folder / user


def new_number() -> str:
    return secrets.token_hex(6)
