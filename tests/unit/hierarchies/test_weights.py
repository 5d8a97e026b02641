from __future__ import annotations

import numpy as np
import pytest

from shoal.hierarchies.weights import SCHEMES, level_weights, whd, whd_matrix, wid


def test_uniform_zip_to_state() -> None:
    assert whd(4)[3] == pytest.approx(0.75)


def test_height_of_the_birth_date_example() -> None:
    total = 1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1
    assert whd(5, "height")[1] == pytest.approx((1 / 5) / total)
    assert whd(5, "height")[1] == pytest.approx(0.0876, abs=5e-5)
    assert whd(5)[2] == pytest.approx(0.4)


def test_height_as_the_koc_paper_computes_it() -> None:
    assert whd(4, "height-koc")[3] == pytest.approx((1 / 5 + 1 / 4 + 1 / 3) / 4)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_costs_grow_from_zero(scheme: str, steps: int) -> None:
    costs = whd(steps, scheme, 1.5)
    assert costs.shape == (steps + 1,)
    assert costs[0] == 0.0
    assert (np.diff(costs) > 0).all()
    if scheme != "height-koc" and steps:
        assert costs[-1] == 1.0


@pytest.mark.parametrize("scheme", ["height", "height-koc"])
def test_steps_near_the_root_weigh_more(scheme: str) -> None:
    assert (np.diff(level_weights(6, scheme)) > 0).all()


def test_matrix_adds_up_along_the_way() -> None:
    matrix = whd_matrix(5, "height")
    assert matrix[0, 2] + matrix[2, 5] == pytest.approx(matrix[0, 5])
    assert (np.tril(matrix) == 0).all()


def test_wid_of_race_zip_and_birth_date() -> None:
    assert wid([1, 4, 3]) == pytest.approx([1 - 1 / 92, 1 - 64 / 92, 1 - 27 / 92])
    assert wid([1, 4, 3]) == pytest.approx([0.9891, 0.3043, 0.7065], abs=5e-5)


def test_wid_of_one_attribute_and_of_many() -> None:
    assert wid([3]).tolist() == [1.0]
    many = wid([50] * 399 + [1])
    assert np.isfinite(many).all()
    assert many[-1] == 1.0


@pytest.mark.parametrize(("scheme", "beta"), [("hight", 1.0), ("uniform", 0.0), ("height", -1.0)])
def test_bad_schemes_are_refused(scheme: str, beta: float) -> None:
    with pytest.raises(ValueError):
        level_weights(3, scheme, beta)


def test_bad_steps_are_refused() -> None:
    with pytest.raises(ValueError):
        level_weights(-1)
    with pytest.raises(ValueError):
        wid([])
