"""What is loaded on first use is known to type checkers, too."""

from __future__ import annotations

import ast
from pathlib import Path

import shoal


def test_every_public_name_has_its_type() -> None:
    """A name that is missing below TYPE_CHECKING is Any for whoever uses it."""
    tree = ast.parse(Path(shoal.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.asname: f"{node.module}"
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == shoal._HOMES
