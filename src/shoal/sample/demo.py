"""The demonstration: the hospital sample written to a folder, with the job that anonymizes it."""

from __future__ import annotations

from pathlib import Path

from shoal.job import Job
from shoal.sample.hospital import hospital_hierarchies, hospital_roles, hospital_table
from shoal.tables.atomic import atomic_output
from shoal.tables.files import write_table
from shoal.tables.schema import Role


def demo_job(folder: Path, *, k: int = 10, patients: int = 10_000, seed: int = 0) -> Job:
    """Write `patients.csv` and `job.yaml` into the folder and return the job."""
    with atomic_output(folder / "patients.csv") as path:
        write_table(hospital_table(patients, seed), path)
    roles = hospital_roles()
    settings = {
        "quasi": _named(roles, Role.QUASI_IDENTIFYING),
        "sensitive": _named(roles, Role.SENSITIVE),
        "identifiers": _named(roles, Role.IDENTIFYING),
        "k": k,
        "hierarchies": hospital_hierarchies(),
        "seed": seed,
    }
    files = {
        "input": "patients.csv",
        "output": "release.csv",
        "certificate": "certificate.json",
        "report": "report.html",
    }
    Job.make(**settings, **files).save(folder / "job.yaml")
    return Job.make(**settings, **{name: folder / file for name, file in files.items()})


def _named(roles: dict[str, Role], role: Role) -> tuple[str, ...]:
    return tuple(name for name, given in roles.items() if given is role)
