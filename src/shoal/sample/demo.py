"""The demonstration: the hospital sample written to a folder, with the job that anonymizes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.job.job import Job
from shoal.sample.hospital import hospital_hierarchies, hospital_roles, hospital_table
from shoal.tables.formats.atomic import atomic_output
from shoal.tables.formats.files import write_table
from shoal.tables.schema import Role

# Nearly every stay has its own cost and, in a small sample, its own length; nobody outside the hospital knows them.
ALLOWED = ("length_of_stay", "cost")


@contextmanager
def demo_files(folder: Path, *, k: int = 10, patients: int = 10_000, seed: int = 0) -> Iterator[Job]:
    """The job of the demonstration. `patients.csv` and `job.yaml` are in the folder only if the block succeeds.

    Until then the input of the job is a hidden file beside its final place.
    """
    roles = hospital_roles()
    job = Job.make(
        input=folder / "patients.csv",
        output=folder / "release.csv",
        certificate=folder / "certificate.json",
        report=folder / "report.html",
        quasi=_named(roles, Role.QUASI_IDENTIFYING),
        sensitive=_named(roles, Role.SENSITIVE),
        identifiers=_named(roles, Role.IDENTIFYING),
        keep=_named(roles, Role.INSENSITIVE),
        allow=ALLOWED,
        k=k,
        hierarchies=hospital_hierarchies(),
        seed=seed,
    )
    with atomic_output(folder / "patients.csv") as table, atomic_output(folder / "job.yaml") as written:
        write_table(hospital_table(patients, seed), table)
        job.save(written)
        yield job.model_copy(update={"input": table})


def demo_job(folder: Path, *, k: int = 10, patients: int = 10_000, seed: int = 0) -> Job:
    """Write `patients.csv` and `job.yaml` into the folder and return the job."""
    with demo_files(folder, k=k, patients=patients, seed=seed) as job:
        pass
    return job.model_copy(update={"input": folder / "patients.csv"})


def _named(roles: dict[str, Role], role: Role) -> tuple[str, ...]:
    return tuple(name for name, given in roles.items() if given is role)
