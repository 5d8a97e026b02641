from __future__ import annotations

import numpy as np
import pytest

from shoal.tables.formats.csv.sniff import looks_like_header, sniff


def sniffed(text: str, delimiter: str | None = None, quote: str | None = None) -> tuple[str, str]:
    return sniff(np.frombuffer(text.encode(), dtype=np.uint8), delimiter, quote)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", (",", '"')),
        ('a;"b;c"\n1;2\n', (";", '"')),
        ("a\tb, c\n1\t2\n", ("\t", '"')),
        ("a|b|c\n1;x|2|3\n", ("|", '"')),
        ("'a','b'\n'1','2'\n", (",", "'")),
        ("a,b\n1,2\n3\n", (",", '"')),  # ragged: still the delimiter of the first line
        ("a;b;c,d\n1;2\n3;4;5\n", (";", '"')),
    ],
)
def test_found(text: str, expected: tuple[str, str]) -> None:
    assert sniffed(text) == expected


def test_one_column_gets_a_delimiter_that_does_not_occur() -> None:
    delimiter, _ = sniffed("name\nx, y\nz\n")
    assert delimiter not in "name\nx, y\nz\n"


def test_given_is_taken() -> None:
    assert sniffed("a,b;c\n1,2;3\n", delimiter=";") == (";", '"')
    assert sniffed("'a',b\n'1',2\n", quote='"') == (",", '"')
    assert sniffed('a"b\n1"2\n', delimiter='"')[1] != '"'


def test_sample_that_ends_within_a_quoted_cell() -> None:
    text = "a;b\n" + "1;2\n" * 60_000 + '3;"' + "x,\n" * 20_000 + '"\n'
    assert sniffed(text) == (";", '"')


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a", "b"], True),
        (["a", "a"], True),  # an error later on, not a guess
        (["1", "2.5", "-1e3"], False),
        (["", "0", "1"], True),
        (["t", "t", "30.8"], False),
        (["2020", "2021", "name"], True),
        (["٣"], True),
    ],
)
def test_header(cells: list[str], expected: bool) -> None:
    assert looks_like_header(cells) is expected
