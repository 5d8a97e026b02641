"""Which folder may import which: the direction of the data, enforced.

    python tools/check_imports.py        prints every import against the rules and exits 1 if there is one

A folder may import itself, what is listed for it, and the modules that all may import. Imports inside functions and
for type checking count too.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "shoal"

EVERYONE = {"errors", "progress", "shoal"}
ALLOWED: dict[str, set[str]] = {
    "kernels": set(),
    "tables": {"kernels"},
    "hierarchies": {"tables"},
    "encode": {"tables", "hierarchies"},
    "models": {"encode", "kernels"},
    "algorithms": {"encode", "models", "kernels", "hierarchies.weights"},
    "recode": {"tables", "encode", "algorithms", "kernels"},
    "verify": {"tables", "hierarchies", "models", "verification", "kernels.compile"},
    "metrics": {"tables", "hierarchies"},
    "evaluate": {"tables", "hierarchies", "metrics", "verify", "charts", "kernels"},
    "charts": {"metrics"},
    "engines": {"algorithms", "encode", "models", "kernels"},
    "sample": {"tables", "hierarchies", "job"},
    "cluster_release": {
        *("tables", "hierarchies", "encode", "algorithms", "models", "recode", "verify", "metrics", "evaluate"),
        "charts",
    },
    "testing": {"tables", "hierarchies", "encode", "algorithms", "models", "engines", "recode", "verify", "metrics"},
}
# Frames must not reach the algorithms, and no third party but numpy and numba the kernels.
FORBIDDEN_LIBRARIES: dict[str, set[str]] = {
    "kernels": {"polars", "pandas", "pyarrow", "narwhals", "pydantic", "sklearn", "scipy"},
    "algorithms": {"polars", "pandas", "pyarrow", "narwhals"},
    "models": {"polars", "pandas", "pyarrow", "narwhals"},
}
NO_ENGINE_BELOW = "pyspark"


def imported_names(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def breach(folder: str, name: str) -> str | None:
    """Why a folder must not import a name, or None."""
    parts = name.split(".")
    if parts[0] != "shoal":
        if parts[0] in FORBIDDEN_LIBRARIES.get(folder, set()):
            return f"{folder}/ must not use {parts[0]}"
        if parts[0] == NO_ENGINE_BELOW and folder != "engines":
            return f"only engines/ may use {parts[0]}"
        return None
    if folder not in ALLOWED or len(parts) == 1:
        return None
    target = parts[1]
    allowed = ALLOWED[folder] | EVERYONE | {folder}
    if target in allowed or ".".join(parts[1:3]) in allowed:
        return None
    if not ((PACKAGE / target).is_dir() or (PACKAGE / f"{target}.py").is_file()):  # a name, not a module: shoal.run
        return None
    return f"{folder}/ must not import {target}/"


def breaches(package: Path = PACKAGE) -> list[str]:
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        folder = place.parts[0] if len(place.parts) > 1 else ""
        for line, name in imported_names(ast.parse(path.read_text(encoding="utf-8"))):
            reason = breach(folder, name)
            if reason is not None:
                found.append(f"{place}:{line}: {reason} ({name})")
    return found


def main() -> int:
    found = breaches()
    for entry in found:
        print(entry)
    print(f"{len(found)} imports against the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
