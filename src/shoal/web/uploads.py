"""Files that a page sends piece by piece: limited in size, readable by their owner only, whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError, Problem
from shoal.web.files import PRIVATE_FILE


async def receive(pieces: AsyncIterator[bytes], path: Path, announced: int, limit: int) -> None:
    """Write what is sent to a new file; nothing stays of one that is too large or broken off."""
    if announced > limit:
        raise _too_large(limit)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    try:
        received = 0
        with os.fdopen(number, "wb") as stream:
            async for piece in pieces:
                received += len(piece)
                if received > limit:
                    raise _too_large(limit)
                stream.write(piece)
        if received == 0 or (announced and received != announced):
            raise InputError(Problem("broken-upload", "the upload was broken off", hint="send the file again"))
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _too_large(limit: int) -> InputError:
    hint = "start with --folder FOLDER and open the file where it lies, or raise --upload-limit"
    return InputError(Problem("too-large", f"an upload may have at most {limit >> 20} MB", hint=hint))
