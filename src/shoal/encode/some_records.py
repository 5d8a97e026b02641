"""Some records of a table as a table of its own, in the same codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedColumn, EncodedTable


def some_records(table: EncodedTable, records: NDArray[np.int64]) -> EncodedTable:
    """The table of these records, which come in this order. Rows that none of them has are left out.

    Losses stay those of the whole domain, and models that compare a group with the table compare with the whole one.
    """
    rows, row_of_record = np.unique(table.row_of_record[records], return_inverse=True)
    return replace(
        table,
        codes=np.ascontiguousarray(table.codes[:, rows]),
        weights=np.bincount(row_of_record, minlength=rows.shape[0]).astype(np.int64),
        record_rows=row_of_record.astype(np.int32).reshape(-1),
        columns={name: _some_cells(column, records) for name, column in table.columns.items()},
    )


def _some_cells(column: EncodedColumn, records: NDArray[np.int64]) -> EncodedColumn:
    shares = column.shares
    if shares is None:
        shares = np.bincount(column.codes, minlength=column.size) / max(1, column.codes.shape[0])
    return replace(column, codes=np.ascontiguousarray(column.codes[records]), shares=shares)
