"""Files of ARX, anjana and Amnesia; the real ones, and broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.hierarchies.files import find_hierarchy_files, read_hierarchy_file
from shoal.hierarchies.spec import make_hierarchy

AMNESIA = """distinct
name jobs
type string
height 3

Technical has Tech-support Craft-repair\x20
Other has Sales\x20

* has Technical Other\x20

"""


def write(folder: Path, text: str | bytes, name: str = "job.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def reasons(path: Path) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_hierarchy_file(path, "job")
    assert all(problem.column == "job" for problem in caught.value.problems)
    return caught.value.reasons


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_delimiter_is_found_out(tmp_path: Path, delimiter: str, newline: str) -> None:
    lines = [delimiter.join(row) for row in [("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*")]]
    hierarchy = read_hierarchy_file(write(tmp_path, newline.join(lines)), "job")
    assert hierarchy.leaves == ("a", "b", "c")
    assert hierarchy.levels == 3


def test_commas_inside_semicolon_files_and_quotes_inside_comma_files(tmp_path: Path) -> None:
    arx = read_hierarchy_file(write(tmp_path, "a, b;[15, 20[;*\nc, d;[15, 20[;*\n"), "job")
    assert arx.path(0) == ("a, b", "[15, 20[", "*")
    anjana = read_hierarchy_file(write(tmp_path, '17,"[15, 20[",*\n80,>=80,*\n"say ""x""\nnow",>=80,*\n'), "job")
    assert anjana.leaves == ("17", "80", 'say "x"\nnow')


def test_byte_order_mark_blank_lines_odd_separators_and_missing_leaf(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + "ä\u2028x;*\n\n;*\nb\x0c;*\nä\u2028x;*\n".encode()
    assert read_hierarchy_file(write(tmp_path, text), "job").leaves == ("ä\u2028x", "b\x0c")


def test_amnesia_file(tmp_path: Path) -> None:
    hierarchy = read_hierarchy_file(write(tmp_path, AMNESIA), "job")
    assert hierarchy.leaves == ("Tech-support", "Craft-repair", "Sales")
    assert hierarchy.path(2) == ("Sales", "Other", "*")


def test_amnesia_ranges_and_contradictions_are_refused(tmp_path: Path) -> None:
    assert reasons(write(tmp_path, "range\nname x\n\n0,10 has 0,5 5,10 \n")) == ("range-hierarchy",)
    assert reasons(write(tmp_path, AMNESIA + "Other has Tech-support\n")) == ("two-parents",)


def test_broken_files(tmp_path: Path) -> None:
    assert reasons(tmp_path / "none.csv") == ("missing-hierarchy",)
    assert reasons(tmp_path) == ("unreadable-hierarchy",)
    assert reasons(write(tmp_path, "")) == ("empty-hierarchy",)
    assert reasons(write(tmp_path, b"\xff\xfe\x00a;*")) == ("undecodable-hierarchy",)
    assert reasons(write(tmp_path, "a\nb\n")) == ("one-level",)
    assert reasons(write(tmp_path, "a;*\nb;all\n")) == ("two-roots",)
    assert reasons(write(tmp_path, "a;A;*\nb;*\nc;C;*\n")) == ("uneven-levels",)
    assert reasons(write(tmp_path, "a;A;*\na;B;*\nb;B;*\n")) == ("duplicate-leaf",)
    assert reasons(write(tmp_path, "a;A;*;\nb;A;*;\n")) == ("blank-label",)
    assert reasons(write(tmp_path, "a;" + "x" * 200_000 + "\n")) == ("unreadable-hierarchy",)


def test_files_are_found_by_column_name(tmp_path: Path) -> None:
    for name in ["age.csv", "adult_hierarchy_marital-status.csv", "x_hierarchy_home town.csv", "other.csv", "sex.md"]:
        write(tmp_path, "a;*\n", name)
    (tmp_path / "zip.csv").mkdir()
    found = find_hierarchy_files(
        tmp_path, ["age", "marital-status", "home town", "status", "sex", "zip", "[a-z]*", "a/b"]
    )
    assert {column: path.name for column, path in found.items()} == {
        "age": "age.csv",
        "marital-status": "adult_hierarchy_marital-status.csv",
        "home town": "x_hierarchy_home town.csv",
    }


def test_accents_match_however_they_are_stored(tmp_path: Path) -> None:
    write(tmp_path, "a;*\n", "cafe\u0301.csv")
    assert list(find_hierarchy_files(tmp_path, ["caf\u00e9"])) == ["caf\u00e9"]


def test_missing_folder_and_two_files_for_a_column(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_hierarchy_files(tmp_path / "none", ["age"])
    assert caught.value.reasons == ("no-such-folder",)
    for name in ["age.csv", "adult_hierarchy_age.csv", "sex.csv", "sex.txt"]:
        write(tmp_path, "a;*\n", name)
    with pytest.raises(InputError) as caught:
        find_hierarchy_files(tmp_path, ["age", "sex", "race"])
    assert [(problem.reason, problem.column) for problem in caught.value.problems] == [
        ("two-hierarchy-files", "age"),
        ("two-hierarchy-files", "sex"),
    ]


# Leaves and levels as counted in the files with other tools (three cahousing files repeat one line).
REAL_FILES = {
    "adult": {
        "age": (100, 5),
        "education": (16, 4),
        "income": (2, 2),
        "marital-status": (7, 3),
        "native-country": (41, 3),
        "occupation": (14, 3),
        "race": (5, 2),
        "sex": (2, 2),
        "workclass": (8, 3),
    },
    "cahousing": {
        "housing_median_age": (52, 5),
        "latitude": (862, 4),
        "longitude": (844, 4),
        "median_house_value": (3842, 5),
        "median_income": (12928, 3),
    },
    "cmc": {"Weducation": (4, 3), "age": (34, 4), "children": (15, 4)},
    "mgm": {"age": (73, 5), "bi_rads_assessment": (6, 3), "density": (4, 2), "margin": (5, 2), "shape": (4, 2)},
}


@pytest.mark.data
@pytest.mark.parametrize("table", sorted(REAL_FILES))
def test_real_files(data_folder: Path, table: str) -> None:
    files = find_hierarchy_files(data_folder / table / "hierarchies", [*REAL_FILES[table], "no such column"])
    assert set(files) == set(REAL_FILES[table])
    for column, path in files.items():
        hierarchy = read_hierarchy_file(path, column)
        assert (len(hierarchy.leaves), hierarchy.levels) == REAL_FILES[table][column]
        lines = set(path.read_text().split("\n")) - {""}
        assert {";".join(hierarchy.path(leaf)) for leaf in range(len(hierarchy.leaves))} == lines


@pytest.mark.data
def test_real_values_are_covered_even_when_read_as_numbers(data_folder: Path) -> None:
    lines = (data_folder / "cahousing" / "cahousing.csv").read_text().splitlines()
    position = lines[0].split(",").index("latitude")
    texts = [line.split(",")[position] for line in lines[1:]]
    path = data_folder / "cahousing" / "hierarchies" / "cahousing_hierarchy_latitude.csv"
    make_hierarchy(path, texts, "latitude")
    as_numbers = sorted({str(float(text)) for text in texts})
    assert set(as_numbers) <= set(make_hierarchy(path, as_numbers, "latitude").leaves)
