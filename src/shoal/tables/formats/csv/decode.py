"""The bytes of a text file as UTF-8: unpacked, without a byte order mark, the encoding found out or given.

Found out, in this order: a byte order mark (UTF-8, UTF-16, UTF-32); valid UTF-8; Windows-1252, but only when it is
plausible: every special character is a letter inside a word or a usual sign, and there is no trace of UTF-8.
Everything else is an error: a wrong guess would change values without a word.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.tables.formats.bombs import check_unpacked

Bytes = NDArray[np.uint8]
GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 24
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WORD_LETTER = "\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00fe"
_SIGNS = "\u00a0\u00a1\u00a3\u00a7\u00a9\u00ab\u00ae\u00b0\u00b2\u00b3\u00b5\u00bb\u00bf"  # those of Latin-1
_SIGNS += "\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u20ac"  # those that Windows added
_LETTER_IN_WORD = re.compile(f"(?<=[A-Za-z{_WORD_LETTER}])[{_WORD_LETTER}]|[{_WORD_LETTER}](?=[A-Za-z{_WORD_LETTER}])")
_SIGN = re.compile(f"[{_SIGNS}]")
_SPECIAL = re.compile("[^\x00-\x7f]")
_PLAIN_LETTER_BESIDE = re.compile(f"[A-Za-z][{_WORD_LETTER}]|[{_WORD_LETTER}][A-Za-z]")


def read_utf8(path: Path, encoding: str | None) -> tuple[Bytes, str]:
    """The text of a file as UTF-8 bytes without a mark, and the name of the encoding it was written in."""
    raw = _read_bytes(path)
    found = encoding if encoding is not None else encoding_by_mark(raw)
    checked = found is None and _is_valid(raw, "utf-8")
    if found is None:
        found = "utf-8" if checked else _plausible_single_byte(raw)
    if is_utf8(found):
        if not checked and not _is_valid(raw, "utf-8"):
            raise InputError(undecodable(found))
        start = len(codecs.BOM_UTF8) if raw[:3] == codecs.BOM_UTF8 else 0
        return np.frombuffer(raw, dtype=np.uint8)[start:], "utf-8-sig" if start else "utf-8"
    try:
        text = str(raw, found)
        return np.frombuffer(text.removeprefix("\ufeff").encode("utf-8"), dtype=np.uint8), found
    except UnicodeError:
        raise InputError(undecodable(found)) from None
    except LookupError:  # known to Python, but not for text, such as base64
        raise InputError(_unknown_encoding(found)) from None


def _read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb", buffering=0) as file:  # a buffer would be put in front of the rest: a copy of everything
            packed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            if not packed:
                return file.readall()
            with gzip.open(file) as unpacked:
                return _unpacked(path, unpacked)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(
            Problem("damaged-file", f"'{path}' is not a whole gzip file", hint="pack or copy it again")
        ) from None


def _unpacked(path: Path, file: gzip.GzipFile) -> bytes:
    packed, whole = path.stat().st_size, bytearray()
    while block := file.read(_CHUNK):
        whole += block
        check_unpacked(path, packed, len(whole))
    return bytes(whole)


def is_utf8(name: str) -> bool:
    try:
        return codecs.lookup(name).name in ("utf-8", "utf-8-sig", "ascii")
    except LookupError:
        raise InputError(_unknown_encoding(name)) from None


def encoding_by_mark(raw: bytes) -> str | None:
    head = raw[:4]
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def _is_valid(raw: bytes, encoding: str) -> bool:
    codes = np.frombuffer(raw, dtype=np.uint8)
    if all(codes[start : start + _CHUNK].max() < 128 for start in range(0, codes.size, _CHUNK)):
        return True  # plain ASCII, the quick and usual case
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for start in range(0, len(raw), _CHUNK):
            decoder.decode(raw[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _plausible_single_byte(raw: bytes) -> str:
    """'cp1252' if the bytes look like words in it, else an error."""
    if _UTF8_SEQUENCE.search(raw) or _CONTROL.search(raw) or not _is_valid(raw, "cp1252"):
        raise InputError(undecodable("utf-8"))
    text = str(raw, "cp1252")
    special = len(_SPECIAL.findall(text))
    explained = len(_LETTER_IN_WORD.findall(text)) + len(_SIGN.findall(text))
    if explained < special or not _PLAIN_LETTER_BESIDE.search(text):
        raise InputError(undecodable("utf-8"))
    return "cp1252"


def _unknown_encoding(name: str) -> Problem:
    hint = "e.g. utf-8, cp1252, latin-1, utf-16"
    return Problem("unknown-encoding", f"the encoding '{name}' is not known", hint=hint)


def undecodable(encoding: str) -> Problem:
    hint = "save it as UTF-8, or name its encoding, e.g. cp1252 or latin-1"
    return Problem("undecodable", f"the file holds bytes that are not text in {encoding}", hint=hint)
