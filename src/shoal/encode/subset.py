"""Some records of an encoded table as a table of their own, with the same codes and domains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable


def table_of(table: EncodedTable, records: NDArray[np.int64]) -> EncodedTable:
    """The table of these records, in this order."""
    rows, row_of_record = np.unique(table.row_of_record[records], return_inverse=True)
    return replace(
        table,
        codes=np.ascontiguousarray(table.codes[:, rows]),
        weights=np.bincount(row_of_record, minlength=rows.shape[0]).astype(np.int64),
        record_rows=row_of_record.astype(np.int32),
        columns={name: replace(column, codes=column.codes[records]) for name, column in table.columns.items()},
    )
