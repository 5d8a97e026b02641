"""The whole evaluation, on small tables and on a release of another tool."""

from __future__ import annotations

import json
from types import SimpleNamespace

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.evaluation.evaluate import PARTS, EvaluationOptions, evaluate_release, found_domains
from shoal.evaluation.options import AttackerTables
from shoal.hierarchies.files import read_hierarchy_file
from shoal.progress import Progress

OPTIONS = EvaluationOptions(k=5, sensitive=("illness",), sampling_fraction=0.5, queries=40)


def test_everything_at_once(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(300, 5)
    seen: list[Progress] = []
    evaluation = evaluate_release(
        original,
        release,
        tables.quasi,
        OPTIONS,
        domains=found_domains(original, tables.quasi, tables.hierarchies),
        progress=seen.append,
    )
    found = evaluation.as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found  # plain numbers and words
    assert found["risk"]["after"]["smallest_class"] >= 5
    assert found["risk"]["journalist"]["highest"] <= 0.1
    assert found["attack"]["linkage"]["highest_success"] <= 0.2
    assert found["attack"]["inference"]["column"] == "illness"
    assert found["combinations"]["examined"] == 7
    assert found["queries"]["queries"] == 40
    assert set(found["seconds"]) == {"loss", *PARTS}
    assert seen[-1].fraction == 1
    assert [step.fraction for step in seen] == sorted(step.fraction for step in seen)
    assert "illness" not in evaluation._repr_html_()


def test_the_same_numbers_again(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(150, 5)
    options = EvaluationOptions(k=5, sensitive=("illness",), queries=30, parts=("risk", "attack", "queries", "utility"))
    first, second = (
        evaluate_release(
            original, release, tables.quasi, options, domains=found_domains(original, tables.quasi, tables.hierarchies)
        ).as_dict()
        for _ in range(2)
    )
    first.pop("seconds")
    second.pop("seconds")
    assert first == second


def test_parts_can_be_left_out(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(100, 5)
    options = EvaluationOptions(parts=("queries",), queries=10)
    found = evaluate_release(
        original, release, tables.quasi, options, domains=found_domains(original, tables.quasi, tables.hierarchies)
    ).as_dict()
    assert found["attack"] is None
    assert found["risk"]["after"]["smallest_class"] >= 5


def test_a_population_lowers_the_journalists_risk(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(100, 5)
    population = pl.concat([original, tables.random_table(900, 9)])
    options = EvaluationOptions(parts=("risk",))
    found = evaluate_release(
        original,
        release,
        tables.quasi,
        options,
        domains=found_domains(original, tables.quasi, tables.hierarchies),
        tables=AttackerTables(population),
    )
    assert found.risk["journalist"]["highest"] < found.risk["after"]["highest"]


def test_a_shuffled_release_is_scored_without_its_rows(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(120, 5)
    options = EvaluationOptions(k=5, parts=("risk", "attack", "models"), sensitive=("illness",), same_order=False)
    mixed = release.sample(fraction=1, shuffle=True, seed=1)
    straight, shuffled = (
        evaluate_release(
            original, table, tables.quasi, options, domains=found_domains(original, tables.quasi, tables.hierarchies)
        )
        for table in (release, mixed)
    )
    assert shuffled.scores.totals == pytest.approx(straight.scores.totals)
    assert shuffled.scores.not_covering == {}
    assert shuffled.attack is not None
    assert shuffled.attack["linkage"]["drawn_success"] is None
    assert shuffled.attack["linkage"]["fewest_candidates"] >= 5
    assert "skipped" in shuffled.models


def test_releases_without_classes_are_measured_by_candidates(tables: SimpleNamespace) -> None:
    original = pl.DataFrame({"age": [20, 22, 24, 26], "job": ["Lawyer"] * 4, "city": ["A"] * 4})
    ring = original.with_columns(age=pl.Series(["[20, 22]", "[22, 24]", "[24, 26]", "[20, 26]"]))
    options = EvaluationOptions(parts=("risk",), class_based=False)
    found = evaluate_release(
        original, ring, tables.quasi, options, domains=found_domains(original, tables.quasi, tables.hierarchies)
    ).as_dict()
    after = found["risk"]["after"]
    # 20 fits the 1st and 4th record, 22 the 1st, 2nd and 4th, 24 the 2nd, 3rd and 4th, 26 the 3rd and 4th
    assert after["smallest_class"] == 2
    assert after["highest"] == 0.5
    assert after["average"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 3 + 1 / 2) / 4)
    assert found["risk"]["sizes_after"][1]["records"] == 2
    by_class = EvaluationOptions(parts=("risk",))
    classes = evaluate_release(
        original, ring, tables.quasi, by_class, domains=found_domains(original, tables.quasi, tables.hierarchies)
    )
    assert classes.risk["after"]["highest"] == 1


def test_all_problems_at_once(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(20, 5)
    options = EvaluationOptions(sensitive=("ilness",), sampling_fraction=2.0, threshold=-1.0, parts=("risks",))
    with pytest.raises(InputError) as caught:
        evaluate_release(original, release, ["agee"], options, tables=AttackerTables(original.select("illness")))
    reasons = caught.value.reasons
    assert reasons.count("unknown-column") == 4
    assert {"bad-fraction", "bad-threshold", "unknown-part", "no-common-column"} <= set(reasons)
    assert "did you mean 'illness'" in str(caught.value)


def test_a_release_of_another_tool(tables: SimpleNamespace) -> None:
    original = pl.DataFrame(
        {
            "age": [21, 24, 28, 33, 35, 38, 52, 57],
            "zip": ["02345", "02345", "02399", "02399", "20001", "20002", "20001", "20009"],
            "illness": ["a", "b", "a", "b", "a", "b", "a", "b"],
        }
    )
    release = pl.DataFrame(
        {
            "age": ["[20, 30[", "[20, 30[", "[20, 30[", "30-39", "30-39", "30-39", ">=50", ">=50"],
            "zip": ["023**", "023**", "023**", "*", "*", "*", "2000*", "2000*"],
            "illness": original["illness"],
        }
    )
    options = EvaluationOptions(k=2, sensitive=("illness",), queries=20, parts=("risk", "attack", "queries"))
    found = evaluate_release(original, release, ["age", "zip"], options).as_dict()
    assert found["scores"]["unreadable"] == {}
    assert found["scores"]["not_covering"] == {}
    assert found["risk"]["after"]["smallest_class"] == 2
    assert found["attack"]["linkage"]["highest_success"] <= 0.5
    # ages: 3 x 8/36 (20 is below the domain), 3 x 9/36, 2 x 7/36; postcodes: 3 x 1/4, 3 x 1, 2 x 2/4 of 5 values
    assert found["scores"]["per_attribute"]["gcp"]["age"] == pytest.approx((3 * 8 + 3 * 9 + 2 * 7) / 36 / 8)
    assert found["scores"]["per_attribute"]["gcp"]["zip"] == pytest.approx((3 * 0.25 + 3 + 2 * 0.5) / 8)


@pytest.mark.data
def test_adult_with_the_conventions_of_arx(data_folder) -> None:  # type: ignore[no-untyped-def]
    folder = data_folder / "adult"
    original = pl.read_csv(folder / "adult_arx.csv", infer_schema=False)
    quasi = ["age", "education", "marital-status", "sex"]
    hierarchies = {
        name: read_hierarchy_file(folder / "hierarchies" / f"adult_hierarchy_{name}.csv", name) for name in quasi
    }
    decade = pl.col("age").cast(pl.Int64) // 10 * 10
    levels = {"education": 2, "marital-status": 1, "sex": 0}
    release = original.select(
        pl.format("[{}, {}[", decade, decade + 10).alias("age"),
        *[_lifted(name, hierarchies[name], level) for name, level in levels.items()],
        "salary-class",
    )
    options = EvaluationOptions(k=2, sensitive=("salary-class",), parts=("risk", "attack"))
    found = evaluate_release(
        original, release, quasi, options, domains=found_domains(original, quasi, hierarchies)
    ).as_dict()
    assert found["scores"]["unreadable"] == {}
    assert found["scores"]["not_covering"] == {}
    expected = sum(min(9, 90 - age // 10 * 10, age // 10 * 10 + 9 - 17) for age in original["age"].cast(int).to_list())
    assert found["scores"]["per_attribute"]["gcp"]["age"] == pytest.approx(expected / 73 / original.height)
    assert found["scores"]["per_attribute"]["gcp"]["sex"] == 0
    assert found["attack"]["linkage"]["highest_success"] == pytest.approx(found["risk"]["after"]["highest"])


def _lifted(name: str, hierarchy, level: int) -> pl.Expr:  # type: ignore[no-untyped-def]
    labels = [hierarchy.labels[node] for node in hierarchy.ancestors[level]]
    return pl.col(name).replace_strict(list(hierarchy.leaves), labels).alias(name)
