"""Tables for the TDR experiments: attributes ranked by a decision tree, and adult blown up to any size."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.tdr.class_counts import ClassCounts, count_classes
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind


def rank_attributes(table: EncodedTable, labels: NDArray[np.int32], classes: int) -> tuple[str, ...]:
    """The attribute that a C4.5 tree would put at its root, then the one it would put there without that, and so on.

    C4.5 takes the highest gain ratio among the attributes whose gain is at least the average. Categories are split
    into all their values, numbers in two.
    """
    counts = count_classes(table, labels, classes)
    found = {
        attribute.name: _root_split(attribute, one) for attribute, one in zip(table.attributes, counts, strict=True)
    }
    ranked: list[str] = []
    while found:
        average = sum(gain for gain, _ in found.values()) / len(found)
        able = [name for name, (gain, _) in found.items() if gain >= average - 1e-12]
        ranked.append(max(able, key=lambda name: found[name][1]))
        del found[ranked[-1]]
    return tuple(ranked)


def _root_split(attribute: EncodedAttribute, counts: ClassCounts) -> tuple[float, float]:
    """Gain and gain ratio of splitting the whole table on an attribute."""
    if attribute.kind is Kind.INTERVAL:
        split = counts.split(0, attribute.size - 1, attribute.positions)
        if split < 0:
            return 0.0, 0.0
        bounds = np.array([0, split, attribute.size], dtype=np.int64)
    else:
        bounds = np.arange(attribute.size + 1, dtype=np.int64)
    gain, records = counts.gain(bounds)
    shares = records[records > 0] / records.sum()
    spread = float(-(shares * np.log2(shares)).sum())
    return gain, gain / spread if spread > 0 else 0.0


def expand(frame: pl.DataFrame, records: int, seed: int = 0) -> pl.DataFrame:
    """The table, followed by altered copies of its records until there are as many as asked for.

    In a copy between one and all of the values, chosen at random, are replaced by values drawn from their domains.
    """
    random = np.random.default_rng(seed)
    width = frame.width
    copies = pl.concat([frame] * (records // frame.height + 1)).head(records)
    altered = records - frame.height
    if altered <= 0:
        return copies
    how_many = random.integers(1, width + 1, altered)
    chosen = random.random((altered, width)).argsort(axis=1).argsort(axis=1) < how_many[:, None]
    return pl.DataFrame(
        [_altered(frame[name], copies[name], chosen[:, number], random) for number, name in enumerate(frame.columns)]
    )


def _altered(raw: pl.Series, copies: pl.Series, chosen: NDArray[np.bool_], random: np.random.Generator) -> pl.Series:
    """The raw values, and those of the copies with the chosen ones drawn anew from the domain."""
    altered, domain = chosen.shape[0], raw.unique().sort()
    drawn = domain.gather(random.integers(0, len(domain), altered))
    tail = copies.tail(altered).zip_with(~pl.Series(chosen), drawn)
    return pl.concat([copies.head(len(raw)), tail])
