"""The verdict over several releases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.releases.check import check_together
from shoal.releases.verdict import Attack

# The ten people of docs/several_releases.md.
FIRST = pl.DataFrame(
    {
        "age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3,
        "disease": ["flu", "flu", "cold", "cold", "flu", "asthma"],
    }
)
SECOND = pl.DataFrame(
    {
        "age": ["[20, 24]"] * 3 + ["[25, 34]"] * 4 + ["[35, 39]"] * 3,
        "disease": ["flu", "cold", "asthma", "flu", "flu", "cold", "asthma", "flu", "asthma", "asthma"],
    }
)


def people(count: int, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": random.integers(18, 80, count),
            "zip": random.integers(1000, 1060, count),
            "sex": random.choice(["f", "m"], count),
            "disease": random.choice(["flu", "cold", "asthma"], count),
        }
    )


def test_the_ten_people_of_the_documentation() -> None:
    verdict = check_together([FIRST, SECOND], "age", 3, "disease")
    assert [(check.attack.value, check.smallest_anonymity, check.classes_below, check.persons_below)
            for check in verdict.checks] == [("F", 2, 2, 6), ("C", 2, 3, 10), ("B", 2, 2, 7)]  # fmt: skip
    assert verdict.exact
    assert not verdict.passed
    assert check_together([FIRST, SECOND], "age", 3).passed  # without the diseases there is room for everybody


def test_two_independent_releases_of_the_same_people_fail_together() -> None:
    table = people(300)
    quasi = ["age", "zip", "sex"]
    one = shoal.anonymize(table, keep_rest=True, quasi=quasi, k=10, sensitive=["disease"], seed=1).release
    other = shoal.anonymize(
        table, keep_rest=True, quasi=quasi[::-1], k=10, sensitive=["disease"], algorithm="mondrian"
    ).release
    alone = one.group_by(quasi).len()["len"].min(), other.group_by(quasi).len()["len"].min()
    assert min(alone) >= 10
    verdict = check_together([one, other], quasi, 10, "disease", setting="same")
    assert not verdict.passed
    assert verdict.smallest_anonymity is not None
    assert verdict.smallest_anonymity < 10
    in_order = check_together([one, other], quasi, 10, setting="same", same_order=True)
    assert not in_order.passed
    assert in_order.attack is Attack.SAME_ORDER
    real = check_together([one, other], quasi, 10, "disease", setting="same", rows_known=True)
    assert not real.passed
    assert real.checks[0].persons_below == real.checks[1].persons_below <= 300
    assert real.smallest_anonymity >= verdict.smallest_anonymity
    # The same release twice tells nothing new of anybody in it, even though its classes overlap.
    twice = check_together([one, one], quasi, 10, "disease", setting="same", rows_known=True)
    assert twice.passed
    assert twice.smallest_anonymity == one.group_by(quasi).len()["len"].min()


def test_different_seeds_are_independent_releases_too() -> None:
    table = people(200, seed=5)
    quasi = ["age", "zip", "sex"]
    one, other = (shoal.anonymize(table, keep_rest=True, quasi=quasi, k=10, seed=seed).release for seed in (1, 2))
    assert not one.select(quasi).equals(other.select(quasi))
    assert not check_together([one, other], quasi, 10, setting="same", same_order=True).passed
    by_flow = check_together([one, other], quasi, 10, setting="same", rows_known=True)
    assert not by_flow.passed


def test_joint_classes_of_releases_in_the_same_order() -> None:
    one = pl.DataFrame({"x": ["[0, 4]"] * 3 + ["[5, 9]"] * 3})
    other = pl.DataFrame({"x": ["[0, 3]"] * 2 + ["[4, 9]"] * 4})
    (check,) = check_together([one, other, one], "x", 2, setting="same", same_order=True).checks
    assert (check.smallest_anonymity, check.classes_below, check.persons_below) == (1, 1, 1)
    assert check.releases == (1, 2, 3)


def by_definition(frames: list[pl.DataFrame], key: str) -> dict[object, int]:
    """For every person how many came, left and went through all classes with them."""
    everybody = sorted({one for frame in frames for one in frame[key]})
    paths = {}
    for one in everybody:
        rows = [frame.filter(pl.col(key) == one).drop(key) for frame in frames]
        paths[one] = tuple(tuple(row.row(0)) if row.height else None for row in rows)
    return {one: sum(other == path for other in paths.values()) for one, path in paths.items()}


@pytest.mark.parametrize("seed", range(20))
def test_releases_joined_by_a_key(seed: int) -> None:
    random = np.random.default_rng(seed)
    frames = []
    for _ in range(int(random.integers(2, 5))):
        there = np.flatnonzero(random.random(12) < 0.8)
        width = int(random.integers(2, 7))
        ages = (there * 3 % 10) // width * width
        frames.append(pl.DataFrame({"age": [f"[{low}, {low + width - 1}]" for low in ages.tolist()], "id": there}))
    expected = by_definition(frames, "id")
    shuffled = [frame.sample(fraction=1, shuffle=True, seed=seed) for frame in frames]
    verdict = check_together(shuffled, "age", 2, setting="moving", join_key="id")
    (check,) = verdict.checks
    assert check.attack is Attack.SAME_KEY
    assert check.smallest_anonymity == min(expected.values())
    assert check.persons_below == sum(count < 2 for count in expected.values())
    assert verdict.passed == (check.persons_below == 0)
    assert verdict.exact
    assert [one.attack.value for one in verdict.without_joining[:3]] == ["F", "C", "B"]
    for one in verdict.without_joining:  # who cannot join records never learns more of a person that there is
        assert one.smallest_anonymity is None or one.smallest_anonymity >= 1


def test_newcomers_follow_in_the_same_order_and_diversity_counts() -> None:
    one = pl.DataFrame({"x": ["[0, 9]"] * 4, "s": ["p", "p", "q", "q"]})
    other = pl.DataFrame({"x": ["[0, 4]", "[0, 4]", "[5, 9]", "[5, 9]", "*", "*"], "s": [*"ppqqpq"]})
    plain = check_together([one, other], "x", 2, "s", same_order=True)
    assert (plain.passed, plain.smallest_anonymity) == (True, 2)
    diverse = check_together([one, other], "x", 2, "s", same_order=True, models=[shoal.LDiversity(2, "s")])
    assert not diverse.passed
    assert diverse.checks[0].classes_alike == 2


def test_a_key_must_tell_persons_apart() -> None:
    frame = FIRST.with_columns(pl.Series("id", [1, 1, 2, 3, 4, 5]))
    with pytest.raises(InputError) as caught:
        check_together([frame, frame], "age", 3, setting="same", join_key="id")
    assert caught.value.reasons == ("repeated-person", "repeated-person")
    with pytest.raises(InputError) as caught:
        check_together([frame, frame], "age", 3, setting="same", join_key="age")
    assert caught.value.reasons == ("two-roles",)
    with pytest.raises(InputError) as caught:
        check_together([frame, FIRST], "age", 3, join_key="id")
    assert caught.value.reasons == ("unknown-column",)


def test_more_releases_never_raise_the_anonymity() -> None:
    random = np.random.default_rng(2)
    ages = random.integers(0, 30, 60)
    frames = [
        pl.DataFrame({"x": [f"[{age // width * width}, {age // width * width + width - 1}]" for age in ages.tolist()]})
        for width in (10, 15, 6, 4)
    ]
    for same_order in (False, True):
        found = [
            check_together(frames[:count], "x", 3, setting="same", same_order=same_order).smallest_anonymity
            for count in (2, 3, 4)
        ]
        assert found == sorted(found, reverse=True)
    assert not check_together(frames, "x", 3, setting="same").exact


def test_versions_of_one_table_have_no_newcomers() -> None:
    verdict = check_together([FIRST, FIRST], "age", 3, setting="same")
    backward = next(check for check in verdict.checks if check.attack is Attack.BACKWARD)
    assert backward.smallest_anonymity is None
    assert backward.passed


def test_people_who_are_there_are_counted_one_by_one() -> None:
    order = [0, 3, 1, 5, 7, 6, 2, 4, 8, 9]  # the first six rows are the people of the first release
    verdict = check_together([FIRST, SECOND[order]], "age", 3, "disease", rows_known=True)
    found = [(check.smallest_anonymity, check.classes_below, check.persons_below) for check in verdict.checks]
    # Three in ([20, 29], [20, 24]) or ([20, 29], [25, 34]) and one in ([30, 39], [35, 39]) have two candidates.
    assert found == [(2, 2, 4), (2, 3, 4), (2, 2, 2)]


def test_rows_that_cannot_be_the_same_person_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        check_together([FIRST, SECOND[::-1]], "age", 3, "disease", rows_known=True)
    assert caught.value.reasons == ("rows-do-not-fit",)


def test_nothing_of_the_data_is_in_the_verdict() -> None:
    verdict = check_together([FIRST, SECOND], "age", 3, "disease")
    said = f"{verdict} {verdict.as_dict()}"
    assert "fails" in said
    for value in ("flu", "cold", "asthma", "[20", "[35"):
        assert value not in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (([FIRST], "age", 3), "too-few-releases"),
        (([FIRST, SECOND], "ages", 3), "unknown-column"),
        (([FIRST, SECOND], "age", 3, "illness"), "unknown-column"),
        (([FIRST, SECOND], [], 3), "no-quasi-identifier"),
        (([FIRST, SECOND], "age", 0), "bad-setting"),
        (([SECOND, FIRST], "age", 3), "shrinking"),
    ],
)
def test_bad_calls_are_named(arguments: tuple, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        check_together(*arguments)
    assert reason in caught.value.reasons


@pytest.mark.parametrize(
    ("frames", "settings", "reason"),
    [
        ([FIRST, SECOND], {"setting": "same"}, "different-lengths"),
        ([FIRST, FIRST], {"same_order": True, "setting": "moving"}, "bad-setting"),
        ([FIRST, FIRST], {"same_order": True, "join_key": "disease"}, "bad-setting"),
        ([FIRST, FIRST], {"setting": "shrinking"}, "bad-setting"),
    ],
)
def test_bad_settings_are_named(frames: list[pl.DataFrame], settings: dict, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        check_together(frames, "age", 3, **settings)
    assert reason in caught.value.reasons
