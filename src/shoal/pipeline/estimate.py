"""What a run will cost, before it is made: seconds and memory, by the measurements of docs/scaling.md.

Rough by nature: they were made on one machine with 2 cores, with 8 quasi-identifiers at k = 10. Time grows as measured
per algorithm, and with the number of quasi-identifiers; models, suppression, effort and a report come on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.algorithms.base import Algorithm
from shoal.algorithms.shoal.shoal import Shoal
from shoal.job.engine import BYTES_PER_DISTINCT_ROW
from shoal.job.job import Job
from shoal.models.base import Requirement

MEASURED_RECORDS, MEASURED_WIDTH = 100_000, 8
# processor seconds of clustering 100,000 records, and the power of the number of records with which they grow
SECONDS: dict[str, tuple[float, float]] = {
    "shoal": (5.5, 0.3),
    "mondrian": (0.02, 0.8),
    "k-member": (6.6, 1.5),
    "tdr": (0.02, 0.9),
    "koc": (3.0, 1.5),
    "kmeans": (15.0, 1.6),
    "cb": (3.1, 1.1),
    "nonhomogeneous": (1.5, 1.1),
    "kaca": (4.0, 1.2),
    "topdown": (0.2, 1.1),
    "topdown-kaca": (0.8, 0.8),
    "two-level": (0.07, 0.7),
    "dbca": (2.7, 1.0),
    "dbca-cm": (3.3, 1.0),
}
SECONDS_TO_BEGIN = 0.5
SECONDS_PER_MILLION_CELLS = 0.6  # reading, recoding, writing, checking
FIXED_PART = 0.55  # of the default effort; the rest grows with it
SECOND_SEARCH = 2.0  # without outliers, where some records may be suppressed
WITH_MODELS = 3.0  # what models besides k make of a search
SECONDS_OF_REPORT, SECONDS_OF_REPORT_PER_MILLION_CELLS = 1.5, 1.5
MEGABYTES, MEGABYTES_PER_MILLION_CELLS = 240.0, 100.0


@dataclass(frozen=True)
class Rehearsal:
    """A job whose table passed all checks, and how large that table is."""

    job: Job
    algorithm: Algorithm
    requirement: Requirement
    engine: str
    records: int
    distinct_rows: int
    width: int  # quasi-identifiers
    columns: int

    @property
    def million_cells(self) -> float:
        return self.records * self.columns / 1e6


def estimate(rehearsal: Rehearsal) -> dict[str, Any]:
    """Seconds and megabytes; `seconds` is None for an algorithm that was never measured, and for a cluster."""
    return {
        "records": rehearsal.records,
        "distinct_rows": rehearsal.distinct_rows,
        "quasi_identifiers": rehearsal.width,
        "requirement": [model.public_spec() for model in rehearsal.requirement.models],
        "engine": rehearsal.engine,
        "seconds": _seconds(rehearsal),
        "megabytes": _megabytes(rehearsal),
    }


def _seconds(rehearsal: Rehearsal) -> float | None:
    clustering = _seconds_of_clustering(rehearsal)
    if clustering is None or rehearsal.engine == "spark":
        return None
    cells = rehearsal.million_cells
    report = SECONDS_OF_REPORT + SECONDS_OF_REPORT_PER_MILLION_CELLS * cells if rehearsal.job.report else 0.0
    return SECONDS_TO_BEGIN + clustering + SECONDS_PER_MILLION_CELLS * cells + report


def _seconds_of_clustering(rehearsal: Rehearsal) -> float | None:
    measured = SECONDS.get(rehearsal.job.algorithm)
    if measured is None:
        return None
    at_that_size, power = measured
    growth: float = (rehearsal.records / MEASURED_RECORDS) ** power
    seconds = at_that_size * growth * rehearsal.width / MEASURED_WIDTH
    if isinstance(rehearsal.algorithm, Shoal):
        seconds *= FIXED_PART + (1 - FIXED_PART) * rehearsal.algorithm.steps
        seconds *= SECOND_SEARCH if rehearsal.job.suppression_limit > 0 else 1.0
    return seconds if rehearsal.requirement.size_only else seconds * WITH_MODELS


def _megabytes(rehearsal: Rehearsal) -> float:
    """Of this machine: the streaming engine and a cluster hold distinct rows here, no records."""
    if rehearsal.engine == "local":
        return MEGABYTES + MEGABYTES_PER_MILLION_CELLS * rehearsal.million_cells
    return MEGABYTES + BYTES_PER_DISTINCT_ROW * rehearsal.distinct_rows / 1e6
