"""The tutorial with the outputs of a run: `python tools/run_tutorial.py` writes them into docs/tutorial.md.

The site is built with outputs of its own run; the tests compare those in the page with a run.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tutorial.md"
CONSOLE = re.compile(r"(^```console\n)(.*?)(^```)", re.S | re.M)


def executed(text: str, folder: Path) -> str:
    """The page with every example run in a folder, Python first, and what it says below it."""
    names: dict[str, Any] = {}
    with chdir(folder):
        parts = doctest.DocTestParser().parse(text)
        written = "".join(part if isinstance(part, str) else _example(part, names) for part in parts)
        return CONSOLE.sub(lambda block: block[1] + _console(block[2], folder) + block[3], written)


def _example(example: doctest.Example, names: dict[str, Any]) -> str:
    """A statement with its prompt, and what it prints."""
    first, *rest = example.source.splitlines()
    lines = [f">>> {first}", *(f"... {line}" for line in rest)]
    said = StringIO()
    with redirect_stdout(said):
        exec(compile(example.source, str(PAGE), "single"), names)
    return "\n".join(lines) + "\n" + said.getvalue()


def _console(block: str, folder: Path) -> str:
    """The commands of a block (lines after a $), each with what it says on standard output."""
    told = ""
    for line in re.findall(r"^\$ (shoal .*)$", block, re.M):
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
        command = [sys.executable, "-m", "shoal.cli.main", *line.split()[1:]]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment, check=True)
        told += f"$ {line}\n" + "".join(f"{part.rstrip()}\n" for part in done.stdout.splitlines())
    return told


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = executed(PAGE.read_text(encoding="utf-8"), Path(folder))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
