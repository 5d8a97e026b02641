"""Values with large arrays as a file whose arrays are read where they lie.

What is loaded takes no memory of its own: the system holds of the file what there is room for, and once for all
processes of a machine. The arrays cannot be written to. Such a file is only for who has written it: it is a pickle.
"""

from __future__ import annotations

import mmap
import pickle
from pathlib import Path
from typing import Any

_WORD = 64  # arrays begin at a multiple of so many bytes


def save_mapped(value: Any, path: Path) -> None:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
    sizes = [part.nbytes for part in parts]
    table = pickle.dumps(sizes)
    with path.open("wb") as file:
        file.write(len(table).to_bytes(_WORD, "little") + table)
        for part in parts:
            file.write(bytes(-file.tell() % _WORD))
            file.write(part)


def load_mapped(path: Path) -> Any:
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    place = _WORD + int.from_bytes(whole[:_WORD], "little")
    parts = []
    for size in pickle.loads(whole[_WORD:place]):
        place += -place % _WORD
        parts.append(whole[place : place + size])
        place += size
    return pickle.loads(parts[0], buffers=parts[1:])
