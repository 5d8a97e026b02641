"""Hierarchy files of other tools.

- ARX and anjana: one line per value, the value first and the root last; no header; `;` (or `,` or a tab, found out);
  quotes as in CSV. Lines that are the same are read once; a line with an empty value is left out, since missing
  values have their own place in every hierarchy.
- Amnesia: the word `distinct`, then `name`, `type` and `height`, then lines `group has value value ...`.

All files are UTF-8, with or without a byte order mark.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.nested import from_parents
from shoal.hierarchies.tree import from_paths
from shoal.tables.formats.atomic import atomic_output

_DELIMITERS = (";", ",", "\t")
_SUFFIXES = (".csv", ".txt")


def read_hierarchy_file(path: Path | str, column: str) -> Hierarchy:
    """Read and check a hierarchy file; the tool that wrote it is found out."""
    text = _read_text(Path(path), column)
    first_line = text.lstrip().partition("\n")[0].strip().lower()
    if first_line in ("distinct", "range"):
        return _from_amnesia(text, column, kind=first_line)
    return from_paths(column, [row for row in _split(text, column) if row and row[0]])


def write_hierarchy_file(hierarchy: Hierarchy, path: Path | str) -> None:
    """Write ARX's format: one line per value, the value first and the root last, `;` between them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    writer.writerows(hierarchy.path(leaf) for leaf in range(len(hierarchy.leaves)))
    with atomic_output(path) as waiting:
        waiting.write_text(text.getvalue(), encoding="utf-8", newline="")


def hierarchy_place(folder: Path, column: str) -> Path:
    """The file of a column in a folder of hierarchies. A name that leads elsewhere is refused."""
    if column in (".", "..") or any(sign in column for sign in ("/", "\\", "\0")):
        message = "its name cannot be the name of a file"
        raise InputError(Problem("no-file-name", message, column, "rename the column, or leave it out with --columns"))
    return folder / f"{column}.csv"


def find_hierarchy_files(folder: Path | str, columns: Iterable[str]) -> dict[str, Path]:
    """The file of each column that has one: `<column>.csv` or `*_hierarchy_<column>.csv` (or `.txt`).

    Files of other columns are ignored. Raises `InputError` if the folder is missing or a column has two files.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            Problem("no-such-folder", f"there is no hierarchy folder '{folder}'", hint="check the path of the folder")
        )
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file())
    found: dict[str, Path] = {}
    problems = []
    for column in dict.fromkeys(columns):
        matches = [path for path in files if _is_file_of(path.stem, column)]
        if len(matches) > 1:
            names = ", ".join(path.name for path in matches)
            problems.append(
                Problem("two-hierarchy-files", f"several hierarchy files: {names}", column, "keep one of them")
            )
        elif matches:
            found[column] = matches[0]
    if problems:
        raise InputError(problems)
    return found


def files_of_no_column(folder: Path | str, columns: Iterable[str]) -> list[str]:
    """The names of the files in a folder of hierarchies that belong to none of these columns."""
    files = sorted(path for path in Path(folder).iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file())
    known = list(columns)
    return [path.name for path in files if not any(_is_file_of(path.stem, column) for column in known)]


def _is_file_of(stem: str, column: str) -> bool:
    # Some systems store accented letters in file names in a decomposed form.
    name, wanted = unicodedata.normalize("NFC", stem), unicodedata.normalize("NFC", column)
    return name == wanted or name.endswith(f"_hierarchy_{wanted}")


def _read_text(path: Path, column: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        problem = Problem("undecodable-hierarchy", f"'{path}' is not UTF-8 text", column, "save the file as UTF-8")
    except IsADirectoryError:
        problem = Problem("unreadable-hierarchy", f"'{path}' is a folder", column, "name a file")
    except FileNotFoundError:
        problem = Problem("missing-hierarchy", f"there is no file '{path}'", column, "check the path")
    except OSError as error:
        reason = error.strerror or "unknown reason"
        problem = Problem("unreadable-hierarchy", f"'{path}' cannot be read: {reason}", column)
    raise InputError(problem)


def _split(text: str, column: str) -> list[list[str]]:
    """The rows of the file, with the delimiter under which most rows have the same number (two or more) of cells."""
    best: tuple[int, list[list[str]]] = (-1, [])
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
        except csv.Error as error:
            raise InputError(
                Problem("unreadable-hierarchy", f"the file is no valid CSV: {error}", column, "check its quotes")
            ) from None
        counts = Counter(len(row) for row in rows if len(row) > 1)
        regular = max(counts.values(), default=0)
        if regular > best[0]:
            best = (regular, rows)
    return best[1]


def _from_amnesia(text: str, column: str, *, kind: str) -> Hierarchy:
    if kind == "range":
        raise InputError(
            Problem(
                "range-hierarchy",
                "the file is an Amnesia hierarchy of ranges, which lists no values",
                column,
                "give the boundaries instead: {builder: ranges, edges: [[...], [...]]}",
            )
        )
    parents: dict[object, object] = {}
    contradictions = 0
    for line in text.split("\n"):
        group, separator, values = line.strip().partition(" has ")
        for value in values.split() if separator else ():
            contradictions += parents.setdefault(value, group.strip()) != group.strip()
    if contradictions:
        problem = Problem("two-parents", f"{contradictions} labels have a second parent", column, "keep one of them")
        raise InputError(problem)
    return from_parents(column, parents)
