"""Small pictures of columns: bars of a histogram, or of the commonest values."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.distinct import as_text
from shoal.tables.scales import comparable_positions, is_missing
from shoal.tables.schema import Scale

Bar = dict[str, Any]  # its label and its records

BARS = 24
COMMONEST = 8


def picture_of(column: pl.Series, scale: str) -> dict[str, Any]:
    """Counts to draw, with the texts to show beside them."""
    texts = as_text(column)
    counts = texts.filter(~is_missing(texts)).value_counts(sort=True, name="records")
    if counts.is_empty():
        return {"kind": "empty", "bars": []}
    if Scale(scale).is_numeric and counts.height > COMMONEST:
        return _histogram(counts, column.name, Scale(scale))
    shown = counts.head(COMMONEST)
    bars = [{"label": label, "records": records} for label, records in shown.rows()]
    others = int(counts["records"].sum()) - int(shown["records"].sum())
    return {"kind": "values", "bars": bars, "others": others, "other_values": counts.height - shown.height}


def _histogram(counts: pl.DataFrame, name: str, scale: Scale) -> dict[str, Any]:
    """Equal ranges between the smallest and the largest value; a bar is named by the values at its ends."""
    positions = comparable_positions(counts[name], scale)
    known = np.isfinite(positions)
    positions, records = positions[known], counts["records"].to_numpy()[known]
    if not positions.size:
        return {"kind": "empty", "bars": []}
    texts = counts[name].to_numpy()[known]
    low, high = float(positions.min()), float(positions.max())
    place = np.minimum(BARS - 1, ((positions - low) / max(high - low, 1e-300) * BARS).astype(np.int64))
    shares = (place == bar for bar in range(BARS))
    bars = [_bar(texts[inside], positions[inside], records[inside]) for inside in shares]
    return {"kind": "histogram", "bars": bars, "others": 0, "other_values": 0}


def _bar(texts: NDArray[np.object_], positions: NDArray[np.float64], records: NDArray[np.integer[Any]]) -> Bar:
    """A bar with the values at its ends."""
    if not texts.size:
        return {"label": "", "records": 0}
    first, last = texts[positions.argmin()], texts[positions.argmax()]
    return {"label": str(first) if first == last else f"{first} to {last}", "records": int(records.sum())}
