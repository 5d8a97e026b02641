"""Random columns: a kind, and values as texts, so that a case can be written to JSON and read by a person.

Domains are small, so that values meet; every domain has some that are hard to get right: signed zeros, numbers that
are written in two ways, integers that floats cannot hold, texts that look like released values, missing ones.
"""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from random import Random
from typing import Any

Column = dict[str, Any]  # kind, values (texts or None), and what the kind needs

WORDS = ["amber", "birch", "cobalt", "dahlia", "ember", "fjord", "garnet"]
ODD_WORDS = [
    "a,b",
    "{x}",
    '"q"',
    "*",
    "[1, 2]",
    "(missing)",
    "caf\u00e9",
    "cafe\u0301",
    " x",
    "x ",
    "x",
    "=1+1",
    "NULL",
    "None",
    "a;b",
    "it's",
    "line\nbreak",
    "\u0130stanbul",
    "-",
    "{a, b}",
    "true",
]
NUMBER_TEXTS = ["1", "2", "3", "5", "8", "13", "21", "34", "-4", "+5", " 6", "40"]
DECIMAL_TEXTS = ["1.0", "1.00", "1", "1.5", "-0.0", "0.0", "0", "1e3", "1000", ".5", "0.50", "2.25", "-3.75"]
CODES = ["00501", "10115", "10117", "10119", "20095", "20097", "80331", "80333"]
BIG = [2**53, 2**53 + 1, 2**53 + 2, 2**62, 2**62 + 1, -(2**60), -(2**60) - 1, 2**63 - 1]
HUGE = [2**64, 2**64 + 1, 2**70, -(2**70), 2**65]
FLOATS = ["0.0", "-0.0", "1.5", "2.25", "1e300", "-1e300", "1.7e308", "5e-324", "0.1", "0.30000000000000004", "0.3"]
DAYS = ["2020-01-31", "2020-02-29", "2020-03-01", "2019-12-31", "1999-07-04", "1965-01-01", "2020-03-15"]
MOMENTS = ["2020-01-31 00:00:00", "2020-01-31 12:30:00", "2020-02-29 23:59:59", "1970-01-01 00:00:00"]
TIMES = ["00:00:00", "08:15:00", "08:15:30", "23:59:59"]

MISSING_TEXTS = ["?", "NA", "none given"]


def random_column(random: Random, n: int) -> Column:
    """A column of n values, of any kind."""
    maker = random.choice(MAKERS)
    column = maker(random, n)
    if random.random() < 0.3:
        _lose_some(column, random)
    return column


def text_column(random: Random, n: int, domain: list[str]) -> Column:
    some = random.sample(domain, min(len(domain), random.randint(1, 6)))
    return {"kind": "text", "values": [random.choice(some) for _ in range(n)]}


def _lose_some(column: Column, random: Random) -> None:
    """Some values go missing, in all the ways in which this kind can be missing."""
    share = random.choice([0.1, 0.3, 0.7])
    ways: list[str | None] = [None]
    if column["kind"] == "text":
        ways = random.choice([[None], [""], [None, ""], ["", "NaN"], ["?"], ["?", "NA", None], ["none given", "?"]])
    elif column["kind"] in ("float", "float32"):
        ways = random.choice([[None], ["nan"], [None, "nan"]])
    column["values"] = [random.choice(ways) if random.random() < share else value for value in column["values"]]


def _words(random: Random, n: int) -> Column:
    return text_column(random, n, WORDS)


def _odd_words(random: Random, n: int) -> Column:
    return text_column(random, n, ODD_WORDS + WORDS[:3])


def _number_texts(random: Random, n: int) -> Column:
    return text_column(random, n, random.choice([NUMBER_TEXTS, DECIMAL_TEXTS, CODES]))


def _date_texts(random: Random, n: int) -> Column:
    form = random.choice(["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S", "%m/%d/%Y"])
    texts = [dt.datetime.fromisoformat(day).strftime(form) for day in DAYS]
    return {**text_column(random, n, texts), "form": form}


def _integers(random: Random, n: int) -> Column:
    kind = random.choice(["int64", "int64", "int8", "uint64"])
    low, high = random.choice([(0, 5), (0, 90), (-20, 20)]) if kind != "uint64" else (0, 60)
    return {"kind": kind, "values": [str(random.randint(low, high)) for _ in range(n)]}


def _big_integers(random: Random, n: int) -> Column:
    domain = BIG + (HUGE if random.random() < 0.3 else [])
    some = random.sample(domain, 3)
    kind = "int64" if all(abs(value) < 2**63 for value in some) else "huge"
    return {"kind": kind, "values": [str(random.choice(some)) for _ in range(n)]}


def _floats(random: Random, n: int) -> Column:
    kind = random.choice(["float", "float", "float32"])
    domain = [text for text in FLOATS if kind == "float" or abs(float(text)) < 1e30]
    some = random.sample(domain, random.randint(1, 5))
    return {"kind": kind, "values": [random.choice(some) for _ in range(n)]}


def _decimals(random: Random, n: int) -> Column:
    texts = ["1.0", "1.00", "2.5", "-0.0", "0.0", "12345678901234.56", "3.75", "10"]
    some = random.sample(texts, random.randint(1, 4))
    return {"kind": "decimal", "values": [random.choice(some) for _ in range(n)]}


def _dates(random: Random, n: int) -> Column:
    return {"kind": "date", "values": [random.choice(DAYS) for _ in range(n)]}


def _moments(random: Random, n: int) -> Column:
    unit = random.choice(["us", "ns", "ms"])
    zone = random.choice([None, None, "UTC", "Europe/Berlin"])
    return {"kind": "datetime", "unit": unit, "zone": zone, "values": [random.choice(MOMENTS) for _ in range(n)]}


def _times(random: Random, n: int) -> Column:
    return {"kind": "time", "values": [random.choice(TIMES) for _ in range(n)]}


def _booleans(random: Random, n: int) -> Column:
    return {"kind": "bool", "values": [random.choice(["true", "false"]) for _ in range(n)]}


def _categories(random: Random, n: int) -> Column:
    categories = random.sample(WORDS, 5)
    used = categories[: random.randint(1, 5)]
    values = [random.choice(used) for _ in range(n)]
    return {"kind": "category", "categories": categories, "ordered": random.random() < 0.5, "values": values}


MAKERS = [
    _words,
    _words,
    _odd_words,
    _number_texts,
    _number_texts,
    _date_texts,
    _integers,
    _integers,
    _integers,
    _big_integers,
    _floats,
    _decimals,
    _dates,
    _moments,
    _times,
    _booleans,
    _categories,
]


def typed(text: str | None, column: Column) -> Any:
    """The Python value of a text of this column; None if it is missing (a float may be NaN instead)."""
    if text is None:
        return None
    kind = column["kind"]
    if kind in ("int64", "int8", "uint64", "huge"):
        return int(text)
    if kind == "float32":
        return single(text)
    if kind == "float":
        return float(text)
    if kind == "decimal":
        return Decimal(text)
    if kind == "date":
        return dt.date.fromisoformat(text)
    if kind == "datetime":
        return dt.datetime.fromisoformat(text)
    if kind == "time":
        return dt.time.fromisoformat(text)
    if kind == "bool":
        return text == "true"
    return text


def single(number: Any) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("f", struct.pack("f", float(number)))[0])
