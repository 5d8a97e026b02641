"""The subset property and the generalization property of k-anonymity, on the released values."""

from __future__ import annotations

from itertools import combinations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models.k_anonymity import KAnonymity
from shoal.verification.check import verify_release

QUASI = ("a", "b", "c")
PARENT = {"p": "pq", "q": "pq", "r": "rs", "s": "rs"}


@st.composite
def releases(draw: st.DrawFn) -> pl.DataFrame:
    cells = st.sampled_from(sorted(PARENT))
    rows = draw(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=14))
    copies = draw(st.integers(2, 3))  # k-anonymity begins with 2
    return pl.DataFrame(rows * copies, schema=list(QUASI), orient="row")


def smallest_class(release: pl.DataFrame, quasi: tuple[str, ...]) -> int:
    return min(release.group_by(quasi).len()["len"])


def holds(release: pl.DataFrame, quasi: tuple[str, ...], k: int) -> bool:
    return verify_release(release, list(quasi), [KAnonymity(k)]).passed


@given(releases())
@settings(max_examples=60, deadline=None)
def test_what_is_k_anonymous_is_so_over_every_part_of_its_quasi_identifiers(release: pl.DataFrame) -> None:
    k = smallest_class(release, QUASI)
    assert holds(release, QUASI, k)
    assert not holds(release, QUASI, k + 1)
    for width in (1, 2):
        for part in combinations(QUASI, width):
            assert smallest_class(release, part) >= k
            assert holds(release, part, k)


@given(releases(), st.sampled_from(QUASI))
@settings(max_examples=60, deadline=None)
def test_what_is_k_anonymous_stays_so_when_an_attribute_is_lifted(release: pl.DataFrame, lifted: str) -> None:
    """What lets the search of a lattice settle all nodes above a safe one."""
    k = smallest_class(release, QUASI)
    for above in (pl.col(lifted).replace(PARENT), pl.lit("*").alias(lifted)):
        assert holds(release.with_columns(above), QUASI, k)
