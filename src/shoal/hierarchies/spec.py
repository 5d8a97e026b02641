"""One function that makes a hierarchy of whatever the user gave for a column.

What may be given: a file's path; a nested dict or a dict of parents; a builder (`{"builder": "ranges", "width": 5}`,
or just its name); rows of labels, leaf first and root last, as a list or as a frame of polars, pandas or pyarrow; a
dict of level number to column, as anjana uses; or a `Hierarchy`. Every value of the data must then be a leaf of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies import builders
from shoal.hierarchies.codes import codes
from shoal.hierarchies.countries import regions
from shoal.hierarchies.files import read_hierarchy_file
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.nested import from_dict, label_text
from shoal.hierarchies.tree import add_below_root, align_numbers, from_paths, require_cover


@dataclass(frozen=True)
class _Builder:
    build: Callable[..., Hierarchy]
    settings: tuple[str, ...]


def _ordered(
    values: Sequence[str], *, sizes: object = None, in_order: Sequence[object] | None = None, column: str | None
) -> Hierarchy:
    if not isinstance(sizes, (int, list, tuple)) or not isinstance(in_order, (list, tuple, type(None))):
        message = "the builder 'order' needs sizes, and values as a list from low to high"
        raise InputError(Problem("bad-builder", message, column, "for example sizes: [2, 4]"))
    texts = list(values) if in_order is None else [label_text(value) for value in in_order]
    return builders.ordered_groups(texts, sizes, column=column)


BUILDERS: Mapping[str, _Builder] = {
    "ranges": _Builder(builders.ranges, ("width", "levels", "factor", "edges")),
    "prefix": _Builder(builders.prefix_masks, ("step", "mask")),
    "dates": _Builder(builders.dates, ("levels",)),
    "order": _Builder(_ordered, ("values", "sizes")),
    "codes": _Builder(codes, ("system", "lengths")),
    "regions": _Builder(regions, ("levels",)),
    "flat": _Builder(builders.flat, ()),
}


def make_hierarchy(
    spec: object,
    values: Sequence[str],
    column: str,
    base_folder: Path | None = None,
    *,
    new_below_root: bool = False,
) -> Hierarchy:
    """The hierarchy a spec describes, for the distinct values (as text) of a column.

    Paths that are not absolute start at `base_folder`. Raises `InputError` if the spec is wrong or does not cover
    the values, unless values that it lacks are to be put right below its root.
    """
    hierarchy = _from_spec(spec, [value for value in values if value is not None], column, base_folder)
    hierarchy = align_numbers(hierarchy, values)
    if new_below_root:
        return add_below_root(hierarchy, values, column)
    problems = require_cover(hierarchy, values, column)
    if problems:
        raise InputError(problems)
    return hierarchy


def describe(hierarchy: Hierarchy) -> dict[str, int | list[int]]:
    """The size of a hierarchy in numbers: nothing of its labels."""
    per_level = [int(np.unique(nodes).size) for nodes in hierarchy.ancestors]
    return {"leaves": len(hierarchy.leaves), "levels": hierarchy.levels, "nodes_per_level": per_level}


def _from_spec(spec: object, values: Sequence[str], column: str, base_folder: Path | None) -> Hierarchy:
    if isinstance(spec, Hierarchy):
        repeated = len(spec.leaves) - len(spec.leaf_index)
        if repeated:
            message = f"{repeated} of {len(spec.leaves)} leaves of the hierarchy repeat another one"
            raise InputError(Problem("duplicate-leaf", message, column, "give each value one leaf"))
        return spec
    if isinstance(spec, (str, Path)):
        return _from_name(spec, values, column, base_folder)
    if isinstance(spec, Mapping):
        return _from_mapping(spec, values, column)
    import narwhals as nw  # not needed for files, and slow to load

    frame = nw.from_native(spec, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _from_rows(frame.rows(), column)
    if isinstance(spec, (list, tuple)) and all(isinstance(row, (list, tuple)) for row in spec):
        return _from_rows(spec, column)
    raise InputError(
        Problem(
            "bad-hierarchy",
            f"a hierarchy cannot be made of {type(spec).__name__}",
            column,
            "give a file, a dict, a builder, or rows of labels from the value to the root",
        )
    )


def _from_name(spec: str | Path, values: Sequence[str], column: str, base_folder: Path | None) -> Hierarchy:
    path = Path(spec) if base_folder is None else base_folder / spec
    if str(spec) in BUILDERS and not path.exists():
        return _from_builder({"builder": str(spec)}, values, column)
    return read_hierarchy_file(path, column)


def _from_mapping(spec: Mapping[object, object], values: Sequence[str], column: str) -> Hierarchy:
    if "builder" in spec:
        return _from_builder(spec, values, column)
    for key, value in spec.items():
        if (
            isinstance(value, str)
            and value in BUILDERS
            and get_close_matches(str(key).lower(), ["builder"], cutoff=0.7)
        ):
            raise InputError(
                Problem("unknown-key", f"unknown key '{key}'", column, did_you_mean(str(key), ["builder"]))
            )
    columns = _level_columns(spec)
    if columns is not None:
        return _from_rows(list(zip(*columns, strict=True)), column)
    return from_dict(column, spec)


def _from_builder(spec: Mapping[object, object], values: Sequence[str], column: str) -> Hierarchy:
    name = spec["builder"]
    builder = BUILDERS.get(name) if isinstance(name, str) else None
    if builder is None:
        hint = did_you_mean(str(name), list(BUILDERS))
        raise InputError(Problem("unknown-builder", f"unknown hierarchy builder '{name}'", column, hint))
    settings = {str(key): value for key, value in spec.items() if key != "builder"}
    unknown = [key for key in settings if key not in builder.settings]
    if unknown:
        raise InputError(
            Problem("unknown-key", f"unknown key '{key}' of the builder '{name}'", column, _known_keys(key, builder))
            for key in unknown
        )
    if "values" in settings:
        settings["in_order"] = settings.pop("values")
    return builder.build(values, column=column, **settings)


def _known_keys(key: str, builder: _Builder) -> str:
    return did_you_mean(key, builder.settings) or "this builder takes no settings"


def _from_rows(rows: Iterable[Sequence[object]], column: str) -> Hierarchy:
    """Rows of labels of any type; a missing value is no leaf."""
    return from_paths(
        column, [tuple(label_text(label) for label in row) for row in rows if row and not _missing(row[0])]
    )


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _level_columns(spec: Mapping[object, object]) -> list[list[object]] | None:
    """The columns of a dict `{0: leaves, 1: parents, ...}`, or None if it is another kind of dict."""
    if len(spec) < 2 or list(spec) != list(range(len(spec))):
        return None
    if not all(isinstance(level, Iterable) and not isinstance(level, (str, Mapping)) for level in spec.values()):
        return None
    columns = [list(level) for level in spec.values() if isinstance(level, Iterable)]
    return columns if len({len(level) for level in columns}) == 1 else None
