"""Publishing a file for cluster analysis: what is asked of it is what its bytes are checked for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.cluster_release.publish import publish_file
from shoal.cluster_release.settings import ClusterSettings
from shoal.errors import InputError
from shoal.job.job import Job

QUASI = ("age", "sex")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    frame = pl.DataFrame(
        {
            "id": [f"p{n // 2}" for n in range(240)],
            "age": [20 + n % 40 for n in range(240)],
            "sex": ["mf"[n % 3 == 0] for n in range(240)],
            "disease": [("flu", "cold", "gout")[n % 7 % 3] for n in range(240)],
        }
    )
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    return path


def publish(people: Path, *models: str, h: int | None = None, **settings: object) -> tuple[list[str], pl.DataFrame]:
    """The conditions that were checked, and the file."""
    output = people.with_name("release.csv")
    sweep = settings.pop("sweep", ())
    job = Job.make(
        input=people,
        output=output,
        quasi=QUASI,
        k=h,
        models=models,
        identifiers=("id",),
        keep_rest=True,
        algorithm="tdr",
        **settings,
    )
    made = publish_file(job, ClusterSettings(clusters=2, sweep=tuple(sweep)))
    return [check.model for check in made.verification.checks], pl.read_csv(output)


def smallest(release: pl.DataFrame, *columns: str) -> int:
    return int(release.group_by(columns).len()["len"].min())


def test_a_threshold_beside_sets_holds_too(people: Path) -> None:
    checked, release = publish(people, "qid:age:5", "qid:sex:20", h=10)
    assert checked == ["qid:age:5", "qid:sex:20", "qid:age+sex:10"]
    assert smallest(release, *QUASI) >= 10
    checked, release = publish(people, "qid:age:5", "qid:sex:20")
    assert checked == ["qid:age:5", "qid:sex:20"]
    assert smallest(release, *QUASI) < 10


def test_the_default_threshold_replaces_nothing(people: Path) -> None:
    assert publish(people)[0] == ["k-anonymity:50"]
    assert publish(people, h=7)[0] == ["k-anonymity:7"]
    assert publish(people, "k-anonymity:8")[0] == ["k-anonymity:8"]
    assert publish(people, "l-diversity:disease:1.5")[0] == ["k-anonymity:50", "l-diversity:disease:1.5"]


def test_sets_and_groups_of_persons(people: Path) -> None:
    checked, release = publish(people, "qid:age+sex:9:id", "k-anonymity:8:id", "xy-anonymity:id:6", order="input")
    assert checked == ["qid:age+sex:9:id", "k-anonymity:8:id", "xy-anonymity:id:6"]
    assert "id" not in release.columns
    persons = release.with_columns(id=pl.read_csv(people)["id"]).group_by(QUASI).agg(pl.col("id").n_unique())
    assert persons["id"].min() >= 9


def test_hierarchies_of_sensitive_columns(people: Path, tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "disease.csv").write_text("flu;cough;*\ncold;cough;*\ngout;joints;*\n")
    model = "t-closeness:disease:0.3:hierarchical"
    checked, _ = publish(people, model, h=10, hierarchies=tmp_path / "trees")
    assert checked == ["k-anonymity:10", model]


def test_problems_are_told_together(people: Path) -> None:
    with pytest.raises(InputError) as refused:
        publish(people.with_name("nowhere.csv"), "l-diversity:disease", h=0, sweep=[1])
    assert sorted(refused.value.reasons) == ["bad-model", "bad-threshold", "bad-threshold", "no-such-file"]
