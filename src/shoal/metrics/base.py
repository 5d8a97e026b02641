"""What a metric is, and which ones there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from shoal.released.domain import CodeArray
from shoal.released.reading import ReadTable


@dataclass(frozen=True)
class Settings:
    """What metrics need besides the two tables."""

    k: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    labels: CodeArray | None = None  # (rows,) code of the class label of every released record
    beta: float = 1.0  # exponent of the height weights of distortion

    def weight(self, name: str) -> float:
        return float(self.weights.get(name, 1.0))


@dataclass(frozen=True)
class Value:
    """A metric's total, and its part per attribute where it has one."""

    total: float
    per_attribute: Mapping[str, float] = field(default_factory=dict)


Compute = Callable[[ReadTable, Settings], Value | None]


@dataclass(frozen=True)
class Metric:
    """A number about a release, computed from original and release alone. `meaning` is one plain sentence."""

    name: str
    title: str
    goal: Literal["lower", "higher"]
    minimum: float
    maximum: float
    meaning: str
    compute: Compute = field(repr=False, compare=False)

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "title": self.title,
            "goal": self.goal,
            "minimum": self.minimum,
            "maximum": None if np.isinf(self.maximum) else self.maximum,
            "meaning": self.meaning,
        }


def metrics() -> tuple[Metric, ...]:
    """All metrics, in the order in which they are shown."""
    from shoal.metrics import class_metrics, exactness, loss_metrics  # they need this module first

    return loss_metrics.METRICS + class_metrics.METRICS + exactness.METRICS


def metric_names() -> tuple[str, ...]:
    return tuple(metric.name for metric in metrics())


def metric(name: str) -> Metric:
    """The metric of that name."""
    return next(one for one in metrics() if one.name == name)
