"""Attacks against a plain search through all pairs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.evaluation.attacks import matching as module
from shoal.evaluation.attacks.linkage import linkage_attack
from shoal.evaluation.attacks.matching import match, target_positions
from shoal.evaluation.attacks.singling_out import singling_out_attack
from shoal.released.domain import make_domains
from shoal.released.reading import read_release
from shoal.tables.schema import Attribute, Role, Scale


@given(seed=st.integers(0, 1000), records=st.integers(2, 40), k=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_matches_are_those_of_all_pairs(tables: SimpleNamespace, seed: int, records: int, k: int) -> None:
    original, release = tables.random_table(records, seed), None
    release = tables.release_of(original, tables.group_in_order(original, k))
    table = tables.read(original, release)
    names = list(tables.quasi)
    found = match(table, names, target_positions(original.select(names), names, tables.domains_of(original)))
    cells = release.select(names).to_dicts()
    for number, person in enumerate(original.to_dicts()):
        fitting = [row for row in cells if tables.contains(row, person)]
        assert found.records[number] == len(fitting)
        assert found.classes[number] == len({tuple(row.values()) for row in fitting})


def test_no_target_is_easier_than_promised(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(400, 5)
    attack, inference, fitting = linkage_attack(
        tables.read(original, release), original, same_rows=True, k=5, sensitive=release["illness"]
    )
    assert attack.pinned == 0
    assert attack.unmatched == 0
    assert attack.fewest_candidates >= 5
    assert attack.highest_success <= attack.promised
    assert attack.drawn_success == pytest.approx(attack.expected_success, abs=0.06)
    assert inference is not None
    assert inference["success"] >= inference["baseline"] - 0.05
    assert fitting is not None


def test_an_untouched_release_is_pinned_down(tables: SimpleNamespace) -> None:
    original = pl.DataFrame({"age": range(20, 60), "job": ["Lawyer"] * 40, "city": ["A"] * 40, "illness": ["x"] * 40})
    attack, _, _ = linkage_attack(tables.read(original, original), original, same_rows=True)
    assert attack.pinned == 40
    assert attack.expected_success == 1
    assert attack.drawn_success == 1


def test_inference_is_that_of_all_pairs(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(60, 4, seed=5)
    _, inference, _ = linkage_attack(
        tables.read(original, release), original, same_rows=True, sensitive=release["illness"]
    )
    assert inference is not None
    certain = 0
    for person in original.to_dicts():
        values = [row["illness"] for row in release.to_dicts() if tables.contains(row, person)]
        certain += len(set(values)) == 1
    assert inference["certain"] == certain


def test_a_cell_that_lies_gives_no_success(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(40, 4)
    wrong = release.with_columns(job=pl.Series(["Artist"] * 40))
    attack, _, _ = linkage_attack(tables.read(original, wrong), original, same_rows=True)
    honest = sum(job in ("Dancer", "Writer") for job in original["job"].to_list())
    assert attack.expected_success < honest / 40
    assert attack.unmatched > 0


def test_an_external_table_with_fewer_columns_and_strange_values(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(80, 4)
    external = pl.DataFrame({"age": [30, 999, None], "job": ["Lawyer", "Lawyer", "Pilot"]})
    table = tables.read(original, release)
    attack, inference, _ = linkage_attack(table, external, same_rows=False, k=4)
    assert (attack.targets, attack.attributes) == (3, 2)
    assert attack.drawn_success is None
    assert inference is None
    stars = sum(row["job"] == "*" and row["age"] == "*" for row in release.to_dicts())
    found = match(table, ["age", "job"], target_positions(external, ["age", "job"], tables.domains_of(original)))
    assert found.records[2] == stars


def test_means_stand_for_the_range_of_their_class() -> None:
    original = pl.DataFrame({"age": [20, 30, 40, 60], "sex": ["a", "a", "b", "b"]})
    release = pl.DataFrame({"age": [25, 25, 50, 50], "sex": ["a", "a", "b", "b"]})
    attributes = [Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    attributes.append(Attribute("sex", Role.QUASI_IDENTIFYING, Scale.CATEGORY))
    table = read_release(original, release, ["age", "sex"], make_domains(original, attributes))
    attack, _, _ = linkage_attack(table, original, same_rows=True, k=2)
    assert (attack.fewest_candidates, attack.highest_success) == (2, 0.5)


def test_missing_values_match_cells_that_cover_them() -> None:
    original = pl.DataFrame({"age": [20, None, None, 40], "city": ["A", "B", None, None]})
    release = pl.DataFrame({"age": ["*", "*", None, None], "city": ["{A, B}", "{A, B}", None, None]})
    release = release.with_columns(age=pl.Series(["*", "*", "*", "*"]))
    attributes = [Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    attributes.append(Attribute("city", Role.QUASI_IDENTIFYING, Scale.CATEGORY))
    domains = make_domains(original, attributes)
    table = read_release(original, release, ["age", "city"], domains)
    found = match(table, ["age", "city"], target_positions(original, ["age", "city"], domains))
    assert found.records.tolist() == [2, 2, 2, 2]


def test_large_tables_are_sampled_and_say_so(monkeypatch: pytest.MonkeyPatch, tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(400, 5)
    monkeypatch.setattr(module, "LARGEST_WORK", 2000)
    monkeypatch.setattr(module, "FEWEST_TARGETS", 50)
    attack, _, fitting = linkage_attack(tables.read(original, release), original, same_rows=True, k=5)
    assert attack.sampled
    assert 50 <= attack.targets < 400
    assert fitting is None
    assert attack.highest_success <= 0.2


def test_singling_out(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(200, 5)
    safe = singling_out_attack(tables.read(original, release), original, conditions=200)
    assert safe["single"] == 0
    bare = singling_out_attack(tables.read(original, original), original, conditions=200)
    assert bare["success"] > 0.1
    again = singling_out_attack(tables.read(original, original), original, conditions=200)
    assert bare == again


def test_two_tables_give_the_same_attack(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(100, 5)
    first, _, _ = linkage_attack(tables.read(original, release), original, same_rows=True)
    second, _, _ = linkage_attack(tables.read(original, release), original, same_rows=True)
    assert first == second
    assert np.isfinite(first.expected_success)
