"""How a table comes into a project: as the sample, from a folder of this machine, or uploaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from shoal.errors import InputError, Problem
from shoal.tables.formats.files import format_of
from shoal.web.files import PRIVATE_FILE, safe_name
from shoal.web.settings import sample_settings, starting_settings
from shoal.web.workspace import Project, Workspace

SAMPLE_NAME = "patients.csv"


def from_sample(workspace: Workspace, user: str) -> Project:
    """The invented hospital, with the settings of `shoal demo`."""
    from shoal.sample.hospital import hospital_table
    from shoal.tables.formats.files import write_table

    source = {"kind": "sample", "name": SAMPLE_NAME}
    project = workspace.make(user, "Sample hospital", source, sample_settings())
    write_table(hospital_table(), project.table)
    return project


def from_file(workspace: Workspace, user: str, path: Path) -> Project:
    """A table that stays where it lies."""
    source = {"kind": "file", "name": path.name, "path": str(path)}
    return workspace.make(user, path.stem, source, starting_settings())


async def from_upload(
    workspace: Workspace, user: str, name: str, pieces: AsyncIterator[bytes], announced: int, limit: int
) -> Project:
    """A table that is sent piece by piece; nothing stays of one that is too large or broken off."""
    name = safe_name(name)
    format_of(name)
    if announced > limit:
        raise _too_large(limit)
    project = workspace.make(user, Path(name).stem, {"kind": "upload", "name": name}, starting_settings())
    try:
        number = os.open(project.table, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        received = 0
        with os.fdopen(number, "wb") as stream:
            async for piece in pieces:
                received += len(piece)
                if received > limit:
                    raise _too_large(limit)
                stream.write(piece)
        if received == 0 or (announced and received != announced):
            raise InputError(Problem("broken-upload", "the upload was broken off", hint="send the file again"))
    except BaseException:
        shutil.rmtree(project.folder, ignore_errors=True)
        raise
    return project


def _too_large(limit: int) -> InputError:
    hint = "start with --folder FOLDER and open the file where it lies, or raise --upload-limit"
    return InputError(Problem("too-large", f"an upload may have at most {limit >> 20} MB", hint=hint))
