"""What a job writes besides the release: its row order, the private key, the public certificate."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

from fuzzing.cases import Case
from fuzzing.frames import Cells, plain_text, read_file

Finding = tuple[str, str]


def check_files(case: Case, settings: dict[str, Any], release: Cells) -> list[Finding]:
    """`release` has the order of the input; the file has an order of its own, which the key tells."""
    path = Path(settings["output"])
    written = read_file(path)
    findings = []
    if settings.get("order") != "input":
        findings += _check_order(path, written)
    if "key" in settings:
        findings += _check_key(case, Path(settings["key"]), release, written)
    if "public_certificate" in settings:
        findings += _check_public(case, settings, written)
    return findings


def _check_order(path: Path, written: Cells) -> list[Finding]:
    """A file of texts is sorted by its cells, column after column, byte by byte; an empty cell comes first.

    A cell without anything comes before an empty text, and they are one to the reader; so such files are left out.
    """
    if path.suffix != ".csv" or '""' in path.read_text(encoding="utf-8"):
        return []
    rows = [tuple(str(cell).encode() for cell in row) for row in zip(*written.values(), strict=True)]
    return [] if rows == sorted(rows) else [("row order", "the rows of the file are not sorted by their values")]


def _check_key(case: Case, path: Path, release: Cells, written: Cells) -> list[Finding]:
    findings = []
    if stat.S_IMODE(path.stat().st_mode) != 0o600:
        findings.append(("open key", "the key can be read by others"))
    key = read_file(path)
    places = [int(place) - 1 for place in key["released_row"]]
    numbers = [int(number) for number in key["input_row"]]
    if numbers != list(range(1, len(numbers) + 1)) or sorted(places) != list(range(len(numbers))):
        return [*findings, ("wrong key", "the key is no table of all rows")]
    kinds = {name: column["kind"] for name, column in case["columns"].items()}
    for name, column in release.items():
        found = [plain_text(written[name][place], kinds[name]) for place in places]
        if found != [plain_text(cell, kinds[name]) for cell in column]:
            findings.append(("wrong key", f"the key leads to other cells of {name}"))
    return findings


def _check_public(case: Case, settings: dict[str, Any], written: Cells) -> list[Finding]:
    """No value of the input that the release has not, and neither the hash of the input nor the salt."""
    public = Path(settings["public_certificate"]).read_text(encoding="utf-8")
    private = json.loads(Path(settings["certificate"]).read_text(encoding="utf-8"))
    findings = []
    if any(secret in public for secret in (private["hashes"]["input"], private["private"]["salt"])):
        findings.append(("public certificate", "it repeats the hash of the input, or the salt"))
    public = re.sub("[0-9a-f]{32,}", "", public)  # a short number may occur in a hash by chance
    said = json.dumps(case["settings"], ensure_ascii=False)
    shown = {str(cell) for column in written.values() for cell in column}
    for name, column in case["columns"].items():
        for text in column["values"]:
            if (
                text is not None
                and column["kind"] != "bool"
                and len(text) >= 5
                and text in public
                and text not in said
                and text not in shown
            ):
                findings.append(("public certificate", f"it tells a cell of {name}"))
                break
    return findings
