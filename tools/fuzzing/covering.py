"""Does a released cell stand for a value of the input? Read by the published rules of released values, leniently.

`*` stands for everything, `[20, 29]` for what lies between, `{A, B}` for these, a label of a hierarchy for what is
below it, anything else for itself. Where a text may be read in two ways either will do.
"""

from __future__ import annotations

import datetime as dt
import functools
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from fuzzing.values import Column, single

INTEGERS = ("int64", "int8", "uint64", "huge")
MISSING = ("", "NaN", "nan")
DATE_FORMS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%Y-%m-%d %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%Y-%m",
    "%Y",
)


def is_missing(value: Any, missing: tuple[str, ...] = ()) -> bool:
    """Null, NaN, the empty text, the texts for NaN, and in columns of texts those that the job names."""
    if value is None or value is pd.NaT or value is pd.NA:
        return True
    if isinstance(value, str):
        return value.strip() in MISSING or value.strip() in missing
    return bool(value != value)


def number_of(text: Any) -> Decimal | None:
    if type(text).__name__ in ("bool", "bool_"):
        return None
    try:
        number = Decimal(str(text).strip())
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def moment_of(value: Any, zone: str | None = None) -> dt.datetime | None:
    """A day or moment, without a zone: that of the column is taken off."""
    if isinstance(value, dt.datetime):
        found = value
    elif isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    else:
        parsed = _parsed_moment(str(value))
        if parsed is None:
            return None
        found = parsed
    if found.tzinfo is not None:
        found = found.astimezone(ZoneInfo(zone or "UTC")).replace(tzinfo=None)
    return found


@functools.lru_cache(maxsize=4096)
def _parsed_moment(text: str) -> dt.datetime | None:
    for form in DATE_FORMS:
        try:
            return dt.datetime.strptime(text, form)
        except ValueError:
            continue
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None


def set_elements(text: str) -> list[str] | None:
    """The elements of a released set, None if it is none; quoted ones have their quotes doubled inside."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    elements, current, quoted = [], "", False
    for letter in text[1:-1]:
        if letter == '"':
            quoted = not quoted
        if letter == "," and not quoted:
            elements.append(current)
            current = ""
        else:
            current += letter
    elements.append(current)
    return [_unquoted(element[1:] if place else element) for place, element in enumerate(elements)]


def _unquoted(element: str) -> str:
    if len(element) > 1 and element.startswith('"') and element.endswith('"'):
        return element[1:-1].replace('""', '"')
    return element


class Reader:
    """What the cells of one quasi-identifier stand for."""

    def __init__(
        self, column: Column, missing: tuple[str, ...], order: list[str] | None, hierarchy: dict[str, Any] | None
    ) -> None:
        self.zone = column.get("zone")
        self.texts: list[str | None] = column.get("values", [])
        self.kind = column["kind"]
        self.missing = missing if self.kind in ("text", "category") else ()
        self.order = {text: place for place, text in enumerate(order)} if order else None
        self.hierarchy = hierarchy
        self.paths = {row[0]: row for row in hierarchy["rows"]} if hierarchy and "rows" in hierarchy else {}
        self._known: dict[tuple[str, str, str | None], bool] = {}

    def text_of(self, row: int) -> str | None:
        """What the input has in a row."""
        return self.texts[row]

    def value_of(self, text: str | None) -> str | None:
        """One text for a value, however it is written; None for a missing one."""
        if text is None or is_missing(text, self.missing):
            return None
        number, moment = number_of(text), moment_of(text)
        if self.kind == "float32" and number is not None:
            return repr(single(number))
        return str(number.normalize()) if number is not None else str(moment) if moment is not None else text

    def spelling_of(self, text: str | None) -> str | None:
        """The same where texts that are written differently are different values."""
        return text if self.kind == "text" and not is_missing(text, self.missing) else self.value_of(text)

    def path_of(self, text: str | None) -> list[str]:
        """The labels from a value to the root of its hierarchy; none if the reader has not got them."""
        value = self.value_of(text)
        return next((path for leaf, path in self.paths.items() if leaf == text or self.value_of(leaf) == value), [])

    def is_value(self, cell: Any, text: str | None) -> bool:
        """Whether a cell is the value itself."""
        if is_missing(cell, self.missing):
            return is_missing(text, self.missing)
        return text is not None and not is_missing(text, self.missing) and self._same(cell, text)

    def covers(self, cell: Any, text: str | None) -> bool:
        """Whether a released cell stands for the input value that is written as this text."""
        key = (type(cell).__name__, repr(cell), text)
        if key not in self._known:
            self._known[key] = self._covers(cell, text)
        return self._known[key]

    def _covers(self, cell: Any, text: str | None) -> bool:
        absent = is_missing(text, self.missing) or (self.kind in ("float", "float32") and text == "nan")
        if is_missing(cell, self.missing):
            return absent
        if cell == "*":
            return True
        if absent or text is None:
            return self._covers_missing(cell)
        return (
            self._same(cell, text)
            or (isinstance(cell, str) and self._in_tree(cell, text))
            or (isinstance(cell, str) and self._in_set(cell, text))
            or (isinstance(cell, str) and self._in_range(cell, text))
        )

    def _covers_missing(self, cell: Any) -> bool:
        if not isinstance(cell, str):
            return False
        elements = set_elements(cell)
        return elements is not None and "(missing)" in elements

    def _same(self, cell: Any, text: str) -> bool:
        shown = str(cell)
        if shown == text or shown.lower() == text.lower() == "true" or shown.lower() == text.lower() == "false":
            return True
        if self.kind == "float32":
            first, second = number_of(cell), number_of(text)
            return first is not None and second is not None and single(first) == single(second)
        number, other = number_of(cell), number_of(text)
        if number is not None and other is not None:
            whole = self.kind in (*INTEGERS, "text") and not isinstance(cell, float)  # floats take large ones for equal
            return number == other or (not whole and float(number) == float(other))
        if self.kind == "time":
            return shown.startswith(text)
        moment, wanted = moment_of(cell, self.zone), moment_of(text)
        return moment is not None and moment == wanted

    def _in_tree(self, cell: str, text: str) -> bool:
        if self.hierarchy is None:
            return False
        if self.paths:
            path = self.paths.get(text) or next((row for leaf, row in self.paths.items() if self._same(leaf, text)), ())
            return cell in path
        builder = self.hierarchy.get("builder")
        if builder == "prefix":
            kept, moment = cell.rstrip("*"), moment_of(text)
            return text.startswith(kept) or (moment is not None and str(moment.date()).startswith(kept))
        if builder == "order":
            order = {value: place for place, value in enumerate(self.hierarchy["values"])}
            return _between(cell, text, order)
        if builder == "dates":
            return _in_date_label(cell, text)
        if builder == "ranges":
            return _in_number_label(cell, text)
        return False

    def _in_set(self, cell: str, text: str) -> bool:
        elements = set_elements(cell)
        if elements is None:
            return False
        return any(element == text or element == text.strip() or self._same(element, text) for element in elements)

    def _in_range(self, cell: str, text: str) -> bool:
        if not (cell.startswith("[") and cell.endswith("]") and ", " in cell):
            return False
        if self.order is not None:  # whoever gives an order says what lies between
            return _between(cell, text, self.order)
        low, _, high = cell[1:-1].rpartition(", ")
        numbers = [number_of(part) for part in (low, text, high)]
        if None not in numbers:
            if self.kind == "float32":
                return single(numbers[0]) <= single(numbers[1]) <= single(numbers[2])
            return numbers[0] <= numbers[1] <= numbers[2]  # type: ignore[operator]
        moments = [moment_of(low, self.zone), moment_of(text), moment_of(high, self.zone)]
        return None not in moments and moments[0] <= moments[1] <= moments[2]  # type: ignore[operator]


def _between(cell: str, text: str, order: dict[str, int]) -> bool:
    """Whether a text lies between the ends of `[first, last]`, which may hold commas themselves."""
    inner = cell[1:-1]
    starts = [place for place in range(len(inner)) if inner.startswith(", ", place)]
    for place in starts:
        low, high = inner[:place], inner[place + 2 :]
        if low in order and high in order and text in order and order[low] <= order[text] <= order[high]:
            return True
    return False


def _in_date_label(label: str, text: str) -> bool:
    year, month = text[:4], int(text[5:7])
    if label.endswith("s"):
        return year[:3] == label[:3]
    if "-Q" in label:
        return label == f"{year}-Q{(month + 2) // 3}"
    return text.startswith(label)


def _in_number_label(label: str, text: str) -> bool:
    number = number_of(text)
    if number is None:
        return False
    if label.startswith(">="):
        return number >= Decimal(label[2:])
    if label.startswith("<"):
        return number < Decimal(label[1:])
    if label.startswith("[") and ", " in label:
        low, high = (number_of(part) for part in label[1:-1].split(", "))
        if low is None or high is None:
            return False
        return low <= number < high if label.endswith(")") else low <= number <= high
    return number_of(label) == number
