"""Whatever a user gives for a column becomes a hierarchy, or a clear error."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.hierarchies.builders import flat
from shoal.hierarchies.spec import describe, make_hierarchy

ROWS = [("1", "low", "*"), ("2", "low", "*"), ("9", "high", "*")]
VALUES = ["1", "2", "9"]


def problem_of(spec: object, values: list[str] | None = None) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        make_hierarchy(spec, VALUES if values is None else values, "score")
    (problem,) = caught.value.problems
    assert problem.column == "score"
    return problem.reason, str(problem)


def specs() -> dict[str, object]:
    columns = [list(level) for level in zip(*ROWS, strict=True)]
    named = dict(zip("abc", columns, strict=True))
    numbers = {**named, "a": [1, 2, 9]}
    return {
        "rows": ROWS,
        "rows of numbers": [[1, "low", "*"], [2, "low", "*"], [9, "high", "*"], (None, "high", "*")],
        "nested": {"*": {"low": [1, 2], "high": [9]}},
        "parents": {1: "low", 2: "low", 9: "high", "low": "*", "high": "*"},
        "polars": pl.DataFrame(numbers),
        "pandas": pd.DataFrame(numbers),
        "pyarrow": pa.table(named),
        "anjana": dict(pd.DataFrame(dict(enumerate(columns)))),
        "hierarchy": make_hierarchy(ROWS, VALUES, "score"),
    }


@pytest.mark.parametrize("form", list(specs()))
def test_every_form_gives_the_same_tree(form: str) -> None:
    hierarchy = make_hierarchy(specs()[form], VALUES, "score")
    assert [hierarchy.path(leaf) for leaf in range(3)] == ROWS


def test_files_by_absolute_and_relative_path(tmp_path: Path) -> None:
    (tmp_path / "score.csv").write_text("1;low;*\n2;low;*\n9;high;*\n")
    assert make_hierarchy("score.csv", VALUES, "score", tmp_path).levels == 3
    assert make_hierarchy(tmp_path / "score.csv", VALUES, "score", Path("elsewhere")).levels == 3
    assert problem_of("none.csv")[0] == "missing-hierarchy"


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"builder": "ranges", "width": 5}, ("9", "[5, 9]", "*")),
        ({"builder": "ranges", "edges": [[0, 2, 10]]}, ("9", "[2, 9]", "*")),
        ({"builder": "prefix"}, ("9", "*")),
        ({"builder": "order", "values": [1, 2, 3, 9], "sizes": [2]}, ("9", "[3, 9]", "*")),
        ({"builder": "order", "sizes": 2}, ("9", "9", "*")),
        ({"builder": "flat"}, ("9", "*")),
        ("flat", ("9", "*")),
    ],
)
def test_builders(spec: object, path: tuple[str, ...]) -> None:
    hierarchy = make_hierarchy(spec, VALUES, "score")
    assert hierarchy.path(hierarchy.leaf_index["9"]) == path


def test_dates_builder() -> None:
    hierarchy = make_hierarchy({"builder": "dates", "levels": ["month", "year"]}, ["2024-03-01"], "day")
    assert hierarchy.path(0) == ("2024-03-01", "2024-03", "2024", "*")


def test_typos_get_a_hint() -> None:
    assert problem_of({"builder": "range"}) == (
        "unknown-builder",
        "column 'score': unknown hierarchy builder 'range' (did you mean 'ranges'?)",
    )
    reason, text = problem_of({"builder": "ranges", "widht": 5})
    assert (reason, "did you mean 'width'?" in text) == ("unknown-key", True)
    reason, text = problem_of({"bulider": "ranges", "width": 5})
    assert (reason, "did you mean 'builder'?" in text) == ("unknown-key", True)
    assert problem_of({"builder": "flat", "x": 1})[1].endswith("(this builder takes no settings)")
    assert problem_of({"builder": "order"})[0] == "bad-builder"
    assert problem_of({"builder": "order", "values": "abc", "sizes": 2})[0] == "bad-builder"
    assert problem_of({"builder": ["ranges"]})[0] == "unknown-builder"


def test_several_wrong_keys_are_reported_together() -> None:
    with pytest.raises(InputError) as caught:
        make_hierarchy({"builder": "prefix", "stpe": 1, "maks": "x"}, VALUES, "score")
    assert caught.value.reasons == ("unknown-key", "unknown-key")


@pytest.mark.parametrize("spec", [5, None, [1, 2], {"a"}, object()])
def test_what_is_no_hierarchy(spec: object) -> None:
    assert problem_of(spec)[0] == "bad-hierarchy"


def test_values_that_are_not_covered() -> None:
    reason, text = problem_of(ROWS, ["1", "77", "78"])
    assert reason == "uncovered-values"
    assert "2 distinct values of 3" in text
    assert "77" not in text
    assert problem_of(flat(["1"]))[0] == "uncovered-values"


def test_numbers_may_be_written_differently() -> None:
    assert make_hierarchy(ROWS, ["1.0", "2.0", "9"], "score").leaves == ("1.0", "2.0", "9")


def test_describe_holds_numbers_only() -> None:
    assert describe(make_hierarchy(ROWS, VALUES, "score")) == {"leaves": 3, "levels": 3, "nodes_per_level": [3, 2, 1]}
