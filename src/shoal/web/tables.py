"""How a table comes into a project: as the sample, from a folder of this machine, or uploaded."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from shoal.errors import InputError, Problem
from shoal.tables.formats.files import format_of
from shoal.tables.formats.sql.address import SqlAddress
from shoal.web.files import private_folder, safe_name
from shoal.web.settings import sample_settings, starting_settings
from shoal.web.uploads import receive
from shoal.web.workspace import ELSEWHERE, NotThereError, Project, Workspace

SAMPLE_NAME = "patients.csv"
MOST_BESIDE = 20


def from_sample(workspace: Workspace, user: str) -> Project:
    """The invented hospital, with the settings of `shoal demo`."""
    from shoal.sample.hospital import hospital_table
    from shoal.tables.formats.files import write_table

    source = {"kind": "sample", "name": SAMPLE_NAME}
    project = workspace.make(user, "Sample hospital", source, sample_settings())
    write_table(hospital_table(), project.kept_table)
    return project


def from_file(workspace: Workspace, user: str, path: Path) -> Project:
    """A table that stays where it lies."""
    source = {"kind": "file", "name": path.name, "path": str(path)}
    return workspace.make(user, path.stem, source, starting_settings())


def from_database(workspace: Workspace, user: str, address: SqlAddress) -> Project:
    """A table that stays in its database."""
    source = {"kind": "database", "name": f"{address.name} ({address.database})", "address": address.text}
    return workspace.make(user, address.name, source, starting_settings())


async def from_upload(
    workspace: Workspace, user: str, name: str, pieces: AsyncIterator[bytes], announced: int, limit: int
) -> Project:
    """A table that is sent piece by piece; nothing stays of one that is too large or broken off."""
    name = safe_name(name)
    format_of(name)
    project = workspace.make(user, Path(name).stem, {"kind": "upload", "name": name}, starting_settings())
    try:
        await receive(pieces, project.kept_table, announced, limit)
    except BaseException:
        shutil.rmtree(project.folder, ignore_errors=True)
        raise
    return project


async def newer_version(project: Project, name: str, pieces: AsyncIterator[bytes], announced: int, limit: int) -> None:
    """A newer version of an uploaded table. The one before stays: releases of it may have been given out."""
    name = safe_name(name)
    format_of(name)
    source = project.read()["source"]
    if source["kind"] in ELSEWHERE:
        raise NotThereError  # it is changed where it lies
    version = int(source.get("version", 1)) + 1
    folder = private_folder(project.table_folder / str(version))
    try:
        await receive(pieces, folder / name, announced, limit)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    project.change(source={"kind": "upload", "name": name, "version": version})


async def add_beside(
    project: Project, kind: str, name: str, pieces: AsyncIterator[bytes], announced: int, limit: int
) -> None:
    """A further table of a project: a release that was published before, or the population."""
    name = safe_name(name)
    format_of(name)
    folder = private_folder(project.beside_folder(kind))
    if len(project.beside(kind)) >= MOST_BESIDE:
        message = f"a project keeps at most {MOST_BESIDE} such tables"
        raise InputError(Problem("too-many", message, hint="take one away"))
    if kind == "population":  # there is one
        for path in folder.iterdir():
            path.unlink()
    await receive(pieces, folder / name, announced, limit)
