"""From what is set in the page to a job. Everything that is wrong with it is told by the job and its checks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.algorithms.registry import algorithm_class
from shoal.job.job import Job
from shoal.tables.formats.files import Format, format_of
from shoal.tables.formats.sql.address import SqlAddress, address_text
from shoal.tables.schema import Role

CERTIFICATE = "certificate.json"
PUBLIC_CERTIFICATE, PROOF = "public-certificate.json", "certificate-with-salt.json"  # one proves the other
FRONTIER_KS = (2, 5, 10, 25, 50)
FRONTIER_ALGORITHMS = ("shoal", "mondrian", "tdr")  # quick ones
FURTHER_ALGORITHMS = 2  # beside the one that was chosen
FRONTIER_RECORDS = 20_000  # of a larger table, so many are drawn
SETTINGS = (  # of a job, as the page holds them
    *("k", "models", "suppression_limit", "hierarchies", "scales", "orders", "algorithm", "parameters"),
    *("csv", "date_formats", "missing"),
    *("effort", "objective", "priorities", "recoding", "recodings", "seed", "person", "class", "allow", "at_most"),
)


def starting_settings() -> dict[str, Any]:
    return {"roles": {}, "k": 5, "models": [], "suppression_limit": 0.0, "hierarchies": {}, "algorithm": "shoal"}


def sample_settings() -> dict[str, Any]:
    """The main job of the sample, as `shoal demo` has it."""
    from shoal.sample.demo import ALLOWED
    from shoal.sample.hospital import hospital_hierarchies, hospital_roles

    roles = {name: str(role) for name, role in hospital_roles().items()}
    return {**starting_settings(), "roles": roles, "k": 10, "hierarchies": hospital_hierarchies(), "allow": ALLOWED}


def make_job(
    settings: Mapping[str, Any],
    table: Path | SqlAddress,
    folder: Path | None,
    population: Path | None = None,
    before: Mapping[str, Any] | None = None,
) -> Job:
    """The job of these settings; with a folder, the release and its certificate go there. `before` are the settings
    that are about earlier releases."""
    given = {
        name: settings[name]
        for name in SETTINGS
        if settings.get(name) not in (None, "", [], {}) or settings.get(name) == 0
    }
    places = {} if folder is None else {"output": folder / release_name(table), "certificate": folder / CERTIFICATE}
    roles = _columns_by_role(settings.get("roles", {}), given.get("person"), given.get("class"))
    if isinstance(given.get("allow"), list):  # a column that was allowed may have another role by now
        given["allow"] = [name for name in given["allow"] if name in (*roles["sensitive"], *roles["keep"])]
    return Job.make(input=table, population=population, **roles, **places, **given, **(before or {}))


def _columns_by_role(roles: Mapping[str, str], person: str | None, label: str | None) -> dict[str, tuple[str, ...]]:
    """The columns of each role, as a job names them; what has a part of its own needs no role."""
    named = {role: tuple(name for name, of in roles.items() if of == role) for role in Role}
    return {
        "quasi": named[Role.QUASI_IDENTIFYING],
        "sensitive": named[Role.SENSITIVE],
        "identifiers": tuple(name for name in named[Role.IDENTIFYING] if name != person),
        "keep": tuple(name for name in named[Role.INSENSITIVE] if name not in (person, label)),
    }


def with_algorithm(settings: Mapping[str, Any], algorithm: str, k: int) -> dict[str, Any]:
    """The settings with another algorithm and k; what only one algorithm understands is left to that one."""
    changed = {**settings, "algorithm": algorithm, "k": k}
    if algorithm != settings.get("algorithm", "shoal"):
        changed.update(effort=None, objective=None, parameters={})
    if not algorithm_class(algorithm).takes_priorities:
        changed["priorities"] = {}
    return changed


def planned_frontier(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Which k and which algorithms fill the frontier by themselves: those of the settings, and further ones."""
    chosen = str(settings.get("algorithm") or "shoal")
    others = [name for name in FRONTIER_ALGORITHMS if name != chosen][:FURTHER_ALGORITHMS]
    ks = {*FRONTIER_KS, *([int(settings["k"])] if settings.get("k") else [])}
    return {"algorithms": [chosen, *others], "ks": sorted(ks), "largest": FRONTIER_RECORDS}


def release_name(table: Path | SqlAddress) -> str:
    """The release has the format of the table; where that cannot be written, it is CSV."""
    if isinstance(table, SqlAddress):
        return "release.csv"
    endings = {Format.PARQUET: ".parquet", Format.ARROW: ".arrow", Format.EXCEL: ".xlsx"}
    return f"release{endings.get(format_of(table), '.csv')}"


def download_job(job: Job, table: Path | SqlAddress, kept_where_it_is: bool, folder: Path) -> Job:
    """The job as it is handed out, as if it lay in a folder: outputs beside it, and the table too, unless that lies
    somewhere on this machine or in a database."""
    place = table if kept_where_it_is or isinstance(table, SqlAddress) else folder / table.name
    beside: dict[Path | None, Path] = {path: folder / name for name, path in beside_job(job).items()}
    return job.model_copy(
        update={
            "input": place,
            "output": folder / release_name(table),
            "certificate": folder / CERTIFICATE,
            "report": folder / "report.html",
            "population": beside.get(job.population),
            "earlier": tuple(beside[path] for path in job.earlier),
            "earlier_original": place if job.earlier_original == job.input else beside.get(job.earlier_original),
        }
    )


def beside_job(job: Job) -> dict[str, Path]:
    """Files that a job needs besides its table, by the names that they have when they are handed out."""
    files = {f"earlier-{number}{path.suffix}": path for number, path in enumerate(job.earlier, start=1)}
    if job.earlier_original is not None and job.earlier_original != job.input:
        files[f"earlier-{job.earlier_original.name}"] = job.earlier_original
    if job.population is not None:
        files[job.population.name] = job.population
    return files


def commands(job: Job, table: Path | SqlAddress) -> dict[str, Any]:
    """The lines that give the same bytes again, on the command line and in Python, and the files that they need."""
    handed_out = download_job(job, table, True, Path())
    settings = json.loads(handed_out.model_dump_json(by_alias=True, exclude_defaults=True))
    lines = "\n".join(f"    {_keyword(name)}={value!r}," for name, value in settings.items() if name != "input")
    given = address_text(table) if isinstance(table, SqlAddress) else table.name
    return {
        "job": "shoal anonymize --job job.yaml",
        "verify": shlex.join(["shoal", "verify", release_name(table), "--certificate", CERTIFICATE]),
        "python": 'import shoal\n\nresult = shoal.run(shoal.Job.load("job.yaml"))',
        "settings": f"import shoal\n\njob = shoal.Job.make(\n    input={given!r},\n{lines}\n)\nresult = shoal.run(job)",
        "beside": list(beside_job(job)),
    }


def _keyword(name: str) -> str:
    return "class_column" if name == "class" else name
