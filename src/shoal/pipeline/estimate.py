"""What a run will cost, before it is made: seconds and memory, by the measurements of docs/scaling.md.

Rough by nature: they were made on one machine with 2 cores, with 8 quasi-identifiers at k = 10. Time grows as measured
per algorithm, and with the number of quasi-identifiers.
"""

from __future__ import annotations

from typing import Any

from shoal.pipeline.prepare import Prepared

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
SECONDS_PER_MILLION_CELLS = 0.6  # reading, recoding, writing, checking
MEGABYTES, MEGABYTES_PER_MILLION_CELLS = 240.0, 100.0


def estimate(prepared: Prepared) -> dict[str, Any]:
    """Seconds and megabytes; `seconds` is None for an algorithm that was never measured."""
    records, width = prepared.table.records, prepared.table.width
    cells = records * len(prepared.frame.columns) / 1e6
    measured = SECONDS.get(prepared.job.algorithm)
    seconds = None
    if measured is not None:
        growth = (records / MEASURED_RECORDS) ** measured[1]
        seconds = measured[0] * growth * width / MEASURED_WIDTH + SECONDS_PER_MILLION_CELLS * cells + 0.5
    return {
        "records": records,
        "distinct_rows": int(prepared.table.rows),
        "quasi_identifiers": width,
        "requirement": [model.public_spec() for model in prepared.requirement.models],
        "seconds": seconds,
        "megabytes": MEGABYTES + MEGABYTES_PER_MILLION_CELLS * cells,
    }
