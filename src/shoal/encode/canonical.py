"""Records in canonical order: by row, then by the columns that models look at, then as they came.

Algorithms that take rows are given their records in this order, so that their groups do not depend on the order of the
input, and so that an engine that only counts records finds the same groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable


def canonical_order(table: EncodedTable, names: Sequence[str]) -> NDArray[np.int64]:
    """(records,) the records in canonical order; `names` are the columns that models look at, in their order."""
    keys = [table.columns[name].codes for name in names]
    return np.lexsort((*keys[::-1], table.row_of_record))


def in_order(table: EncodedTable, order: NDArray[np.int64]) -> EncodedTable:
    """The same table with its records in another order."""
    columns = {name: replace(column, codes=column.codes[order]) for name, column in table.columns.items()}
    return replace(table, record_rows=table.row_of_record[order], columns=columns)
