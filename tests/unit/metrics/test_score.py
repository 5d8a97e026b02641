"""Every metric against a plain reading of its definition on small tables."""

from __future__ import annotations

from collections import Counter
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.hierarchies.spec import make_hierarchy
from shoal.hierarchies.tree import from_paths
from shoal.metrics import Domain, Scores, make_domains, metric_names, metrics, score
from shoal.tables.scales import is_missing
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
ORIGINAL = pl.DataFrame(
    {
        "age": [20, 30, 40, 60, 60, 20],
        "job": ["Lawyer", "Engineer", "Dancer", "Writer", "Lawyer", "Dancer"],
        "city": ["A", "B", "C", "A", "B", "C"],
        "label": ["y", "y", "n", "n", "y", "y"],
    }
)
RELEASE = pl.DataFrame(
    {
        "age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]", "*", "*"],
        "job": ["Professional", "Professional", "Artist", "Artist", "*", "*"],
        "city": ["{A, B}", "{A, B}", "{A, C}", "{A, C}", "*", "*"],
        "label": ["y", "y", "n", "n", "y", "y"],
    }
)
QUASI = ["age", "job", "city"]


def domains_of(original: pl.DataFrame, hierarchies: dict[str, object] | None = None) -> dict[str, Domain]:
    scales = {"age": Scale.INTEGER, "job": Scale.CATEGORY, "city": Scale.CATEGORY}
    attributes = [
        Attribute(name, Role.QUASI_IDENTIFYING, scale) for name, scale in scales.items() if name in original.columns
    ]
    return make_domains(original, attributes, hierarchies or {"job": JOBS})  # type: ignore[arg-type]


def test_every_metric_on_the_small_table() -> None:
    scores = score(ORIGINAL, RELEASE, QUASI, domains_of(ORIGINAL), k=2, class_column="label")
    age = (2 * 10 / 40 + 2 * 20 / 40 + 2) / 6
    job = (2 * 0.5 + 2 * 0.5 + 2) / 6
    city = (2 * 0.5 + 2 * 0.5 + 2) / 6
    assert scores.per_attribute["gcp"] == pytest.approx({"age": age, "job": job, "city": city})
    assert scores.totals["gcp"] == pytest.approx((age + job + city) / 3)
    assert scores.totals["ncp"] == pytest.approx(6 * (age + job + city))
    # ILoss: (values covered - 1) / domain; ages 20 30 40 60 are the domain of age
    assert scores.per_attribute["iloss"]["job"] == pytest.approx((4 * 0.25 + 2 * 0.75) / 6)
    assert scores.per_attribute["iloss"]["age"] == pytest.approx((4 * 0.25 + 2 * 0.75) / 6)
    assert scores.per_attribute["iloss"]["city"] == pytest.approx((4 / 3 + 2 * 2 / 3) / 6)
    # WHD, two steps: one step is 1/2 of uniform weights and (1/2) / (1/2 + 1) of height weights
    assert scores.per_attribute["distortion"]["job"] == pytest.approx(4 * 0.5 + 2)
    assert scores.per_attribute["distortion_height"]["job"] == pytest.approx(4 / 3 + 2)
    assert scores.per_attribute["distortion"]["city"] == 6
    assert scores.per_attribute["precision"]["job"] == pytest.approx(1 - (4 * 0.5 + 2) / 6)
    assert scores.totals["discernibility"] == 2 * 2 + 2 * 2 + 2 * 6
    assert scores.totals["c_avg"] == pytest.approx(6 / 3 / 2)
    assert scores.totals["classification"] == pytest.approx(2 / 6)
    entropy = -(4 / 6 * log2(4 / 6) + 2 / 6 * log2(2 / 6))
    assert scores.totals["igpl"] == pytest.approx(entropy / (6 - 2 + 1))
    assert "sse" not in scores.totals
    assert (scores.classes, scores.smallest_class, scores.suppressed_records) == (3, 2, 2)
    assert scores.not_covering == {}
    assert scores.unreadable == {}


def test_iloss_of_lawyer_to_professional() -> None:
    original = pl.DataFrame({"job": ["Lawyer"]})
    release = pl.DataFrame({"job": ["Professional"]})
    assert score(original, release, ["job"], domains_of(original)).totals["iloss"] == 0.25


def test_an_exact_release_loses_nothing() -> None:
    scores = score(ORIGINAL, ORIGINAL, QUASI, domains_of(ORIGINAL), k=1)
    for name in ("gcp", "ncp", "iloss", "distortion", "distortion_height", "sse"):
        assert scores.totals[name] == 0
    assert scores.totals["precision"] == 1
    assert scores.totals["discernibility"] == 6


def test_weights_multiply_the_sums() -> None:
    plain = score(ORIGINAL, RELEASE, QUASI, domains_of(ORIGINAL))
    weighted = score(ORIGINAL, RELEASE, QUASI, domains_of(ORIGINAL), weights={"age": 0.5, "city": 0.0})
    for name in ("ncp", "distortion"):
        parts = plain.per_attribute[name]
        assert weighted.totals[name] == pytest.approx(0.5 * parts["age"] + parts["job"])


def test_means_lose_the_range_of_their_class() -> None:
    original = pl.DataFrame({"age": [20, 30, 40, 60, 40, 40], "job": ["a", "a", "b", "b", "c", "c"]})
    release = pl.DataFrame({"age": [25.0, 25.0, 50.0, 50.0, 40.0, 40.0], "job": ["a", "a", "b", "b", "c", "c"]})
    attributes = [Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    attributes.append(Attribute("job", Role.QUASI_IDENTIFYING, Scale.CATEGORY))
    scores = score(original, release, ["age", "job"], make_domains(original, attributes))
    assert scores.per_attribute["gcp"]["age"] == pytest.approx((2 * 10 / 40 + 2 * 20 / 40) / 6)
    truth = original["age"].to_numpy()
    variance = ((truth - truth.mean()) ** 2).sum()
    assert scores.totals["sse"] == pytest.approx((25 + 25 + 100 + 100) / variance)
    assert scores.not_covering == {}


def test_two_classes_may_share_a_mean() -> None:
    original = pl.DataFrame({"age": [30, 50, 40, 40], "job": ["a", "a", "b", "b"]})
    release = pl.DataFrame({"age": ["40", "40", "40", "40"], "job": ["a", "a", "b", "b"]})
    attributes = [Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    attributes.append(Attribute("job", Role.QUASI_IDENTIFYING, Scale.CATEGORY))
    scores = score(original, release, ["age", "job"], make_domains(original, attributes))
    assert scores.per_attribute["gcp"]["age"] == pytest.approx(0.5)


def test_cells_that_exclude_the_original_lose_everything_and_are_counted() -> None:
    release = RELEASE.with_columns(
        job=pl.Series(["Artist", "Artist", "Artist", "Artist", "*", "*"]),
        city=pl.Series(["{B, C}", "{B, C}", "{A, C}", "{A, C}", "*", "*"]),
    )
    scores = score(ORIGINAL, release, QUASI, domains_of(ORIGINAL))
    assert scores.not_covering == {"job": 2, "city": 1}
    assert scores.per_attribute["gcp"]["job"] == pytest.approx((2 + 2 * 0.5 + 2) / 6)
    assert scores.per_attribute["gcp"]["city"] == pytest.approx((1 + 0.5 + 2 * 0.5 + 2) / 6)


def test_records_that_were_removed_lose_everything() -> None:
    scores = score(ORIGINAL, RELEASE.head(4), QUASI, domains_of(ORIGINAL), class_column="label")
    whole = score(ORIGINAL, RELEASE, QUASI, domains_of(ORIGINAL), class_column="label")
    assert not scores.aligned
    assert scores.removed == 2
    for name in ("gcp", "discernibility", "classification", "distortion"):
        assert scores.totals[name] == pytest.approx(whole.totals[name])


def test_unreadable_cells_are_counted() -> None:
    release = RELEASE.with_columns(age=pl.Series(["about thirty"] * 2 + ["[40, 60]"] * 2 + ["*"] * 2))
    scores = score(ORIGINAL, release, QUASI, domains_of(ORIGINAL))
    assert scores.unreadable == {"age": 2}
    assert scores.per_attribute["gcp"]["age"] == pytest.approx((2 + 2 * 0.5 + 2) / 6)


def test_missing_values() -> None:
    original = pl.DataFrame({"age": [20, 60, None, None, None, 30], "city": ["A", None, None, "B", "B", "A"]})
    cities = ["{(missing), A}"] * 2 + ["{(missing), B}"] * 2 + ["{A, B}"] * 2
    release = pl.DataFrame({"age": ["[20, 60]", "[20, 60]", None, "", "*", "*"], "city": cities})
    scores = score(original, release, ["age", "city"], domains_of(original, {"x": JOBS}))
    assert scores.per_attribute["gcp"]["age"] == pytest.approx((1 + 1 + 0 + 0 + 1 + 1) / 6)
    assert scores.per_attribute["gcp"]["city"] == pytest.approx(0.5)
    assert scores.not_covering == {}


def test_what_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        score(ORIGINAL.head(3), RELEASE, ["age", "jobs"], domains_of(ORIGINAL))
    assert "unknown-column" in caught.value.reasons
    assert "too-many-records" in caught.value.reasons
    with pytest.raises(InputError, match="class column"):
        score(ORIGINAL, RELEASE, QUASI, domains_of(ORIGINAL), class_column="lable")


def test_the_registry_describes_every_metric() -> None:
    assert metric_names()[0] == "gcp"
    assert len(set(metric_names())) == len(metrics())
    for one in metrics():
        assert one.goal in ("lower", "higher")
        assert one.minimum < one.maximum
        assert one.meaning.endswith(".")
        assert one.as_dict()["name"] == one.name


def plain_gcp(original: pl.DataFrame, groups: list[int]) -> float:
    """The definition, one record and one attribute after the other."""
    ages, cities, jobs = (original[name].to_list() for name in ("age", "city", "job"))
    total = 0.0
    for record in range(len(groups)):
        members = [other for other in range(len(groups)) if groups[other] == groups[record]]
        group_ages = [ages[member] for member in members]
        span = max(ages) - min(ages)
        total += (max(group_ages) - min(group_ages)) / span if span else 0
        values, size = len({cities[member] for member in members}), len(set(cities))
        total += (values - 1) / (size - 1) if size > 1 else 0
        group_jobs = {jobs[member] for member in members}
        parents = {"Professional" if job in ("Lawyer", "Engineer") else "Artist" for job in group_jobs}
        total += 0 if len(group_jobs) == 1 else (0.5 if len(parents) == 1 else 1)
    return total / len(groups) / 3


def release_of(original: pl.DataFrame, groups: list[int]) -> pl.DataFrame:
    columns: dict[str, list[str]] = {"age": [], "city": [], "job": []}
    whole = set(original["city"].to_list())
    for group in groups:
        members = original.filter(pl.Series(groups) == group)
        ages, cities, jobs = (members[name].unique().sort().to_list() for name in ("age", "city", "job"))
        columns["age"].append(str(ages[0]) if len(ages) == 1 else f"[{ages[0]}, {ages[-1]}]")
        text = cities[0] if len(cities) == 1 else "{" + ", ".join(cities) + "}"
        columns["city"].append("*" if len(cities) > 1 and set(cities) == whole else text)
        parents = {"Professional" if job in ("Lawyer", "Engineer") else "Artist" for job in jobs}
        columns["job"].append(jobs[0] if len(jobs) == 1 else (parents.pop() if len(parents) == 1 else "*"))
    return pl.DataFrame(columns)


rows = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from("ABCD"), st.sampled_from(JOBS.leaves), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


@given(rows)
@settings(max_examples=60, deadline=None)
def test_gcp_of_random_groups(table: list[tuple[int, str, str, int]]) -> None:
    original = pl.DataFrame(
        {"age": [row[0] for row in table], "city": [row[1] for row in table], "job": [row[2] for row in table]}
    )
    groups = [row[3] for row in table]
    release = release_of(original, groups)
    scores = score(original, release, ["age", "city", "job"], domains_of(original))
    assert scores.totals["gcp"] == pytest.approx(plain_gcp(original, groups))
    sizes = Counter(release.rows())
    suppressed = {row for row in sizes if set(row) == {"*"}}
    expected = sum(count * (len(table) if row in suppressed else count) for row, count in sizes.items())
    assert scores.totals["discernibility"] == expected
    assert scores.not_covering == {}


def test_order_of_rows_does_not_matter() -> None:
    shuffled = np.random.default_rng(1).permutation(6)
    first = score(ORIGINAL, RELEASE, QUASI, domains_of(ORIGINAL), class_column="label")
    second = score(ORIGINAL[shuffled], RELEASE[shuffled], QUASI, domains_of(ORIGINAL), class_column="label")
    assert first.totals == pytest.approx(second.totals)


NUMBERS = {"*": {"1": ["10", "11", "19"], "2": {"2a": ["20", "21"], "2b": ["22"]}, "3x": ["3", "33"]}}


def scores_of_means(values: list[str], released: list[str]) -> Scores:
    original, release = pl.DataFrame({"z": values}), pl.DataFrame({"z": released})
    tree = make_hierarchy(NUMBERS, [], "z", None)
    attributes = [Attribute("z", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    domains = make_domains(original, attributes, {"z": tree})
    plain = score(original, release, ["z"], make_domains(original, attributes))
    found = score(original, release, ["z"], domains)
    assert found.totals["sse"] == plain.totals["sse"]  # the hierarchy changes nothing about numbers
    assert found.not_covering == plain.not_covering == {}
    return found


@pytest.mark.parametrize(
    "released",
    [
        ["11", "11", "21", "21", "21", "21"],  # means that are also leaves
        ["10", "11", "21", "21", "21", "21"],
        ["2", "2", "20", "20", "20", "20"],  # a label that does not cover what is behind it
        ["10", "11", "20", "21", "22", "3"],
    ],
)
def test_means_of_numbers_with_a_hierarchy_are_numbers(released: list[str]) -> None:
    values = ["10", "11", "20", "21", "22", "3"]
    loss = 0.0
    for text in set(released):
        behind = [int(value) for value, cell in zip(values, released, strict=True) if cell == text]
        loss += len(behind) * (max(behind) - min(behind)) / 19
    assert scores_of_means(values, released).totals["gcp"] == pytest.approx(loss / 6)


def test_a_label_of_numbers_that_covers_is_a_label() -> None:
    original = pl.DataFrame({"z": ["10", "11", "20", "22"]})
    domains = make_domains(
        original,
        [Attribute("z", Role.QUASI_IDENTIFYING, Scale.INTEGER)],
        {"z": make_hierarchy(NUMBERS, [], "z", None)},
    )
    scores = score(original, pl.DataFrame({"z": ["1", "1", "2", "2"]}), ["z"], domains)
    assert scores.totals["gcp"] == pytest.approx((2 * 9 / 12 + 2 * 2 / 12) / 4)


@pytest.mark.parametrize("missing", ["NaN", "nan", "", "?"])
@pytest.mark.parametrize("kind", ["tree", "order", "flat", "number"])
def test_missing_texts_are_what_a_null_is(kind: str, missing: str) -> None:
    values = ["1", None, "3", "2", None, None, "4", "1"]
    release = pl.DataFrame({"z": [None if value is None else "*" for value in values]})
    scale = {"order": Scale.ORDERED, "number": Scale.INTEGER}.get(kind, Scale.CATEGORY)
    order = ("1", "2", "3", "4") if kind == "order" else None
    attributes = [Attribute("z", Role.QUASI_IDENTIFYING, scale, order)]
    trees = {"z": make_hierarchy({"*": {"a": ["1", "2"], "b": ["3", "4"]}}, [], "z", None)} if kind == "tree" else {}
    totals = []
    for text in (None, missing):
        original = pl.DataFrame({"z": [text if value is None else value for value in values]})
        domains = make_domains(original, attributes, trees, ["?"])
        assert domains["z"].missing_count == 3
        totals.append(score(original, release, ["z"], domains).totals)
    assert totals[0] == totals[1]


def test_texts_named_as_missing_say_nothing_about_typed_columns() -> None:
    """The same as when the table is encoded: a number is a number."""
    attributes = [Attribute("z", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    column, texts = pl.Series("z", [-1, 5, None, -1]), pl.Series("z", ["-1", "5", None, "-1"])
    assert is_missing(column, ["-1"]).sum() == 1
    assert make_domains(column.to_frame(), attributes, missing=["-1"])["z"].missing_count == 1
    assert is_missing(texts, ["-1"]).sum() == 3
    for text in (texts, texts.cast(pl.Categorical)):
        assert make_domains(text.to_frame(), attributes, missing=["-1"])["z"].missing_count == 3
