"""Rows of a database through a connection that the caller has opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem, did_you_mean
from shoal.tables.fixed_order import in_fixed_order


def read_sql(connection: Any, query: str, *, key: Sequence[str] | str = ()) -> pl.DataFrame:
    """The rows of a query, in an order that is the same every time: by the columns `key`, then by content.

    `connection` is one of ADBC, one of a DB-API driver (psycopg, sqlite3, ...) or one of DuckDB; it stays open, and its
    transaction is the caller's. A type without a counterpart here is best cast in the query. Raises InputError without
    what the driver says: that may hold passwords and values.
    """
    columns = [key] if isinstance(key, str) else list(key)
    try:
        frame = pl.read_database(query, connection, infer_schema_length=None)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # every driver has classes of its own; nothing of theirs may pass
        state = str(getattr(error, "sqlstate", None) or "")
        told = f" (SQLSTATE {state})" if state.isalnum() else f" ({type(error).__name__})"
        hint = "try the query with the driver alone; a column with values of several types has to be cast"
        raise InputError(Problem("database-error", f"the query could not be read{told}", hint=hint)) from None
    if frame.height == 0:
        raise InputError(Problem("no-records", "the query gives no records"))
    unknown = [name for name in columns if name not in frame.columns]
    if unknown:
        message = "the key names no column of the query"
        raise InputError(
            [Problem("unknown-column", message, name, did_you_mean(name, frame.columns)) for name in unknown]
        )
    return in_fixed_order(frame, columns)
