"""The worked example of the TDR paper: 34 records, two QIDs, five refinements, and the comparison of the clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.tdr.tdr import Tdr
from shoal.cluster_release import publish_for_clustering
from shoal.cluster_release.cut import released_cut, with_half_open_intervals
from shoal.cluster_release.framework import mask
from shoal.encode.codebook import Codebook
from shoal.encode.encode import encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.evaluation.usefulness.clustering.agreement import (
    Contingency,
    compare_clusterings,
    f_measures,
    match_point,
    overall_f_measure,
)
from shoal.hierarchies.spec import make_hierarchy
from shoal.job.draft import resolve
from shoal.job.job import Job
from shoal.models.base import Requirement
from shoal.models.linkage import Qid
from shoal.pipeline.prepare import prepare
from shoal.pipeline.sources import frame_source
from shoal.progress import Watch
from shoal.recode.release import RecodeOptions, recode
from shoal.tables.schema import Attribute, Role, Scale
from shoal.verification.check import verify_release

# Education, Gender, Age, records of class 1, records of class 2
ROWS = [
    ("9th", "M", 30, 0, 3),
    ("10th", "M", 32, 0, 4),
    ("11th", "M", 35, 2, 3),
    ("12th", "F", 37, 3, 1),
    ("Bachelors", "F", 42, 4, 2),
    ("Bachelors", "F", 44, 4, 0),
    ("Masters", "M", 44, 4, 0),
    ("Masters", "F", 44, 3, 0),
    ("Doctorate", "F", 44, 1, 0),
]
EDUCATION = {
    "ANY_Edu": {
        "Secondary": {"Junior Sec.": ["9th", "10th"], "Senior Sec.": ["11th", "12th"]},
        "University": {"Bachelors": ["Bachelors"], "Grad School": ["Masters", "Doctorate"]},
    }
}
EDUCATION_PATHS = [
    (leaf, middle, branch, "ANY_Edu")
    for branch, middles in EDUCATION["ANY_Edu"].items()
    for middle, leaves in middles.items()
    for leaf in leaves
]
QUASI = ["Education", "Gender", "Age"]
QIDS = (Qid(("Education", "Gender"), 4), Qid(("Gender", "Age"), 11))


def records() -> pl.DataFrame:
    expanded = [
        (education, gender, age, label)
        for education, gender, age, *counts in ROWS
        for label, count in zip(("C1", "C2"), counts, strict=True)
        for _ in range(count)
    ]
    return pl.DataFrame(expanded, schema=[*QUASI, "Class"], orient="row")


@pytest.fixture(scope="module")
def encoded() -> tuple[pl.DataFrame, EncodedTable, Codebook]:
    frame = records()
    scales = {"Education": Scale.CATEGORY, "Gender": Scale.CATEGORY, "Age": Scale.INTEGER}
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, scale) for name, scale in scales.items()]
    attributes.append(Attribute("Class", Role.SENSITIVE, Scale.CATEGORY))
    trees = {
        "Education": make_hierarchy(EDUCATION_PATHS, frame["Education"].unique().to_list(), "Education"),
        "Gender": make_hierarchy([("M", "ANY"), ("F", "ANY")], ["M", "F"], "Gender"),
    }
    return frame, *encode_table(frame, attributes, trees)


@pytest.fixture(scope="module")
def masked(encoded) -> Clustering:
    _, table, _ = encoded
    return Tdr(class_column="Class").cluster(table, Requirement(QIDS), Context())


def test_the_refinements_and_their_scores(encoded, masked):
    """The paper lists Senior Sec. before University, but by its own formula University scores higher."""
    _, _, codebook = encoded
    leaves = codebook["Education"].texts.to_list()
    steps = [
        (step["attribute"], leaves[step["low"]] if step["attribute"] == "Education" else step["low"])
        for step in masked.details["steps"]
    ]
    assert steps == [
        ("Age", 0),
        ("Education", "9th"),
        ("Education", "9th"),
        ("Education", "Bachelors"),
        ("Education", "11th"),
    ]
    scores = [step["score"] for step in masked.details["steps"]]
    assert scores == pytest.approx([0.01558, 0.01429, 0.03386, 0.10219, 0.02277], abs=5e-6)
    losses = [step["anonymity_loss"] for step in masked.details["steps"]]
    assert losses == [22, 18, 9, 0, 3]


def test_the_released_classes(encoded, masked):
    frame, table, codebook = encoded
    written = with_half_open_intervals(masked, codebook, {"Age": (1, 99)})
    release = recode(frame, table, codebook, written, ["Class"], RecodeOptions())
    found = release.group_by(QUASI).len().sort("len", "Education").rows()
    assert sorted(found) == sorted(
        [
            ("Junior Sec.", "ANY", "[1-37)", 7),
            ("11th", "ANY", "[1-37)", 5),
            ("12th", "ANY", "[37-99)", 4),
            ("Bachelors", "ANY", "[37-99)", 10),
            ("Grad School", "ANY", "[37-99)", 8),
        ]
    )
    cut = released_cut(release, QUASI)
    assert {one["value"] for one in cut["Education"]} == {"Junior Sec.", "11th", "12th", "Bachelors", "Grad School"}
    assert cut["Gender"] == [{"value": "ANY", "records": 34}]
    assert cut["Age"] == [{"value": "[37-99)", "records": 22}, {"value": "[1-37)", "records": 12}]
    assert verify_release(release, QUASI, QIDS).passed


def test_intervals_in_the_usual_form_name_the_values_inside(encoded, masked):
    frame, table, codebook = encoded
    release = recode(frame, table, codebook, masked, ["Class"], RecodeOptions())
    assert set(release["Age"]) == {"[30, 35]", "[37, 44]"}


def test_gender_is_never_refined_but_would_be_if_the_thresholds_allowed(encoded, masked):
    _, table, _ = encoded
    assert [one["records"] for one in masked.details["cut"]["Gender"]] == [34]
    easier = Requirement((Qid(("Education", "Gender"), 2), Qid(("Gender", "Age"), 2)))
    found = Tdr(class_column="Class").cluster(table, easier, Context())
    assert sorted(one["records"] for one in found.details["cut"]["Gender"]) == [16, 18]


def test_the_clusters_of_the_masked_table():
    contingency = Contingency.of_table([[19, 2], [3, 10]])
    assert overall_f_measure(contingency) == pytest.approx(0.8517, abs=5e-5)
    assert f_measures(contingency) == pytest.approx([0.88, 0.8], abs=0.005)


def test_match_point_is_866_pairs_and_not_924():
    """Five records change sides, so 5 x 29 pairs differ in each direction: 34^2 - 2 x 145 = 866."""
    contingency = Contingency.of_table([[19, 2], [3, 10]])
    assert match_point(contingency) == 866 / 34**2
    raw = np.array(["C1"] * 21 + ["C2"] * 13)
    masked = np.array(["K2"] * 19 + ["K1"] * 2 + ["K2"] * 3 + ["K1"] * 10)
    same_raw, same_masked = raw[:, None] == raw, masked[:, None] == masked
    assert int((same_raw == same_masked).sum()) == 866
    assert compare_clusterings(raw, masked).match_point == 866 / 34**2


def test_masked_for_a_single_qid_of_all_attributes(encoded):
    """The union of the two QIDs asks for more, so less is refined."""
    _, table, _ = encoded
    union = Requirement((Qid(tuple(QUASI), 11),))
    found = Tdr(class_column="Class").cluster(table, union, Context())
    several = Tdr(class_column="Class").cluster(table, Requirement(QIDS), Context())
    assert np.bincount(found.groups).min() >= 11
    assert len(np.unique(found.groups)) < len(np.unique(several.groups))


def test_suppression_discloses_values_one_by_one(encoded):
    """Without its taxonomy Education is suppressed; values of fewer than four records stay hidden."""
    frame, _, _ = encoded
    attributes = [
        Attribute("Education", Role.QUASI_IDENTIFYING, Scale.CATEGORY),
        Attribute("Class", Role.SENSITIVE, Scale.CATEGORY),
    ]
    table, codebook = encode_table(frame, attributes, {})
    found = Tdr(class_column="Class").cluster(table, Requirement((Qid(("Education",), 4),)), Context())
    release = recode(frame, table, codebook, found, [], RecodeOptions())
    counts = dict(release.group_by("Education").len().rows())
    assert counts == {"Bachelors": 10, "Masters": 7, "11th": 5, "10th": 4, "12th": 4, "*": 4}
    assert all(step["refinement"] == "suppress" for step in found.details["steps"])


def test_the_step_order_does_not_depend_on_the_order_of_records(encoded):
    frame, table, _ = encoded
    shuffled = replace(
        table,
        record_rows=table.row_of_record[::-1].copy(),
        columns={"Class": replace(table.columns["Class"], codes=table.columns["Class"].codes[::-1].copy())},
    )
    one = Tdr(class_column="Class").cluster(table, Requirement(QIDS), Context())
    other = Tdr(class_column="Class").cluster(shuffled, Requirement(QIDS), Context())
    assert one.details == other.details
    assert frame.height == 34


@pytest.mark.data
@pytest.mark.parametrize("kind", ["kmeans", "bisecting"])
def test_crx_keeps_its_clusters_better_when_masking_looks_at_them(data_folder, kind):
    """Suppression and discretization on the second table of the paper, all fifteen attributes in the QID."""
    frame = pl.read_csv(data_folder / "crx" / "crx_complete.csv").drop("A16")
    found = {
        mode: publish_for_clustering(frame, quasi=frame.columns, clusters=6, h=10, clusterer=kind, mode=mode)
        for mode in ("information", "distort")
    }
    for one in found.values():
        assert one.release.group_by(frame.columns).len()["len"].min() >= 10
    guided, plain = found["information"].comparison, found["distort"].comparison
    assert guided.match_point > plain.match_point
    assert guided.f_measure > plain.f_measure


@pytest.mark.data
def test_adult_with_all_14_attributes(data_folder):
    folder = data_folder / "adult"
    frame = pl.read_csv(folder / "adult_complete.csv").drop("income")
    names = ("workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
    files = {name: folder / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in names}
    labels = (frame["age"].to_numpy() // 13).astype(np.int32)
    job = Job(quasi=tuple(frame.columns), k=50, hierarchies=files, algorithm="tdr")
    ready = prepare(resolve(job), lambda: frame_source(frame), Watch())
    found = mask(ready, labels, ready.requirement, Watch())
    assert np.bincount(found.groups).min() >= 50
    assert len(found.details["steps"]) > 10
