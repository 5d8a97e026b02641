"""m-invariance against every possible world: nobody's value is likelier than 1/m, whoever came and left."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.cli.main import main
from shoal.errors import InputError, RequirementError
from shoal.pipeline.m_invariant import MInvariantRelease, release_m_invariant
from shoal.releases import m_invariance
from shoal.releases.kernels.anatomy import commonest_together
from shoal.tables.row_order import is_published_order

Published = list[tuple[list[int], list[str]]]  # per group the persons in it, and its values with those of counterfeits


def best_guesses(series: list[Published], domain: str) -> dict[int, float]:
    """By definition: the likeliest value of every person over all worlds that explain every release.

    The attacker knows who is in which group. In a world everybody has one value for good, and in each release the
    people of a group have different ones of its values; what is left over is counterfeit.
    """
    persons = sorted({person for published in series for group, _ in published for person in group})
    place = {person: number for number, person in enumerate(persons)}
    worlds = 0
    counts = {person: dict.fromkeys(domain, 0) for person in persons}
    for world in product(domain, repeat=len(persons)):
        if all(_explains([world[place[one]] for one in group], values) for part in series for group, values in part):
            worlds += 1
            for person in persons:
                counts[person][world[place[person]]] += 1
    assert worlds
    return {person: max(found.values()) / worlds for person, found in counts.items()}


def _explains(assigned: list[str], values: list[str]) -> bool:
    left = list(values)
    for value in assigned:
        if value not in left:
            return False
        left.remove(value)
    return True


def published(table: pl.DataFrame, made: MInvariantRelease) -> Published:
    ids = table["id"].to_list()
    values = {group: part["s"].to_list() for (group,), part in made.release.group_by("group", maintain_order=True)}
    return [
        ([ids[row] for row in np.flatnonzero(made.group_of_row == group)], values[group]) for group in sorted(values)
    ]


def draw_series(random: np.random.Generator, domain: str) -> list[pl.DataFrame]:
    """Up to seven people of whom in every release some leave and others come."""
    town = pl.DataFrame(
        {
            "id": list(range(7)),
            "age": random.integers(0, 9, 7).tolist(),
            "s": random.choice(list(domain), 7).tolist(),
        }
    )
    return [town.filter(pl.Series(random.random(7) < 0.6)) for _ in range(3)]


@pytest.mark.parametrize("seed", range(15))
def test_no_value_is_likelier_than_one_in_m(seed: int) -> None:
    random = np.random.default_rng(seed)
    domain, m = ("abcd", 2) if seed % 2 else ("abc", 3)
    series: list[Published] = []
    persons = None
    for table in draw_series(random, domain):
        everybody = {
            *table["s"].to_list(),
            *(v for one in (persons["signature"].to_list() if persons is not None else []) for v in one),
        }
        if table.height == 0 or len(everybody) < m:
            continue
        made = release_m_invariant(table, quasi="age", sensitive="s", person_key="id", m=m, before=persons, seed=seed)
        persons = made.persons
        series.append(published(table, made))
        fakes = made.release.height - table.height
        assert fakes == made.counterfeits["counterfeits"].sum()
    if series:
        guesses = best_guesses(series, domain)
        assert max(guesses.values()) <= 1 / m + 1e-9


def test_groups_that_are_only_diverse_do_give_values_away() -> None:
    """The same attack on a series that is 2-diverse in every release, and not invariant."""
    series: list[Published] = [
        [([0, 1], ["a", "b"]), ([2, 3], ["c", "d"])],
        [([0, 2], ["a", "c"]), ([1, 3], ["b", "d"])],
    ]
    assert max(best_guesses(series, "abcd").values()) == 1.0


def people(count: int, seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{number}" for number in range(count)],
            "age": random.integers(18, 90, count),
            "zip": random.integers(0, 100, count),
            "s": random.choice(list("abcdefgh"), count, p=[0.25, 0.2, 0.15, 0.1, 0.1, 0.1, 0.05, 0.05]),
        }
    )


def test_a_larger_series_with_insertions_and_deletions() -> None:
    town = people(1200)
    first = release_m_invariant(town[:600], quasi=["age", "zip"], sensitive="s", person_key="id", m=3)
    assert first.counterfeits["counterfeits"].sum() == 0
    second_table = town[200:900]  # 200 left, 300 came
    second = release_m_invariant(
        second_table, quasi=["age", "zip"], sensitive="s", person_key="id", m=3, before=first.persons
    )
    back = town[100:1200]  # 100 came back
    third = release_m_invariant(back, quasi=["age", "zip"], sensitive="s", person_key="id", m=3, before=second.persons)
    joined = first.persons.join(third.persons, on="id")
    assert joined.height == 600
    assert (joined["signature"] == joined["signature_right"]).all()
    for table, made in ((second_table, second), (back, third)):
        sizes = made.release.group_by("group").agg(pl.len(), pl.col("s").n_unique().alias("values"))
        assert (sizes["len"] >= 3).all()
        assert (sizes["len"] == sizes["values"]).all()
        assert made.release.height - table.height == made.counterfeits["counterfeits"].sum() < 150
    again = release_m_invariant(
        second_table, quasi=["age", "zip"], sensitive="s", person_key="id", m=3, before=first.persons
    )
    assert again.release.equals(second.release)


def test_neighbours_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def loss() -> float:
        return release_m_invariant(people(600), quasi=["age", "zip"], sensitive="s", person_key="id", m=3).loss

    near = loss()
    monkeypatch.setattr(m_invariance, "_near_each_other", lambda points: np.arange(points.shape[0]))
    assert near < 0.8 * loss()


@pytest.mark.parametrize("seed", [0, 5])
def test_group_numbers_tell_nothing_that_is_not_published(seed: int) -> None:
    table = people(400)
    made = release_m_invariant(table, quasi=["age"], sensitive="s", person_key="id", m=3, seed=seed)
    told = dict.fromkeys(made.counterfeits["group"].to_list(), 0) | dict(made.counterfeits.iter_rows())
    rows: dict[int, list[tuple[str, str]]] = {}
    for age, value, group in made.release.iter_rows():
        rows.setdefault(group, []).append((str(age), value))
    by_number = [
        (rows[group][0][0], "\x1f".join(sorted(value for _, value in rows[group])), str(told[group]))
        for group in sorted(rows)
    ]
    assert sorted(rows) == list(range(len(rows)))
    assert by_number == sorted(by_number)
    assert is_published_order(made.release)


def test_what_cannot_be_is_named() -> None:
    town = people(60)
    first = release_m_invariant(town, quasi="age", sensitive="s", person_key="id", m=2)
    changed = town.with_columns(pl.Series("s", [*town["s"].to_list()[1:], "h"]))
    with pytest.raises(InputError) as caught:
        release_m_invariant(changed, quasi="age", sensitive="s", person_key="id", m=2, before=first.persons)
    assert caught.value.reasons == ("changed-values",)
    with pytest.raises(InputError) as caught:
        release_m_invariant(pl.concat([town, town]), quasi="age", sensitive="s", person_key="id", m=2)
    assert caught.value.reasons == ("repeated-person",)
    with pytest.raises(InputError) as caught:
        release_m_invariant(town, quasi="ages", sensitive="s", person_key=(), m=1)
    assert set(caught.value.reasons) == {"unknown-column", "bad-setting", "no-person-key"}
    with pytest.raises(RequirementError):
        release_m_invariant(town, quasi="age", sensitive="s", person_key="id", m=9)


def test_the_commonest_values_go_together() -> None:
    for counts in permutations([4, 3, 2, 1]):
        left = np.array(counts, dtype=np.int64)
        groups = np.full((5, 2), -1, dtype=np.int32)
        made = commonest_together(left, 2, groups)
        assert made == 5  # nothing is left over: no value has more than half
        assert left.sum() == 0
        assert all(len(set(one)) == 2 for one in groups.tolist())


def test_from_file_to_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    town = people(120)
    for wave, table in ((1, town[:80]), (2, town[20:])):
        table.write_csv(tmp_path / f"t{wave}.csv")
        words = ["m-invariant", str(tmp_path / f"t{wave}.csv"), "-o", str(tmp_path / f"r{wave}.csv"), "-m", "3"]
        words += ["--quasi", "age,zip", "--sensitive", "s", "--person-key", "id", "--json"]
        words += ["--counterfeits", str(tmp_path / f"c{wave}.csv"), "--persons", str(tmp_path / f"p{wave}.parquet")]
        if wave == 2:
            words += ["--before", str(tmp_path / "p1.parquet")]
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0
        told = json.loads(capsys.readouterr().out)
        release = pl.read_csv(tmp_path / f"r{wave}.csv")
        assert release.columns == ["age", "zip", "s", "group"]
        assert release.height == told["records"] == table.height + told["counterfeits"]
    assert (tmp_path / "p2.parquet").stat().st_mode & 0o077 == 0  # for the holder alone
    persons = pl.read_parquet(tmp_path / "p2.parquet")
    assert persons.height == 120  # who left is remembered
    with pytest.raises(SystemExit) as left:
        main([*words[:-1], str(tmp_path / "t1.csv")])
    assert left.value.code == 2


def test_groups_are_made_of_neighbours() -> None:
    """Two towns with different diseases: each can be grouped by itself, so nobody is grouped across."""
    random = np.random.default_rng(3)
    town = np.repeat([0.0, 1.0], 300)
    shares = ([0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3])
    values = np.concatenate([random.choice(5, 300, p=share) for share in shares]).astype(np.int32)
    newcomers = np.full(600, m_invariance.NOBODY, dtype=np.int32)
    made = m_invariance.m_invariant_groups(values, newcomers, [], town[:, None], 3)
    assert made.counterfeit_group.shape[0] == 0
    for group in range(len(made.signatures)):
        members = np.flatnonzero(made.group_of_row == group)
        assert len(set(values[members].tolist())) == members.shape[0] >= 3
        assert np.ptp(town[members]) == 0.0
