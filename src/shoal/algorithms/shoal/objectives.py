"""What the search makes small. Every objective is a table and a price, so that the same search serves them all; only
`squares`, for releases of group means, has a search of its own (`flagship.squares`).

- gcp: the loss of the released values, as it is measured and compared everywhere.
- distortion: the weighted hierarchical distance of the KACA papers with uniform weights. Every step up a hierarchy
  costs the same; a category without a hierarchy is the value or everything; numbers cost the width of their range.
- discernibility: gcp, and large groups cost more. A record's share of the discernibility is the size of its group:
  what that is above k, over k, counts a tenth as much as its loss.
- class: gcp, and the class label is one more attribute: a group of several labels loses as one that mixes categories.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.weights import whd

OBJECTIVES = ("gcp", "distortion", "discernibility", "class", "squares")
_SIZE_SHARE = 0.1


def objective_table(table: EncodedTable, objective: str, class_column: str | None = None) -> EncodedTable:
    """The table whose loss is the objective (but for the price of large groups)."""
    if objective == "distortion":
        return replace(table, attributes=tuple(_lifted(one) for one in table.attributes))
    if objective == "class" and class_column is not None:
        return _with_label(table, class_column)
    return table


def size_price(table: EncodedTable, objective: str, k: int) -> float:
    """What a record costs for each record of its group, itself included."""
    return _SIZE_SHARE * table.width / k if objective == "discernibility" else 0.0


def _lifted(attribute: EncodedAttribute) -> EncodedAttribute:
    if attribute.kind is Kind.INTERVAL:
        return attribute
    costs = np.repeat(whd(attribute.levels - 1)[:, np.newaxis], attribute.size, axis=1)
    return replace(attribute, kind=Kind.TREE, level_cost=costs)


def _with_label(table: EncodedTable, class_column: str) -> EncodedTable:
    """One more attribute without a hierarchy. Rows that were equal are parted by their labels."""
    if class_column not in table.columns:
        hint = did_you_mean(class_column, list(table.columns))
        raise InputError(Problem("unknown-column", "there is no such class label", class_column, hint))
    label = table.columns[class_column]
    pairs, row_of_record, weights = np.unique(
        table.row_of_record.astype(np.int64) * label.size + label.codes, return_inverse=True, return_counts=True
    )
    rows, labels = np.divmod(pairs, label.size)
    codes = np.arange(label.size, dtype=np.int32)
    attribute = EncodedAttribute(
        name=class_column,
        kind=Kind.FLAT,
        size=label.size,
        positions=codes / max(1, label.size - 1),
        ancestors=np.vstack([codes, np.full(label.size, label.size, dtype=np.int32)]),
        level_cost=np.vstack([np.zeros(label.size), np.ones(label.size)]),
    )
    return replace(
        table,
        attributes=(*table.attributes, attribute),
        codes=np.ascontiguousarray(np.vstack([table.codes[:, rows], labels[np.newaxis]]).astype(np.int32)),
        weights=weights.astype(np.int64),
        record_rows=row_of_record.astype(np.int32),
    )
