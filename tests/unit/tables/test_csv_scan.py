"""The compiled scan against a plain reading of the same bytes with Python's csv module."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.tables.formats.csv.scan import Scan, rewrite, scan

MESSY = st.text(alphabet='a,"\r\n', max_size=40)


def scanned(text: str) -> Scan:
    return scan(np.frombuffer(text.encode(), dtype=np.uint8), ",", '"')


def by_csv_module(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


@settings(max_examples=500, deadline=None)
@given(text=MESSY)
def test_records_and_widths_agree_with_the_csv_module(text: str) -> None:
    found = scanned(text)
    if found.stray or found.unclosed_line:
        return  # the csv module reads on; here it is an error
    rows = by_csv_module(text)
    if found.width == 1:
        assert found.records >= len(rows)  # blank lines are records here
        return
    assert found.records == len(rows)
    assert found.width == (len(rows[0]) if rows else 0)
    assert found.ragged == sum(len(row) != found.width for row in rows)


@settings(max_examples=500, deadline=None)
@given(text=MESSY)
def test_rewriting_keeps_the_records_and_leaves_nothing_to_rewrite(text: str) -> None:
    found = scanned(text)
    if found.stray or found.unclosed_line:
        return
    again = rewrite(np.frombuffer(text.encode(), dtype=np.uint8), ",", '"', keep_blank=False).decode()
    assert by_csv_module(again) == by_csv_module(text)
    assert scanned(again).needs_rewriting == 0


def test_line_numbers_count_the_lines_of_an_editor() -> None:
    found = scanned('a,b\r\n"x\r\ny\rz\n",1\r\n2\r\n"q"r,3\r\n"')
    assert (found.ragged, found.first_ragged_line) == (2, 6)
    assert (found.stray, found.first_stray_line) == (1, 7)
    assert found.unclosed_line == 8


def test_clean_text_needs_no_rewriting() -> None:
    assert scanned('a,b\n"1\n""2""",3\r\n,4').needs_rewriting == 0
    assert scanned("").records == 0
