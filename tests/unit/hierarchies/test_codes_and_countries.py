"""Hierarchies that codes and countries carry in themselves, and changes of hierarchies."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.hierarchies.codes import ICD10_CHAPTERS, icd10_chapter
from shoal.hierarchies.countries import _table, region_of
from shoal.hierarchies.edit import Changes, edit_hierarchy, nearest_group
from shoal.hierarchies.files import read_hierarchy_file, write_hierarchy_file
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.spec import make_hierarchy


def paths(hierarchy: Hierarchy) -> dict[str, tuple[str, ...]]:
    return {leaf: hierarchy.path(number)[1:] for number, leaf in enumerate(hierarchy.leaves)}


def test_diagnoses() -> None:
    made = make_hierarchy(
        {"builder": "codes", "system": "icd10"}, ["E11.9", "e110", "J44.1", "D45", "D50.1", "x?"], "d"
    )
    assert paths(made) == {
        "D45": ("D45", "C00-D48", "*"),
        "D50.1": ("D50", "D50-D90", "*"),
        "E11.9": ("E11", "E00-E90", "*"),
        "e110": ("E11", "E00-E90", "*"),
        "J44.1": ("J44", "J00-J99", "*"),
        "x?": ("X?", "other codes", "*"),
    }


def test_every_chapter_holds_its_ends() -> None:
    for chapter in ICD10_CHAPTERS:
        assert [icd10_chapter(code) for code in chapter.split("-")] == [chapter, chapter]
    assert icd10_chapter("C7A.1") == "C00-D48"


def test_drugs_and_other_codes() -> None:
    drugs = make_hierarchy({"builder": "codes", "system": "atc"}, ["A10BA02", "A10BB01", "N02BE01"], "d")
    assert paths(drugs)["A10BA02"] == ("A10BA", "A10B", "A10", "A", "*")
    assert paths(make_hierarchy({"builder": "codes", "lengths": [2, 1]}, ["1234", "1299"], "c"))["1234"] == (
        "12",
        "1",
        "*",
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"builder": "codes"},
        {"builder": "codes", "system": "icd9"},
        {"builder": "codes", "lengths": [1, 2]},
        {"builder": "codes", "lengths": "x"},
        {"builder": "codes", "system": "atc", "lengths": [3]},
        {"builder": "regions", "levels": ["continent"]},
    ],
)
def test_wrong_settings(spec: dict[str, object]) -> None:
    with pytest.raises(InputError) as told:
        make_hierarchy(spec, ["A10BA02"], "d")
    assert told.value.reasons == ("bad-builder",)


def test_countries() -> None:
    made = make_hierarchy({"builder": "regions"}, ["United-States", "DE", "fra", "Österreich", "Atlantis"], "c")
    assert paths(made) == {
        "United-States": ("Northern America", "Americas", "*"),
        "DE": ("Western Europe", "Europe", "*"),
        "fra": ("Western Europe", "Europe", "*"),
        "Österreich": ("Western Europe", "Europe", "*"),
        "Atlantis": ("other", "other", "*"),
    }
    assert region_of("Côte d'Ivoire") == region_of("Ivory Coast") == ("Africa", "Western Africa")


def test_the_table_of_countries() -> None:
    """249 of ISO 3166-1 without Antarctica, which lies in no region, and Kosovo; each two and three letters once."""
    spellings = _table()
    codes = [spelling for spelling in spellings if len(spelling) in (2, 3)]
    assert len([code for code in codes if len(code) == 2 and code != "uk"]) == 249
    assert len({region for region, _ in spellings.values()}) == 5
    assert len({subregion for _, subregion in spellings.values()}) == 22


def test_changes(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text("Craft;Technical;*\nSupport;Technical;*\nSales;Other;*\n")
    old = read_hierarchy_file(tmp_path / "job.csv", "job")
    changes = Changes(rename={"Other": "Rest"}, remove=["Support"], move={"Craft": "Rest"}, add={"Army": "*"})
    new = edit_hierarchy(old, changes, "job")
    assert paths(new) == {"Sales": ("Rest", "*"), "Craft": ("Rest", "*"), "Army": ("*", "*")}
    write_hierarchy_file(new, tmp_path / "new.csv")
    assert paths(read_hierarchy_file(tmp_path / "new.csv", "job")) == paths(new)
    assert paths(old)["Support"] == ("Technical", "*")


def test_changes_that_do_not_fit_are_all_told() -> None:
    old = make_hierarchy([["a", "A", "*"], ["b", "B", "*"]], ["a", "b"], "x")
    with pytest.raises(InputError) as told:
        edit_hierarchy(old, Changes(rename={"q": "r"}, remove=["c"], move={"a": "C"}, add={"b": "A"}), "x")
    assert set(told.value.reasons) == {"unknown-label", "unknown-value", "unknown-group", "duplicate-leaf"}


def test_where_a_value_would_go() -> None:
    words = make_hierarchy([["Support", "Technical", "*"], ["Sales", "Other", "*"]], [], "x")
    assert nearest_group(words, "suport") == "Technical"
    assert nearest_group(words, "zzz") is None
    numbers = make_hierarchy({"builder": "ranges", "edges": [10, 20]}, ["5", "15", "25"], "n")
    assert nearest_group(numbers, "16.5") == "[10, 19]"
