"""The parts of a report that come from an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.evaluate.page import Page

Dict = Mapping[str, Any]


def evaluation_sections(page: Page, evaluation: Dict, *, public: bool) -> list[str]:
    return []
