"""The check of a release without classes, in the form that all checks have."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.verification.classes import find_classes
from shoal.verification.nonhomogeneous import check_candidates
from shoal.verification.reading import NOTHING_KNOWN, Knowledge
from shoal.verification.result import ModelCheck, Verification


def verify_candidates(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    k: int,
    known: Knowledge = NOTHING_KNOWN,
) -> Verification:
    """At least k candidates in both directions; the classes are told too, for information."""
    found = check_candidates(original, release, quasi, k, known)
    fewest = min(found.records_per_released_row, found.released_rows_per_record)
    classes = find_classes(release, quasi)
    check = ModelCheck(
        model=f"candidates:{k}",
        passed=found.passed,
        measure="fewest candidates, counted up to k",
        measured=float(fewest),
        offending_classes=0,
        offending_records=max(found.offending_records, found.offending_released_rows),
        smallest_offending_class=None,
    )
    smallest = int(classes.sizes.min()) if classes.count else None
    return Verification(found.passed, release.height, classes.count, smallest, 0, False, (check,), fewest)
