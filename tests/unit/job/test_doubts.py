"""Texts taken for categories, and settings that match nothing: refused, or told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.tables.near_forms import near_form
from shoal.tables.scales import is_missing

ROWS = 240
DAYS = [(1930 + row % 60, 1 + row % 12, 1 + row * 7 % 28) for row in range(ROWS)]
SLASHED = [f"{month}/{day}/{year}" for year, month, day in DAYS]
NAMED = [f"{day} {['Jan', 'Feb', 'March', 'Apr'][month % 4]} {year}" for year, month, day in DAYS]
COMMA = [f"{row * 37 % 90},{row % 10}" for row in range(ROWS)]
ONE_NA = ["NA" if row == 5 else str(row * 37 % 90) for row in range(ROWS)]
DATES_AND_TEXT = ["unbekannt" if row == 5 else f"{d}.{m}.{y}" for row, (y, m, d) in enumerate(DAYS)]


def released(texts: list[str], **settings: Any) -> shoal.Result:
    return shoal.anonymize(pl.DataFrame({"x": texts}), quasi="x", k=5, algorithm="mondrian", **settings)


@pytest.mark.parametrize(
    ("texts", "hint"),
    [
        (SLASHED, "--date-format x=%m/%d/%Y"),
        (NAMED, "--date-format"),
        ([f"{text} 10:30" for text in DATES_AND_TEXT if text[0].isdigit()], "--date-format"),
        (COMMA, "--decimal-comma"),
        (ONE_NA, "--missing"),
        (DATES_AND_TEXT, "--missing"),
    ],
)
def test_what_is_nearly_a_number_or_a_date_is_no_category_without_a_word(texts: list[str], hint: str) -> None:
    with pytest.raises(InputError) as caught:
        released(texts)
    assert caught.value.reasons == ("nearly-another-scale",)
    assert hint in str(caught.value.problems[0].hint)
    for text in ("unbekannt", "NA", SLASHED[0]):
        assert text not in str(caught.value)
    assert released(texts, scales={"x": "category"}).certificate["notes"]  # said knowingly, and told all the same


@pytest.mark.parametrize(
    "texts",
    [
        [f"0{row}" for row in range(ROWS)],  # postal codes
        [f"{'EV'[row % 2]}{row}" if row % 4 else str(row) for row in range(ROWS)],  # codes of diseases
        [f"town {row}" for row in range(ROWS)],
        ["NA", "1", "2", "3"],
        ["1/2", "3/4"],
    ],
)
def test_codes_and_words_are_categories(texts: list[str]) -> None:
    assert near_form(pl.Series(texts).unique(), ()) is None


def test_dates_in_a_stated_form_are_dates() -> None:
    result = released([*SLASHED, " ", "NA", "NA", "NA", "NA"], date_formats={"x": "%m/%d/%Y"}, missing=["NA"])
    assert result.certificate["columns"]["x"]["scale"] == "date"
    usual = [f"{year}-{month:02d}-{day:02d}" for year, month, day in DAYS]
    same = released([*usual, *[""] * 5])
    assert result.release.equals(same.release)
    times = [f"{text} 1:30 PM" for text in SLASHED]
    assert released(times, date_formats={"x": "%m/%d/%Y %I:%M %p"}).certificate["columns"]["x"]["scale"] == "date"


@pytest.mark.parametrize(
    "settings",
    [
        {"date_formats": {"x": "%d/%m/%Y"}},  # some months are beyond 12
        {"date_formats": {"x": "%m/%d/%y"}},
        {"date_formats": {"x": "%m/%d"}},
        {"date_formats": {"x": "month/day"}},
        {"date_formats": {"x": "%m/%d/%Y %Q"}},
        {"date_formats": {"y": "%m/%d/%Y"}},
    ],
)
def test_forms_that_do_not_fit_are_told(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        released(SLASHED, **settings)
    assert set(caught.value.reasons) & {"bad-form", "unknown-column"}


def test_a_file_in_a_stated_form_goes_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x,y\n" + "\n".join(f'{a},"{b}"' for a, b in zip(SLASHED, COMMA, strict=True)))
    job = shoal.Job(
        input=tmp_path / "in.csv", output=tmp_path / "out.csv", quasi=("x", "y"), k=5, algorithm="mondrian",
        date_formats={"x": "%m/%d/%Y"}, csv={"decimal_comma": True}, report=tmp_path / "r.html",
    )  # fmt: skip
    result = shoal.run(job)
    assert [column["scale"] for column in result.certificate["columns"].values()] == ["date", "decimal"]
    job.save(tmp_path / "job.yaml")
    assert shoal.Job.load(tmp_path / "job.yaml").date_formats == {"x": "%m/%d/%Y"}
    with pytest.raises(InputError) as caught:
        shoal.run(job.model_copy(update={"engine": "stream", "algorithm": "shoal", "report": None}))
    assert set(caught.value.reasons) == {"cannot-stream"}


def test_large_categories_are_told_loudly() -> None:
    result = released([f"town {row % 120}" for row in range(ROWS)])
    assert [note for note in result.certificate["notes"] if note.startswith("WARNING: 'x' is a category of 120 values")]
    assert released([f"town {row % 20}" for row in range(ROWS)]).certificate["notes"] == []


def test_settings_that_match_nothing_are_told(tmp_path: Path) -> None:
    texts = [f"town {row % 4}" for row in range(ROWS)]
    notes = released(texts, missing=["town 1", "nowhere", " "]).certificate["notes"]
    assert notes == ["2 of 3 texts that mean 'missing' occur in no column that matters"]
    (tmp_path / "x.csv").write_text("\n".join(f"town {row};*" for row in range(4)))
    (tmp_path / "other.csv").write_text("a;*\n")
    notes = released(texts, hierarchies=tmp_path).certificate["notes"]
    assert notes == ["files in the folder of hierarchies that belong to no column: other.csv"]


def test_blanks_around_a_missing_text_do_not_matter() -> None:
    texts = pl.Series(["", "  ", " NA", "NA ", "NaN ", "na", "x NA"])
    assert is_missing(texts, ("NA",)).to_list() == [True, True, True, True, True, False, False]
    assert is_missing(texts, (" NA ",)).to_list() == [True, True, True, True, True, False, False]
    assert is_missing(texts).to_list() == [True, True, False, False, True, False, False]
