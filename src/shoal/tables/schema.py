"""What a column is: its role in the release and the scale its values are measured on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


def as_names(names: Iterable[str] | str) -> tuple[str, ...]:
    """Names of columns; a single one is meant as a list of one, not letter by letter."""
    return (names,) if isinstance(names, str) else tuple(names)


class Role(StrEnum):
    """What happens to a column. The words are the ones ARX uses."""

    IDENTIFYING = "identifying"  # dropped
    QUASI_IDENTIFYING = "quasi-identifying"  # generalized until nobody stands out
    SENSITIVE = "sensitive"  # kept; the models look at it
    INSENSITIVE = "insensitive"  # kept as it is


class Scale(StrEnum):
    """How the values of a column relate to each other."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    CATEGORY = "category"
    ORDERED = "ordered"  # categories with an order, given by the user

    @property
    def is_numeric(self) -> bool:
        """Values have a distance: integers, decimals and dates."""
        return self in (Scale.INTEGER, Scale.DECIMAL, Scale.DATE)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column with its role and scale; `order` lists the values of an ordered category from low to high."""

    name: str
    role: Role
    scale: Scale
    order: tuple[str, ...] | None = None
