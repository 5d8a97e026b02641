"""The report as text: everything escaped, the public version silent, tables without charts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release, found_domains
from shoal.evaluation.options import AttackerTables
from shoal.reports import page as page_module
from shoal.reports.charts.export import evaluation_charts, save_charts
from shoal.reports.notebook import evaluation_html, summary_html
from shoal.reports.page import MEANING, Page, json_for_script, number, share, table
from shoal.reports.report import build_report, write_report

NASTY = "<script>alert('x')</script>\"&</td>"


def summary_with(name: str = "age") -> dict[str, Any]:
    return {
        "records": 300,
        "suppressed": 0,
        "classes": 50,
        "smallest_class": 5,
        "metrics": {"gcp": 0.1234, "ncp": 111.0, "precision": 0.8, "lower_bound": 0.1, "at_most_above_best": 0.234},
        "per_attribute": {name: {"gcp": 0.1}, "job": {"gcp": 0.2}},
        "risk": {
            "before": {"highest": 1.0, "average": 0.5, "unique": 77.0},
            "after": {"highest": 0.2, "average": 0.15, "unique": 0.0},
        },
        "seconds": {"read": 0.01},
        "details": {},
        "certificate": {
            "versions": {"shoal": "0.1.0"},
            "job": {"k": 5, "quasi": [name, "job"], "seed": 424242},
            "hashes": {"input": "1" * 64, "release": "2" * 64, "job": "3" * 64},
            "checks": [{"model": "k-anonymity:5", "passed": True, "measure": "smallest class", "measured": 5.0}],
            "missing": {"rule": "a missing value is a value of its own"},
            "notes": [NASTY],
        },
    }


@pytest.fixture(scope="module")
def evaluation(tables: SimpleNamespace) -> dict[str, Any]:
    original, release = tables.anonymized(200, 5)
    names = {"job": NASTY}
    hierarchies = {NASTY: tables.hierarchies["job"]}
    parts = ("risk", "combinations", "attack", "utility", "queries")
    options = EvaluationOptions(k=5, sensitive=("illness",), queries=30, sampling_fraction=0.5, parts=parts)
    quasi = ["age", NASTY, "city"]
    return evaluate_release(
        original.rename(names),
        release.rename(names),
        quasi,
        options,
        domains=found_domains(original.rename(names), quasi, hierarchies),
    ).as_dict()


class Reader(HTMLParser):
    """Collects scripts, tags and visible text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self._in_script = self._in_style = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_script, self._in_style = tag == "script", tag == "style"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        elif not self._in_style:
            self.text.append(data)


def test_everything_from_the_data_is_escaped(evaluation: dict[str, Any]) -> None:
    html = build_report(summary_with(NASTY), evaluation, title=NASTY)
    read = Reader(html)
    assert NASTY in "".join(read.text)
    assert len(read.scripts) <= 3
    assert not any("alert('x')" in script and "charts" not in script and "{" not in script for script in read.scripts)
    assert NASTY not in html


def test_no_address_is_fetched(evaluation: dict[str, Any]) -> None:
    html = build_report(summary_with(), evaluation)
    read = Reader(html)
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(read.tags)
    assert "default-src 'none'" in html
    assert "<script src" not in html


def test_it_is_small_and_complete(evaluation: dict[str, Any]) -> None:
    html = build_report(summary_with(), evaluation)
    assert len(html.encode()) < 3_000_000
    text = "".join(Reader(html).text)
    for words in ("Risk", "Attacks", "Loss", "Counting queries", "Statistics", "What was checked", "How it was made"):
        assert words in text


def test_the_public_version_tells_nothing_about_attributes(evaluation: dict[str, Any]) -> None:
    html = build_report(summary_with("diagnosis-date"), evaluation, public=True)
    text = "".join(Reader(html).text)
    for secret in ("diagnosis-date", "city", NASTY, "1" * 64, "3" * 64, "424242", "Pinned", "Combinations"):
        assert secret not in text
    assert "public version" in text
    assert "2" * 64 in text
    assert "k-anonymity:5" in text


def test_the_public_version_of_a_summary_alone() -> None:
    text = "".join(Reader(build_report(summary_with("diagnosis-date"), public=True)).text)
    assert "diagnosis-date" not in text
    assert "77" not in text  # unique records of the original
    assert "Highest risk" in text


def test_releases_without_classes_say_so() -> None:
    summary = summary_with()
    summary["certificate"]["class_based"] = False
    summary["smallest_class"] = 1
    text = "".join(Reader(build_report(summary)).text)
    assert "Fewest candidates5" in text
    assert "Smallest class1" not in text


def test_every_number_of_a_table_of_measures_has_its_sentence(evaluation: dict[str, Any]) -> None:
    html = build_report(summary_with(), evaluation)
    for body in re.findall(rf"<th class=meaning>{MEANING}</th></tr></thead><tbody>(.*?)</tbody>", html, re.S):
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.S):
            assert re.search(r"<td class=meaning>[A-Z0-9].*\.</td>", row), row


def test_tables_remain_where_charts_cannot_be_drawn(
    monkeypatch: pytest.MonkeyPatch, evaluation: dict[str, Any]
) -> None:
    monkeypatch.setattr(page_module, "script", lambda: None)
    html = build_report(summary_with(), evaluation)
    read = Reader(html)
    assert read.scripts == []
    assert "Loss (GCP)" in "".join(read.text)
    assert len(html) < 100_000


def test_a_summary_alone_and_an_evaluation_alone(tmp_path: Path, evaluation: dict[str, Any]) -> None:
    write_report(tmp_path / "a.html", summary_with())
    write_report(tmp_path / "b.html", None, evaluation)
    assert "Risk" in (tmp_path / "a.html").read_text()
    assert "Attacks" in (tmp_path / "b.html").read_text()


def test_notebooks_show_a_table_and_pictures(evaluation: dict[str, Any]) -> None:
    for html, pictures in ((evaluation_html(evaluation), 3), (summary_html(summary_with(NASTY)), 2)):
        assert html.count("<svg") == pictures
        assert "Loss (GCP)" in html
        assert "<script>" not in html
    assert "Lower bound" in summary_html(summary_with())


@pytest.mark.parametrize("public", [False, True])
def test_the_bound_of_the_loss_is_told(evaluation: dict[str, Any], public: bool) -> None:
    sentence = "can have a loss (GCP) below 0.1000; the loss of this one is at most 23.4% above the best"
    for html in (build_report(summary_with(), evaluation, public=public), build_report(summary_with(), public=public)):
        assert sentence in html
    assert "can have a loss" not in build_report(None, evaluation, public=public)


def test_attacks_beside_a_control_are_told(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(200, 5)
    options = EvaluationOptions(k=5, sensitive=("illness",), parts=("attack",))
    control = tables.random_table(100, 8)
    found = evaluate_release(
        original,
        release,
        tables.quasi,
        options,
        domains=found_domains(original, tables.quasi, tables.hierarchies),
        tables=AttackerTables(control=control),
    ).as_dict()
    opinion = {"targets": 500, "success": 0.01, "interval": [0.0, 0.02], "risk": {"value": 0.003, "interval": [0, 1]}}
    found["attack"]["anonymeter"] = {"linkability": opinion, "singling_out": opinion}
    text = "".join(Reader(build_report(None, found)).text)
    for words in ("Joining what two parties know", "The same for others", "Risk of being in it", "anonymeter"):
        assert words in text
    assert "Risk of being in it" not in "".join(Reader(build_report(None, found, public=True)).text)


def test_charts_for_papers(tmp_path: Path, evaluation: dict[str, Any]) -> None:
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    assert set(evaluation_charts(evaluation)) >= {"class-sizes", "risk-curve", "loss", "query-errors"}
    files = save_charts(evaluation, tmp_path / "charts", ("svg",))
    assert all(file.read_text().startswith("<svg") for file in files)


def test_json_cannot_end_its_script() -> None:
    text = json_for_script({"a": "</script><!--\u2028"})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--\u2028"}


def test_the_page_escapes_titles_and_cells() -> None:
    one = Page(NASTY)
    one.heading(NASTY)
    one.add(table([NASTY], [[NASTY]]))
    assert "<script>alert" not in one.html()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0%"),
        (1, "100%"),
        (185.571, "18,557%"),
        (0.123, "12.3%"),
        (0.05, "5.00%"),
        (0.0004, "0.040%"),
        (1e-9, "< 0.001%"),
        (None, "not known"),
    ],
)
def test_shares(value: float | None, expected: str) -> None:
    assert share(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3.0, "3"),
        (12345.678, "12,345.7"),
        (0.12345678, "0.1235"),
        (7.6288e-06, "7.6\u00d710⁻⁶"),
        (float("nan"), "not known"),
    ],
)
def test_numbers(value: float, expected: str) -> None:
    assert number(value) == expected
