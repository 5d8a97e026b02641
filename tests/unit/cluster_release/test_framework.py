"""The five steps on small tables: what is released, what is kept, what is said."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shoal.algorithms.mondrian.mondrian import Mondrian
from shoal.cluster_release import compare_release, publish_for_clustering
from shoal.errors import InputError
from shoal.evaluation.usefulness.clustering.comparison import cluster_table
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.alpha_k import ConfidenceBound
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.linkage import XYAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.released.domain import make_domains
from shoal.tables.schema import Attribute, Role, Scale

TREE = [("nurse", "health", "any"), ("doctor", "health", "any"), ("clerk", "office", "any"), ("boss", "office", "any")]
QUASI = ["age", "job", "town"]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Two kinds of people: young in health in the city, old in offices outside; diseases say nothing about it."""
    random = np.random.default_rng(4)
    old = random.random(400) < 0.4
    return pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(400)],
            "age": np.where(old, random.integers(50, 80, 400), random.integers(20, 45, 400)),
            "job": np.where(old, random.choice(["clerk", "boss"], 400), random.choice(["nurse", "doctor"], 400)),
            "town": np.where(old, random.choice(["A", "B"], 400, p=[0.9, 0.1]), "City"),
            "pension": np.where(old, "yes", "no"),
            "disease": random.choice(["flu", "cold", "gout", "none"], 400),
        }
    )


def publish(people, **options):
    settings = {
        "quasi": QUASI,
        "identifiers": ["name"],
        "keep_rest": True,
        "clusters": 2,
        "h": 10,
        "hierarchies": {"job": TREE},
    }
    return publish_for_clustering(people, **{**settings, **options})


def test_clusters_survive_and_every_group_is_large_enough(people):
    found = publish(people)
    assert found.release.columns == ["age", "job", "town", "pension", "disease"]
    assert found.release.group_by(QUASI).len()["len"].min() >= 10
    assert found.verification.passed
    assert found.comparison.f_measure > 0.95
    assert set(found.raw_labels) == set(found.masked_labels) == {0, 1}
    assert found.release["disease"].to_list() == people["disease"].to_list()
    assert sum(one["records"] for one in found.cut["age"]) == 400
    assert found.taxonomies["age"][0]["parent"] is None
    assert set(found.hierarchies) == {"job"}
    assert sorted(found.hierarchies["job"]) == sorted(TREE)
    json.dumps(found.as_dict())


def test_same_seed_same_release(people):
    one, other = publish(people, seed=5), publish(people, seed=5)
    assert one.release.equals(other.release)
    assert (one.masked_labels == other.masked_labels).all()


def test_guided_by_clusters_beats_distortion(people):
    guided, plain = publish(people, h=40), publish(people, h=40, mode="distort")
    assert guided.details["mode"] == "information"
    assert plain.details["mode"] == "distort"
    assert guided.comparison.match_point >= plain.comparison.match_point


def test_several_qids_hold_each_on_its_own(people):
    qids = [(("age", "town"), 30), (("job",), 60)]
    found = publish(people, qids=qids)
    for columns, threshold in qids:
        assert found.release.group_by(columns).len()["len"].min() >= threshold
    assert [check.model for check in found.verification.checks] == ["qid:age+town:30", "qid:job:60"]


def test_other_models_join(people):
    found = publish(people, models=[LDiversity(2, "disease")])
    commonest = found.release.group_by(QUASI).agg(
        pl.col("disease").value_counts(sort=True).first().struct[1].alias("top"), pl.len()
    )
    assert (commonest["top"] * 2 <= commonest["len"]).all()


def test_confidence_is_bounded(people):
    share_of_flu = (people["disease"] == "flu").mean()
    free, bounded = publish(people), publish(people, models=[ConfidenceBound(share_of_flu + 0.05, "disease", "flu")])
    flu = (pl.col("disease") == "flu").mean().alias("flu")
    assert free.release.group_by(QUASI).agg(flu)["flu"].max() > share_of_flu + 0.05
    assert bounded.release.group_by(QUASI).agg(flu)["flu"].max() <= share_of_flu + 0.05
    assert bounded.groups.max() > 0


def test_intervals_as_in_the_paper(people):
    found = publish(people, interval_text="half-open", ranges={"age": (1, 99)})
    ages = {one["value"] for one in found.cut["age"]}
    assert any(age.startswith("[1-") for age in ages)
    assert any(age.endswith("-99)") for age in ages)
    numbers = [[int(end) for end in age.strip("[)").split("-")] for age in ages if "-" in age]
    for raw, text in zip(people["age"], found.release["age"], strict=True):
        if "-" in text:
            low, high = (int(end) for end in text.strip("[)").split("-"))
            assert low <= raw < high
    assert numbers


def test_ordered_categories_are_split_like_numbers(people):
    order = ["nurse", "doctor", "clerk", "boss"]
    found = publish(people, hierarchies={}, orders={"job": order})
    assert {one["value"] for one in found.cut["job"]} <= {*order, "[nurse, doctor]", "[clerk, boss]", "[nurse, boss]"}
    assert len(found.cut["job"]) > 1
    assert "job" in found.taxonomies


def test_the_kind_of_frame_that_came_in_goes_out_and_labels_only_if_asked(people):
    found = publish(people.to_pandas(), release_labels=True)
    assert isinstance(found.release, pd.DataFrame)
    assert found.release["cluster"].tolist() == found.raw_labels.tolist()
    assert "cluster" not in publish(people).release.columns


def test_another_clusterer_for_the_recipient_and_one_of_the_caller(people):

    def by_age(points, clusters, seed):
        return points[:, 0] > 0.5

    found = publish(people, clusterer=by_age, masked_clusterer="bisecting")
    ages = [people["age"].filter(pl.Series(found.raw_labels == label)) for label in (0, 1)]
    assert ages[0].max() < ages[1].min() or ages[1].max() < ages[0].min()
    assert found.comparison.f_measure > 0.8


def test_the_same_comparison_for_any_release(people):
    found = publish(people, algorithm=Mondrian())
    assert found.release.group_by(QUASI).len()["len"].min() >= 10
    assert found.steps == ()
    scales = dict.fromkeys(found.release.columns, Scale.CATEGORY) | {"age": Scale.INTEGER}
    attributes = [Attribute(name, Role.INSENSITIVE, scale) for name, scale in scales.items()]
    domains = make_domains(people, attributes, {"job": make_hierarchy(TREE, [], "job")})
    again = compare_release(people, found.release, domains, clusters=2)
    assert again.comparison.as_dict() == found.comparison.as_dict()
    assert (cluster_table(people, domains, "kmeans", 2) == again.raw_labels).all()


def test_a_sweep_tells_the_quality_at_other_thresholds(people):
    found = publish(people, h=20, sweep=[200, 10, 20, 10])
    assert [row["h"] for row in found.sweep] == [10, 20, 200]
    again = found.sweep[1]
    assert again["f_measure"] == found.comparison.f_measure  # the same threshold gives the same table
    assert again["match_point"] == found.comparison.match_point
    alone = publish(people, h=200)
    assert found.sweep[2]["f_measure"] == alone.comparison.f_measure
    assert found.release.equals(publish(people, h=20).release)  # what is released does not depend on the sweep


def test_a_threshold_that_cannot_be_met_is_told_and_the_others_go_on(people):
    found = publish(people, h=20, sweep=[20, 401])
    assert "f_measure" in found.sweep[0]
    assert found.sweep[1]["error"] == ["too-few-records"]
    assert "not possible" in found.report()


def test_a_sweep_sets_the_threshold_of_every_qid(people):
    qids = [(("age", "town"), 30), (("job",), 60)]
    found = publish(people, qids=qids, sweep=[15])
    lower = publish(people, qids=[(("age", "town"), 15), (("job",), 15)])
    assert found.sweep[0]["f_measure"] == lower.comparison.f_measure


def test_charts_and_page_of_a_release(people, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    found = publish(
        people.rename({"age": "age/<b>years</b>"}), quasi=["age/<b>years</b>", "job", "town"], sweep=[5, 50]
    )
    assert set(found.charts()) == {"contingency", "quality-against-h", "taxonomy-age_b_years_b_"}
    files = found.save_charts(tmp_path / "charts")
    assert {file.suffix for file in files} == {".png", ".svg"}
    assert len(files) == 6
    assert all(file.stat().st_size > 1000 for file in files)
    page = found.report()
    assert "<b>years" not in page
    for words in ("Other settings", "The cut", "Grown intervals", "Refinements", "What was checked"):
        assert words in page


def test_every_problem_is_said_at_once(people):
    with pytest.raises(InputError) as caught:
        publish(people, quasi=["aeg", "job", "name"], cluster_on=["tonw"])
    assert sorted(caught.value.reasons) == ["two-roles", "unknown-column", "unknown-column"]
    assert "did you mean 'age'?" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"h": 1}, "bad-threshold"),
        ({"sweep": [5, 1]}, "bad-threshold"),
        ({"quasi": [*QUASI, "age"]}, "two-roles"),
        ({"clusters": 0}, "bad-clusters"),
        ({"mode": "best"}, "bad-parameter"),
        ({"interval_text": "open"}, "unknown-interval-text"),
        ({"scales": {"town": "word"}}, "bad-setting"),
        ({"qids": [(("age", "job"), 5)]}, "attribute-in-no-qid"),
        ({"cluster_on": []}, "nothing-to-cluster"),
        ({"clusterer": "dbscan"}, "unknown-clusterer"),
    ],
)
def test_bad_settings_are_refused(people, options, reason):
    with pytest.raises(InputError) as caught:
        publish(people, **options)
    assert caught.value.reasons == (reason,)


def test_what_is_wrong_with_the_clustering_is_told_with_everything_else(people):
    with pytest.raises(InputError) as caught:
        publish(people, quasi=[*QUASI, "shoe"], masked_clusterer="ward", clusterer="dbscan", clusters=0)
    assert sorted(caught.value.reasons) == [
        "bad-clusters",
        "unknown-clusterer",
        "unknown-clusterer",
        "unknown-column",
    ]


def test_models_about_dropped_columns_are_checked(people):
    persons = people.with_columns(person=pl.Series([f"id {n // 2}" for n in range(400)]))
    models = [KAnonymity(8, "person"), XYAnonymity(6, "name"), LDiversity(2, "person")]
    found = publish(persons, identifiers=["name", "person"], models=models)
    assert not {"name", "person"} & set(found.release.columns)
    assert [check.model for check in found.verification.checks][1:] == [model.spec() for model in models]
    classes = found.release.with_columns(person=persons["person"], name=people["name"]).group_by(QUASI)
    assert classes.agg(pl.col("person").n_unique())["person"].min() >= 8
    assert classes.agg(pl.col("name").n_unique())["name"].min() >= 6


def test_the_order_of_a_sensitive_column_reaches_the_check(people):
    order = ["none", "cold", "flu", "gout"]
    found = publish(people, orders={"disease": order}, models=[TCloseness(0.4, "disease", "ordered")])
    assert found.verification.passed
    whole = people["disease"].replace_strict({name: n for n, name in enumerate(order)})
    for rows in found.release.with_columns(rank=whole).partition_by(QUASI):
        gaps = [(rows["rank"] <= n).mean() - (whole <= n).mean() for n in range(3)]  # earth mover's distance by hand
        assert sum(abs(gap) for gap in gaps) / 3 <= 0.4 + 1e-9


def test_models_alone_and_nothing_at_all(people):
    found = publish(people, h=None, models=[KAnonymity(7)])
    assert [check.model for check in found.verification.checks] == ["k-anonymity:7"]
    assert found.release.equals(publish(people, h=7).release)
    with pytest.raises(InputError) as caught:
        publish(people, h=None)
    assert caught.value.reasons == ("no-model",)


def test_seeds_of_any_size(people):
    first, again = (publish(people, seed=2**40) for _ in range(2))
    assert first.release.equals(again.release)
    with pytest.raises(InputError) as caught:
        publish(people, seed=-1)
    assert caught.value.reasons == ("bad-setting",)


def test_a_model_cannot_look_at_a_quasi_identifier(people):
    with pytest.raises(InputError) as caught:
        publish(people, models=[LDiversity(1.2, "town")], identifiers=["nobody"])
    assert {(problem.column, problem.reason) for problem in caught.value.problems} == {
        ("town", "two-roles"),
        ("nobody", "unknown-column"),
    }


def test_what_may_go_with_a_release_tells_no_values_that_ranges_hid(people):
    """Ranks of range ends would tell how many values are inside, and paths of a built hierarchy each of them."""
    table = people.with_columns(pl.Series("zip", [f"{10_000 + 7 * number % 900}" for number in range(people.height)]))
    found = publish_for_clustering(
        table, quasi=["age", "zip"], clusters=2, h=20, drop_rest=True, hierarchies={"zip": {"builder": "prefix"}}
    )
    told = found.as_dict()
    assert {name for nodes in told["taxonomies"].values() for node in nodes for name in node} == {
        *("node", "parent", "records", "value")
    }
    assert not {"low", "high", "node"} & {name for step in told["steps"] for name in step}
    released = set(found.release["zip"].to_list())
    assert {path[0] for path in told["hierarchies"]["zip"]} == released
    text = json.dumps(told)
    assert not any(f'"{value}"' in text for value in set(table["zip"].to_list()) - released)
