"""Where the search ended, as groups, boxes and numbers for the result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Boxes, Clustering
from shoal.algorithms.tdr.conditions import Conditions
from shoal.algorithms.tdr.cut_values import CutValues
from shoal.algorithms.tdr.search import Refined, Step
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.kernels.mixed_radix import row_keys

REFINEMENTS = {Kind.INTERVAL: "discretize", Kind.TREE: "generalize", Kind.FLAT: "suppress"}


def outcome(table: EncodedTable, conditions: Conditions, refined: Refined, mode: str) -> Clustering:
    """The clustering: a group is a set of records with equal released values on all attributes."""
    group_of_row, first_row = _classes(table, conditions, refined)
    values = refined.values
    shape = (table.width, first_row.shape[0])
    low, high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    for number in range(table.width):
        cut = values.value_of_code[values.codes_of(number)][table.codes[number, first_row]]
        low[number], high[number] = values.low[cut], values.high[cut]
    groups = group_of_row[table.row_of_record]
    return Clustering(groups=groups, boxes=Boxes(low, high, groups), details=_details(table, conditions, refined, mode))


def _classes(
    table: EncodedTable, conditions: Conditions, refined: Refined
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The class of every row over all attributes, and one row of each class."""
    if conditions.whole >= 0:
        groups = refined.groups[conditions.whole]
        first_rows = groups.order[groups.start[: groups.count]].astype(np.int64)
        return groups.group_of_row(), first_rows
    values = refined.values
    columns = []
    for number in range(table.width):
        cut, place = np.unique(values.value_of_code[values.codes_of(number)], return_inverse=True)
        columns.append((place[table.codes[number]], cut.shape[0]))
    key = row_keys(table.rows, columns)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse.astype(np.int32), first


def _details(table: EncodedTable, conditions: Conditions, refined: Refined, mode: str) -> dict[str, Any]:
    names = [attribute.name for attribute in table.attributes]
    return {
        "mode": mode,
        "qids": [
            {
                "attributes": [names[number] for number in qid.attributes],
                "threshold": qid.threshold,
                "smallest": int(groups.smallest),
            }
            for qid, groups in zip(conditions.qids, refined.groups, strict=True)
        ],
        "cut": {name: _cut(refined.values, number) for number, name in enumerate(names)},
        "taxonomies": {
            attribute.name: _taxonomy(refined.values, number)
            for number, attribute in enumerate(table.attributes)
            if attribute.kind is Kind.INTERVAL
        },
        "steps": [_step(table, refined, step) for step in refined.steps],
    }


def _step(table: EncodedTable, refined: Refined, step: Step) -> dict[str, Any]:
    attribute = table.attributes[step.attribute]
    return {
        "attribute": attribute.name,
        "refinement": REFINEMENTS[attribute.kind],
        "node": step.value,
        "low": int(refined.values.low[step.value]),
        "high": int(refined.values.high[step.value]),
        "score": step.score,
        "gain": step.gain,
        "anonymity_loss": step.anonymity_loss,
        "igpl": step.gain / (step.anonymity_loss + 1),  # information gain per privacy loss of this step
        "records": step.records,
        **({"privacy_loss": step.privacy_loss} if refined.scored_models else {}),
    }


def _cut(values: CutValues, attribute: int) -> list[dict[str, int]]:
    """The values of the cut that records have, by their code bounds; suppressed values together bound everything."""
    present = np.unique(values.value_of_code[values.codes_of(attribute)])
    return [
        {
            "node": int(value),
            "low": int(values.low[value]),
            "high": int(values.high[value]),
            "level": int(values.level[value]) if values.low[value] < values.high[value] else 0,
            "records": int(values.records[value]),
        }
        for value in present[np.argsort(values.low[present], kind="stable")]
        if values.records[value] > 0
    ]


def _taxonomy(values: CutValues, attribute: int) -> list[dict[str, Any]]:
    """The intervals that were grown for a numeric attribute; the parent of the root is None."""
    mine = np.flatnonzero(values.attribute[: values.count] == attribute)
    return [
        {
            "node": int(value),
            "parent": int(values.parent[value]) if values.parent[value] >= 0 else None,
            "low": int(values.low[value]),
            "high": int(values.high[value]),
            "records": int(values.records[value]),
        }
        for value in mine
    ]
