"""Which rows look the same once their codes are replaced by nodes: one pass with a table of hashes.

Cost: O(rows x attributes), and 4 bytes per slot; no sorting. Rows whose hashes meet are compared node by node, so the
answer is exact whatever the number of attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel


@kernel
def row_classes(
    node_of_code: Any, starts: Any, codes: Any, weights: Any, hashes: Any, slots: Any, class_of_row: Any, first_row: Any
) -> Any:
    """The class of every row, numbered in the order of their first rows; the number of classes is returned.

    IN  node_of_code  int32 (all lines,) lines of nodes, one after the other
    IN  starts        int64 (attributes,) where the line of each attribute starts
    IN  codes         int32 (attributes, rows)
    IN  weights       int64 (rows,) records of each row; a row without records gets class -1
    OUT hashes        uint64 (rows,)
    OUT slots         int32 (a power of two above the number of rows,)
    OUT class_of_row  int32 (rows,)
    OUT first_row     int32 (rows,) the first row of each class
    """
    attributes, rows = codes.shape
    hashes[:] = np.uint64(0x9E3779B97F4A7C15)
    for attribute in range(attributes):
        line = starts[attribute]
        for row in range(rows):
            mixed = (hashes[row] ^ np.uint64(node_of_code[line + codes[attribute, row]])) * np.uint64(
                0xBF58476D1CE4E5B9
            )
            hashes[row] = mixed ^ (mixed >> np.uint64(29))
    slots[:] = -1
    mask = np.uint64(slots.shape[0] - 1)
    count = 0
    for row in range(rows):
        if weights[row] == 0:
            class_of_row[row] = -1
            continue
        slot = (hashes[row] ^ (hashes[row] >> np.uint64(32))) & mask
        while True:
            found = slots[np.int64(slot)]
            if found < 0:
                slots[np.int64(slot)] = count
                first_row[count] = row
                class_of_row[row] = count
                count += 1
                break
            other = first_row[found]
            same = hashes[other] == hashes[row]
            attribute = 0
            while same and attribute < attributes:
                line = starts[attribute]
                same = node_of_code[line + codes[attribute, row]] == node_of_code[line + codes[attribute, other]]
                attribute += 1
            if same:
                class_of_row[row] = found
                break
            slot = (slot + np.uint64(1)) & mask
    return count


@kernel
def class_weights(class_of_row: Any, weights: Any, sizes: Any) -> None:
    """The records of every class.

    OUT sizes  int64 (classes,)
    """
    sizes[:] = 0
    for row in range(class_of_row.shape[0]):
        if class_of_row[row] >= 0:
            sizes[class_of_row[row]] += weights[row]
