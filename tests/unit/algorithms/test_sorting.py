"""The counting sort against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.sorting import stable_order


@pytest.mark.parametrize("records", [0, 1, 7, 1000])
@pytest.mark.parametrize("keys", [1, 3, 500])
def test_the_order_is_that_of_a_stable_sort(records: int, keys: int) -> None:
    drawn = np.random.default_rng(records + keys).integers(0, keys, records).astype(np.int32)
    assert np.array_equal(stable_order(drawn, keys), np.argsort(drawn, kind="stable"))
