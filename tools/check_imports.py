"""Which room may import which: the direction of the data, enforced as layers.

    python tools/check_imports.py        prints every import against the rules and exits 1 if there is one

A room may import itself and the rooms below it, less what `NEVER` names. Imports inside functions and for type
checking count too.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "shoal"

# From the ground up. The rooms of one layer do not know each other. A name with a dot is a room inside a room.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "progress"),
    ("kernels",),
    ("tables",),
    ("hierarchies",),
    ("encode",),
    ("models", "inspection"),
    ("algorithms.base",),
    ("safe_groups", "lower_bound"),
    ("algorithms",),
    ("recode",),
    ("engines",),
    ("released",),
    ("verification", "metrics"),
    ("releases",),
    ("evaluation",),
    ("reports",),
    ("job",),
    ("pipeline",),
    ("cluster_release", "comparison"),
    ("api",),
    ("sample", "testing", "sklearn"),
    ("web",),
    ("cli",),
    ("__init__",),
)
# What a room must not know although it lies below.
NEVER: dict[str, set[str]] = {
    "hierarchies": {"kernels"},
    "algorithms": {"tables"},
    "safe_groups": {"tables"},
    "models": {"tables"},
    "released": {"encode", "models", "safe_groups", "algorithms", "lower_bound", "engines", "recode"},
    "verification": {"encode", "safe_groups", "algorithms", "lower_bound", "engines", "recode"},
    "metrics": {"encode", "models", "safe_groups", "algorithms", "lower_bound", "engines", "recode"},
    "evaluation": {"safe_groups", "algorithms", "lower_bound", "engines", "recode"},
    "reports": {"encode", "safe_groups", "algorithms", "lower_bound", "engines", "recode"},
}
# What shows itself asks the room that draws it, when it is shown.
SHOWN_BY: dict[str, str] = {"evaluation.evaluate": "reports"}
# Frames must not reach the algorithms, and no third party but numpy and numba the kernels.
FRAMES = {"polars", "pandas", "pyarrow", "narwhals"}
FORBIDDEN_LIBRARIES: dict[str, set[str]] = {
    "kernels": FRAMES | {"pydantic", "sklearn", "scipy"},
    "algorithms": FRAMES,
    "safe_groups": FRAMES,
    "lower_bound": FRAMES,
    "models": FRAMES,
}
# Libraries that only one place may use.
ONLY_IN: dict[str, str] = {
    "pyspark": "engines/spark",
    "adbc_driver_manager": "tables/formats/sql",
    "adbc_driver_postgresql": "tables/formats/sql",
    "adbc_driver_sqlite": "tables/formats/sql",
    "duckdb": "tables/formats/sql",
    "starlette": "web",
    "uvicorn": "web",
    "typer": "cli",
}
_LAYER_OF = {room: number for number, layer in enumerate(LAYERS) for room in layer}


def imported_names(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def room_of(parts: list[str]) -> str | None:
    """The room of a module given by its parts below the package; None if there is no such module."""
    room = ".".join(parts[:2])
    if room in _LAYER_OF:
        return room
    is_module = (PACKAGE / parts[0]).is_dir() or (PACKAGE / f"{parts[0]}.py").is_file()
    return parts[0] if is_module or parts[0] in _LAYER_OF else None


def breach(module: str, name: str) -> str | None:
    """Why a module (dotted, below the package) must not import a name, or None."""
    place = module.split(".")
    room = room_of(place)
    parts = name.split(".")
    if room not in _LAYER_OF:
        return f"{room} stands in no layer"
    if parts[0] != "shoal":
        libraries = FORBIDDEN_LIBRARIES["kernels"] if "kernels" in place else FORBIDDEN_LIBRARIES.get(place[0], set())
        if parts[0] in libraries:
            return f"{module} must not use {parts[0]}"
        home = ONLY_IN.get(parts[0])
        return f"only {home}/ may use {parts[0]}" if home and not "/".join(place).startswith(home) else None
    target = room_of(parts[1:]) if len(parts) > 1 else None
    if target is None or target == room:  # a name such as shoal.run, or the room itself
        return None
    if "kernels" in place and "kernels" not in parts:
        return "kernels import kernels only"
    if SHOWN_BY.get(module) == target:
        return None
    if _LAYER_OF[target] >= _LAYER_OF[room]:
        return f"{room} must not import {target}: it lies no lower"
    if target.split(".")[0] in NEVER.get(room.split(".")[0], set()):
        return f"{room} must not know {target}"
    return None


def breaches(package: Path = PACKAGE) -> list[str]:
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).with_suffix("")
        for line, name in imported_names(ast.parse(path.read_text(encoding="utf-8"))):
            reason = breach(".".join(place.parts), name)
            if reason is not None:
                found.append(f"{place}.py:{line}: {reason} ({name})")
    return found


def main() -> int:
    found = breaches()
    for entry in found:
        print(entry)
    print(f"{len(found)} imports against the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
