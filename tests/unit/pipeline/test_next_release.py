"""The next release of people who were published before, and the series that keeps track."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api import verify
from shoal.errors import InputError, RequirementError
from shoal.job.job import Job
from shoal.pipeline.run import run
from shoal.releases.check import check_together
from shoal.releases.who import rows_of

QUASI = ["age", "zip", "sex"]


def people(count: int, seed: int = 0) -> pl.DataFrame:
    """The first people of a town of 400."""
    random = np.random.default_rng(seed)
    town = pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(400)],
            "age": random.integers(18, 80, 400),
            "zip": random.integers(0, 60, 400),
            "sex": random.choice(["f", "m"], 400),
            "disease": random.choice(["flu", "cold", "asthma", "gout"], 400),
        }
    )
    return town[:count]


def job(folder: Path, wave: int, rows: int, **more: object) -> Job:
    people(rows).sample(fraction=1, shuffle=True, seed=wave).write_csv(folder / f"t{wave}.csv")
    settings: dict[str, object] = {
        "input": folder / f"t{wave}.csv",
        "output": folder / f"r{wave}.csv",
        "quasi": QUASI,
        "sensitive": ["disease"],
        "identifiers": ["name"],
        "k": 5,
        "series": folder / "series.json",
        "effort": "low",
        **more,
    }
    return Job.make(**settings)


def released(folder: Path, wave: int) -> pl.DataFrame:
    return pl.read_csv(folder / f"r{wave}.csv", infer_schema=False)


def test_a_series_of_three_waves_holds_together(tmp_path: Path) -> None:
    results = [run(job(tmp_path, wave, rows)) for wave, rows in ((1, 150), (2, 230), (3, 300))]
    frames = [released(tmp_path, wave) for wave in (1, 2, 3)]
    verdict = check_together(frames, QUASI, 5, "disease")
    assert verdict.passed
    assert verdict.exact  # all three at once
    told = results[2].certificate["together"]
    assert told["earlier"] == [one.certificate["hashes"]["release"] for one in results[:2]]
    assert (told["newcomers"], told["exact"], told["newcomers_told_by_original"]) == (70, True, True)
    assert told["smallest_class_of_newcomers"] >= 5
    # Everybody of the first wave is published exactly as before: the same cells, the same number of times.
    before, now = (frame.group_by(frame.columns).len(name="times") for frame in (frames[0], frames[2]))
    kept = before.join(now, on=frames[0].columns)
    assert kept.height == before.height
    assert (kept["times_right"] >= kept["times"]).all()
    again = verify(frames[2], quasi=QUASI, k=5, earlier=frames[:2], sensitive="disease")
    assert again.passed
    assert again.together is not None
    series = json.loads((tmp_path / "series.json").read_text())
    assert [len(one["checked_with"]) for one in series["releases"]] == [0, 1, 2]


def test_independent_releases_fail_where_those_made_together_hold(tmp_path: Path) -> None:
    run(job(tmp_path, 1, 150))
    alone = run(job(tmp_path, 2, 230, series=None, output=tmp_path / "alone.csv"))
    first = released(tmp_path, 1)
    assert alone.certificate["passed"]
    found = verify(alone.release, quasi=QUASI, k=5, earlier=[first], sensitive="disease")
    assert not found.passed
    run(job(tmp_path, 2, 230))
    assert verify(released(tmp_path, 2), quasi=QUASI, k=5, earlier=[first], sensitive="disease").passed


def test_diversity_holds_after_cracking(tmp_path: Path) -> None:
    models = ("distinct-l:disease:2",)
    run(job(tmp_path, 1, 150, models=models))
    told = run(job(tmp_path, 2, 230, models=models)).certificate["together"]
    assert told["diversities"] == ["distinct-l:disease:2"]
    assert told["passed"]


def test_too_few_newcomers_cannot_hide(tmp_path: Path) -> None:
    run(job(tmp_path, 1, 150))
    with pytest.raises(RequirementError, match="3 newcomers") as caught:
        run(job(tmp_path, 2, 153))
    assert caught.value.reasons == ("too-few-newcomers",)
    assert not (tmp_path / "r2.csv").exists()


def test_a_larger_k_than_before_is_impossible(tmp_path: Path) -> None:
    run(job(tmp_path, 1, 150))
    with pytest.raises(RequirementError) as caught:
        run(job(tmp_path, 2, 230, k=20))
    assert caught.value.reasons == ("earlier-too-fine",)


def test_nobody_new_is_the_same_release_again(tmp_path: Path) -> None:
    run(job(tmp_path, 1, 150))
    run(job(tmp_path, 2, 150))
    first, second = (released(tmp_path, wave) for wave in (1, 2))
    assert first.sort(first.columns).equals(second.sort(second.columns))


def test_without_the_earlier_table_the_certificate_says_so(tmp_path: Path) -> None:
    run(job(tmp_path, 1, 150))
    (tmp_path / "t1.csv").unlink()
    result = run(job(tmp_path, 2, 230))
    assert not result.certificate["together"]["newcomers_told_by_original"]
    assert any("without the earlier table" in note for note in result.certificate["notes"])
    assert check_together([released(tmp_path, 1), released(tmp_path, 2)], QUASI, 5, "disease").passed


@pytest.mark.parametrize("broken", ["missing", "changed", "unchecked", "stranger", "garbage", "overwrite"])
def test_a_broken_series_is_an_error_and_nothing_is_written(tmp_path: Path, broken: str) -> None:
    run(job(tmp_path, 1, 150))
    run(job(tmp_path, 2, 230))
    more: dict[str, object] = {}
    series = tmp_path / "series.json"
    if broken == "missing":
        (tmp_path / "r1.csv").unlink()
    elif broken == "changed":
        (tmp_path / "r1.csv").write_text((tmp_path / "r1.csv").read_text() + "[1, 2],3,f,flu\n")
    elif broken == "unchecked":
        content = json.loads(series.read_text())
        del content["releases"][1]["certificate"]["together"]
        series.write_text(json.dumps(content))
    elif broken == "stranger":
        (tmp_path / "other.csv").write_text("age,zip,sex,disease\n1,2,f,flu\n")
        more = {"earlier": [tmp_path / "other.csv"]}
    elif broken == "garbage":
        series.write_text("[1, 2]")
    else:
        more = {"output": tmp_path / "r1.csv"}
    reason = {
        "missing": "missing-release",
        "changed": "changed-release",
        "unchecked": "unchecked-release",
        "stranger": "not-in-series",
        "garbage": "unreadable-series",
        "overwrite": "would-overwrite",
    }[broken]
    kept = (tmp_path / "r2.csv").read_bytes()
    with pytest.raises(InputError) as caught:
        run(job(tmp_path, 3, 300, **more))
    assert reason in caught.value.reasons
    assert not (tmp_path / "r3.csv").exists()
    assert (tmp_path / "r2.csv").read_bytes() == kept


def test_people_who_left_are_told(tmp_path: Path) -> None:
    run(job(tmp_path, 1, 150))
    first = pl.read_csv(tmp_path / "t1.csv")
    table = pl.concat([first[10:], people(230)[150:]])
    table.write_csv(tmp_path / "t9.csv")
    with pytest.raises(InputError, match="10 of 150 people"):
        run(Job.make(**{**dict(job(tmp_path, 2, 230)), "input": tmp_path / "t9.csv"}))


def test_rows_are_found_again_by_values_or_by_key() -> None:
    original = pl.DataFrame({"id": ["a", "b", "c"], "x": [1, 1, 2]})
    table = pl.DataFrame({"id": ["c", "d", "a", "b"], "x": [2, 1, 1, 9]})
    assert rows_of(original, table, ["id"]).tolist() == [0, 2, 3]
    with pytest.raises(InputError, match="1 of 3 people"):
        rows_of(original, table)
    twice = pl.DataFrame({"x": [1, 1, 1, 2]})
    assert rows_of(original.drop("id"), twice).shape[0] == 3  # of equal rows as many as there were


def test_values_that_a_hierarchy_lacks_go_below_its_root() -> None:
    table = pl.DataFrame({"city": ["Bonn", "Ulm", "Rom", "Paris"] * 5})
    tree = {"*": {"Germany": ["Bonn", "Ulm"], "Italy": ["Rom"]}}
    with pytest.raises(InputError, match="--new-values root"):
        shoal.anonymize(table, quasi=["city"], k=5, hierarchies={"city": tree})
    result = shoal.anonymize(table, quasi=["city"], k=5, hierarchies={"city": tree}, new_values="root")
    assert set(result.release["city"]) == {"Bonn", "Ulm", "Rom", "Paris"}


def test_the_next_release_of_frames() -> None:
    table = people(200, seed=4).drop("name")
    settings: dict[str, object] = {"quasi": QUASI, "sensitive": ["disease"], "k": 5, "effort": "low"}
    first = shoal.anonymize(table[:120], **settings).release
    second = shoal.anonymize(table, earlier=[first], earlier_original=table[:120], **settings)
    assert second.certificate["together"]["newcomers"] == 80
    assert second.release[:120].select(QUASI).equals(first.select(QUASI))  # nobody could be in another class here
    assert verify(second.release, quasi=QUASI, k=5, earlier=[first]).passed


def town(count: int = 1_200) -> pl.DataFrame:
    random = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "age": random.integers(18, 80, count),
            "zip": random.integers(0, 30, count),
            "disease": random.choice(["flu", "cold"], count, p=[0.7, 0.3]),
        }
    )


LOOSE: dict[str, object] = {
    "quasi": ["age", "zip"], "sensitive": ["disease"], "identifiers": ["id"], "k": 5, "effort": "low",
}  # fmt: skip


def test_people_leave_and_the_next_release_holds_for_who_does_not_know_who_stayed() -> None:
    table = town()
    then = table[:600]
    first = shoal.anonymize(then, **LOOSE).release
    now = table.filter(pl.col("id") % 9 != 0)  # a ninth of them left, and there are newcomers
    settings: dict[str, object] = {**LOOSE, "earlier": [first], "earlier_original": then, "person_key": "id"}
    with pytest.raises(InputError, match="67 of 600 people"):
        shoal.anonymize(now, **settings)
    second = shoal.anonymize(now, **settings, setting="moving")
    told = second.certificate["together"]
    assert (told["setting"], told["people_who_left"], told["newcomers"]) == ("moving", 67, now.height - 533)
    assert told["passed"]
    assert verify(second.release, quasi=["age", "zip"], k=5, earlier=[first], setting="moving").passed
    alone = shoal.anonymize(now, **LOOSE).release
    assert not verify(alone, quasi=["age", "zip"], k=5, earlier=[first], setting="moving").passed
    stayed = now["id"].to_numpy() < 600
    before = first[now["id"].to_numpy()[stayed]]
    same = (before["age"].cast(pl.String) == second.release.filter(pl.Series(stayed))["age"].cast(pl.String)).sum()
    assert same > 100  # classes that are whole enough were kept


def test_values_change_and_the_next_release_holds_for_who_does_not_know_the_new_ones() -> None:
    table = town()
    then = table[:600]
    first = shoal.anonymize(then, **LOOSE).release
    moved = pl.when(pl.col("id") % 10 == 0).then((pl.col("zip") + 13) % 30).otherwise("zip")
    now = table.with_columns(moved)
    settings: dict[str, object] = {**LOOSE, "earlier": [first], "earlier_original": then, "person_key": "id"}
    second = shoal.anonymize(now, **settings, changing="zip")
    told = second.certificate["together"]
    assert told["changing"] == ["zip"]
    assert told["newcomers"] == 600
    assert 0 < told["people_who_moved"] <= 60
    assert verify(second.release, quasi=["age", "zip"], k=5, earlier=[first], changing="zip").passed
    with pytest.raises(InputError) as caught:
        shoal.anonymize(now, **{**settings, "earlier_original": None}, changing="zip")
    assert caught.value.reasons == ("no-earlier-table",)


def test_a_pseudonym_in_every_release_joins_them_record_by_record() -> None:
    table = town(500)
    settings: dict[str, object] = {
        **LOOSE, "identifiers": [], "keep": ["id"], "allow": ["id"], "join_key": "id",
    }  # fmt: skip
    first = shoal.anonymize(table[:300], **settings).release
    second = shoal.anonymize(table, **settings, earlier=[first], earlier_original=table[:300])
    checks = second.certificate["together"]["checks"]
    assert [check["attack"] for check in checks] == ["F", "C", "B", "same key"]
    assert checks[-1]["smallest_anonymity"] >= 5
    plain = shoal.anonymize(table, **settings).release
    assert not verify(plain, quasi=["age", "zip"], k=5, earlier=[first], join_key="id").passed
