"""Small encoded tables for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.spec import make_hierarchy
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role


def encode_simple(
    quasi: Mapping[str, Sequence[Any]],
    *,
    hierarchies: Mapping[str, Any] | None = None,
    sensitive: Mapping[str, Sequence[Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    as_nodes: Sequence[str] = (),
) -> EncodedTable:
    """Encode columns given as lists; scales are found out. Hierarchies in any form that a job takes."""
    frame = pl.DataFrame({**quasi, **(sensitive or {})}, strict=False)
    attributes = [
        Attribute(name, Role.QUASI_IDENTIFYING if name in quasi else Role.SENSITIVE, find_scale(frame[name], ()))
        for name in frame.columns
    ]
    trees = {
        name: make_hierarchy(spec, frame[name].drop_nulls().unique().sort().cast(pl.String).to_list(), name, None)
        for name, spec in (hierarchies or {}).items()
    }
    options = EncodeOptions(weights=dict(weights or {}), as_nodes=frozenset(as_nodes))
    return encode_table(frame, attributes, trees, options)[0]
