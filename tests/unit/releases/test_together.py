"""The flow answer against every possible world, one by one."""

from __future__ import annotations

import os
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.releases.classes import ReleaseClasses, pairs_that_fit, read_classes
from shoal.releases.domains import domains_of_releases
from shoal.releases.together import Together, look_together
from shoal.testing.small_releases import Small, draw_pair

PAIRS = int(os.environ.get("SHOAL_SERIES", "750"))  # small series for each of eight cases; more for a long search


def enumerate_worlds(
    earlier: Small, later: Small, *, secret: bool
) -> tuple[dict[tuple[object, object], int], dict[object, int]]:
    """By definition: the most records of a pair of boxes in any world, and the most newcomers of a box."""
    pairs: dict[tuple[object, object], int] = defaultdict(int)
    newcomers: dict[object, int] = defaultdict(int)
    fits = [
        [
            all(a & b for a, b in zip(box, other, strict=True)) and (not secret or s == t)
            for other, t in zip(later.sets, later.secrets, strict=True)
        ]
        for box, s in zip(earlier.sets, earlier.secrets, strict=True)
    ]
    old, everyone = len(earlier.sets), len(later.sets)
    chosen: list[int] = []

    def go() -> None:
        if len(chosen) == old:
            counted: dict[tuple[object, object], int] = defaultdict(int)
            for record, other in enumerate(chosen):
                counted[earlier.keys[record], later.keys[other]] += 1
            for pair, count in counted.items():
                pairs[pair] = max(pairs[pair], count)
            left: dict[object, int] = defaultdict(int)
            for other in set(range(everyone)) - set(chosen):
                left[later.keys[other]] += 1
            for box, count in left.items():
                newcomers[box] = max(newcomers[box], count)
            return
        for other in range(everyone):
            if other not in chosen and fits[len(chosen)][other]:
                chosen.append(other)
                go()
                chosen.pop()

    go()
    return dict(pairs), dict(newcomers)


def stack(tables: list[Small]) -> pl.DataFrame:
    """Many small releases as one table; a column tells them apart, so that each is a world of its own."""
    return pl.concat(
        [table.frame.with_columns(pl.lit(str(number)).alias("pair")) for number, table in enumerate(tables)]
    )


def look(pairs: list[tuple[Small, Small]], *, secret: bool) -> tuple[Together, list[ReleaseClasses]]:
    frames = [stack([earlier for earlier, _ in pairs]), stack([later for _, later in pairs])]
    quasi = ["pair", "x", "y"]
    classes = read_classes(frames, quasi, domains_of_releases(frames, quasi), ["s"] if secret else [])
    return look_together(*classes), classes


def keys_of(tables: list[Small], classes: ReleaseClasses) -> dict[int, tuple[object, ...]]:
    """What is written in each class."""
    written = [(number, *key) for number, table in enumerate(tables) for key in table.keys]
    return dict(zip(classes.class_of_row.tolist(), written, strict=True))


@pytest.mark.parametrize("secret", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_flows_are_the_extremes_over_all_possible_worlds(seed: int, secret: bool) -> None:
    random = np.random.default_rng([seed, secret])
    drawn = [draw_pair(random) for _ in range(PAIRS)]
    found, (earlier, later) = look(drawn, secret=secret)
    pairs: dict[object, int] = {}
    newcomers: dict[object, int] = {}
    for number, (one, other) in enumerate(drawn):
        by_pair, by_class = enumerate_worlds(one, other, secret=secret)
        pairs |= {((number, *g), (number, *h)): count for (g, h), count in by_pair.items()}
        newcomers |= {(number, *h): count for h, count in by_class.items()}
    key, other_key = keys_of([one for one, _ in drawn], earlier), keys_of([other for _, other in drawn], later)
    by_flow = {
        (key[g], other_key[h]): count
        for g, h, count in zip(
            found.earlier_class.tolist(), found.later_class.tolist(), found.anonymity.tolist(), strict=True
        )
        if count
    }
    assert by_flow == pairs
    assert {other_key[h]: count for h, count in enumerate(found.newcomers.tolist()) if count} == newcomers
    assert (found.closed_anonymity >= found.anonymity).all()
    assert (found.closed_newcomers >= found.newcomers).all()


def test_the_closed_forms_overstate_the_anonymity_of_some_overlapping_classes() -> None:
    random = np.random.default_rng(3)
    found, _ = look([draw_pair(random) for _ in range(300)], secret=True)
    possible = found.anonymity > 0
    assert (found.closed_anonymity[possible] > found.anonymity[possible]).any()


def test_together_is_never_more_than_alone_and_sensitive_values_only_crack_more() -> None:
    random = np.random.default_rng(4)
    drawn = [draw_pair(random) for _ in range(500)]
    found, (earlier, later) = look(drawn, secret=False)
    assert (found.anonymity <= earlier.sizes[found.earlier_class]).all()
    assert (found.anonymity <= later.sizes[found.later_class]).all()
    assert (found.newcomers <= later.sizes).all()
    with_secret, _ = look(drawn, secret=True)
    plain = dict(zip(zip(found.earlier_class, found.later_class, strict=True), found.anonymity, strict=True))
    for g, h, count in zip(with_secret.earlier_class, with_secret.later_class, with_secret.anonymity, strict=True):
        assert count <= plain[g, h]
    assert (with_secret.newcomers <= found.newcomers).all()


def test_equal_releases_leave_every_class_as_large_as_it_is() -> None:
    frame = pl.DataFrame({"x": ["[0, 4]"] * 3 + ["[5, 9]"] * 4, "y": ["*"] * 7})
    classes = read_classes([frame, frame], ["x", "y"], domains_of_releases([frame, frame], ["x", "y"]))
    found = look_together(*classes)
    assert found.anonymity.tolist() == [3, 4]
    assert found.newcomers.tolist() == [0, 0]


def test_releases_of_different_people_are_refused_without_naming_values() -> None:
    frames = [pl.DataFrame({"x": ["[0, 4]"] * 3}), pl.DataFrame({"x": ["[5, 9]"] * 3})]
    with pytest.raises(InputError, match="3 records of the earlier release") as caught:
        look_together(*read_classes(frames, ["x"], domains_of_releases(frames, ["x"])))
    assert caught.value.reasons == ("releases-do-not-fit",)


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ("[1, 3]", "[3, 5]", True),
        ("[1, 3]", "[4, 5]", False),
        ("*", "[4, 5]", True),
        ("", "", True),
        ("", "[1, 3]", False),
        ("", "*", True),
        (">=4", "[1, 5]", True),
        (">=4", "[1, 3]", False),
        ("{a, c}", "{b, c}", True),
        ("{a, b}", "{c}", False),
        ("{a, (missing)}", "", True),
        ("{a, (missing)}", "{b, (missing)}", True),
        ("2020-05", "2020-05-31", True),
        ("2020-05", "2020-06-01", False),
    ],
)
def test_cells_fit_if_they_share_a_value(one: str, other: str, fits: bool) -> None:
    frames = [pl.DataFrame({"x": [one]}), pl.DataFrame({"x": [other]})]
    earlier, later = read_classes(frames, ["x"], domains_of_releases(frames, ["x"]))
    assert (pairs_that_fit(earlier.covers, later.covers)[0].shape[0] == 1) is fits
