"""The file of prices that proves a lower bound: written by `shoal anonymize --prices`, read by `shoal verify --bound`.

It holds a price for every record, in the order of the input. Prices tell how lonely a record is, so the file is for
those who have the original table anyway, not for publication.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import BoundProof
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem
from shoal.tables.formats.bombs import check_archive

FORMAT = 1
LARGEST = 8_000_000_000  # bytes: a thousand million prices
# what is raised for an archive that is none, is cut off, packed in unknown ways or locked, for an array that is larger
# than its file, and for texts that are no JSON
_DAMAGE = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, MemoryError, OverflowError)


@dataclass(frozen=True, eq=False)
class PricesFile:
    """What a file of prices says, nothing of it checked against a table."""

    prices: NDArray[np.float64]  # (records,)
    k: int  # for groups of at least so many records
    suppression: bool  # whether the bound also holds if records are suppressed
    rungs: dict[str, list[int]]
    input_sha256: str


def prices_bytes(proof: BoundProof | None, table: EncodedTable, input_sha256: str) -> bytes:
    """The bytes of the file; the same for the same proof."""
    if proof is None:
        message = "there are no prices for this run"
        hint = "they exist for the algorithm shoal, two groups or more, and up to 60,000 different rows"
        raise InputError(Problem("no-prices", message, hint=hint))
    about = {
        "format": FORMAT,
        "k": proof.k,
        "suppression": proof.suppression,
        "rungs": dict(proof.rungs),
        "input": input_sha256,
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, prices=proof.prices[table.row_of_record], about=np.array(json.dumps(about, sort_keys=True))
    )
    return buffer.getvalue()


def load_prices(path: Path) -> PricesFile:
    """Read a file of prices, or say what is wrong with it."""
    wrong = Problem("unreadable-prices", f"'{path}' is no file of prices", hint="it is what '--prices FILE' writes")
    try:
        check_archive(path, largest=LARGEST)
        with np.load(path, allow_pickle=False) as content:
            prices, about = content["prices"], json.loads(str(content["about"]))
    except FileNotFoundError:
        raise InputError(Problem("no-such-file", f"there is no file of prices '{path}'")) from None
    except (*_DAMAGE, zipfile.BadZipFile, zlib.error):
        raise InputError(wrong) from None
    if not _is_about(about) or prices.ndim != 1 or prices.dtype.kind != "f" or not len(prices):
        raise InputError(wrong)
    return PricesFile(
        prices.astype(np.float64), about["k"], about["suppression"], about["rungs"], str(about.get("input", ""))
    )


def _is_about(about: Any) -> bool:
    if not isinstance(about, dict) or about.get("format") != FORMAT or not isinstance(about.get("rungs"), dict):
        return False
    rungs = [rung for line in about["rungs"].values() for rung in (line if isinstance(line, list) else [None])]
    whole = [about.get("k"), *rungs]
    return all(type(one) is int for one in whole) and about["k"] >= 1 and isinstance(about.get("suppression"), bool)
