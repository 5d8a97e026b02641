"""Versions of one table for several numbers of clusters: alone they may be joined, made together they hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.cluster_release.settings import ClusterSettings
from shoal.cluster_release.versions import Version, make_versions
from shoal.encode.encoded_table import EncodedColumn
from shoal.encode.subset import table_of
from shoal.errors import InputError
from shoal.job.draft import resolve
from shoal.job.job import Job
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import DistinctLDiversity
from shoal.pipeline.prepare import prepare
from shoal.pipeline.series import load_series
from shoal.pipeline.sources import frame_source
from shoal.progress import Watch
from shoal.releases.check import check_together
from shoal.releases.parts import SafeParts

QUASI = ["age", "income", "town"]


def people(count: int = 400, seed: int = 4) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    kind = random.integers(0, 3, count)
    return pl.DataFrame(
        {
            "age": (20 + 20 * kind + random.integers(0, 19, count)).tolist(),
            "income": (random.integers(0, 60, count) + 30 * (kind == 1)).tolist(),
            "town": random.choice(["a", "b", "c", "d"], count).tolist(),
            "disease": random.choice(["flu", "cold", "asthma"], count).tolist(),
        }
    )


def versions_of(frame: pl.DataFrame, clusters: list[int], k: int = 5, room: int = 1, **more: object) -> list[Version]:
    job = Job.make(quasi=QUASI, sensitive=["disease"], algorithm="tdr", recoding="nodes", **more)
    draft = resolve(job, (KAnonymity(k),))
    source = frame_source(frame)
    return make_versions(draft, lambda: source, ClusterSettings(), clusters, Watch(), room)


@pytest.mark.parametrize("room", [1, 3])
def test_versions_hold_whatever_number_of_them_is_joined(room: int) -> None:
    frame = people()
    alone = [versions_of(frame, [clusters])[0].published for clusters in (2, 3, 7)]
    assert not check_together(alone, QUASI, 5, setting="same", same_order=True).passed
    made = versions_of(frame, [2, 3, 7], room=room)
    frames = [version.published for version in made]
    assert check_together(frames, QUASI, 5, setting="same", same_order=True).passed
    assert check_together(frames, QUASI, 5, "disease", setting="same").passed
    told = made[2].certificate["together"]
    assert told["earlier"] == [version.sha256 for version in made[:2]]
    assert told["joint_classes"]["smallest"] >= 5
    assert (told["exact"], told["setting"]) == (True, "same")
    sizes = np.unique(np.stack([version.made.groups for version in made]), axis=1, return_counts=True)[1]
    assert sizes.min() == told["joint_classes"]["smallest"]


def test_versions_of_a_frame_in_python(tmp_path: Path) -> None:
    settings: dict = {"quasi": QUASI, "sensitive": "disease", "k": 5}
    versions = shoal.publish_versions(people(), clusters=[2, 3], folder=tmp_path / "out", **settings)
    assert [version.clusters for version in versions] == [2, 3]
    entries = load_series(tmp_path / "out" / "series.json")
    assert [entry.sha256 for entry in entries] == [version.sha256 for version in versions]
    with pytest.raises(InputError) as caught:
        shoal.publish_versions(people(), folder=tmp_path / "out", **settings)
    assert caught.value.reasons == ("would-overwrite",)


def test_parts_are_judged_by_every_model() -> None:
    """How far from safe: the models asked about every part as a group of its own."""
    frame = people(120)
    job = Job.make(quasi=QUASI, sensitive=["disease"], k=3, models=("distinct-l:disease:2",))
    source = frame_source(frame)
    prepared = prepare(resolve(job), lambda: source, Watch())
    random = np.random.default_rng(0)
    before = random.integers(0, 9, 120).astype(np.int32)
    groups = random.integers(0, 8, 120).astype(np.int32)
    table = prepared.table
    column = EncodedColumn("before", before, 9)
    with_column = type(table)(**{**vars(table), "columns": {**table.columns, "before": column}})
    inside = Requirement((KAnonymity(3), DistinctLDiversity(2, "disease")))
    found = SafeParts(inside, "before").deficits(with_column, groups, 8)
    for group in range(8):
        expected = 0.0
        for value in range(9):
            part = np.flatnonzero((groups == group) & (before == value))
            if part.shape[0]:
                one = np.zeros(part.shape[0], dtype=np.int32)
                expected += inside.deficits(table_of(table, part), one, 1)[0]
        assert found[group] == pytest.approx(expected)
    assert (found > 0).any()


def test_from_a_file_to_a_folder_with_a_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().write_csv(tmp_path / "people.csv")
    folder = tmp_path / "versions"
    words = [str(tmp_path / "people.csv"), "-o", str(folder), "--quasi", "age,income,town", "--sensitive", "disease"]
    with pytest.raises(SystemExit) as left:
        main(["publish-versions", *words, "-k", "5", "--clusters", "2,3", "--json"])
    assert left.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["clusters"] for one in told["versions"]] == [2, 3]
    entries = load_series(folder / "series.json")  # every file is what was published, and was checked with the others
    assert [entry.file.name for entry in entries] == ["clusters_2.csv", "clusters_3.csv"]
    certificate = json.loads((folder / "clusters_3.certificate.json").read_text())
    assert certificate["together"]["earlier"] == [entries[0].sha256]
    with pytest.raises(SystemExit) as left:
        main(
            ["verify", str(folder / "clusters_3.csv"), "--with", str(folder / "clusters_2.csv"), "--setting", "same",
             "--quasi", "age,income,town", "--sensitive", "disease", "-k", "5"]
        )  # fmt: skip
    assert left.value.code == 0
    with pytest.raises(SystemExit) as left:  # nothing is put beside what is out already
        main(["publish-versions", *words, "-k", "5", "--clusters", "2,3"])
    assert left.value.code == 2


@pytest.mark.parametrize(
    ("clusters", "more", "reason"),
    [
        ([2, 2], {}, "bad-clusters"),
        ([], {}, "bad-clusters"),
        ([2, 3], {"suppression_limit": 0.1}, "not-with-earlier"),
        ([2, 3], {"person": "town"}, "not-with-earlier"),
    ],
)
def test_what_versions_cannot_be_is_named(clusters: list[int], more: dict, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        versions_of(people(50), clusters, **more)
    assert reason in caught.value.reasons
