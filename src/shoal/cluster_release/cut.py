"""The cut in words: the released values of every attribute, and the intervals that were grown for numbers.

Intervals can be written as in the TDR paper, `[1-37)`: the left end belongs to it, the right end is where the next
interval begins. Rounded dates and numbers, whose ends are those of their units, keep the usual form. The
usual form, `[30, 35]`, names the smallest and largest value inside.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.encode.codebook import Codebook, ColumnCodebook
from shoal.encode.encoded_table import Kind
from shoal.recode.cells import SUPPRESSED, interval_cells
from shoal.tables.schema import Scale

Range = tuple[Any, Any]  # the ends of a domain as the publisher states them, where they are wider than the data


def with_half_open_intervals(
    clustering: Clustering, codebook: Codebook, ranges: Mapping[str, Range] | None = None
) -> Clustering:
    """The same clustering with intervals of numbers and dates written as `[low-next)`."""
    if clustering.boxes is None:
        return clustering
    labels = dict(clustering.boxes.labels)
    for number, book in enumerate(codebook.columns):
        if book.kind is Kind.INTERVAL and book.scale is not Scale.ORDERED and book.ends is None:
            low, high = clustering.boxes.low[number], clustering.boxes.high[number]
            texts = half_open_texts(book, low, high, (ranges or {}).get(book.name))
            labels[book.name] = cast("tuple[str, ...]", tuple(texts))  # None, a missing value, becomes an empty cell
    return replace(clustering, boxes=replace(clustering.boxes, labels=labels))


def half_open_texts(
    book: ColumnCodebook,
    low: NDArray[np.int32] | Sequence[int],
    high: NDArray[np.int32] | Sequence[int],
    stated: Range | None = None,
) -> list[str | None]:
    """The text of each code range. The last interval ends at the stated end of the domain, or closed at the largest
    value; a single value is written as it is; missing values are an empty cell, and `*` together with others."""
    ends = zip(np.asarray(low).tolist(), np.asarray(high).tolist(), strict=True)
    texts = book.texts.to_list()
    return [_half_open(book, texts, first, last, stated) for first, last in ends]


def _half_open(
    book: ColumnCodebook, texts: Sequence[str | None], first: int, last: int, stated: Range | None
) -> str | None:
    """The text of one range of codes."""
    if first == last:
        return texts[first]
    if last == book.missing_code:
        return SUPPRESSED
    between = ", " if book.scale is Scale.DATE else "-"
    last_present = book.size - 1 if book.missing_code < 0 else book.size - 2
    left = stated[0] if first == 0 and stated is not None else texts[first]
    if last < last_present:
        return f"[{left}{between}{texts[last + 1]})"
    return f"[{left}{between}{texts[last]}]" if stated is None else f"[{left}{between}{stated[1]})"


def released_cut(release: pl.DataFrame, quasi: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The released values of every attribute with the number of their records, the most frequent first."""
    return {
        name: release.group_by(pl.col(name).alias("value"))
        .agg(pl.len().alias("records"))
        .sort(["records", "value"], descending=[True, False])
        .to_dicts()
        for name in quasi
    }


def grown_taxonomies(
    clustering: Clustering,
    codebook: Codebook,
    interval_text: str = "closed",
    ranges: Mapping[str, Range] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The grown intervals of numeric attributes, with the texts that the release uses for them.

    Empty for algorithms that grow none.
    """
    grown: dict[str, list[dict[str, Any]]] = {}
    for name, nodes in clustering.details.get("taxonomies", {}).items():
        texts = _node_texts(codebook[name], nodes, interval_text, (ranges or {}).get(name))
        grown[name] = [{**node, "value": text} for node, text in zip(nodes, texts, strict=True)]
    return grown


def _node_texts(
    book: ColumnCodebook, nodes: Sequence[Mapping[str, Any]], interval_text: str, stated: Range | None
) -> list[str | None]:
    """The text of each grown interval, as the release writes it."""
    low, high = (np.array([node[end] for node in nodes], dtype=np.int32) for end in ("low", "high"))
    if interval_text == "half-open" and book.scale is not Scale.ORDERED and book.ends is None:
        return half_open_texts(book, low, high, stated)
    cells = interval_cells(book, low, high)
    return cells.values.cast(pl.String).gather(cells.cell_of_box).to_list()


def told_taxonomy(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Grown intervals as they may be published: in order, parents first, and without the ranks of their ends, which
    would tell how many different values the raw table has inside."""
    ordered = sorted(nodes, key=lambda node: (node["low"], -node["high"]))
    number = {node["node"]: place for place, node in enumerate(ordered)}
    return [
        {
            "node": number[node["node"]],
            "parent": None if node["parent"] is None else number[node["parent"]],
            "records": node["records"],
            "value": node["value"],
        }
        for node in ordered
    ]


def told_paths(paths: Sequence[Sequence[str]], released: Collection[str]) -> list[list[str]]:
    """A given taxonomy from the released values upwards: values below them may be known from the raw table alone."""
    found: dict[tuple[str, ...], None] = {}
    for path in paths:
        place = next((place for place, label in enumerate(path) if label in released), None)
        if place is not None:
            found[tuple(path[place:])] = None
    return [list(path) for path in found]
