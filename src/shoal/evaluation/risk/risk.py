"""How easily people can be recognised, and what a class gives away about them.

The attackers have the names that ARX users know. The *prosecutor* knows that a person is in the table: the risk of a
record is 1 over the size of its class. The *journalist* does not: the risk is 1 over the number of people of the
population who fit the class. The *marketer* links the whole table and counts on the average. A record whose
quasi-identifiers are all suppressed fits everybody: its risk is 1 over the number of records.

Releases that are not made of classes (non-homogeneous generalization) are measured by candidates instead: the number
of released records that fit a person takes the place of the size of the class.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.released.domain import CountArray, FloatArray, text_codes
from shoal.released.reading import ReadTable

THRESHOLD = 0.2  # a class of fewer than five: the usual bound of health data and of statistics offices
CURVE = (0.0, 0.005, 0.01, 0.02, 0.033, 0.05, 0.1, 0.2, 0.333, 0.5, 0.9999)
SIZE_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 500)


@dataclass(frozen=True)
class RiskProfile:
    """Risks of the records of one table, from the sizes of its classes."""

    records: int
    classes: int
    smallest_class: int
    largest_class: int
    mean_class: float
    highest: float
    average: float
    unique: int
    threshold: float
    at_risk: int  # records whose risk is above the threshold

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "unique_share": self.unique / self.records,
            "at_risk_share": self.at_risk / self.records,
        }


def record_risk(sizes: CountArray, suppressed: NDArray[np.bool_] | None, records: int) -> FloatArray:
    """(classes,) the prosecutor's risk of the records of each class."""
    risk = 1.0 / sizes.astype(np.float64)
    return risk if suppressed is None else np.where(suppressed, 1.0 / max(1, records), risk)


def exempt_classes(suppressed: NDArray[np.bool_], class_sizes: CountArray, limit: float) -> NDArray[np.bool_] | None:
    """The classes of fully suppressed records, which fit everybody; more of them than the limit are ordinary classes.

    `limit` is the largest share of the records.
    """
    records = int(class_sizes[suppressed].sum())
    return suppressed if 0 < records <= limit * int(class_sizes.sum()) else None


def risk_profile(
    sizes: CountArray,
    suppressed: NDArray[np.bool_] | None = None,
    threshold: float = THRESHOLD,
    members: CountArray | None = None,
    unique: int | None = None,
) -> RiskProfile:
    """The prosecutor's view of a table with classes of these sizes.

    `members` is how many records each entry stands for, if that is not its size: 1 for the candidates of a record.
    `unique` is how many persons stand alone, if a person can have several classes.
    """
    members = sizes if members is None else members
    records = int(members.sum())
    risk = record_risk(sizes, suppressed, records)
    shown = sizes if suppressed is None or suppressed.all() else sizes[~suppressed]
    return RiskProfile(
        records=records,
        classes=int(shown.shape[0]),
        smallest_class=int(shown.min()),
        largest_class=int(shown.max()),
        mean_class=float(shown.mean()),
        highest=float(risk.max()),
        average=float((risk * members).sum() / records),
        unique=int(np.count_nonzero(shown == 1)) if unique is None else unique,
        threshold=threshold,
        at_risk=int(members[risk > threshold + 1e-12].sum()),
    )


def risk_curve(
    sizes: CountArray, suppressed: NDArray[np.bool_] | None = None, members: CountArray | None = None
) -> list[dict[str, float]]:
    """The share of the records whose risk is above each of a row of thresholds."""
    members = sizes if members is None else members
    records = int(members.sum())
    risk = record_risk(sizes, suppressed, records)
    return [{"risk": edge, "share": float(members[risk > edge + 1e-12].sum() / records)} for edge in CURVE]


def size_distribution(sizes: CountArray, members: CountArray | None = None) -> list[dict[str, Any]]:
    """How many records and classes there are for each range of class sizes."""
    members = sizes if members is None else members
    records = int(members.sum())
    last = max(int(sizes.max()), SIZE_EDGES[-1]) + 1
    rows = []
    for order, (low, above) in enumerate(pairwise([*SIZE_EDGES, last])):
        inside = (sizes >= low) & (sizes < above)
        rows.append(
            {
                "sizes": f"{low}+" if above == last else _range_of_sizes(low, above - 1),
                "order": order,
                "classes": int(inside.sum()),
                "records": int(members[inside].sum()),
                "share": float(members[inside].sum() / records),
            }
        )
    return rows


def _range_of_sizes(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def journalist_risk(
    table: ReadTable, *, fraction: float | None = None, population: CountArray | None = None
) -> dict[str, float] | None:
    """Risk for somebody who does not know whether the person is in the table.

    `population` is the number of people of the population who fit each class; without it, every class is taken to be
    `1 / fraction` times as large in the population as in the table.
    """
    sizes = table.class_sizes.astype(np.float64)
    if population is not None:
        fitting = np.maximum(population.astype(np.float64), sizes)
    elif fraction is not None:
        fitting = sizes / fraction
    else:
        return None
    risk = np.where(table.suppressed_classes, 0.0, 1.0 / fitting)
    return {
        "highest": float(risk.max()),
        "average": float((risk * sizes).sum() / sizes.sum()),
        "smallest_population_class": float(fitting.min()),
    }


def attribute_disclosure(table: ReadTable, sensitive: pl.Series) -> dict[str, Any]:
    """What an attacker who finds a person's class learns about a sensitive value.

    Before, the attacker believes in each value as often as it occurs in the table. After, as often as in the class. The
    gain is the largest growth of belief in any one value; the distance is half the sum of all changes (t-closeness
    with equal distances).
    """
    codes = text_codes(sensitive)[1]
    values = int(codes.max()) + 1
    prior = np.bincount(codes, minlength=values) / codes.shape[0]
    beliefs = _beliefs(table, codes, prior)
    sizes = table.class_sizes
    same = (beliefs.distinct == 1) & (sizes > 0)

    def mean(of_class: FloatArray) -> float:
        return float((of_class * sizes).sum() / int(sizes.sum()))

    return {
        "values": values,
        "baseline": float(prior.max()),
        "best_guess": mean(beliefs.highest),
        "records_in_uniform_classes": int(sizes[same].sum()) if values > 1 else 0,
        "fewest_values": int(beliefs.distinct.min()),
        "mean_gain": mean(beliefs.gain),
        "highest_gain": float(beliefs.gain.max()),
        "mean_distance": mean(beliefs.risen),
        "highest_distance": float(beliefs.risen.max()),
    }


@dataclass(frozen=True, eq=False)
class _Beliefs:
    """What an attacker believes in each class, beside what was believed before."""

    distinct: CountArray  # (classes,) values of the class
    highest: FloatArray  # (classes,) belief in the likeliest value
    gain: FloatArray  # (classes,) largest growth of belief in any one value
    risen: FloatArray  # (classes,) all growth together: half the sum of all changes


def _beliefs(table: ReadTable, codes: NDArray[np.int32], prior: FloatArray) -> _Beliefs:
    pairs = pl.DataFrame({"class": table.class_of_row, "value": codes})
    counts = pairs.group_by("class", "value").agg(pl.len().alias("n"))
    group, value = counts["class"].to_numpy(), counts["value"].to_numpy()
    belief = counts["n"].to_numpy() / table.class_sizes[group]
    change = belief - prior[value]
    gain, highest = np.zeros(table.classes), np.zeros(table.classes)
    np.maximum.at(gain, group, change)
    np.maximum.at(highest, group, belief)
    risen: FloatArray = np.bincount(group, weights=np.maximum(change, 0.0), minlength=table.classes).astype(np.float64)
    return _Beliefs(np.bincount(group, minlength=table.classes), highest, gain, risen)
