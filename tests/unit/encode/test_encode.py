"""Codes, levels, missing values and collapsing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encode.collapse import collapse_rows
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import Kind
from shoal.encode.levels import interval_levels, tree_levels
from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.t_closeness import TCloseness
from shoal.tables.schema import Attribute, Role, Scale

JOBS = {"*": {"Technical": ["Craft", "Support"], "Other": ["Sales", "Army", "Service"]}}


def quasi(name: str, scale: Scale, order: tuple[str, ...] | None = None) -> Attribute:
    return Attribute(name, Role.QUASI_IDENTIFYING, scale, order)


def test_numbers_are_ordered_by_value_and_scaled() -> None:
    frame = pl.DataFrame({"age": ["9", "100", "10", "9"]})
    table, book = encode_table(frame, [quasi("age", Scale.INTEGER)], {})
    assert table.attributes[0].kind is Kind.INTERVAL
    assert table.record_codes[0].tolist() == [0, 2, 1, 0]
    assert table.attributes[0].positions.tolist() == [0.0, 1 / 91, 1.0]
    assert book["age"].texts.to_list() == ["9", "10", "100"]


def test_missing_number_has_the_last_code_and_position_two() -> None:
    frame = pl.DataFrame({"age": ["5", "", "7", "?"]})
    table, book = encode_table(frame, [quasi("age", Scale.INTEGER)], {}, EncodeOptions(missing=("?",)))
    attribute = table.attributes[0]
    assert table.record_codes[0].tolist() == [0, 2, 1, 2]
    assert attribute.missing_code == 2
    assert attribute.positions.tolist() == [0.0, 1.0, 2.0]
    assert attribute.level_cost[-1].tolist() == [1.0, 1.0, 1.0]
    assert book.missing_cells == {"age": 2}


def test_tree_codes_are_leaves_in_tree_order_with_cost_by_leaves() -> None:
    tree = make_hierarchy(JOBS, [], "job", None)
    frame = pl.DataFrame({"job": ["Army", "Craft", None, "Support"]})
    table, _ = encode_table(frame, [quasi("job", Scale.CATEGORY)], {"job": tree})
    attribute = table.attributes[0]
    assert attribute.kind is Kind.TREE
    assert attribute.size == 6  # five leaves, whether they occur or not, and the missing value
    craft, support, army = (tree.leaf_index[leaf] for leaf in ("Craft", "Support", "Army"))
    assert attribute.level_cost[1, craft] == pytest.approx(2 / 5)
    assert attribute.level_cost[1, army] == pytest.approx(3 / 5)
    assert attribute.ancestors[1, craft] == attribute.ancestors[1, support] != attribute.ancestors[1, army]
    assert attribute.level_cost[:, 5].tolist() == [0.0, 0.0, 1.0]
    assert attribute.ancestors[1, 5] == 5
    assert len(set(attribute.ancestors[-1].tolist())) == 1


def test_flat_category_is_sorted_text() -> None:
    table, book = encode_table(pl.DataFrame({"c": ["b", "a", "c"]}), [quasi("c", Scale.CATEGORY)], {})
    assert table.attributes[0].kind is Kind.FLAT
    assert book["c"].texts.to_list() == ["a", "b", "c"]
    assert table.attributes[0].level_cost.tolist() == [[0.0] * 3, [1.0] * 3]


def test_ordered_category_follows_the_given_order() -> None:
    attribute = quasi("size", Scale.ORDERED, ("small", "medium", "large"))
    table, _ = encode_table(pl.DataFrame({"size": ["large", "small", "medium"]}), [attribute], {})
    assert table.record_codes[0].tolist() == [2, 0, 1]
    assert table.attributes[0].positions.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(InputError) as caught:
        encode_table(pl.DataFrame({"size": ["huge"]}), [attribute], {})
    assert caught.value.reasons == ("not-in-order",)
    assert "huge" not in str(caught.value)


def test_every_column_with_a_problem_is_named() -> None:
    frame = pl.DataFrame({"a": ["x"], "b": ["y"]})
    with pytest.raises(InputError) as caught:
        encode_table(frame, [quasi("a", Scale.INTEGER), quasi("b", Scale.DATE)], {})
    assert {problem.column for problem in caught.value.problems} == {"a", "b"}


def test_same_number_spelled_differently_stays_apart_at_the_same_position() -> None:
    table, book = encode_table(pl.DataFrame({"x": ["1.50", "1.5", "2"]}), [quasi("x", Scale.DECIMAL)], {})
    assert book["x"].texts.to_list() == ["1.5", "1.50", "2"]
    assert table.attributes[0].positions.tolist() == [0.0, 0.0, 1.0]


def test_a_number_with_a_hierarchy_has_nodes_and_positions() -> None:
    """The nodes give the distances that a category with this hierarchy has, the positions those of a plain number."""
    random = np.random.default_rng(2)
    codes = [[1, 2, 3, 5, 8, None][place] for place in random.integers(0, 6, 300)]
    rows = [[str(code), "odd" if code % 2 else "even", "*"] for code in range(12, 0, -1)]  # some do not occur
    tree = make_hierarchy(rows, [], "code", None)
    frame = pl.DataFrame({"age": random.integers(0, 9, 300), "code": codes}, schema={"age": pl.Int64, "code": pl.Int64})
    groups = random.integers(0, 20, 300).astype(np.int32)

    def distances(scale: Scale, hierarchies: dict[str, Hierarchy], distance: str) -> list[float]:
        attributes = [quasi("age", Scale.INTEGER), Attribute("code", Role.SENSITIVE, scale)]
        table, _ = encode_table(frame, attributes, hierarchies)
        return TCloseness(0.0, "code", distance).deficits(table, groups, 20).tolist()

    both, tree_only, number_only = (Scale.INTEGER, {"code": tree}), (Scale.CATEGORY, {"code": tree}), Scale.INTEGER
    assert distances(*both, "hierarchical") == pytest.approx(distances(*tree_only, "hierarchical"))
    assert distances(*both, "ordered") == pytest.approx(distances(number_only, {}, "ordered"))
    assert distances(*both, "equal") == pytest.approx(distances(number_only, {}, "equal"))
    assert min(distances(*both, "hierarchical")) > 0
    assert distances(*both, "hierarchical") != pytest.approx(distances(*both, "equal"))


def test_an_order_that_names_a_value_twice_is_refused_without_naming_it() -> None:
    frame = pl.DataFrame({"size": ["SECRET-S", "SECRET-M", "SECRET-L"]})
    order = ("SECRET-S", "SECRET-M", "SECRET-S")
    with pytest.raises(InputError) as caught:
        encode_table(frame, [quasi("size", Scale.ORDERED, order)], {})
    assert caught.value.reasons == ("repeated-in-order", "not-in-order")
    assert "SECRET" not in str(caught.value)


def test_interval_levels_are_nested_halves() -> None:
    positions = np.linspace(0, 1, 9)
    ancestors, cost = interval_levels(positions, None)
    assert cost[0].tolist() == [0.0] * 9
    assert cost[-1].tolist() == [1.0] * 9
    for level in range(1, ancestors.shape[0]):
        below, here = ancestors[level - 1], ancestors[level]
        for node in set(below.tolist()):  # nodes nest: all codes of a node share the node above
            assert len(set(here[below == node].tolist())) == 1
        assert (cost[level] >= cost[level - 1]).all()


def test_tree_levels_of_a_single_value_cost_nothing() -> None:
    _, cost = tree_levels(Hierarchy(("a",), ("a",), np.zeros((1, 1), dtype=np.int32)), False)
    assert (cost == 0).all()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=60))
def test_collapse_is_lossless(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
    codes, weights, row_of_record = collapse_rows(columns, [4, 3, 5])
    assert [tuple(codes[:, row]) for row in row_of_record] == rows
    assert weights.sum() == len(rows)
    assert codes.shape[1] == len(set(rows))


def test_collapse_survives_a_huge_product_of_sizes() -> None:
    random = np.random.default_rng(0)
    columns = [random.integers(0, 50_000, 500).astype(np.int32) for _ in range(12)]
    columns = [np.concatenate([column, column[:100]]) for column in columns]
    codes, weights, row_of_record = collapse_rows(columns, [50_000] * 12)
    assert codes.shape[1] == 500
    assert sorted(weights.tolist()) == [1] * 400 + [2] * 100
    assert all((codes[number][row_of_record] == column).all() for number, column in enumerate(columns))


@pytest.mark.parametrize("scale", [Scale.INTEGER, Scale.DECIMAL, Scale.DATE])
def test_truth_values_are_no_numbers(scale: Scale) -> None:
    with pytest.raises(InputError) as caught:
        encode_table(pl.DataFrame({"flag": [True, False]}), [quasi("flag", scale)], {})
    assert caught.value.reasons == ("not-a-date" if scale is Scale.DATE else "not-a-number",)


def test_texts_that_mean_missing_say_nothing_about_typed_columns() -> None:
    for values, missing in (([-1, 5], 0), (["-1", "5"], 1)):
        _, book = encode_table(
            pl.DataFrame({"x": values}), [quasi("x", Scale.INTEGER)], {}, EncodeOptions(missing=("-1",))
        )
        assert book.missing_cells["x"] == missing
