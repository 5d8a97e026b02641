"""What is accepted is safe: with searches given up, with mixed candidates, with newcomers who are there."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity
from shoal.released.domain import Domain
from shoal.releases import judging
from shoal.releases.check import check_newest, check_together
from shoal.releases.domains import domains_of_releases
from shoal.releases.judging import Needed
from shoal.releases.reading_together import ReadTogether
from shoal.testing.small_releases import draw_pair

QUASI = ["x", "y"]


def stacked(random: np.random.Generator, pairs: int) -> list[pl.DataFrame]:
    """Many small pairs side by side, each with people of its own."""
    drawn = [draw_pair(random) for _ in range(pairs)]
    return [
        pl.concat([pair[side].frame.with_columns(pair=pl.lit(str(number))) for number, pair in enumerate(drawn)])
        for side in (0, 1)
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("models", [[], [DistinctLDiversity(2, "s")]], ids=["k", "diverse"])
def test_a_search_that_is_given_up_never_lets_more_through(
    seed: int, models: list[DistinctLDiversity], monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = stacked(np.random.default_rng([seed, 41]), 3)
    for strict in (True, False):
        settings: dict[str, object] = {"models": models, "strict": strict}
        with monkeypatch.context() as patch:
            patch.setattr(judging, "LARGE", 0)
            patch.setattr(judging, "REACH", seed % 3)
            patch.setattr(judging, "LAST", 0)
            hurried = check_together(frames, ["pair", *QUASI], 2, "s", **settings)
        whole = check_together(frames, ["pair", *QUASI], 2, "s", **settings)
        for quick, exact in zip(hurried.checks, whole.checks, strict=True):
            assert exact.passed or not quick.passed
            assert quick.classes_below + quick.classes_alike >= exact.classes_below + exact.classes_alike


def test_candidates_of_two_pairs_together_are_less_diverse_than_those_of_one() -> None:
    """Who is 4 or 5 may be in either class of the first release: two flu, two a cold, and two more flu."""
    first = pl.DataFrame(
        {"x": ["[0, 5]"] * 4 + ["[4, 9]"] * 7, "s": ["flu", "flu", "cold", "cold", *["flu"] * 4, *["cold"] * 3]}
    )
    second = pl.DataFrame(
        {"x": ["[0, 5]"] * 7 + ["[6, 9]"] * 5, "s": [*["flu"] * 4, "cold", "cold", "gout", *["flu"] * 2, *["cold"] * 3]}
    )
    expected = {LDiversity(1.5, "s"): True, LDiversity(1.6, "s"): False, EntropyLDiversity(1.5, "s"): False}
    for model, holds in expected.items():
        assert all(shoal.verify(one, quasi=["x"], k=2, models=[model]).passed for one in (first, second))
        forward = check_together([first, second], "x", 2, "s", models=[model]).checks[0]
        assert forward.passed is holds
    distinct = check_together([first, second], "x", 2, "s", models=[DistinctLDiversity(2, "s")])
    assert distinct.checks[0].classes_alike == 0


Classes = dict[tuple[int, int], Counter[str]]  # per range of ages how many records of each value


def drawn(random: np.random.Generator) -> tuple[Classes, Classes]:
    """Two overlapping classes of old people, cut elsewhere in the later release, which has a few newcomers."""
    cut = int(random.integers(2, 6))
    boxes = [(0, cut + 1), (cut, 9)]
    later_boxes = [(0, cut + 1), (cut + 2, 9)]
    first: Classes = {box: Counter({value: int(random.integers(0, 5)) for value in "pqr"}) for box in boxes}
    second: Classes = {box: Counter({"r": int(random.integers(0, 2))}) for box in later_boxes}
    second[later_boxes[0]].update(first[boxes[0]])
    for value, count in first[boxes[1]].items():
        near = int(random.integers(0, count + 1))
        second[later_boxes[0]][value] += near
        second[later_boxes[1]][value] += count - near
    return first, second


def as_frame(classes: Classes) -> pl.DataFrame:
    rows = [(f"[{low}, {high}]", value) for (low, high), counts in classes.items() for value in counts.elements()]
    return pl.DataFrame(rows, schema=["x", "s"], orient="row")


def at_age(age: int, first: Classes, second: Classes) -> Counter[str]:
    """By definition: of every value the most records of the first release that fit the age in both, in any world.

    Records of a class with one value are alike, so a world is how many of them go from class to class.
    """
    most: Counter[str] = Counter()
    routes = [(g, h) for g in first for h in second]
    for value in "pqr":
        reach = [min(first[g][value], second[h][value]) if g[0] <= h[1] and h[0] <= g[1] else 0 for g, h in routes]
        for amounts in product(*(range(count + 1) for count in reach)):
            sent, taken = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
            for (g, h), amount in zip(routes, amounts, strict=True):
                sent[g] += amount
                taken[h] += amount
            if any(sent[g] != first[g][value] for g in first) or any(taken[h] > second[h][value] for h in second):
                continue
            here = sum(
                amount
                for (g, h), amount in zip(routes, amounts, strict=True)
                if g[0] <= age <= g[1] and h[0] <= age <= h[1]
            )
            most[value] = max(most[value], here)
    return most


def test_shares_of_values_at_every_age_against_all_possible_worlds() -> None:
    random = np.random.default_rng(8)
    held = refused = passed_over = 0
    for _ in range(150):
        first, second = drawn(random)
        frames = [as_frame(first), as_frame(second)]
        verdict = check_together(frames, "x", 2, "s", models=[LDiversity(1.6, "s")])
        if not verdict.checks[0].passed:
            refused += 1
            continue
        held += 1
        strict = check_together(frames, "x", 2, "s", models=[LDiversity(1.6, "s")], strict=True)
        passed_over += not strict.checks[0].passed
        for age in range(10):
            most = at_age(age, first, second)
            total = sum(most.values())
            assert total == 0 or (total >= 2 and 1.6 * max(most.values()) <= total + 1e-9)
    assert held > 5
    assert refused > 5
    assert passed_over > 0


def reading(frames: list[pl.DataFrame], k: int) -> ReadTogether:
    domains: dict[str, Domain] = domains_of_releases(frames, ["x"])
    return ReadTogether(["x"], ["s"], domains, Needed(k))


def test_newcomers_who_are_known_to_be_there_count() -> None:
    """Three newcomers could all be in the large class; that one of them is in the small one only the holder knows."""
    first = pl.DataFrame({"x": ["[0, 4]"] * 3 + ["[5, 9]"] * 3, "s": ["p"] * 6})
    second = pl.DataFrame({"x": ["[0, 3]"] * 1 + ["[0, 9]"] * 8, "s": ["p"] * 9})
    frames = [first, second]
    unknown = check_newest(frames, reading(frames, 3))
    backward = [check for check in unknown.checks if check.attack.value == "B"]
    assert [check.passed for check in backward] == [True]
    there = pl.DataFrame({"x": ["[0, 3]", "[0, 9]"]})
    known = check_newest(frames, reading(frames, 3), newcomers=there)
    assert [check.passed for check in known.checks if check.attack.value == "B"] == [True]  # they fit [0, 9] as well
    second = pl.DataFrame({"x": ["[0, 3]"] * 1 + ["[2, 9]"] * 8, "s": ["p"] * 9})
    frames = [first, second]
    assert check_newest(frames, reading(frames, 3)).checks[2].passed
    assert not check_newest(frames, reading(frames, 3), newcomers=there.head(1)).checks[2].passed
    assert not check_newest(frames, reading(frames, 3), newcomers=pl.DataFrame({"x": ["elsewhere"]})).checks[2].passed


def test_cells_that_cannot_be_read_let_nothing_hold() -> None:
    from shoal.hierarchies.spec import make_hierarchy

    tree = make_hierarchy({"*": {"Germany": ["Bonn", "Ulm"], "Italy": ["Rom"]}}, [], "city")
    first = pl.DataFrame({"city": ["Germany"] * 3 + ["Atlantis"] * 3})
    second = pl.DataFrame({"city": ["Bonn"] * 3 + ["Rom"] * 3})
    verdict = check_together([first, second], "city", 2, setting="same", hierarchies={"city": tree})
    assert verdict.unreadable_cells == 3
    assert all(check.passed for check in verdict.checks)
    assert not verdict.passed
    assert "3 cells cannot be read" in str(verdict)
    assert check_together([first, first], "city", 2, setting="same").taken_as_values == ("city",)
