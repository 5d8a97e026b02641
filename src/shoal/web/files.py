"""Small files of the workbench: written whole or not at all, readable by their owner only."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from shoal.tables.formats.atomic import atomic_output

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_LONGEST_NAME = 120


def private_folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    return path


def write_private(path: Path, text: str) -> None:
    """Replace a file by a new text, in one step."""
    with atomic_output(path, private=True) as waiting:
        waiting.write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    write_private(path, json.dumps(plain(value), ensure_ascii=False))


def safe_name(given: str) -> str:
    """A file name without a path, control characters or a leading dot; the ending stays."""
    name = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    name = re.sub(r"[^\w.\- ()]", "_", name).lstrip(". ").strip()
    return name[-_LONGEST_NAME:] or "table"


def plain(value: Any) -> Any:
    """The value as JSON knows it: no numbers that are none, no types of numpy."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if value - value == 0.0 else None  # not infinite, and a number
    return value if value is None or isinstance(value, bool | int | str) else str(value)
