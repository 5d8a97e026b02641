"""What releases give away together, measured: against every possible world, one by one, and on independent releases."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.errors import InputError
from shoal.releases.domains import domains_of_releases
from shoal.releases.exposure import Measuring, measure_together
from shoal.reports.language import UNTOLD, speaking
from shoal.reports.together import together_section

QUASI = ["age", "zip"]


def people(count: int, seed: int = 2) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": random.integers(18, 70, count),
            "zip": random.integers(0, 50, count),
            "disease": random.choice(["flu", "cold", "gout"], count),
        }
    )


def left_by_definition(first: list[tuple], second: list[tuple]) -> list[int]:
    """For every person of the second release the most records of the own pair (or class) in any world."""
    old, everybody = len(first), len(second)

    def fit(one: tuple, other: tuple) -> bool:
        return one[0][0] <= other[0][1] and other[0][0] <= one[0][1] and one[1] == other[1]

    pairs: dict[tuple, int] = defaultdict(int)
    newcomers: dict[object, int] = defaultdict(int)
    for chosen in permutations(range(everybody), old):
        if all(fit(first[i], second[j]) for i, j in enumerate(chosen)):
            counted: dict[tuple, int] = defaultdict(int)
            for i, j in enumerate(chosen):
                counted[first[i][0], second[j][0]] += 1
            for key, number in counted.items():
                pairs[key] = max(pairs[key], number)
            rest: dict[object, int] = defaultdict(int)
            for j in set(range(everybody)) - set(chosen):
                rest[second[j][0]] += 1
            for box, number in rest.items():
                newcomers[box] = max(newcomers[box], number)
    size = [sum(one[0] == other[0] for other in second) for one in second]
    return [
        min(size[i], pairs[first[i][0], second[i][0]] if i < old else newcomers[second[i][0]]) for i in range(everybody)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_candidates_are_those_of_all_possible_worlds(seed: int) -> None:
    random = np.random.default_rng(seed)
    ages = sorted(random.choice(30, 6, replace=False).tolist())  # all different, and so found again for certain
    random.shuffle(ages)
    secrets = random.choice(["p", "q"], 6).tolist()
    boxes = []
    for cuts in ([0, 10, 20, 30], [0, 7, 16, 30]):
        low = [max(cut for cut in cuts if cut <= age) for age in ages]
        boxes.append([(start, cuts[cuts.index(start) + 1] - 1) for start in low])
    frames = [
        pl.DataFrame({"x": [f"[{a}, {b}]" for a, b in box], "s": secrets})[:count]
        for box, count in zip(boxes, (4, 6), strict=True)
    ]
    original = pl.DataFrame({"x": [str(age) for age in ages], "s": secrets})
    domains = domains_of_releases([*frames, original], ["x"])
    how = Measuring(["x"], ["s"], domains, k=2, secrets=["s"], earlier_original=original[:4])
    found = measure_together(original, frames, how)
    first, second = ([*zip(box, secrets, strict=True)] for box in boxes)
    left = left_by_definition(first[:4], second)
    assert found["after"]["fewest"] == min(left)
    assert found["after"]["pinned_down"] == left.count(1)
    assert found["after"]["below_k"] == sum(number < 2 for number in left)
    assert found["after"]["average_risk"] == pytest.approx(sum(1 / number for number in left) / 6)
    assert sum(row["after"] for row in found["distribution"]) == found["persons"] == 6
    assert found["newcomers"] == [2]


def releases(algorithm: str = "mondrian") -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    table = people(400)
    first = shoal.anonymize(table[:300], quasi=QUASI, sensitive=["disease"], k=10, effort="low").release
    second = shoal.anonymize(table, quasi=QUASI, sensitive=["disease"], k=10, algorithm=algorithm).release
    return table, first, second


def test_the_attack_does_what_the_numbers_say() -> None:
    table, first, second = releases()
    domains = domains_of_releases([first, second, table], QUASI)
    seeds = [
        measure_together(
            table,
            [first, second],
            Measuring(QUASI, ["disease"], domains, k=10, secrets=["disease"], earlier_original=table[:300], seed=seed),
        )
        for seed in range(8)
    ]
    found = seeds[0]
    assert found["before"]["below_k"] == 0
    assert found["after"]["below_k"] > 100
    for when in ("before", "after"):  # a right draw is as likely as one over the candidates
        expected = found[when]["average_risk"] * found["persons"]
        drawn = np.mean([one["attack"][when]["drawn_right"] for one in seeds])
        assert abs(drawn - expected) < 4 * np.sqrt(expected / len(seeds))
    guessed = [found["attack"][when]["secrets"][0]["guessed_right"] for when in ("before", "after")]
    assert guessed[1] > guessed[0] > 1 / 3
    for part in found["attributes"]:
        assert part["joined"] <= min(part["loss"])
        assert sum(part["given_away_by"]) <= 1 + 1e-9
    assert found["attributes"][0]["given_away_by"][0] > 0


def test_the_same_release_again_gives_nothing_away() -> None:
    table, first, _ = releases()
    domains = domains_of_releases([first, table], QUASI)
    how = Measuring(QUASI, ["disease"], domains, k=10)
    found = measure_together(table[:300], [first, first], how)
    assert found["before"] == found["after"]
    assert all(part["given_away_by"] == [0.0, 0.0] for part in found["attributes"])
    with pytest.raises(InputError):
        measure_together(table[:200], [first, first], how)


def test_on_the_command_line_and_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, first, second = releases()
    for name, frame in (("t1", table[:300]), ("t2", table), ("r1", first), ("r2", second)):
        frame.write_csv(tmp_path / f"{name}.csv")
    words = ["evaluate", "t2.csv", "r2.csv", "--with", "r1.csv", "--with-original", "t1.csv", "--quasi", "age,zip"]
    words = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    words += ["--sensitive", "disease", "-k", "10", "--report", str(tmp_path / "report.html"), "-q"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--json"])
    assert left.value.code == 0
    found = json.loads(capsys.readouterr().out)["together"]
    assert found["after"]["below_k"] > 100
    html = (tmp_path / "report.html").read_text()
    assert "Together with earlier releases" in html
    assert "Which release gives an attribute away" in html
    UNTOLD.clear()
    with speaking("de"):
        assert "Zusammen mit früheren Freigaben" in together_section({"together": found})
    source = Path(together_section.__code__.co_filename).read_text()
    assert [text for text in UNTOLD if text in source] == []
    with pytest.raises(SystemExit):
        main(words)
    assert "Joined with earlier releases, 400 persons" in capsys.readouterr().out


def test_in_python_and_joined_by_a_key() -> None:
    table, first, second = releases()
    ids = pl.Series("id", np.random.default_rng(7).permutation(400))
    first, second = first.with_columns(ids[:300]), second.with_columns(ids)
    told = shoal.evaluate(
        table.with_columns(ids),
        second[::-1],
        quasi=QUASI,
        sensitive=["disease"],
        k=10,
        earlier=[first],
        earlier_original=table[:300],
        join_key="id",
    ).together
    assert told is not None
    plain = shoal.evaluate(
        table, second, quasi=QUASI, sensitive=["disease"], k=10, earlier=[first], earlier_original=table[:300]
    )
    assert plain.together is not None
    assert plain.together["by_key"] is None
    assert told["after"] == plain.together["after"]  # who does not use the key learns what the flows tell
    joint = pl.concat(
        [first.select(pl.all().name.prefix("earlier ")), pl.DataFrame({"earlier age": [None] * 100})],
        how="diagonal_relaxed",
    ).hstack(second)
    sizes = joint.select(pl.len().over("earlier age", "earlier zip", *QUASI))["len"]
    by_key = told["by_key"]["candidates"]
    assert by_key["fewest"] == sizes.min()
    assert by_key["below_k"] == (sizes < 10).sum() > told["after"]["below_k"]
    assert told["by_key"]["attack"]["drawn_right"] > told["attack"]["after"]["drawn_right"]


@pytest.mark.parametrize("seed", range(3))
def test_what_holds_by_the_check_is_measured_to_hold(seed: int) -> None:
    """People are told by their values alone, in the check and in the measure: both find k candidates for everybody."""
    random = np.random.default_rng([seed, 61])
    table = pl.DataFrame(
        {
            "age": random.integers(18, 80, 260),
            "zip": random.integers(0, 40, 260),
            "s": random.choice(["flu", "cold"], 260),
        }
    )
    roles: dict[str, object] = {"quasi": ["age", "zip"], "sensitive": ["s"], "k": 5, "algorithm": "mondrian"}
    first = shoal.anonymize(table[:150], **roles)
    second = shoal.anonymize(table, earlier=[first.release], earlier_original=table[:150], **roles)
    plain = shoal.anonymize(table, **roles)
    below = {}
    for name, made in (("together", second), ("alone", plain)):
        frames = [first.release, made.release]
        how = Measuring(
            ["age", "zip"],
            ["s"],
            domains_of_releases(frames, ["age", "zip"]),
            k=5,
            secrets=["s"],
            earlier_original=table[:150],
        )
        below[name] = measure_together(table, frames, how)["after"]["below_k"]
        assert shoal.verify(made.release, quasi=["age", "zip"], k=5, earlier=frames[:1]).passed is (name == "together")
    assert below["together"] == 0
    assert below["alone"] > 0
