"""Where a piece of a CSV file can be cut: behind the last record that is whole."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile import kernel
from shoal.tables.formats.csv.decode import Bytes
from shoal.tables.formats.csv.scan import (
    _CR,
    _LF,
    _NO_QUOTE,
    _behind_bare,
    _behind_line_end,
    _behind_plain,
    _behind_quoted,
    _is_line_end,
)


def behind_last_record(data: Bytes, delimiter: str, quote: str) -> int:
    """How many of these bytes are whole records, if the first begins a record; 0 if none is whole."""
    return int(_behind_last_record(data, ord(delimiter), ord(quote) if quote else _NO_QUOTE))


@kernel
def _behind_last_record(data: Bytes, delimiter: int, quote: int) -> int:
    # the same walk as that of _scan; a CR at the very end may be half of a line end
    weights = np.zeros(256, dtype=np.uint8)
    weights[delimiter] = 1
    weights[_LF] = weights[_CR] = 2
    if quote != _NO_QUOTE:
        weights[quote] = 2
    position, whole = 0, 0
    while position < data.size:
        start = position
        while True:
            position, _ = _behind_plain(data, position, weights)
            if position == data.size or data[position] != quote:
                break
            if position > start and data[position - 1] != delimiter:  # a plain character of a bare cell
                position += 1
                continue
            position, _ = _behind_quoted(data, position, quote)
            if position > data.size:
                return whole
            if position < data.size and data[position] != delimiter and not _is_line_end(data[position]):
                position = _behind_bare(data, position, delimiter, quote)[0]
        if position == data.size or (data[position] == _CR and position + 1 == data.size):
            return whole
        position = _behind_line_end(data, position)
        whole = position
    return whole
