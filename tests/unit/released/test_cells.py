"""Reading released text back, our own forms and those of other tools."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.hierarchies.tree import from_paths
from shoal.released.cells import Cells, Observed, read_cells
from shoal.released.domain import Domain, make_domain, make_domains, text_codes
from shoal.tables.schema import Attribute, Role, Scale

JOBS = from_paths(
    "job",
    [
        ("Engineer", "Professional", "*"),
        ("Lawyer", "Professional", "*"),
        ("Dancer", "Artist", "*"),
        ("Writer", "Artist", "*"),
    ],
)


def attribute(scale: Scale, name: str = "a", order: tuple[str, ...] | None = None) -> Attribute:
    return Attribute(name, Role.QUASI_IDENTIFYING, scale, order)


def domain_of(values: list[str | None], scale: Scale, **more: object) -> Domain:
    order = more.pop("order", None)
    return make_domain(pl.Series(values), attribute(scale, order=order), **more)  # type: ignore[arg-type]


def read(domain: Domain, *texts: str | None, observed: Observed | None = None) -> Cells:
    return read_cells(domain, pl.Series(texts, dtype=pl.String), observed)


AGES = domain_of([str(age) for age in range(10, 111)], Scale.INTEGER)  # a range of 100: losses are easy to see


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("20", 20, 20),
        ("20.0", 20, 20),
        ("[20, 29]", 20, 29),
        ("[20, 30[", 20, 29),
        ("]19, 29]", 20, 29),
        ("[20-30)", 20, 29),
        ("(19-29]", 20, 29),
        ("20-29", 20, 29),
        ("20 - 29", 20, 29),
        ("20~29", 20, 29),
        ("20..29", 20, 29),
        (">=50", 50, 110),
        (">50", 51, 110),
        ("50+", 50, 110),
        ("<20", 10, 19),
        ("<=20", 10, 20),
        ("2*", 20, 29),
        ("[0, 20]", 10, 20),  # what lies outside the domain is no loss
        ("{20, 25}", 20, 25),
    ],
)
def test_numbers_and_ranges(text: str, low: float, high: float) -> None:
    cells = read(AGES, text)
    assert not cells.unreadable[0]
    assert (cells.low[0], cells.high[0]) == (low, high)
    assert cells.loss[0] == pytest.approx((high - low) / 100)
    assert AGES.values[cells.first[0]] == str(int(low))
    assert AGES.values[cells.last[0]] == str(int(high))


def test_suppressed_and_unreadable_lose_everything() -> None:
    cells = read(AGES, "*", "***", "gibberish", "[a, b]", "")
    assert cells.loss.tolist() == [1, 1, 1, 1, 1]
    assert cells.suppressed.tolist() == [True, True, False, False, True]
    assert cells.unreadable.tolist() == [False, False, True, True, False]


def test_negative_and_decimal_ranges() -> None:
    domain = domain_of(["-10", "0", "2.5", "10"], Scale.DECIMAL)
    cells = read(domain, "[-10, -5]", "-10--5", "[0, 2.5)", "2.5", "-1*", "1e1")
    assert cells.low.tolist() == [-10, -10, 0, 2.5, -10, 10]
    assert cells.high.tolist() == [-5, -5, 2.5, 2.5, -10, 10]
    assert cells.loss[:2].tolist() == [0.25, 0.25]


def test_dates() -> None:
    domain = domain_of(["2020-01-01", "2020-12-31", "2020-05-05"], Scale.DATE)
    cells = read(domain, "2020-05-05", "[2020-01-01, 2020-02-01]", "2020-05", "2020-Q2", "2020", "2020s", "2020-**-**")
    days = (cells.high - cells.low).tolist()
    assert days == [0, 31, 30, 90, 365, 365, 365]
    assert cells.loss[1] == pytest.approx(31 / 365)


def test_dates_with_times_and_other_forms() -> None:
    german = domain_of(["01.02.2020", "03.02.2020"], Scale.DATE)
    assert read(german, "[01.02.2020, 02.02.2020]").loss[0] == 0.5
    times = domain_of(["2020-01-01 00:00", "2020-01-02T12:00:00", "2020-01-03 00:00:00.5"], Scale.DATE)
    assert times.positions[1] - times.positions[0] == pytest.approx(1.5)
    zoned = domain_of(["2020-01-01T00:00:00Z", "2020-01-01T02:00:00+01:00"], Scale.DATE)
    assert zoned.span == pytest.approx(1 / 24)


def test_tree_labels_leaves_sets_and_masks() -> None:
    domain = domain_of(["Lawyer", "Dancer", "Lawyer"], Scale.CATEGORY, hierarchy=JOBS)
    cells = read(domain, "Lawyer", "Professional", "*", "{Lawyer, Dancer}", "nobody", "Writer")
    assert cells.loss.tolist() == [0, 0.5, 1, 0.5, 1, 0]
    assert cells.leaves.tolist() == [1, 2, 4, 2, 4, 1]
    assert cells.level.tolist() == [0, 1, 2, -1, 2, 0]
    assert cells.unreadable.tolist() == [False] * 4 + [True, False]
    texts, codes = np.array([0, 1, 1, 3, 3, 5]), np.array([0, 0, 1, 0, 1, 0])
    assert cells.covers(domain, texts, codes).tolist() == [True, True, False, True, True, False]


def test_a_label_on_two_levels_means_the_lowest_that_covers() -> None:
    tree = from_paths("a", [("Other", "Other", "*"), ("Odd", "Other", "*"), ("Plain", "Common", "*")])
    domain = domain_of(["Other", "Odd", "Plain"], Scale.CATEGORY, hierarchy=tree)
    leaf, odd = domain.code_of["Other"], domain.code_of["Odd"]
    low, high = min(leaf, odd), max(leaf, odd)
    narrow = Observed(np.array([leaf], dtype=np.int32), np.array([leaf], dtype=np.int32))
    wide = Observed(np.array([low], dtype=np.int32), np.array([high], dtype=np.int32))
    assert read(domain, "Other").loss[0] == 0
    assert read(domain, "Other", observed=narrow).loss[0] == 0
    assert read(domain, "Other", observed=wide).loss[0] == pytest.approx(2 / 3)


def test_numbers_with_a_hierarchy_understand_its_labels() -> None:
    ages = from_paths("age", [(str(age), f"{age // 10 * 10}s", "*") for age in range(20, 60)])
    domain = domain_of(["20", "35", "40"], Scale.INTEGER, hierarchy=ages)
    cells = read(domain, "30s", "35", "[20, 35]", "*")
    assert cells.loss.tolist() == [9 / 20, 0, 15 / 20, 1]
    assert cells.level[0] == 1


def test_a_number_that_is_also_a_label_is_settled_by_the_rows() -> None:
    tree = from_paths("x", [("32.5", "32.5", "*"), ("32.54", "32.5", "*"), ("33.5", "33.5", "*")])
    domain = domain_of(["32.5", "32.54", "33.5"], Scale.DECIMAL, hierarchy=tree)
    one = Observed(np.array([0], dtype=np.int32), np.array([0], dtype=np.int32))
    two = Observed(np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))
    assert read(domain, "32.5", observed=one).loss[0] == 0
    assert read(domain, "32.5", observed=two).loss[0] == pytest.approx(0.04)


def test_flat_sets_with_quotes_and_missing() -> None:
    domain = domain_of(["A", "B, C", 'say "hi"', "{D}", None], Scale.CATEGORY)
    assert domain.size == 5
    cells = read(domain, "A", '{A, "B, C"}', '{"say ""hi""", "{D}"}', "{(missing), A}", "*", None, "{A;Z}", "B, C")
    assert cells.loss.tolist() == [0, 0.25, 0.25, 0.25, 1, 0, 1, 0]
    assert cells.covers_missing.tolist() == [False, False, False, True, True, True, True, False]
    assert cells.unreadable.tolist() == [False] * 6 + [True, False]


def test_spaces_belong_to_values() -> None:
    domain = domain_of([" Private", " State", "Private"], Scale.CATEGORY)
    cells = read(domain, " Private", "{ Private,  State}", "Private")
    assert cells.loss.tolist() == [0, 0.5, 0]
    assert cells.first[0] != cells.first[2]


def test_masks_of_postcodes() -> None:
    domain = domain_of(["12345", "12355", "12999", "99999"], Scale.CATEGORY)
    cells = read(domain, "123**", "1****", "12*", "55***", "*****")
    assert cells.loss.tolist() == [1 / 3, 2 / 3, 2 / 3, 1, 1]
    assert cells.unreadable.tolist() == [False, False, False, True, False]
    assert cells.suppressed[4]


def test_ordered_categories() -> None:
    domain = domain_of(["low", "mid", "high"], Scale.ORDERED, order=("low", "mid", "high", "very, very high"))
    cells = read(domain, "mid", "[low, mid]", "[low, high]", "*", "[mid, very, very high]", "low-mid")
    assert cells.loss.tolist() == [0, 0.5, 1, 1, 0.5, 1]
    assert cells.unreadable.tolist() == [False] * 5 + [True]


def test_an_empty_cell_is_missing_only_where_nothing_else_stands_behind_it() -> None:
    domain = domain_of(["1", "3", None], Scale.INTEGER)
    missing = Observed(np.array([2], dtype=np.int32), np.array([2], dtype=np.int32))
    mixed = Observed(np.array([0], dtype=np.int32), np.array([2], dtype=np.int32))
    assert read(domain, None, observed=missing).loss[0] == 0
    assert read(domain, None, observed=mixed).loss[0] == 1
    assert read(domain, "", observed=mixed).suppressed[0]


def test_text_codes_lead_back_to_the_column() -> None:
    column = pl.Series(["b", None, "a", "b", "", None])
    texts, codes = text_codes(column)
    assert texts.gather(codes).to_list() == column.to_list()
    assert text_codes(pl.Series([None, None], dtype=pl.String))[1].tolist() == [0, 0]
    assert text_codes(pl.Series([1.5, float("nan"), 2.0]))[0].to_list() == ["1.5", "2.0", None]


def test_all_problems_at_once_and_no_value_in_them() -> None:
    frame = pl.DataFrame({"a": ["secret"], "b": ["secret"]})
    attributes = [attribute(Scale.INTEGER), attribute(Scale.CATEGORY, "b"), attribute(Scale.CATEGORY, "c")]
    with pytest.raises(InputError) as caught:
        make_domains(frame, attributes, {"b": JOBS})
    assert caught.value.reasons == ("not-a-number", "uncovered-values", "unknown-column")
    assert "secret" not in str(caught.value)
