"""Numbers read from text exactly: decimals become integers by one common power of ten.

Intervals are cut by integer division, so 0.3 falls into `[0.3, 0.4)` although 0.3 / 0.1 is below 3 in binary
arithmetic. Numbers with too many digits for that are rounded to the digits that fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

_LARGEST_EXACT = 2**53  # up to here a float holds every integer
_LONGEST_TEXT = 25
_MOST_PLACES = 300  # so many powers of ten a float can hold


@dataclass(frozen=True)
class ScaledNumbers:
    """`values / 10**digits` are the numbers; `digits` is 0 when all are whole."""

    values: NDArray[np.int64]
    digits: int

    def text(self, scaled: int) -> str:
        """A scaled number as text without trailing zeros, and without an exponent unless it is very long."""
        exact = Decimal(scaled).scaleb(-self.digits)
        number = format(exact, "f")
        if len(number) > _LONGEST_TEXT:
            return str(exact.normalize())
        return number.rstrip("0").rstrip(".") if "." in number else number

    def scale(self, number: Decimal) -> int:
        return int((number.scaleb(self.digits)).to_integral_value())


def parse_numbers(values: Sequence[str]) -> tuple[NDArray[np.float64], int]:
    """The values as floats, and how many of them are no finite numbers (these are NaN in the result)."""
    numbers = np.fromiter((_number(value) for value in values), dtype=np.float64, count=len(values))
    unusable = ~np.isfinite(numbers)
    numbers[unusable] = np.nan
    return numbers, int(np.count_nonzero(unusable))


def scale_numbers(values: Sequence[str], numbers: NDArray[np.float64], settings: Sequence[Decimal]) -> ScaledNumbers:
    """The numbers as integers, with as many decimal places as the values and the settings have."""
    wanted = max((decimal_places(value) for value in values), default=0)
    wanted = max([wanted, *(decimal_places(str(setting)) for setting in settings)])
    largest = max([float(np.abs(numbers).max(initial=0.0)), *(abs(float(setting)) for setting in settings)])
    fitting = math.floor(math.log10(_LARGEST_EXACT) - math.log10(largest)) if largest > 0 else wanted
    places = min(wanted, fitting, _MOST_PLACES)
    scaled = numbers * 10.0**places if places >= 0 else numbers / 10.0**-places
    # Rounding repairs the binary error of exact decimals; cut off digits must not lift a number over a boundary.
    whole = np.rint(scaled) if places == wanted else np.floor(scaled)
    return ScaledNumbers(whole.astype(np.int64), places)


def decimal_places(text: str) -> int:
    """How many digits a number has after the point, the exponent taken into account."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    fraction = mantissa.partition(".")[2]
    return max(0, len(fraction.rstrip("0")) - int(exponent or 0))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
