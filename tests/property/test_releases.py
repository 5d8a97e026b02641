"""Several releases of a growing table, whatever the table and the grouping."""

from __future__ import annotations

import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.releases.check import check_together

PERSON = st.tuples(st.integers(0, 19), st.sampled_from("ab"), st.sampled_from("pq"))
WIDTH = st.integers(1, 20)


def release(people: list[tuple[int, str, str]], width: int, shift: int, *, hidden: bool) -> pl.DataFrame:
    """Ages in steps of one width; steps that begin elsewhere make classes that overlap with those of other releases."""
    lows = [(age + shift) // width * width - shift for age, _, _ in people]
    return pl.DataFrame(
        {
            "age": [f"[{low}, {low + width - 1}]" for low in lows],
            "sex": ["*" if hidden else sex for _, sex, _ in people],
            "disease": [disease for _, _, disease in people],
        }
    )


@settings(max_examples=60, deadline=None)
@given(
    people=st.lists(PERSON, min_size=2, max_size=40),
    share=st.floats(0.1, 1.0),
    widths=st.tuples(WIDTH, WIDTH),
    shift=st.integers(0, 19),
    hidden=st.tuples(st.booleans(), st.booleans()),
)
@example(  # the smallest anonymity of newcomers depended on the order of the rows where all classes held
    people=[(9, "a", "p"), *[(0, "a", "p")] * 5, *[(8, "a", "p")] * 2, *[(10, "a", "p")] * 3],
    share=0.5,
    widths=(9, 2),
    shift=0,
    hidden=(False, False),
)
def test_what_holds_of_every_two_releases(
    people: list[tuple[int, str, str]],
    share: float,
    widths: tuple[int, int],
    shift: int,
    hidden: tuple[bool, bool],
) -> None:
    old = max(1, int(share * len(people)))
    first = release(people[:old], widths[0], 0, hidden=hidden[0])
    second = release(people, widths[1], shift, hidden=hidden[1])
    quasi = ["age", "sex"]
    plain = check_together([first, second], quasi, 2)
    strict = check_together([first, second], quasi, 2, "disease", strict=True)
    real = check_together([first, second], quasi, 2, "disease", rows_known=True)
    for possible, known in zip(strict.checks, real.checks, strict=True):
        if known.smallest_anonymity is not None:  # a real victim is a possible one
            assert possible.smallest_anonymity is not None
            assert possible.smallest_anonymity <= known.smallest_anonymity
            assert possible.persons_below >= known.persons_below
            assert possible.classes_below >= known.classes_below
    for check in (*plain.checks, *strict.checks, *real.checks):
        if check.smallest_anonymity is not None and check.by_closed_form is not None:
            assert check.smallest_anonymity <= check.by_closed_form
    alone = first.group_by(quasi).len()["len"].min(), second.group_by(quasi).len()["len"].min()
    assert plain.checks[0].smallest_anonymity is not None
    assert 1 <= plain.checks[0].smallest_anonymity <= alone[0]
    assert plain.checks[0].smallest_anonymity == plain.checks[1].smallest_anonymity
    shuffled = check_together(
        [first.sample(fraction=1, shuffle=True, seed=1), second[::-1]], quasi, 2, "disease", strict=True
    )
    assert shuffled == strict


@settings(max_examples=40, deadline=None)
@given(
    people=st.lists(PERSON, min_size=2, max_size=30),
    widths=st.lists(st.tuples(WIDTH, st.integers(0, 19)), min_size=2, max_size=4),
    same_order=st.booleans(),
)
def test_more_releases_never_raise_the_anonymity(
    people: list[tuple[int, str, str]], widths: list[tuple[int, int]], same_order: bool
) -> None:
    frames = [release(people, width, shift, hidden=False) for width, shift in widths]
    alone = frames[0].group_by("age", "sex").len()["len"].min()
    found = [alone]
    for count in range(2, len(frames) + 1):
        verdict = check_together(
            frames[:count], ["age", "sex"], 2, [] if same_order else "disease", setting="same",
            same_order=same_order, strict=not same_order,
        )  # fmt: skip
        found.append(min(check.smallest_anonymity for check in verdict.checks if check.smallest_anonymity is not None))
    assert found == sorted(found, reverse=True)
