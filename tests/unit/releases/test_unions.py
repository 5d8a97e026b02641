"""Classes of then are put together until those who are left answer for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.models.l_diversity import DistinctLDiversity
from shoal.releases.classes import Covers
from shoal.releases.judging import Needed
from shoal.releases.unions import Unions


def covers(low: np.ndarray, high: np.ndarray) -> Covers:
    nothing = np.full(low.shape, -1)
    return Covers(low, high, np.zeros(low.shape, dtype=np.uint8), nothing, nothing, np.zeros(0))


@pytest.mark.parametrize("diverse", [False, True])
def test_unions_answer_all_their_classes_by_definition(diverse: bool) -> None:
    random = np.random.default_rng(3)
    needed = Needed(4, (DistinctLDiversity(2, "s"),) if diverse else ())
    for _ in range(30):
        classes = int(random.integers(2, 300))
        before = random.multinomial(4, [0.5, 0.3, 0.2], classes) + random.integers(0, 2, (classes, 3))
        left = random.binomial(before, 0.7)
        low = random.integers(0, 50, (classes, 2)).astype(float)
        unions = Unions.of(before, left, covers(low, low + 5))
        first = unions.unanswered(needed)
        together = True
        while together and unions.unanswered(needed).any():
            together = unions.join(unions.unanswered(needed))
        for union in np.unique(unions.union_of):
            mine = np.flatnonzero(unions.union_of == union)
            here = left[mine].sum(axis=0)
            for one in mine:
                common = np.minimum(before[one], here)
                answers = (common == before[one]).all() if diverse else common.sum() >= 4
                assert answers or not together
            if mine.shape[0] == 1:
                assert unions.single()[mine[0]]
        assert not first.any() or not unions.single().all()


def test_the_nearest_ones_go_together() -> None:
    low = np.array([[0.0], [10.0], [11.0], [30.0]])
    before = np.array([[4], [4], [4], [4]])
    left = np.array([[4], [3], [4], [4]])
    unions = Unions.of(before, left, covers(low, low + 1))
    assert unions.unanswered(Needed(4)).tolist() == [False, True, False, False]
    unions.join(unions.unanswered(Needed(4)))
    assert unions.single().tolist() == [True, False, False, True]
    assert not unions.unanswered(Needed(4)).any()
