"""What a database says, in our words.

The texts of drivers repeat passwords, queries and cell values, so none of them is passed on: only the state (SQLSTATE)
that says what kind of error it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shoal.errors import InputError, Problem, ShoalError

# the first two letters of a state, or all five
_MEANING = {
    "08": ("no-connection", "the database cannot be reached", "look at host, port and whether it runs"),
    "28": ("not-allowed", "the database does not let this user in", "look at user, PGPASSFILE, PGSERVICE, PGPASSWORD"),
    "3D": ("no-database", "there is no such database", None),
    "3F": ("no-schema", "there is no such schema", "make it first"),
    "42P01": ("no-table", "there is no such table", "name it as schema.table"),
    "42P07": ("table-exists", "the table exists already", "give --replace to replace it"),
    "42703": ("unknown-column", "the table has no such column", None),
    "42501": ("not-allowed", "the user may not do that in the database", "ask for the right to read or to create"),
    "42601": ("bad-query", "the query is not well formed", None),
    "22": ("bad-value", "the database refuses a value of the release", "leave the column out, or write a file"),
    "23": ("bad-value", "the database refuses a row of the release", None),
    "53": ("database-full", "the database has no room or no connection left", None),
    "57": ("stopped", "the database was stopped or ended the query", None),
    "25006": ("read-only", "the database can only be read", None),
    "40": ("conflict", "another change of the database was in the way", "try again"),
    "55P03": ("conflict", "another user holds the table", "try again"),
}


@contextmanager
def in_our_words(address: object) -> Iterator[None]:
    """Errors of a driver inside this block become InputErrors without the driver's text."""
    try:
        yield
    except (ShoalError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # drivers have classes of their own; nothing of theirs may pass
        theirs = type(error).__module__.startswith(("adbc_driver", "_duckdb", "duckdb", "pyarrow"))
        if not theirs and not isinstance(error, OSError):  # which is what a stream of Arrow batches raises
            raise
        raise InputError(_problem(address, error)) from None


def _problem(address: object, error: Exception) -> Problem:
    state = str(getattr(error, "sqlstate", None) or "")
    reason, message, hint = _MEANING.get(state) or _MEANING.get(state[:2]) or _by_kind(error)
    told = f" (SQLSTATE {state})" if state and state.isalnum() else ""
    return Problem(reason, f"{address}: {message}{told}", hint=hint)


def _by_kind(error: Exception) -> tuple[str, str, str | None]:
    """Where there is no state: DuckDB and SQLite tell by the class of the error, or not at all."""
    name = type(error).__name__
    if name in ("CatalogException", "BinderException"):
        return "no-table", "there is no such table or column", None
    if name in ("ParserException",):
        return "bad-query", "the query is not well formed", None
    if name in ("IOException", "ConnectionException"):
        return (
            "no-connection",
            "the database cannot be opened",
            "look at the path; another program may hold it",
        )
    if name == "OperationalError":
        hint = "look at host, port, user, PGPASSFILE, PGSERVICE and PGPASSWORD"
        return "no-connection", "the database cannot be reached, or does not let this user in", hint
    return "database-error", f"the database refused ({name})", None
