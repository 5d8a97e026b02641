"""Success rates of attacks with their uncertainty, and what is left of them beside people who are not in the release.

The intervals are Wilson's, at 95% (E. B. Wilson, Probable inference, the law of succession, and statistical inference,
1927). The risk beside a control is the share of the attacks that fail on people who are not in the release and succeed
on people who are: (attack - control) / (1 - control), as anonymeter defines it (M. Giomi, F. Boenisch, C. Wehmeyer,
B. Tasnádi, A unified framework for quantifying privacy risk in synthetic data, 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

QUANTILE = 1.959963984540054  # of the normal distribution: 95% lie within so many deviations


@dataclass(frozen=True)
class Rate:
    """A share of successes: the middle of its interval, and how far the interval reaches to either side."""

    share: float
    middle: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        ends = (self.middle - self.error, self.middle + self.error)
        low, high = (min(1.0, max(0.0, round(end, 12))) for end in ends)
        return low, high


def success_rate(successes: float, attempts: int) -> Rate:
    """The rate of `successes` in `attempts`; for a sum of chances, which varies less, the interval is too wide."""
    if attempts == 0:
        return Rate(0.0, 0.5, 0.5)
    square = QUANTILE * QUANTILE
    variance = successes * (attempts - successes) / attempts
    error = QUANTILE / (attempts + square) * sqrt(max(0.0, variance) + square / 4)
    return Rate(successes / attempts, (successes + square / 2) / (attempts + square), error)


def excess(attack: Rate, control: Rate) -> Rate:
    """What being in the release adds to the success, as a share of what could be added.

    The share is that of the counts, within the interval; anonymeter takes the middle of the interval, which differs
    where the tables are small.
    """
    left = 1.0 - control.middle
    added = (attack.middle - control.middle) / left
    error = sqrt((attack.error / left) ** 2 + (control.error * (1.0 - attack.middle) / left**2) ** 2)
    low, high = Rate(0.0, added, error).interval
    return Rate(min(high, max(low, (attack.share - control.share) / (1.0 - control.share))), added, error)


def rate_words(attack: Rate, attempts: int, control: Rate | None = None, others: int = 0) -> dict[str, Any]:
    """The numbers that every attack tells: its rate and, with a control, that of others and the risk."""
    found: dict[str, Any] = {"targets": attempts, "success": attack.share, "interval": list(attack.interval)}
    if control is not None:
        found["control"] = {"targets": others, "success": control.share, "interval": list(control.interval)}
        found["risk"] = None  # where every attack on others succeeds nothing can be added
        if control.share < 1.0:
            risk = excess(attack, control)
            found["risk"] = {"value": risk.share, "interval": list(risk.interval)}
    return found
