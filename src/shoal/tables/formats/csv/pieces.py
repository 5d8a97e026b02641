"""CSV files that are read piece by piece, by the same rules as whole ones, in memory that does not grow with the file.

A piece ends behind a whole record. The first record of the file is put in front of every piece, so that the scan
measures all records by the same width, and a table of one column keeps its blank lines. Every problem of the file is
told at once, when its last piece has been read. The text is UTF-8, has a byte order mark, or its encoding is given: to
guess one from its letters would need the whole file.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.bombs import check_unpacked
from shoal.tables.formats.csv.cut import behind_last_record
from shoal.tables.formats.csv.decode import GZIP_MAGIC, encoding_by_mark, is_utf8, undecodable
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.read import (
    first_record,
    form_problems,
    header_problems,
    read_records,
    without_duplicates,
)
from shoal.tables.formats.csv.scan import Scan, scan
from shoal.tables.formats.csv.sniff import looks_like_header, sniff

PIECE_BYTES = 1 << 25
SAMPLE_BYTES = 1 << 18  # the form is found out from so many bytes, as with a whole file
_LONGEST_RECORD = 1 << 28
_NEEDED = "a header line and records are needed"


@dataclass
class CsvPieces:
    """A CSV file as an iterator of frames. `options` and `names` are complete once the first piece was read."""

    path: Path
    given: CsvOptions
    piece_bytes: int = PIECE_BYTES
    sample_bytes: int = SAMPLE_BYTES
    options: CsvOptions | None = None
    names: list[str] = field(default_factory=list)
    sha256: str = ""  # of the bytes of the file, once all of it was read

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Raises InputError with every problem of the file at its end."""
        if self.path.stat().st_size == 0:
            raise InputError(Problem("empty-file", f"'{self.path}' is empty", hint=_NEEDED))
        troubles = _Troubles()
        records = 0
        for frame in self._pieces(troubles):
            records += frame.height
            yield frame
        if troubles.any:
            raise InputError(troubles.problems())
        if records == 0:
            hint = "if the first line is a record and not the names, say that there is no header"
            raise InputError(Problem("no-records", f"'{self.path}' has a header but no records", hint=hint))

    def _pieces(self, troubles: _Troubles) -> Iterator[pl.DataFrame]:
        blocks = self._text()
        rest = first = b""
        ended = False
        while not ended:
            block = next(blocks, None)
            ended = block is None
            rest += block or b""
            if not first:
                begun = self._begin(rest, ended) if ended or len(rest) >= self.sample_bytes else None
                if begun is None:
                    continue
                first, body = begun
                troubles.lines = _line_ends(rest[:body])
                rest = rest[body:]
            whole = len(rest) if ended else behind_last_record(_array(rest), *self._form)
            if whole == 0:
                _refuse_endless(rest)
                continue
            piece, rest = rest[:whole], rest[whole:]
            frame = self._records(first, piece, troubles)
            if frame is not None and frame.height:
                yield frame.rename(dict(zip(frame.columns, self.names, strict=True)))

    def _records(self, first: bytes, piece: bytes, troubles: _Troubles) -> pl.DataFrame | None:
        """The records of a piece; None once something is wrong, for then troubles are looked for alone."""
        data = _array(first + piece)
        found = scan(data, *self._form)
        troubles.add(found, first, piece)
        return None if troubles.any else read_records(data, found, *self._form).slice(1)

    @property
    def _form(self) -> tuple[str, str]:
        assert self.options is not None
        assert self.options.delimiter is not None
        assert self.options.quote is not None
        return self.options.delimiter, self.options.quote

    def _begin(self, rest: bytes, ended: bool) -> tuple[bytes, int] | None:
        """Find out the form and the names; the first record, and where the records begin that are no names.

        None if more text is needed: it does not yet hold two records.
        """
        data = _array(rest)
        given = self.options or self.given
        delimiter, quote = sniff(data, given.delimiter, given.quote)
        found = scan(data if ended else data[: behind_last_record(data, delimiter, quote)], delimiter, quote)
        if found.records < 2 and not ended:
            return None
        if found.records == 0:
            raise InputError(Problem("empty-file", f"'{self.path}' is empty", hint=_NEEDED))
        header, self.names = _header_and_names(first_record(data, found, delimiter, quote), found.width, given)
        self.options = replace(given, delimiter=delimiter, quote=quote, encoding=self._encoding, header=header)
        first = rest[found.first_record_start : found.first_record_end]
        if not first.endswith((b"\n", b"\r")):
            first += b"\n"
        return first, found.first_record_end if header else found.first_record_start

    def _text(self) -> Iterator[bytes]:
        """The text as UTF-8 without a mark, block by block; the hash is taken on the way."""
        digest = hashlib.sha256()
        with self.path.open("rb", buffering=0) as raw:
            head = raw.read(4)
            raw.seek(0)
            source = _Hashed(raw, digest)
            blocks = source if not head.startswith(GZIP_MAGIC) else _unpacked(self.path, source)
            yield from self._decoded(iter(lambda: blocks.read(self.piece_bytes), b""))
            while source.read(1 << 20):
                pass
        self.sha256 = digest.hexdigest()

    def _decoded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        block = next(blocks, b"")
        while len(block) < 4 and (more := next(blocks, b"")):
            block += more
        found = self.given.encoding or encoding_by_mark(block) or "utf-8"
        plain = is_utf8(found)
        self._encoding = ("utf-8-sig" if block.startswith(codecs.BOM_UTF8) else "utf-8") if plain else found
        decoder = codecs.getincrementaldecoder("utf-8" if plain else found)()
        start = len(codecs.BOM_UTF8) if plain and block.startswith(codecs.BOM_UTF8) else 0
        block = block[start:]
        try:
            first = True
            while block:
                text = decoder.decode(block)
                if plain:
                    yield block
                else:
                    yield (text.removeprefix("\ufeff") if first else text).encode("utf-8")
                first = False
                block = next(blocks, b"")
            decoder.decode(b"", final=True)
        except UnicodeError:
            raise InputError(undecodable(found)) from None

    _encoding: str = "utf-8"


def _header_and_names(cells: list[str], width: int, given: CsvOptions) -> tuple[bool, list[str]]:
    """Whether the first record holds names, and the names of the columns."""
    header = given.header if given.header is not None else looks_like_header(cells)
    names = cells if header else [f"column_{number}" for number in range(1, width + 1)]
    if given.rename_duplicates:
        names = without_duplicates(names)
    problems = header_problems(names, given.header)
    if problems:
        raise InputError(problems)
    return header, names


def _refuse_endless(rest: bytes) -> None:
    if len(rest) > _LONGEST_RECORD:
        message = "a record does not end: a quote may not be closed"
        hint = "turn quoting off with an empty quote option"
        raise InputError(Problem("unclosed-quote", message, hint=hint))


class _Hashed:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, raw: BinaryIO, digest: hashlib._Hash) -> None:
        self._raw, self._digest = raw, digest

    def read(self, size: int = -1) -> bytes:
        block = self._raw.read(size)
        self._digest.update(block)
        return block


class _unpacked:  # noqa: N801  (read like a function)
    """A gzip file that is unpacked as it is read; damage is told in our words."""

    def __init__(self, path: Path, source: _Hashed) -> None:
        self._path, self._file = path, gzip.GzipFile(fileobj=cast(BinaryIO, source), mode="rb")
        self._packed, self._unpacked = path.stat().st_size, 0

    def read(self, size: int) -> bytes:
        try:
            block = self._file.read(size)
            self._unpacked += len(block)
            check_unpacked(self._path, self._packed, self._unpacked)
            return block
        except (gzip.BadGzipFile, EOFError, zlib.error):
            message = f"'{self._path}' is not a whole gzip file"
            raise InputError(Problem("damaged-file", message, hint="pack or copy it again")) from None


@dataclass
class _Troubles:
    """What is wrong with the records of all pieces so far."""

    lines: int = 0  # line ends before the piece
    ragged: int = 0
    stray: int = 0
    first_ragged_line: int = 0
    first_stray_line: int = 0
    unclosed_line: int = 0
    width: int = 0

    @property
    def any(self) -> bool:
        return bool(self.ragged or self.stray or self.unclosed_line)

    def add(self, found: Scan, first: bytes, piece: bytes) -> None:
        before = self.lines - _line_ends(first)
        self.width = found.width
        if found.ragged and not self.ragged:
            self.first_ragged_line = found.first_ragged_line + before
        if found.stray and not self.stray:
            self.first_stray_line = found.first_stray_line + before
        if found.unclosed_line and not self.unclosed_line:
            self.unclosed_line = found.unclosed_line + before
        self.ragged += found.ragged
        self.stray += found.stray
        self.lines += _line_ends(piece)

    def problems(self) -> list[Problem]:
        ragged, stray = (self.ragged, self.first_ragged_line), (self.stray, self.first_stray_line)
        return form_problems(Scan(0, self.width, *ragged, *stray, self.unclosed_line, 0, 0, 0, 0))


def _line_ends(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _array(text: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(text, dtype=np.uint8)
