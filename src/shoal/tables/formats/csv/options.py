"""How a text table is written down: given by the user, or found out while reading."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import InputError, Problem

DELIMITERS = (",", ";", "\t", "|")  # those that are looked for
_SPECIAL = ("\n", "\r", "\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """None means: find it out. `missing` lists texts that mean "no value", besides the empty cell.

    `quote=""` says that the file has no quoted cells at all. The texts in `missing` stay in the table as they are,
    so that kept columns are released byte for byte; `is_missing` in `shoal.tables.scales` gives them their meaning.
    """

    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    header: bool | None = None
    missing: tuple[str, ...] = ()
    rename_duplicates: bool | None = None  # the second column named `a` becomes `a_2`, instead of an error

    decimal_comma: bool | None = None  # columns of numbers such as `3,5` are read as `3.5`

    def __post_init__(self) -> None:
        problems = [*_character_problems("delimiter", self.delimiter, empty_allowed=False)]
        problems += _character_problems("quote", self.quote, empty_allowed=True)
        if self.delimiter is not None and self.delimiter == self.quote:
            problems.append(Problem("bad-option", "the delimiter and the quote are the same character"))
        if problems:
            raise InputError(problems)


def _character_problems(name: str, value: str | None, *, empty_allowed: bool) -> list[Problem]:
    if value is None or (empty_allowed and value == ""):
        return []
    if len(value) != 1 or not value.isascii() or value in _SPECIAL:
        return [Problem("bad-option", f"the {name} must be one ASCII character other than a line end", hint="e.g. ','")]
    return []
