"""Addresses of tables in databases.

    postgresql://host:port/database?table=schema.patients&key=id
    postgresql:///database?service=clinic&table=patients
    sqlite:///folder/file.db?table=people
    duckdb:///folder/file.duckdb?table=people

`table` and `key` are ours; every other parameter goes to the database's own library. `key` names columns (a,b) that
order the rows. A password in an address would be seen in the list of processes and kept in the shell's history, so it
is refused: the library finds it in PGPASSFILE, a service file or PGPASSWORD.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from shoal.errors import InputError, Problem, did_you_mean

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_OWN = ("table", "key")
_FORM = (
    "write e.g. postgresql://host/database?table=schema.name, sqlite:///file.db?table=name or duckdb:///file?table=name"
)


class Database(StrEnum):
    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"


_NAMES = {"postgresql": Database.POSTGRESQL, "postgres": Database.POSTGRESQL, "sqlite": Database.SQLITE}
_NAMES["duckdb"] = Database.DUCKDB


@dataclass(frozen=True)
class SqlAddress:
    """Where a table is. `place` is what the database's library is given: an address, or the path of a file."""

    database: Database
    place: str
    schema: str | None
    table: str | None
    key: tuple[str, ...] = ()
    query: str | None = None  # instead of a table: what to read

    def __str__(self) -> str:
        """For messages and progress: kind and table, no host, user or parameters."""
        return f"{self.database} table '{self.name}'" if self.table else f"{self.database} query"

    @property
    def name(self) -> str:
        return ".".join(part for part in (self.schema, self.table) if part)

    @property
    def text(self) -> str:
        """The address as it is written in a job."""
        base = self.place if self.database is Database.POSTGRESQL else f"{self.database}://{quote(self.place)}"
        own = {**({"table": joined(self.schema, self.table)} if self.table else {})}
        if self.key:
            own["key"] = ",".join(self.key)
        mark = "&" if "?" in base else "?"
        return f"{base}{mark}{urlencode(own, safe='.,')}" if own else base

    def with_query(self, query: str) -> SqlAddress:
        return replace(self, query=query)

    def with_table(self, table: str) -> SqlAddress:
        """The same database with another table: `schema.name`, or `name`."""
        schema, name = _split_name(table)
        return replace(self, schema=schema, table=name)


def address_text(place: Path | SqlAddress) -> str:
    """A file or a table of a database in one line: `place_of` reads it again."""
    return place.text if isinstance(place, SqlAddress) else str(place)


def place_of(text: str) -> Path | SqlAddress:
    """The file or the table of a database that a text names."""
    return parse_address(text) if is_address(text) else Path(text)


def is_address(text: object) -> bool:
    """Whether a text is meant as the address of a table and not as the path of a file."""
    return isinstance(text, str) and _SCHEME.match(text) is not None


def parse_address(text: str) -> SqlAddress:
    """The parts of an address; an InputError says what is wrong without repeating it, for it may hold a password."""
    try:
        parts = urlsplit(text)
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        hidden = parts.password is not None
    except ValueError:
        raise InputError(Problem("bad-address", "the address of a database cannot be read", hint=_FORM)) from None
    database = _NAMES.get(parts.scheme.lower())
    if database is None:
        hint = did_you_mean(parts.scheme.lower(), list(_NAMES))
        message = f"there is no kind of database '{parts.scheme}' here"
        raise InputError(Problem("unknown-database", message, hint=hint or _FORM))
    if hidden or any(name.lower() in ("password", "sslpassword") for name, _ in parameters):
        hint = "put it into a password file (PGPASSFILE), a service file, or PGPASSWORD"
        raise InputError(Problem("password-in-address", "an address must not hold a password", hint=hint))
    own = {name: value for name, value in parameters if name in _OWN}
    others = [(name, value) for name, value in parameters if name not in _OWN]
    schema, table = _split_name(own.get("table", ""))
    key = tuple(name.strip() for name in own.get("key", "").split(",") if name.strip())
    if database is Database.POSTGRESQL:
        place = f"postgresql://{parts.netloc}{parts.path}" + (f"?{urlencode(others)}" if others else "")
        return SqlAddress(database, place, schema, table, key)
    if parts.netloc or others or len(parts.path) < 2:
        message = f"the address of a {database} file has another form"
        raise InputError(Problem("bad-address", message, hint=f"write {database}:///folder/file?table=name"))
    path = unquote(parts.path)
    return SqlAddress(database, path[1:] if path.startswith("/./") else path, schema, table, key)


def _split_name(text: str) -> tuple[str | None, str | None]:
    """`schema.table`, or `table`; a name with a dot in it is written in double quotes."""
    found = re.findall(r'"((?:[^"]|"")*)"|([^."]+)', text)
    names = [(quoted.replace('""', '"') if quoted else plain) for quoted, plain in found]
    if not names:
        return None, None
    if len(names) > 2:
        raise InputError(Problem("bad-address", "the table of an address has more than two parts", hint=_FORM))
    return (names[0], names[1]) if len(names) == 2 else (None, names[0])


def joined(schema: str | None, table: str | None) -> str:
    """A name as an address writes it."""

    def written(name: str) -> str:
        return '"' + name.replace('"', '""') + '"' if "." in name or '"' in name else name

    return ".".join(written(part) for part in (schema, table) if part)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
