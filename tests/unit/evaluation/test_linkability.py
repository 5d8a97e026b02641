"""Joining what two parties know, against a plain search; and people who are not in the release."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.evaluation.attacks.linkability import linkability_attack, same_record_chances, two_parties
from shoal.evaluation.attacks.linkage import linkage_attack
from shoal.evaluation.attacks.second_opinion import drawn_table, python_problems
from shoal.evaluation.attacks.singling_out import singling_out_attack
from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release, found_domains
from shoal.evaluation.options import AttackerTables


def fits(tables: SimpleNamespace, cells: dict[str, str], person: dict[str, object], known: list[str]) -> bool:
    """What is not known is taken as suppressed."""
    seen = {name: cells[name] if name in known else "*" for name in tables.quasi}
    return bool(tables.contains(seen, person))


@given(seed=st.integers(0, 1000), records=st.integers(3, 30), k=st.integers(1, 5))
@settings(max_examples=12, deadline=None)
def test_chances_are_those_of_all_pairs(tables: SimpleNamespace, seed: int, records: int, k: int) -> None:
    original = tables.random_table(records, seed)
    release = tables.release_of(original, tables.group_in_order(original, k))
    others = tables.random_table(10, seed + 1)
    rows = release.select(tables.quasi).to_dicts()
    for people in (original, others):
        agreed, apart = same_record_chances(tables.read(original, release), people, (["age"], ["job", "city"]))
        for number, person in enumerate(people.to_dicts()):
            one = {i for i, row in enumerate(rows) if fits(tables, row, person, ["age"])}
            other = {i for i, row in enumerate(rows) if fits(tables, row, person, ["job", "city"])}
            assert agreed[number] == pytest.approx(len(one & other) / max(1, len(one | other)))
            assert apart[number] == pytest.approx(len(one & other) / max(1, len(one) * len(other)))


@given(seed=st.integers(0, 1000), records=st.integers(3, 30), k=st.integers(1, 5))
@settings(max_examples=12, deadline=None)
def test_joining_is_that_of_all_pairs(tables: SimpleNamespace, seed: int, records: int, k: int) -> None:
    """Draw a record that fits one part, then one of the people who fit its other part: every case counted."""
    original = tables.random_table(records, seed)
    release = tables.release_of(original, tables.group_in_order(original, k))
    people, rows = original.to_dicts(), release.select(tables.quasi).to_dicts()
    one, other = ["age"], ["job", "city"]
    found = linkability_attack(tables.read(original, release), original, first=one)
    assert found is not None
    chances = []
    for person in people:
        fitting = [row for row in rows if fits(tables, row, person, one)]
        right = [row for row in fitting if fits(tables, row, person, other)]
        chances.append(sum(1 / sum(fits(tables, row, p, other) for p in people) for row in right) / len(fitting))
    assert found["success"] == pytest.approx(sum(chances) / records)
    assert found["highest"] == pytest.approx(max(chances))
    assert found["highest"] <= 1 / release.group_by(tables.quasi).len()["len"].min() + 1e-9


def test_a_rule_brings_what_the_formula_says(tables: SimpleNamespace) -> None:
    """Both parties really take the first record that fits, in many random orders."""
    original, release = tables.anonymized(40, 4)
    rows = release.select(tables.quasi).to_dicts()
    agreed, _ = same_record_chances(tables.read(original, release), original, (["age", "city"], ["job"]))
    candidates = [
        [[i for i, row in enumerate(rows) if fits(tables, row, person, known)] for known in (["age", "city"], ["job"])]
        for person in original.to_dicts()
    ]
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(500):
        rank = random.permutation(40)
        hits += sum(rank[one].min() == rank[other].min() for one, other in candidates)
    assert hits / (500 * 40) == pytest.approx(agreed.mean(), abs=0.02)


def test_an_untouched_table_can_be_joined_and_a_suppressed_one_cannot(tables: SimpleNamespace) -> None:
    original = pl.DataFrame({"age": range(20, 60), "job": ["Lawyer"] * 40, "city": [f"town {i}" for i in range(40)]})
    control = pl.DataFrame({"age": [20, 21, 22], "job": ["Lawyer"] * 3, "city": ["town 9", "town 1", "town 7"]})
    bare = linkability_attack(tables.read(original, original), original, first=["age"], control=control)
    assert bare is not None
    assert bare["success"] == bare["highest"] == bare["same_record"]["independent"] == 1.0
    assert bare["baseline"] == 1 / 40
    assert bare["control"]["success"] == pytest.approx(1 / 3)  # one of them is a person of the table
    assert bare["risk"]["value"] > 0.5
    hidden = original.with_columns(age=pl.lit("*"), job=pl.lit("*"), city=pl.lit("*"))
    nothing = linkability_attack(tables.read(original, hidden), original, first=["age"], control=control)
    assert nothing is not None
    assert nothing["success"] == nothing["highest"] == nothing["baseline"] == pytest.approx(1 / 40)
    assert nothing["risk"]["value"] == 0.0
    assert nothing["same_record"]["success"] == 1.0  # both take the first of all records, and learn nothing
    assert nothing["same_record"]["independent"] == pytest.approx(1 / 40)
    assert nothing["same_record"]["risk"] is None


def test_the_parties(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(60, 5)
    table = tables.read(original, release)
    assert two_parties(table) == (["age", "job"], ["city"])  # 40, 5 and 4 values: dealt out in turn
    assert two_parties(table, ["city"]) == (["city"], ["age", "job"])
    with pytest.raises(InputError) as caught:
        evaluate_release(original, release, tables.quasi, EvaluationOptions(party=("age", "illness")))
    assert caught.value.reasons == ("unknown-column",)
    with pytest.raises(InputError) as caught:
        evaluate_release(original, release, tables.quasi, EvaluationOptions(party=tuple(tables.quasi)))
    assert caught.value.reasons == ("bad-party",)


def test_a_single_quasi_identifier_has_no_two_parties(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(60, 5)
    found = evaluate_release(original, release, ["age"], EvaluationOptions(parts=("attack",)))
    assert found.attack is not None
    assert found.attack["linkability"] is None


def test_a_sample_is_told(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(2500, 5)
    options = EvaluationOptions(sensitive=("illness",), parts=("attack",))
    found = evaluate_release(
        original,
        release,
        tables.quasi,
        options,
        domains=found_domains(original, tables.quasi, tables.hierarchies),
        tables=AttackerTables(control=tables.random_table(100, 9)),
    )
    assert found.attack is not None
    assert found.attack["linkability"]["targets"] == 2000
    assert found.attack["linkability"]["control"]["targets"] == 100
    assert "the linkability attack on 2,000 of 2,500 records" in found.samples
    again = evaluate_release(
        original,
        release,
        tables.quasi,
        options,
        domains=found_domains(original, tables.quasi, tables.hierarchies),
        tables=AttackerTables(control=tables.random_table(100, 9)),
    )
    assert again.attack == found.attack


def test_inference_beside_people_who_are_not_in_the_release(tables: SimpleNamespace) -> None:
    """The control's success is that of a plain vote among all fitting rows."""
    original, release = tables.anonymized(80, 4, seed=5)
    control = tables.random_table(50, 6)
    _, inference, _ = linkage_attack(
        tables.read(original, release), original, same_rows=True, sensitive=release["illness"], control=control
    )
    assert inference is not None
    rows = release.to_dicts()
    low = high = 0
    for person in control.to_dicts():
        values = [row["illness"] for row in rows if tables.contains(row, person)]
        most = max((values.count(value) for value in values), default=0)
        votes = {value for value in values if values.count(value) == most}
        low += votes == {person["illness"]}  # with a tie either guess is fine
        high += person["illness"] in votes
    assert low / 50 <= inference["control"]["success"] <= high / 50
    assert inference["control"]["targets"] == 50


def test_singling_out_is_that_of_all_conditions(tables: SimpleNamespace) -> None:
    """Conditions on all attributes of an untouched table are its distinct rows: those of one person single out."""
    original = tables.random_table(200, 0)
    bare = singling_out_attack(tables.read(original, original), original, conditions=1000, control=original)
    counts = original.group_by(tables.quasi).len()["len"]
    assert bare["conditions"] == len(counts)
    assert bare["single"] == (counts == 1).sum()
    assert bare["control"]["success"] == bare["success"]
    assert bare["risk"]["value"] == 0.0


def test_drawn_values_lie_in_their_cells(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(120, 6)
    drawn = drawn_table(tables.read(original, release), release, ["illness"], seed=3)
    assert drawn.columns == [*tables.quasi, "illness"]
    for cells, person in zip(release.to_dicts(), drawn.to_dicts(), strict=True):
        assert tables.contains(cells, person)
        assert cells["illness"] == person["illness"]
    assert drawn.select(tables.quasi).n_unique() > release.select(tables.quasi).n_unique()


def test_a_python_without_anonymeter_is_refused_before_any_work() -> None:
    assert [problem.reason for problem in python_problems(Path("no-such-python"))] == ["no-anonymeter"]
    assert [problem.reason for problem in python_problems(Path(sys.executable))] == ["no-anonymeter"]
