"""Delimiter, quote and header of a text table, found out from its first records.

Delimiter: of `,` `;` tab `|` the one that gives all sampled records the same width of at least two; the widest if there
are several. If none does, the file is ragged or has one column: see `_of_irregular`.
Quote: `"`, unless the records only fit together with `'`, or every cell of the first record is within `'`.
Header: the first record holds the names, unless every cell of it is a number, or names repeat and some are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from shoal.tables.formats.csv.decode import Bytes
from shoal.tables.formats.csv.options import DELIMITERS
from shoal.tables.formats.csv.scan import Scan, scan

_SAMPLE = 1 << 18
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_APOSTROPHES = re.compile(rb"\s*'[^']*'(.'[^']*')*\s*")


def sniff(data: Bytes, delimiter: str | None, quote: str | None) -> tuple[str, str]:
    """Delimiter and quote; what is given is taken as it is."""
    sample = _whole_lines(data)
    delimiters = (delimiter,) if delimiter is not None else DELIMITERS
    for candidate in (quote,) if quote is not None else _quotes(sample):
        regular = _regular(sample, delimiters, candidate)
        if regular is not None:
            return regular, candidate
    chosen = quote if quote is not None else '"' if delimiter != '"' else ""
    return delimiter if delimiter is not None else _of_irregular(sample, chosen), chosen


def looks_like_header(cells: Sequence[str]) -> bool:
    """False only where the first record cannot well be a line of names."""
    numbers = [_NUMBER.fullmatch(cell) is not None for cell in cells]
    repeated = len(set(cells)) < len(cells)
    return not (all(numbers) or (repeated and any(numbers)))


def _whole_lines(data: Bytes) -> Bytes:
    if data.size <= _SAMPLE:
        return data
    line_ends = np.flatnonzero((data[:_SAMPLE] == 10) | (data[:_SAMPLE] == 13))
    return data[: int(line_ends[-1]) + 1] if line_ends.size else data


def _quotes(sample: Bytes) -> tuple[str, str]:
    first_line = sample[: 1 << 16].tobytes().lstrip().splitlines()[:1]
    all_within = bool(first_line) and _APOSTROPHES.fullmatch(first_line[0]) is not None
    return ("'", '"') if all_within else ('"', "'")


def _fits(sample: Bytes, found: Scan) -> bool:
    """Every record has the width of the first; the sample may end within a quoted cell."""
    only_cut = found.unclosed_line > 0 and sample.size >= _SAMPLE and found.ragged <= 1
    return found.stray == 0 and (found.is_well_formed or only_cut)


def _regular(sample: Bytes, delimiters: Sequence[str], quote: str) -> str | None:
    best, best_width = None, 1
    for delimiter in delimiters:
        if delimiter == quote:
            continue
        found = scan(sample, delimiter, quote)
        acts = quote != "'" or found.quoted > 0  # without any cell within ' it would only hide what is wrong with "
        if found.width > best_width and acts and _fits(sample, found):
            best, best_width = delimiter, found.width
    return best


def _of_irregular(sample: Bytes, quote: str) -> str:
    """One column, or a broken file.

    A delimiter in the first record counts as one, so that a broken file is reported and not read as one wide column.
    Without any, the table has one column, and a delimiter is chosen that does not occur; unless all records below the
    first agree on a width of two or more, which looks like a broken first line.
    """
    possible = [delimiter for delimiter in DELIMITERS if delimiter != quote]
    scans = {delimiter: scan(sample, delimiter, quote) for delimiter in possible}
    wide = [delimiter for delimiter in possible if scans[delimiter].width > 1]
    if wide:
        return min(
            wide, key=lambda delimiter: (scans[delimiter].ragged / scans[delimiter].records, -scans[delimiter].width)
        )
    for delimiter in possible:
        below = scan(sample[scans[delimiter].first_record_end :], delimiter, quote)
        if below.width > 1 and below.ragged == 0:
            return delimiter
    return min(possible, key=lambda delimiter: scans[delimiter].ragged)
