"""Compiled scans over the bytes of a CSV file: is every record well formed and as wide as the first?

The bulk of a file is read by polars, which wants strict RFC 4180 and fills short records up without a word. So a file
is scanned first (about a nanosecond per byte), and rewritten into the strict form only where it needs it.

What a file means (the same as Python's csv module reads):
- a record ends at LF, CR LF or a lone CR outside quotes; a line end at the end of the file starts no new record;
- a quote opens a quoted cell only as its first character; anywhere else in a bare cell it is a plain character;
- within a quoted cell a doubled quote is one quote; text between a closing quote and the delimiter is an error here,
  because it nearly always means that another quoting rule was in use and cells would be merged without notice;
- blank lines are skipped, except in a table of one column, where a blank line below the first record is an empty cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel
from shoal.tables.formats.csv.decode import Bytes

_NO_QUOTE = 256  # no byte is equal to it
_LF, _CR = 10, 13
_FIELDS = 11


@dataclass(frozen=True, slots=True)
class Scan:
    """Line numbers count from 1 as an editor shows them; 0 means that there is none."""

    records: int  # the first one (perhaps a header) included
    width: int  # cells of the first record
    ragged: int  # records of another width
    first_ragged_line: int
    stray: int  # quoted cells with text after the closing quote
    first_stray_line: int
    unclosed_line: int  # where a quote opens that never closes
    needs_rewriting: int  # 1 if polars would not read it as described above
    first_record_start: int  # byte offset
    first_record_end: int  # byte offset behind the line end of the first record
    quoted: int  # quoted cells

    @property
    def is_well_formed(self) -> bool:
        return self.ragged == 0 and self.stray == 0 and self.unclosed_line == 0


def scan(data: Bytes, delimiter: str, quote: str) -> Scan:
    """Look at every byte once. `quote` may be empty."""
    counts = np.zeros(_FIELDS, dtype=np.int64)
    _scan(data, ord(delimiter), ord(quote) if quote else _NO_QUOTE, counts)
    return Scan(*(int(count) for count in counts))


def rewrite(data: Bytes, delimiter: str, quote: str, *, keep_blank: bool) -> bytes:
    """The same records in the form that polars reads: LF line ends, no blank lines, quotes only where they act."""
    out = np.empty(2 * data.size + 8, dtype=np.uint8)
    size = _rewrite(data, ord(delimiter), ord(quote) if quote else _NO_QUOTE, keep_blank, out)
    return out[:size].tobytes()


@kernel
def _is_line_end(byte: int) -> bool:
    return byte in (_LF, _CR)


@kernel
def _behind_line_end(data: Bytes, position: int) -> int:
    # position is that of a CR or LF
    if data[position] == _CR and position + 1 < data.size and data[position + 1] == _LF:
        return position + 2
    return position + 1


@kernel
def _behind_quoted(data: Bytes, position: int, quote: int) -> tuple[int, int]:
    # position is that of the opening quote; gives the one behind the closing quote (bytes + 1 if there is none)
    # and the number of line ends between
    lines = 0
    position += 1
    while position < data.size:
        byte = data[position]
        if byte == quote:
            if position + 1 < data.size and data[position + 1] == quote:
                position += 1
            else:
                return position + 1, lines
        elif byte == _LF or (byte == _CR and not (position + 1 < data.size and data[position + 1] == _LF)):
            lines += 1
        position += 1
    return data.size + 1, lines


@kernel
def _behind_bare(data: Bytes, position: int, delimiter: int, quote: int) -> tuple[int, int]:
    # the position of the delimiter or line end that ends a bare cell (bytes if the file ends), and its plain quotes
    quotes = 0
    while position < data.size:
        byte = data[position]
        if byte == delimiter or _is_line_end(byte):
            break
        if byte == quote:
            quotes += 1
        position += 1
    return position, quotes


@kernel
def _behind_plain(data: Bytes, position: int, weights: Bytes) -> tuple[int, int]:
    # the position of the next quote or line end (bytes if the file ends), and the delimiters before it; there is no
    # branch at delimiters, because a processor cannot foresee where they come and would wait at each
    delimiters = 0
    for index in range(position, data.size):
        weight = weights[data[index]]
        if weight > 1:
            return index, delimiters
        delimiters += weight
    return data.size, delimiters


@kernel
def _scan(data: Bytes, delimiter: int, quote: int, counts: NDArray[np.int64]) -> None:
    # IN data (bytes,) uint8; OUT counts (11,) int64 in the order of the fields of Scan
    records, width, ragged, ragged_line, stray, stray_line, unclosed_line = 0, 0, 0, 0, 0, 0, 0
    rewriting, first_start, first_end, quoted = False, 0, 0, 0
    position, line = 0, 1
    weights = np.zeros(256, dtype=np.uint8)
    weights[delimiter] = 1
    weights[_LF] = weights[_CR] = 2
    if quote != _NO_QUOTE:
        weights[quote] = 2
    while position < data.size:
        start, start_line, cells = position, line, 1
        while True:
            position, delimiters = _behind_plain(data, position, weights)
            cells += delimiters
            if position == data.size or data[position] != quote:
                break
            if position > start and data[position - 1] != delimiter:  # a plain character of a bare cell
                rewriting = True
                position += 1
                continue
            quoted += 1
            opening_line = line
            position, lines = _behind_quoted(data, position, quote)
            line += lines
            if position > data.size:
                unclosed_line, position = opening_line, data.size
            elif position < data.size and data[position] != delimiter and not _is_line_end(data[position]):
                stray += 1
                if stray == 1:
                    stray_line = line
                position = _behind_bare(data, position, delimiter, quote)[0]
        is_blank = position == start
        if position < data.size:
            behind = _behind_line_end(data, position)
            rewriting |= data[position] == _CR and behind == position + 1  # polars does not know a lone CR
            position = behind
            line += 1
        if is_blank and width != 1:
            rewriting = True
            continue
        records += 1
        if width == 0:
            width, first_start, first_end = cells, start, position
        elif cells != width:
            ragged += 1
            if ragged == 1:
                ragged_line = start_line
    counts[0], counts[1], counts[2], counts[3] = records, width, ragged, ragged_line
    counts[4], counts[5], counts[6], counts[7] = stray, stray_line, unclosed_line, rewriting
    counts[8], counts[9], counts[10] = first_start, first_end, quoted


@kernel
def _copy_cell(data: Bytes, start: int, end: int, quote: int, enclose: bool, out: Bytes, filled: int) -> int:
    # enclose: put the cell in quotes and double those within; OUT out from filled on; gives the new filled
    if enclose:
        out[filled] = quote
        filled += 1
    for index in range(start, end):
        out[filled] = data[index]
        filled += 1
        if enclose and data[index] == quote:
            out[filled] = quote
            filled += 1
    if enclose:
        out[filled] = quote
        filled += 1
    return filled


@kernel
def _rewrite(data: Bytes, delimiter: int, quote: int, keep_blank: bool, out: Bytes) -> int:
    # IN data (bytes,) uint8, well formed as told by _scan; OUT out uint8, at least 2 * bytes + 8 long
    position, filled, records = 0, 0, 0
    while position < data.size:
        start = position
        in_record = True
        while in_record:
            cell_start, plain_quotes = position, 0
            if position < data.size and data[position] == quote:
                position, _ = _behind_quoted(data, position, quote)
            else:
                position, plain_quotes = _behind_bare(data, position, delimiter, quote)
            filled = _copy_cell(data, cell_start, position, quote, plain_quotes > 0, out, filled)
            in_record = position < data.size and data[position] == delimiter
            if in_record:
                out[filled] = delimiter
                filled += 1
                position += 1
        is_blank = position == start
        if position < data.size:
            position = _behind_line_end(data, position)
        if not is_blank or (keep_blank and records > 0):
            out[filled] = _LF
            filled += 1
            records += 1
    return filled
