"""The files on this machine that a user may open: those below the folders that were named at the start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem
from shoal.tables.formats.files import format_of

MOST_ENTRIES = 500


class Places:
    """Folders (all tables below them) and single files, by number. Links that lead out are not followed."""

    def __init__(self, given: list[Path]) -> None:
        self.roots = [Path(os.path.realpath(path)) for path in given]

    def names(self) -> list[dict[str, Any]]:
        return [
            {"number": number, "name": root.name or str(root), "folder": root.is_dir()}
            for number, root in enumerate(self.roots)
        ]

    def find(self, number: int, below: str) -> Path:
        """A file or folder below a root; anything else is not there."""
        if not 0 <= number < len(self.roots) or "\0" in below:
            raise _not_there()
        root = self.roots[number]
        found = Path(os.path.realpath(root / below)) if below else root
        if found != root and not found.is_relative_to(root):
            raise _not_there()
        if not found.exists():
            raise _not_there()
        return found

    def table(self, number: int, below: str) -> Path:
        found = self.find(number, below)
        format_of(found)
        if not found.is_file():
            raise _not_there()
        return found

    def entries(self, number: int, below: str) -> list[dict[str, Any]]:
        """The folders and tables in a folder, folders first."""
        folder = self.find(number, below)
        if not folder.is_dir():
            raise _not_there()
        shown = []
        for path in sorted(folder.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name.lower())):
            if path.name.startswith(".") or not (path.is_dir() or _is_table(path)):
                continue
            size = None if path.is_dir() else path.stat().st_size
            shown.append({"name": path.name, "folder": path.is_dir(), "bytes": size})
        return shown[:MOST_ENTRIES]


def _is_table(path: Path) -> bool:
    try:
        format_of(path)
    except InputError:
        return False
    return path.is_file()


def _not_there() -> InputError:
    return InputError(Problem("no-such-file", "there is no such file below the folders of this workbench"))
