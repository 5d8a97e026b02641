"""What is passed over, and what holds of three releases at once, against every possible world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity, RecursiveCLDiversity
from shoal.releases.check import check_together
from shoal.releases.classes import read_classes
from shoal.releases.diversity import diverse, histograms
from shoal.releases.domains import domains_of_releases
from shoal.releases.judging import Needed, judge_newcomers
from shoal.releases.verdict import Attack
from shoal.releases.worlds import make_worlds
from shoal.testing.small_releases import NUMBERS, WORDS, Small, draw_pair, draw_release

QUASI = ["x", "y"]


def all_worlds(earlier: Small, later: Small) -> Iterator[tuple[int, ...]]:
    """Every choice of another later record that fits for every earlier one."""
    fits = [
        [
            number
            for number, (other, t) in enumerate(zip(later.sets, later.secrets, strict=True))
            if s == t and all(a & b for a, b in zip(box, other, strict=True))
        ]
        for box, s in zip(earlier.sets, earlier.secrets, strict=True)
    ]
    for chosen in product(*fits):
        if len(set(chosen)) == len(chosen):
            yield chosen


def at_points(earlier: Small, later: Small) -> tuple[dict[object, int], dict[object, int]]:
    """By definition: for every point the most old and the most new records that fit it in both releases."""
    old: dict[object, int] = {}
    new: dict[object, int] = {}
    worlds = list(all_worlds(earlier, later))
    for point in product(NUMBERS[:3], WORDS[:2]):
        mine = [all(value in cell for value, cell in zip(point, box, strict=True)) for box in earlier.sets]
        theirs = [all(value in cell for value, cell in zip(point, box, strict=True)) for box in later.sets]
        for world in worlds:
            here = sum(a and theirs[other] for a, other in zip(mine, world, strict=True))
            old[point] = max(old.get(point, 0), here)
            came = sum(theirs[other] for other in set(range(len(theirs))) - set(world))
            new[point] = max(new.get(point, 0), came)
    return old, new


def sampled(seed: int, count: int) -> Iterator[tuple[Small, Small]]:
    random = np.random.default_rng(seed)
    for _ in range(count):
        yield draw_pair(random)


def crowded(seed: int, count: int) -> Iterator[tuple[Small, Small]]:
    """Few boxes and one or two secrets, so that many pairs hold; often the later release keeps the earlier boxes."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        people = [
            (int(random.integers(3)), str(random.choice(list("ab"))), str(random.choice(list("pq"), p=[0.8, 0.2])))
            for _ in range(6)
        ]
        earlier = draw_release(random, people[:4], int(random.integers(1, 3)))
        later = draw_release(random, people, int(random.integers(1, 3)))
        if random.random() < 0.5:
            new = draw_release(random, people[4:], 1)
            frame = pl.concat([earlier.frame, new.frame])
            later = Small(frame, earlier.keys + new.keys, earlier.sets + new.sets, earlier.secrets + new.secrets)
        yield earlier, later


def test_what_is_passed_over_never_overstates_the_anonymity_of_a_point() -> None:
    held = overlapping = 0
    for earlier, later in crowded(11, 80):
        frames = [earlier.frame, later.frame]
        loose = check_together(frames, QUASI, 2, "s")
        strict = check_together(frames, QUASI, 2, "s", strict=True)
        old, new = at_points(earlier, later)
        lowest = min((count for count in old.values() if count), default=None)
        if loose.checks[0].passed:
            held += 1
            assert lowest is None or lowest >= 2
        if strict.checks[0].passed:
            assert loose.checks[0].passed
        overlapping += loose.checks[0].passed != strict.checks[0].passed
        if strict.checks[2].passed:
            assert all(count == 0 or count >= 2 for count in new.values())
    assert held > 10
    assert overlapping > 0


def test_newcomers_who_are_there_in_every_world() -> None:
    seen = Counter[bool]()
    for earlier, later in sampled(12, 80):
        frames = [earlier.frame, later.frame]
        classes = read_classes(frames, QUASI, domains_of_releases(frames, QUASI), ["s"])
        worlds = make_worlds(*classes)
        judged = judge_newcomers(worlds, Needed(2))
        bad = [bool(judged.bad[number]) for number in classes[1].class_of_row.tolist()]
        fewest = min(
            sum(bad[other] for other in set(range(len(bad))) - set(world)) for world in all_worlds(earlier, later)
        )
        assert worlds.surely_new(judged.bad) == fewest
        seen[fewest > 0] += 1
    assert min(seen[True], seen[False]) > 5


def test_people_who_may_have_left_exclude_nothing() -> None:
    for earlier, later in sampled(13, 60):
        frames = [later.frame, earlier.frame]  # fewer people than before
        moving = check_together(frames, QUASI, 2, "s", setting="moving", strict=True)
        cells = [Counter(zip(table.keys, table.secrets, strict=True)) for table in (later, earlier)]
        boxes = [dict(zip(table.keys, table.sets, strict=True)) for table in (later, earlier)]
        best: Counter[object] = Counter()
        for (g, s), count in cells[0].items():
            for (h, t), other in cells[1].items():
                if s == t and all(a & b for a, b in zip(boxes[0][g], boxes[1][h], strict=True)):
                    best[g, h] += min(count, other)
        assert moving.checks[0].smallest_anonymity == min(best.values())


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_three_holds_in_a_world_of_all_three(seed: int) -> None:
    """Where all is said to hold, some world of the three tables has k companions for everybody in every table."""
    random = np.random.default_rng([seed, 77])
    proven = 0
    for _ in range(40):
        people = [(int(random.integers(3)), str(random.choice(list("ab"))), "p") for _ in range(4)]
        tables = [draw_release(random, people, int(random.integers(1, 3)))]
        for _ in range(2):
            again = draw_release(random, people, int(random.integers(1, 3)))
            tables.append(again if random.random() < 0.3 else tables[-1])
        verdict = check_together([table.frame for table in tables], QUASI, 2, "s", setting="same")
        if not (verdict.exact and verdict.passed):
            continue
        proven += 1
        joint = max(
            min(Counter(zip(tables[0].keys, one, other, strict=True)).values())
            for first in all_worlds(tables[0], tables[1])
            for one in [tuple(tables[1].keys[i] for i in first)]
            for second in all_worlds(tables[1], tables[2])
            for other in [tuple(tables[2].keys[second[i]] for i in first)]
        )
        assert joint >= 2
    assert proven > 0


def test_diversity_of_what_is_left() -> None:
    group, value = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 0])
    left = histograms(group, value, np.array([2, 1, 1, 2, 3]), 3)  # 2, 1, 1 / 5 / nothing
    assert diverse(DistinctLDiversity(2, "s"), left).tolist() == [True, False, False]
    assert diverse(LDiversity(2, "s"), left).tolist() == [True, False, False]
    assert diverse(LDiversity(2.1, "s"), left).tolist() == [False, False, False]
    assert diverse(EntropyLDiversity(2.8, "s"), left).tolist() == [True, False, False]  # exp(1.04) = 2.83
    assert diverse(EntropyLDiversity(2.9, "s"), left).tolist() == [False, False, False]
    assert diverse(RecursiveCLDiversity(1.1, 2, "s"), left).tolist() == [True, False, False]  # 2 < 1.1 * 2
    assert diverse(RecursiveCLDiversity(1.0, 2, "s"), left).tolist() == [False, False, False]


def test_two_candidates_who_say_the_same_are_not_diverse() -> None:
    first = pl.DataFrame({"age": ["[20, 29]"] * 4, "s": ["flu", "flu", "cold", "cold"]})
    second = pl.DataFrame({"age": ["[20, 24]"] * 2 + ["[25, 29]"] * 2, "s": ["flu", "flu", "cold", "cold"]})
    model = DistinctLDiversity(2, "s")
    assert check_together([first, second], "age", 2, "s", setting="same").passed
    verdict = check_together([first, second], "age", 2, "s", setting="same", models=[model])
    assert not verdict.passed
    assert [check.classes_alike for check in verdict.checks[:2]] == [1, 2]
    assert verdict.diversities == ("distinct-l:s:2",)
    with pytest.raises(InputError, match="sensitive and steady"):
        check_together([first, second], "age", 2, models=[model])


def test_columns_that_change_are_not_used() -> None:
    first = pl.DataFrame({"age": ["[20, 29]"] * 4, "s": ["flu", "flu", "cold", "cold"]})
    second = pl.DataFrame({"age": ["[30, 39]"] * 4, "s": ["flu", "cold", "cold", "cold"]})
    with pytest.raises(InputError, match="cannot be in the later one"):
        check_together([first, second], "age", 2, "s", setting="same")
    verdict = check_together([first, second], "age", 2, "s", setting="same", changing=["age", "s"])
    assert verdict.smallest_anonymity == 4
    assert verdict.changing == ("age", "s")


def test_numbers_with_a_hierarchy_are_read_as_ranges_too() -> None:
    """Ranges of a column with a hierarchy of numbers are no unknown labels, which would hide a crack."""
    from shoal.hierarchies.spec import make_hierarchy

    tree = make_hierarchy({"builder": "ranges", "width": 10}, [str(age) for age in range(20, 40)], "age")
    first = pl.DataFrame({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3})
    second = pl.DataFrame({"age": ["[20, 24]"] * 2 + ["[25, 34]"] * 2 + ["[35, 39]"] * 2})
    verdict = check_together([first, second], "age", 2, setting="same", hierarchies={"age": tree})
    assert verdict.unreadable_cells == 0
    assert verdict.smallest_anonymity == 1
    assert verdict.attack is Attack.FORWARD
