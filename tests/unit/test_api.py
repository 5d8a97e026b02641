"""The public surface in Python: frames of every kind, models as objects, jobs as files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.algorithms.tdr.tdr import Tdr
from shoal.errors import InputError, RequirementError, VerificationError


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    random = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "name": [f"person {n}" for n in range(200)],
            "age": random.integers(18, 90, 200),
            "zip": random.choice(["10115", "10117", "20095", "80331"], 200),
            "sex": random.choice(["m", "f"], 200),
            "disease": random.choice(["flu", "cold", "gout", "asthma", "angina"], 200),
        }
    )


SETTINGS = {"quasi": ["age", "zip", "sex"], "identifiers": ["name"], "sensitive": ["disease"], "k": 5}


def test_every_kind_of_frame_comes_back_as_it_came(people: pl.DataFrame) -> None:
    as_polars = shoal.anonymize(people, keep_rest=True, **SETTINGS)
    as_pandas = shoal.anonymize(people.to_pandas().set_index(np.arange(200) * 3), **SETTINGS)
    as_arrow = shoal.anonymize(people.to_arrow(), keep_rest=True, **SETTINGS)
    assert isinstance(as_polars.release, pl.DataFrame)
    assert isinstance(as_pandas.release, pd.DataFrame)
    assert isinstance(as_arrow.release, pa.Table)
    assert as_polars.release.columns == ["age", "zip", "sex", "disease"]
    assert as_pandas.release.index.equals(pd.RangeIndex(200))
    assert as_polars.release.rows() == [tuple(row) for row in as_pandas.release.itertuples(index=False)]
    assert as_polars.release.equals(pl.from_arrow(as_arrow.release))


def test_names_in_an_index_are_not_released(people: pl.DataFrame) -> None:
    release = shoal.anonymize(people.to_pandas().set_index("name"), **{**SETTINGS, "identifiers": []}).release
    assert "person" not in release.to_csv()
    assert release.index.names == [None]


@pytest.mark.parametrize("kind", ["float", "object", "arrow"])
def test_what_the_caller_gets_is_checked(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A way back that lets equal values look different does not give its frame away."""
    from shoal.tables.frames import frames

    values = [0.0, -0.0, 5.0, 5.0]
    frame = pd.DataFrame({"q": values}, dtype=object if kind == "object" else float)
    given = pa.table({"q": values}) if kind == "arrow" else frame
    way_back = frames.ArrowRestore if kind == "arrow" else frames.PandasRestore
    assert shoal.anonymize(given, keep_rest=True, quasi=["q"], k=2).release is not None
    monkeypatch.setattr(way_back, "restore", lambda self, frame, rows=None: self.original)
    with pytest.raises(VerificationError) as caught:
        shoal.anonymize(given, keep_rest=True, quasi=["q"], k=2)
    assert [(problem.reason, problem.column) for problem in caught.value.problems] == [("check-failed", "q")]


def test_result_holds_what_the_readme_says(people: pl.DataFrame) -> None:
    result = shoal.anonymize(people, keep_rest=True, **SETTINGS, hierarchies={"zip": {"builder": "prefix"}})
    assert result.groups.shape == (200,)
    assert {"gcp", "ncp", "discernibility", "c_avg"} <= result.metrics.keys()
    assert result.certificate["records"] == {"input": 200, "released": 200, "suppressed": 0}
    assert result.risk["after"]["highest"] <= 1 / 5
    assert "<table>" in result._repr_html_()
    json.dumps(result.summary(), default=str)


def test_models_as_objects_and_as_text(people: pl.DataFrame) -> None:
    first = shoal.anonymize(people, keep_rest=True, **SETTINGS, models=[shoal.LDiversity(3, "disease")])
    second = shoal.anonymize(people, keep_rest=True, **SETTINGS, models=["l-diversity:disease:3"])
    assert first.release.equals(second.release)
    assert first.certificate["models"] == ["k-anonymity:5", "l-diversity:disease:3"]
    assert shoal.verify(first.release, quasi=SETTINGS["quasi"], k=5, models=["l-diversity:disease:3"]).passed


def test_verify_is_independent_of_how_it_was_made() -> None:
    release = pd.DataFrame({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2, "zip": ["1*"] * 5})
    assert shoal.verify(release, quasi=["age", "zip"], k=2).passed
    failed = shoal.verify(release, quasi=["age", "zip"], k=3)
    assert not failed.passed
    assert failed.checks[0].smallest_offending_class == 2


def test_all_problems_at_once(people: pl.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(people, keep_rest=True, quasi=["agee", "zip"], sensitive=["zip"], k=1, algorithm="nope")
    assert {"unknown-column", "two-roles", "bad-k", "unknown-algorithm"} <= set(caught.value.reasons)


def test_too_few_records(people: pl.DataFrame) -> None:
    with pytest.raises(RequirementError):
        shoal.anonymize(people.head(4), keep_rest=True, **SETTINGS)


def test_job_round_trip(tmp_path: Path) -> None:
    job = shoal.Job.make(
        quasi=["a"], k=3, hierarchies={"a": {"builder": "prefix"}}, priorities={"a": 2.0}, **{"class": "b"}
    )
    for name in ("job.yaml", "job.json"):
        job.save(tmp_path / name)
        assert shoal.Job.load(tmp_path / name) == job


def test_priorities_protect_what_matters(people: pl.DataFrame) -> None:
    plain = shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm="k-member")
    wanted = shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm="k-member", priorities={"age": 20.0})
    assert wanted.per_attribute["age"]["gcp"] < plain.per_attribute["age"]["gcp"]


def test_same_seed_same_release(people: pl.DataFrame) -> None:
    runs = [shoal.anonymize(people, keep_rest=True, **SETTINGS, seed=4, threads=threads) for threads in (1, 2)]
    assert runs[0].release.equals(runs[1].release)
    assert runs[0].certificate == runs[1].certificate


def test_ordered_categories_and_trace(people: pl.DataFrame) -> None:
    from shoal.pipeline.run import run_frame
    from shoal.progress import Watch

    frame = pl.DataFrame({"size": ["small", "large", "medium", "small", "large", "medium"]})
    seen: dict[str, object] = {}
    job = shoal.Job.make(quasi=["size"], k=3, orders={"size": ("small", "medium", "large")})
    result = run_frame(job, frame, watch=Watch(trace=lambda stage, value: seen.setdefault(stage, value)))
    assert set(result.release["size"]) <= {
        "small",
        "medium",
        "large",
        "[small, medium]",
        "[medium, large]",
        "[small, large]",
    }
    assert list(seen) == ["read", "encode", "cluster", "recode", "verify", "evaluate"]


def test_an_algorithm_object_runs_itself_or_nothing(people: pl.DataFrame) -> None:
    from shoal.algorithms.base import Clustering
    from shoal.algorithms.mondrian.mondrian import Mondrian

    class Changed(Mondrian):
        def cluster(self, table, requirement, context):
            return Clustering(np.zeros(table.records, dtype=np.int32))

    class Own(Mondrian):
        name = "own"

    for algorithm in (Changed(), Own()):
        with pytest.raises(InputError) as refused:
            shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm=algorithm, parameters={"strict": False})
        assert refused.value.reasons == ("unknown-algorithm", "bad-parameter")
    given = shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm=Mondrian(strict=False))
    named = shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm="mondrian", parameters={"strict": False})
    assert given.release.equals(named.release)
    assert not given.release.equals(shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm="mondrian").release)


def test_a_single_name_is_a_list_of_one(people: pl.DataFrame) -> None:
    assert shoal.verify(people, quasi="sex", k=5).as_dict() == shoal.verify(people, quasi=["sex"], k=5).as_dict()
    assert not shoal.verify(people, quasi="name", k=5).passed
    made = [
        shoal.publish_for_clustering(
            people, drop_rest=True, quasi=quasi, identifiers=identifiers, cluster_on=clustered, clusters=2, h=5
        ).release
        for quasi, identifiers, clustered in (("age", "name", "age"), (["age"], ["name"], ["age"]))
    ]
    assert made[0].equals(made[1])
    assert "name" not in made[0].columns


def test_the_label_of_an_algorithm_object_is_read(people: pl.DataFrame) -> None:
    from shoal.algorithms.tdr.tdr import Tdr

    given = shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm=Tdr(class_column="disease"))
    named = shoal.anonymize(people, keep_rest=True, **SETTINGS, algorithm="tdr", class_column="disease")
    assert given.release.equals(named.release)
    assert given.certificate["job"]["class"] == "disease"


def test_one_model_is_a_list_of_one(people: pl.DataFrame) -> None:
    settings = {**SETTINGS, "algorithm": "mondrian"}
    wanted = shoal.anonymize(people, keep_rest=True, **settings, models=[shoal.LDiversity(2, "disease")]).certificate[
        "checks"
    ]
    assert len(wanted) == 2
    for given in (shoal.LDiversity(2, "disease"), "l-diversity:disease:2"):
        assert shoal.anonymize(people, keep_rest=True, **settings, models=given).certificate["checks"] == wanted


def test_calls_that_cannot_be_meant(people: pl.DataFrame) -> None:
    calls = [
        ({"quasi": None}, "no-quasi-identifier"),
        ({"quasi": 5}, "bad-setting"),
        ({"models": 5}, "bad-setting"),
        ({"algorithm": Tdr(), "parameters": {"mode": "distort"}}, "bad-parameter"),
        ({"algorithm": "tdr", "parameters": {"class_column": "sex"}}, "bad-parameter"),
        ({"algorithm": Tdr(class_column="disease"), "class_column": "sex"}, "bad-parameter"),
        ({"algorithm": Tdr(class_column="nothing")}, "unknown-column"),
    ]
    for changed, reason in calls:
        with pytest.raises(InputError) as caught:
            shoal.anonymize(people, drop_rest=True, **{**SETTINGS, **changed})
        assert caught.value.reasons == (reason,)


def test_the_verbs_of_the_command_line_are_functions(tmp_path: Path) -> None:
    people = pl.DataFrame({"age": [20 + n % 40 for n in range(60)], "zip": [str(10 + n % 7) for n in range(60)]})
    made = shoal.anonymize(
        people, keep_rest=True, quasi=["age", "zip"], k=5, scales={"zip": "category"}, algorithm="mondrian"
    )
    found = shoal.evaluate(people, made.release, certificate=made.certificate)
    assert found.scores.totals["gcp"] == made.metrics["gcp"] == made.evaluate().scores.totals["gcp"]
    named = shoal.evaluate(people, made.release, quasi=["age", "zip"], scales={"zip": "category"})
    assert named.scores.totals["gcp"] == made.metrics["gcp"]
    assert [column["name"] for column in shoal.inspect(people)["columns"]] == ["age", "zip"]
    people.write_csv(tmp_path / "people.csv")
    job = shoal.Job(input=tmp_path / "people.csv", quasi=("age", "zip"), scales={"zip": "category"})
    (record,) = shoal.compare(job, algorithms="mondrian", ks=[5])
    assert record["gcp"] == pytest.approx(made.metrics["gcp"])


def test_an_unknown_setting_is_told() -> None:
    with pytest.raises(TypeError, match="sensitiv"):
        shoal.anonymize(pl.DataFrame({"a": [1, 1]}), quasi=["a"], k=2, sensitiv=["a"])
