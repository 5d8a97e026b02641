"""A series: the releases of the same people in the order of time, with certificates and what was checked with what.

The file (JSON, beside the releases) is the holder's own: it names the tables behind the releases, so that the next
release finds out by itself who is new. Paths are as seen from the series file. Loading it checks every release against
its hash: one that is missing, changed or was never checked with those before it is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem
from shoal.tables.formats.atomic import atomic_output
from shoal.tables.formats.files import sha256_of_file

FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """One release of a series."""

    file: Path
    sha256: str
    certificate: Mapping[str, Any]
    input: Path | None = None  # the table behind it, if it was a file
    input_sha256: str | None = None

    def original(self) -> Path | None:
        """The table behind the release, if it is still the same file."""
        if self.input is None or not self.input.is_file():
            return None
        return self.input if sha256_of_file(self.input) == self.input_sha256 else None


def load_series(path: Path) -> list[Entry]:
    """The releases of a series, checked; none if there is no such file yet."""
    if not path.exists():
        return []
    entries = _read(path)
    problems = []
    for number, entry in enumerate(entries, start=1):
        if not entry.file.is_file():
            message = f"release {number} of the series, '{entry.file.name}', is missing"
            problems.append(Problem("missing-release", message, hint="put the published file back"))
        elif sha256_of_file(entry.file) != entry.sha256:
            message = f"release {number} of the series, '{entry.file.name}', is not the file that was published"
            problems.append(Problem("changed-release", message, hint="put the published file back"))
        before = [one.sha256 for one in entries[: number - 1]]
        if before and list(entry.certificate.get("together", {}).get("earlier", ())) != before:
            message = f"release {number} of the series was not checked with all that were published before it"
            problems.append(Problem("unchecked-release", message))
    if problems:
        raise InputError(problems)
    return entries


def check_in_series(entries: Sequence[Entry], named: Sequence[Path]) -> list[Problem]:
    """A release that is named beside a series must be in it."""
    known = {entry.sha256 for entry in entries}
    return [
        Problem("not-in-series", f"'{path.name}' is not in the series", hint="give --with or --series, not both")
        for path in named
        if not path.is_file() or sha256_of_file(path) not in known
    ]


def releases_before(path: Path, release: Path) -> list[Entry]:
    """The releases of a series before one of its own. Raises InputError if the series is broken or does not have it."""
    if not path.exists():
        raise InputError(Problem("missing-series", f"there is no series '{path}'"))
    entries = load_series(path)
    problems = check_in_series(entries, [release])
    if problems:
        hint = "publish it with --series, or name the earlier releases with --with"
        raise InputError([replace(problem, hint=hint) for problem in problems])
    sha256 = sha256_of_file(release)
    place = next(number for number, entry in enumerate(entries) if entry.sha256 == sha256)
    return entries[:place]


def add_release(
    path: Path, entries: Sequence[Entry], release: Path, data: Path | None, certificate: Mapping[str, Any]
) -> None:
    """Write the series with one more release, in one move. It names the tables behind, so it is its owner's alone.

    The release lies in its place already: whatever goes wrong here is told with that.
    """
    known = [entry.sha256 for entry in (_read(path) if path.exists() else [])]
    if known != [entry.sha256 for entry in entries]:
        message = f"'{path}' has changed during the run: '{release}' was not checked with all releases in it"
        hint = f"do not publish '{release.name}'; remove it, and run the job again"
        raise InputError(Problem("series-changed", message, hint=hint))
    try:
        write_series(path, [*entries, entry_of(release, data, certificate)])
    except InputError as error:
        message = f"'{release}' is written and checked, but it is not in the series"
        hint = f"do not publish '{release.name}'; remove it, and run the job again"
        raise InputError([*error.problems, Problem("not-in-series", message, hint=hint)]) from None


def entry_of(release: Path, data: Path | None, certificate: Mapping[str, Any]) -> Entry:
    """A release as its certificate tells of it."""
    return Entry(release, certificate["hashes"]["release"], certificate, data, certificate["hashes"]["input"])


def write_series(path: Path, entries: Sequence[Entry]) -> None:
    """Write a series, in one move. It names the tables behind the releases, so it is its owner's alone."""
    content = {"series": FORMAT, "releases": [_as_dict(entry, path.parent) for entry in entries]}
    with atomic_output(path, private=True) as waiting:
        waiting.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _as_dict(entry: Entry, folder: Path) -> dict[str, Any]:
    return {
        "file": os.path.relpath(entry.file, folder),
        "sha256": entry.sha256,
        "input": os.path.relpath(entry.input, folder) if entry.input is not None else None,
        "input_sha256": entry.input_sha256,
        "checked_with": list(entry.certificate.get("together", {}).get("earlier", ())),
        "certificate": dict(entry.certificate),
    }


def _read(path: Path) -> list[Entry]:
    folder = path.parent
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return [
            Entry(
                folder / one["file"],
                str(one["sha256"]),
                dict(one["certificate"]),
                folder / one["input"] if one.get("input") is not None else None,
                one.get("input_sha256"),
            )
            for one in content["releases"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        hint = "it is the JSON file that 'shoal anonymize --series' writes"
        raise InputError(Problem("unreadable-series", f"'{path}' is not a series", hint=hint)) from None
