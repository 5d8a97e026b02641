"""CSV files into polars frames, every cell as the text that it is.

All columns are text and no cell is trimmed or converted, so a released exact value is what came in. An empty cell is
null; a quoted empty cell (`""`) is an empty text; both are missing values later. `csv_scan` says what a record is.
Every problem of a file is reported at once, with counts and line numbers and never with content.

Nearly all files are what they seem, so polars reads one at once, on a thread of its own, which also numbers the columns
that will be needed as numbers. Meanwhile the file is scanned, and what polars has read counts only if the scan says so.
The thread needs no compiled code: whoever begins to read may load the compiler before asking for the result.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import InputError, InternalError, Problem
from shoal.tables.distinct import CodedColumn, code_column
from shoal.tables.formats.csv.decode import Bytes, read_utf8
from shoal.tables.formats.csv.options import DELIMITERS, CsvOptions

if TYPE_CHECKING:
    from shoal.tables.formats.csv.scan import Scan

# text that polars would take for zlib-compressed data, or for a mark to drop; a mark in front keeps it from that
TAKEN_FOR_OTHERS = (b"x\x01", b"x^", b"x\xda", codecs.BOM_UTF8)
_FIRST_BYTES = 4_096


def read_csv(path: Path | str, options: CsvOptions | None = None) -> pl.DataFrame:
    """The table in a CSV file, all columns as text. Raises InputError with every problem found."""
    return read_csv_with_options(path, options)[0]


def read_csv_with_options(path: Path | str, options: CsvOptions | None = None) -> tuple[pl.DataFrame, CsvOptions]:
    """The table, and the options with everything that was found out filled in."""
    path = Path(path)
    check_is_file(path)
    return CsvReading(path, options or CsvOptions()).result()[:2]


class CsvReading:
    """A CSV file that is being read. `result` waits for it and raises InputError with every problem found."""

    def __init__(self, path: Path, options: CsvOptions, numbered: Collection[str] = ()) -> None:
        self._path, self._options = path, options
        thread = ThreadPoolExecutor(max_workers=1)
        self._text = thread.submit(read_utf8, path, options.encoding)
        self._likely = thread.submit(self._read_at_first_sight)
        self._coded = thread.submit(self._number_at_first_sight, numbered)
        thread.shutdown(wait=False)

    def _read_at_first_sight(self) -> tuple[tuple[str, str], pl.DataFrame | None]:
        data = self._text.result()[0]
        form = _likely_form(data, self._options)
        return form, _read_as_it_is(data, *form)

    def _number_at_first_sight(self, numbered: Collection[str]) -> tuple[list[str], dict[str, CodedColumn]]:
        """The names in the first record, and the columns below them as numbers."""
        frame = self._likely.result()[1]
        if frame is None or frame.height < 2 or not numbered:
            return [], {}
        names = ["" if cell is None else str(cell) for cell in frame.row(0)]
        found = dict(zip(names, frame.slice(1), strict=True))
        return names, {name: code_column(column.rename(name)) for name, column in found.items() if name in numbered}

    def result(self) -> tuple[pl.DataFrame, CsvOptions, dict[str, CodedColumn]]:
        """The table, the options with everything that was found out filled in, and columns as numbers.

        These are some of the columns that were to be numbered: none if the file was not what it seemed.
        """
        options = self._options
        try:
            data, encoding = self._text.result()
        except OSError as error:
            raise InputError(_unreadable(self._path, error)) from None
        found, delimiter, quote = _scanned(data, options)
        header, names = _names(self._path, data, found, delimiter, quote, options)
        frame, coded = self._as_it_seemed((delimiter, quote), found, names if header else None)
        if frame is None:
            frame = read_records(data, found, delimiter, quote)
        frame = (frame.slice(1) if header else frame).rename(dict(zip(frame.columns, names, strict=True)))
        if options.decimal_comma:
            from shoal.tables.formats.csv.decimal_comma import with_points

            frame, changed = with_points(frame, options.missing)
            coded = {name: column for name, column in coded.items() if name not in changed}
            options = replace(options, decimal_comma=None)  # what is written has points
        return frame, replace(options, delimiter=delimiter, quote=quote, encoding=encoding, header=header), coded

    def _as_it_seemed(
        self, form: tuple[str, str], found: Scan, names: list[str] | None
    ) -> tuple[pl.DataFrame | None, dict[str, CodedColumn]]:
        """What was read meanwhile in the likely form, if it was the right one; `names` are those of a header."""
        likely, frame = self._likely.result()
        fits = likely == form and not found.needs_rewriting
        if not fits or frame is None or frame.shape != (found.records, found.width):
            return None, {}
        seen, coded = self._coded.result() if names is not None else (None, {})
        return frame, coded if names is not None and seen == names else {}


def _likely_form(data: Bytes, options: CsvOptions) -> tuple[str, str]:
    """Delimiter and quote at first sight."""
    line = bytes(data[:_FIRST_BYTES]).partition(b"\n")[0]
    delimiter = options.delimiter or max(DELIMITERS, key=lambda mark: line.count(mark.encode()))
    likely = '"' if delimiter != '"' else ""
    return delimiter, likely if options.quote is None else options.quote


def _scanned(data: Bytes, options: CsvOptions) -> tuple[Scan, str, str]:
    """What a scan of the whole text finds, with its delimiter and quote."""
    from shoal.tables.formats.csv.scan import scan
    from shoal.tables.formats.csv.sniff import sniff

    delimiter, quote = sniff(data, options.delimiter, options.quote)
    return scan(data, delimiter, quote), delimiter, quote


def _names(
    path: Path, data: Bytes, found: Scan, delimiter: str, quote: str, options: CsvOptions
) -> tuple[bool, list[str]]:
    """Whether there is a header, and the names of the columns. Raises InputError with every problem of the file."""
    from shoal.tables.formats.csv.sniff import looks_like_header

    if found.records == 0:
        raise InputError(Problem("empty-file", f"'{path}' is empty", hint="a header line and records are needed"))
    problems = form_problems(found)
    if found.stray or found.unclosed_line:
        raise InputError(problems)  # it is not known where cells begin and end, so the names are not known either
    first = first_record(data, found, delimiter, quote)
    header = options.header if options.header is not None else looks_like_header(first)
    names = first if header else [f"column_{number}" for number in range(1, found.width + 1)]
    if options.rename_duplicates:
        names = without_duplicates(names)
    problems += header_problems(names, options.header)
    if found.records == 1 and header:
        hint = "if the first line is a record and not the names, say that there is no header"
        problems.append(Problem("no-records", f"'{path}' has a header but no records", hint=hint))
    if problems:
        raise InputError(problems)
    return header, names


def check_is_file(path: Path) -> None:
    """Raise InputError unless `path` leads to a regular file."""
    try:
        if path.is_file():
            return
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError) as error:
        raise InputError(_unreadable(path, error)) from None
    if is_folder:
        raise InputError(Problem("is-a-folder", f"'{path}' is a folder", hint="name a file in it"))
    if exists:
        raise InputError(Problem("unreadable", f"'{path}' is not a regular file", hint="copy it into a file first"))
    raise InputError(Problem("no-such-file", f"there is no file '{path}'", hint="check the path"))


def _unreadable(path: Path, error: OSError | ValueError) -> Problem:
    reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    return Problem("unreadable", f"'{path}' cannot be read: {reason}", hint="check its permissions")


def form_problems(found: Scan) -> list[Problem]:
    problems = []
    if found.ragged:
        message = f"{found.ragged} records do not have {found.width} cells like the first; the first is in line "
        hint = "check the delimiter and the quotes around cells that hold it"
        problems.append(Problem("ragged-rows", f"{message}{found.first_ragged_line}", hint=hint))
    if found.stray:
        message = f"{found.stray} cells go on after their closing quote; the first is in line {found.first_stray_line}"
        hint = "a quote within a quoted cell must be doubled; an empty quote option turns quoting off"
        problems.append(Problem("stray-quote", message, hint=hint))
    if found.unclosed_line:
        hint = "close it, or turn quoting off with an empty quote option"
        problems.append(
            Problem("unclosed-quote", f"the quote that opens in line {found.unclosed_line} is never closed", hint=hint)
        )
    return problems


def without_duplicates(names: Sequence[str]) -> list[str]:
    """Every name once: `a`, `a` become `a`, `a_2`; a name that is free is never given away."""
    taken, seen, free = set(names), set[str](), []
    for name in names:
        number, chosen = 2, name
        while chosen in seen or (chosen != name and chosen in taken):
            chosen = f"{name}_{number}"
            number += 1
        seen.add(chosen)
        free.append(chosen)
    return free


def header_problems(names: Sequence[str], header: bool | None) -> list[Problem]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    hint = "rename one of them (--rename-duplicates does it)"
    hint += "" if header else "; if the first line is a record, say so (--no-header)"
    return [
        Problem("duplicate-column", f"{count} columns have this name", column=name, hint=hint)
        for name, count in counts.items()
        if count > 1
    ]


def first_record(data: Bytes, found: Scan, delimiter: str, quote: str) -> list[str]:
    """The cells of the first record, read on its own, so that its problems can be told along with the others."""
    from shoal.tables.formats.csv.scan import scan

    line = data[found.first_record_start : found.first_record_end]
    cells = read_records(line, scan(line, delimiter, quote), delimiter, quote).row(0)
    return ["" if cell is None else str(cell) for cell in cells]


def read_records(data: Bytes, found: Scan, delimiter: str, quote: str) -> pl.DataFrame:
    """Every record of a well-formed text, read by polars; columns are named by their number."""
    from shoal.tables.formats.csv.scan import rewrite

    keep_blank = found.width == 1
    text = rewrite(data, delimiter, quote, keep_blank=keep_blank) if found.needs_rewriting else _bytes_of(data)
    try:
        frame = _polars_read(text, delimiter, quote, found.width)
    except pl.exceptions.PolarsError as error:
        # the message of polars may quote cells, so only its kind is passed on
        raise InternalError(Problem("csv-reader", f"the CSV reader failed ({type(error).__name__})")) from None
    if frame.shape != (found.records, found.width):
        raise InternalError(Problem("csv-reader", "the CSV reader found other records than the scan of the file"))
    return frame


def _read_as_it_is(data: Bytes, delimiter: str, quote: str) -> pl.DataFrame | None:
    """What polars makes of a text that nobody has looked at yet; None if nothing."""
    try:
        return _polars_read(_bytes_of(data), delimiter, quote, None)
    except pl.exceptions.PolarsError:
        return None


def _polars_read(text: bytes, delimiter: str, quote: str, width: int | None) -> pl.DataFrame:
    """All cells as texts; as wide as the first record if no width is given."""
    if text[:3].startswith(TAKEN_FOR_OTHERS):
        text = codecs.BOM_UTF8 + text
    return pl.read_csv(
        text,
        has_header=False,
        infer_schema=False,
        schema=None if width is None else {str(index): pl.String for index in range(width)},
        separator=delimiter,
        quote_char=quote or None,
        encoding="utf8",
        glob=False,
    )


def _bytes_of(data: Bytes) -> bytes:
    """The bytes behind an array; a large file that is read as it is must not be copied."""
    whole = data.base
    return whole if isinstance(whole, bytes) and len(whole) == data.size else data.tobytes()
