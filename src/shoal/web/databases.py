"""The databases that were named at the start: their tables may be opened, and no other one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress
from shoal.tables.formats.sql.stores import open_store

MOST_TABLES = 500


class Databases:
    """Addresses by number. One that names a table stands for that table only."""

    def __init__(self, given: Sequence[SqlAddress]) -> None:
        self._given = tuple(given)

    def names(self) -> list[dict[str, Any]]:
        """Kind and table: neither host nor user."""
        return [
            {"number": number, "kind": str(address.database), "table": address.name or None}
            for number, address in enumerate(self._given)
        ]

    def tables(self, number: int) -> list[str]:
        """The tables that can be read there."""
        address = self._of(number)
        if address.table is not None:
            return [address.name]
        with closing(open_store(address, to_write=False)) as store:
            return store.tables()[:MOST_TABLES]

    def table(self, number: int, table: str, key: str) -> SqlAddress:
        """The address of a table; `key` names the columns (a,b) that order its rows."""
        address = self._of(number)
        if address.table is None:
            if not table.strip():
                raise InputError(Problem("no-table", "choose a table"))
            address = address.with_table(table)
        names = tuple(name.strip() for name in key.split(",") if name.strip())
        return replace(address, key=names) if names else address

    def _of(self, number: int) -> SqlAddress:
        if not 0 <= number < len(self._given):
            raise InputError(Problem("no-such-database", "this workbench was not started with such a database"))
        return self._given[number]
