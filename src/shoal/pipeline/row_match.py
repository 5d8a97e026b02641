"""Do the rows of a release and of its original belong together, one by one?

A file that was published by us is sorted by its released values, so they do not, unless its private key is given. Other
tools keep the order of the rows; that is assumed unless the release is sorted by its own values and does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.pipeline.row_key import read_key
from shoal.released.domain import Domain, as_text
from shoal.released.reading import read_release
from shoal.tables.row_order import is_published_order

NEEDS_KEY = (
    "the rows of release and original do not belong together, so nothing was compared record by record: cells that do "
    "not cover their value, losses of means, persons, accuracy of models, clusters (give the private key of the "
    "release with --key, or --same-order if they do belong together)"
)


def with_original_rows(release: pl.DataFrame, key: Path | None) -> pl.DataFrame:
    """The release in the order of its original, if the key tells it."""
    return release if key is None else release[read_key(key, release.height)]


def rows_belong_together(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    domains: Mapping[str, Domain],
    certificate: Mapping[str, Any],
) -> bool:
    """As the certificate says; else they do, unless the release is sorted by its own values and does not fit."""
    if original.height != release.height:
        return False
    if "row_order" in certificate:
        return bool(certificate["row_order"] == "input")
    return not is_published_order(release) or _fits(original, release, quasi, domains)


def _fits(original: pl.DataFrame, release: pl.DataFrame, quasi: Sequence[str], domains: Mapping[str, Domain]) -> bool:
    """Whether every released cell can have come from the row of the original at the same place."""
    common = [name for name in original.columns if name in release.columns]
    if not all(_same_texts(original[name], release[name]) for name in common if name not in quasi):
        return False
    if not all(name in common and name in domains for name in quasi):
        return True  # which is an error that is told elsewhere
    table = read_release(original, release, quasi, domains)
    return all(column.not_covering == 0 and column.aggregated == 0 for column in table.columns.values())


def _same_texts(one: pl.Series, other: pl.Series) -> bool:
    return as_text(one).equals(as_text(other), null_equal=True)
