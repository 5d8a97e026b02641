"""Masks `123**`, one text at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence


def matching_mask(mask: str, values: Sequence[str]) -> list[str]:
    """The values that agree with a mask: a `*` stands for one character, or for any rest if none has that length."""
    pattern = re.compile("".join("." if letter == "*" else re.escape(letter) for letter in mask), re.DOTALL)
    matched = [value for value in values if pattern.fullmatch(value)]
    if matched or not mask.endswith("*"):
        return matched
    start = mask.rstrip("*")
    return [value for value in values if value.startswith(start)] if "*" not in start else []
