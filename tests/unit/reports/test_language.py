"""Reports in German: complete, and no entry that nobody asks for."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import shoal
from shoal.errors import InputError
from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release, found_domains
from shoal.models.catalogue import catalogue
from shoal.models.t_closeness import DISTANCES
from shoal.pipeline.certificate import MISSING_RULE
from shoal.reports import language
from shoal.reports.language import digits, languages, speaking, tell
from shoal.reports.page import Page, bad_if, section, table
from shoal.reports.report import build_report
from shoal.reports.story import tell_story

PACKAGE = Path(shoal.__file__).parent


def texts_of_the_code() -> set[str]:
    """Every text that stands in the code of reports, metrics and models."""
    found = {entry.meaning for entry in catalogue()} | {entry.does_not_stop for entry in catalogue()}
    folders = [
        PACKAGE / "reports",
        PACKAGE / "metrics",
        PACKAGE / "verification",
        PACKAGE / "cli",
        PACKAGE / "evaluation",
        PACKAGE / "pipeline",
    ]
    for file in [path for folder in folders for path in folder.rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def titles_of_charts() -> set[str]:
    """Axes, legends and texts on hover: what stands as a title in the code of charts."""
    tree = ast.parse((PACKAGE / "reports" / "charts" / "specs.py").read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


SPOKEN = {
    "tell": 1,
    "section": 2,
    "card": 9,
    "heading": 1,
    "paragraph": 1,
    "note": 1,
    "bars": 9,
    "curves": 9,
    "chart": 9,
}


def texts_that_are_spoken() -> dict[str, str]:
    """Every text that is given as it stands to a function that translates it, and the file where that is done."""
    found: dict[str, str] = {}
    for file in (PACKAGE / "reports").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                given = node.args[: SPOKEN.get(name, 0)]
                parts = [
                    part for one in given for part in ((one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,))
                ]
                texts = [part.value for part in parts if isinstance(part, ast.Constant)]
                found.update({text: file.name for text in texts if isinstance(text, str) and text})
    return found


def test_every_text_has_its_translation() -> None:
    same_everywhere = {"k"}
    for code in languages()[1:]:
        texts = language._catalogue(code)["texts"]
        lacking = {text: file for text, file in texts_that_are_spoken().items() if text not in texts}
        assert {text: file for text, file in lacking.items() if text not in same_everywhere} == {}


def test_every_model_is_explained_in_every_language() -> None:
    for code in languages()[1:]:
        texts = language._catalogue(code)["texts"]
        told = {text for entry in catalogue() for text in (entry.meaning, entry.does_not_stop)}
        assert [text for text in told if text not in texts] == []


def certificate() -> dict[str, Any]:
    check = {"model": "k-anonymity:5", "passed": True, "measure": "smallest class", "measured": 5.0}
    return {
        "versions": {"shoal": "0"},
        "job": {"sensitive": ["illness"], "keep": ["ward"], "allow": ["ward"], "identifiers": ["name"]},
        "quasi": ["age"],
        "models": ["k-anonymity:5"],
        "records": {"released": 3000, "suppressed": 2},
        "classes": 50,
        "smallest_class": 5,
        "passed": True,
        "checks": [check],
        "hashes": {},
        "loss": {"gcp": 0.25, "lower_bound": 0.1},
        "kept": {"ward": ["it is near unique"]},
        "alone_with_kept": 2000,
        "missing": {"rule": MISSING_RULE},
    }


@pytest.fixture(scope="module")
def evaluation(tables: SimpleNamespace) -> dict[str, Any]:
    original, release = tables.anonymized(200, 5)
    parts = ("risk", "combinations", "attack", "utility", "queries")
    options = EvaluationOptions(k=5, sensitive=("illness",), queries=30, parts=parts)
    found = evaluate_release(
        original, release, tables.quasi, options, domains=found_domains(original, tables.quasi, tables.hierarchies)
    )
    return {**found.as_dict(), "shapes": found.shapes}


@pytest.mark.parametrize("public", [False, True])
def test_german_reports_are_german(evaluation: dict[str, Any], public: bool) -> None:
    summary = {
        "records": 3000,
        "smallest_class": 5,
        "risk": evaluation["risk"],
        "metrics": {"gcp": 0.25},
        "per_attribute": {},
        "certificate": certificate(),
    }
    language.UNTOLD.clear()
    html = build_report(summary, evaluation, public=public, language="de")
    assert 'lang="de"' in html
    assert "Alle Zusicherungen sind erfüllt." in html
    assert "3.000" in html
    named = {"age", "illness", "ward", "city", "job", "k"}  # of the data and of settings
    assert language.UNTOLD & titles_of_charts() == set()
    assert language.UNTOLD & texts_of_the_code() - named - {""} == set()


def test_no_entry_is_stale() -> None:
    known = texts_of_the_code() | {"smallest class, in persons"} | {f"largest {name} distance" for name in DISTANCES}
    for code in languages()[1:]:
        assert [text for text in language._catalogue(code)["texts"] if text not in known] == []


def test_placeholders_are_those_of_the_english_text() -> None:
    import string

    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for english, german in language._catalogue("de")["texts"].items():
        assert fields(english) == fields(german), english


def test_the_language_ends_with_its_block() -> None:
    with speaking("de"):
        assert (tell("before"), digits("1,234.5")) == ("vorher", "1.234,5")
    assert (tell("before"), digits("1,234.5")) == ("before", "1,234.5")
    with pytest.raises(InputError), speaking("xx"):
        pass


def test_a_preferred_language(monkeypatch: pytest.MonkeyPatch) -> None:
    for wish, spoken in (("de", "de"), ("de_AT.UTF-8", "de"), ("xx", "en"), ("", "en")):
        monkeypatch.setenv("SHOAL_LANGUAGE", wish)
        with speaking(None):
            assert language.spoken() == spoken
        with speaking("en"):
            assert language.spoken() == "en"


def test_the_public_story_names_no_column() -> None:
    told = " ".join(sentence for chapter in tell_story(certificate(), public=True) for sentence in chapter.sentences)
    for name in ("illness", "ward", "age:", "name"):
        assert name not in told.split()
    assert "1 column" in told


def test_kept_columns_and_the_order_of_rows_are_told() -> None:
    spoken = {**certificate(), "kept": {"ward": ["unique"], "floor": []}, "alone_with_kept": 1200, "row_order": "input"}
    spoken["job"] = {**spoken["job"], "allow": ["ward", "floor"]}  # nothing speaks against the floor
    told = " ".join(sentence for chapter in tell_story(spoken) for sentence in chapter.sentences)
    assert "Kept as they are: ward, floor." in told
    assert "who somebody is: ward." in told
    assert "1,200 records stand alone" in told
    assert "in the order of the input" in told
    public = " ".join(sentence for chapter in tell_story(spoken, public=True) for sentence in chapter.sentences)
    assert "Kept as they are: 2 columns." in public


def test_bad_values_are_marked_and_sections_listed() -> None:
    page = Page("t")
    page.add(section("What & why", "i", table(["a", "b"], [["x", bad_if(True, "7")]], numbers=(1,))))
    html = page.html()
    assert '<td class="number bad">7</td>' in html
    assert '<a href="#what-why">What &amp; why</a>' in html
