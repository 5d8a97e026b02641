"""Success rates and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.evaluation.attacks.rates import excess, rate_words, success_rate


def test_the_interval_holds_the_true_rate_about_95_times_of_100() -> None:
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(2000):
        low, high = success_rate(int(random.binomial(200, 0.07)), 200).interval
        inside += low <= 0.07 <= high
    assert 0.93 <= inside / 2000 <= 0.975


def test_a_known_interval() -> None:
    """Wilson's interval of 10 in 100, computed by hand from its definition."""
    low, high = success_rate(10, 100).interval
    assert (low, high) == pytest.approx((0.05523, 0.17437), abs=1e-5)


def test_edges() -> None:
    assert success_rate(0, 100).interval[0] == 0.0
    assert success_rate(100, 100).interval[1] == 1.0
    assert success_rate(0, 0).interval == (0.0, 1.0)


def test_what_being_in_the_release_adds() -> None:
    attack, control = success_rate(600, 1000), success_rate(200, 1000)
    risk = excess(attack, control)
    assert risk.share == pytest.approx(0.5, abs=0.01)  # 0.4 of the 0.8 that could be added
    assert risk.interval[0] < 0.5 < risk.interval[1]
    assert excess(control, attack).share == 0.0  # never below nothing


def test_words_with_and_without_a_control() -> None:
    assert set(rate_words(success_rate(1, 10), 10)) == {"targets", "success", "interval"}
    with_control = rate_words(success_rate(5, 10), 10, success_rate(1, 20), 20)
    assert with_control["control"]["targets"] == 20
    assert 0 < with_control["risk"]["value"] < 1
