"""Drawing without a network: the script that a page embeds once, and pictures for papers.

Both need the extra `report` (vl-convert). Without it `script()` is None and a page shows its tables only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem
from shoal.tables.formats.atomic import atomic_output, make_folder

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@lru_cache(maxsize=1)
def script() -> str | None:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `window.vegaEmbed`; None if vl-convert is not installed.

    Bundling takes seconds, so the text is kept in the user's own cache folder, under the version that made it.
    """
    try:
        made_by = version("vl-convert-python")
    except PackageNotFoundError:
        return None
    kept = _cache_file(made_by)
    if kept is not None and kept.is_file():
        return kept.read_text(encoding="utf-8")
    text = _bundle()
    if kept is not None:
        _keep(kept, text)
    return text


def _bundle() -> str:
    import vl_convert

    # A page ends its script at the first closing tag, wherever it stands.
    bundle: str = vl_convert.javascript_bundle(_SNIPPET)
    return bundle.replace("</script", "<\\/script")


def _cache_file(made_by: str) -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    folder = Path(base) / "shoal"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder / f"vega-{made_by}.js"


def _keep(file: Path, text: str) -> None:
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)


def check_pictures(folder: Path) -> list[Problem]:
    """What speaks against writing pictures into a folder, before any work is done."""
    problems = []
    if find_spec("vl_convert") is None:
        problems.append(_not_installed())
    if folder.exists() and not folder.is_dir():
        problems.append(Problem("not-a-folder", f"the place for charts '{folder}' is a file", hint="name a folder"))
    return problems


def save_pictures(
    charts: Mapping[str, dict[str, Any]], folder: str | Path, formats: Sequence[str] = ("svg", "png")
) -> list[Path]:
    """Every chart under its name into a folder, which is made if it is not there; returns the files."""
    folder = Path(folder)
    make_folder(folder)
    written = [folder / f"{name}.{form}" for name in charts for form in formats]
    for path in written:
        save_picture(charts[path.stem], path)
    return written


def _not_installed() -> Problem:
    return Problem("not-installed", "pictures need vl-convert", None, "pip install 'shoal[report]'")


def save_picture(spec: dict[str, Any], path: str | Path, *, scale: float = 2.0) -> None:
    """A chart as PNG or SVG, by the ending of the path. Needs vl-convert, no browser."""
    try:
        import vl_convert
    except ImportError:
        raise InputError(_not_installed()) from None
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise InputError(Problem("unknown-format", f"pictures are .png or .svg, not '{kind}'"))
    with atomic_output(path) as waiting:
        if kind == ".svg":
            waiting.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        else:
            waiting.write_bytes(vl_convert.vegalite_to_png(spec, scale=scale))
