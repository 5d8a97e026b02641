"""How much climbing a hierarchy costs: level weights, the weighted hierarchical distance (WHD), attribute weights.

A hierarchy of `steps` steps has the levels 0 (the value itself) to `steps` (everything). A scheme gives every step a
weight; lifting a value costs the weights of the steps that were climbed over a total:

| scheme       | weight of the step from level i to i + 1 | total it is divided by |
|--------------|------------------------------------------|------------------------|
| `uniform`    | 1                                        | sum of the weights     |
| `height`     | 1 / (steps - i)^beta                     | sum of the weights     |
| `height-koc` | 1 / (steps + 1 - i)^beta                 | number of steps        |

`uniform` and `height` are those of J. Li, R. Wong, A. Fu, J. Pei, Achieving k-anonymity by clustering in attribute
hierarchical structures, DaWaK 2006; lifting to the top costs 1. `height-koc` is what Pramanik, Lau and Zhang, 2016,
compute in their example; there the top costs less than 1. Climbing near the root costs more than near the leaves in
both height schemes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Problem, did_you_mean

FloatArray = NDArray[np.float64]
Scheme = Literal["uniform", "height", "height-koc"]
SCHEMES: tuple[str, ...] = get_args(Scheme)


def check_scheme(scheme: str, beta: float = 1.0) -> None:
    """A ValueError when there is no such scheme or its exponent makes no sense."""
    if scheme not in SCHEMES:
        raise ValueError(f"weights must be one of {', '.join(SCHEMES)}, not '{scheme}'")
    if not beta > 0:
        raise ValueError(f"beta must be above 0, not {beta}")


def level_weights(steps: int, scheme: str = "uniform", beta: float = 1.0) -> FloatArray:
    """(steps,) the weight of each step; entry i is the step from level i to level i + 1."""
    check_scheme(scheme, beta)
    if steps < 0:
        raise ValueError(f"steps must be 0 or more, not {steps}")
    if scheme == "uniform":
        return np.ones(steps)
    remaining = np.arange(steps, 0, -1, dtype=np.float64)  # steps between level i and the top
    if scheme == "height-koc":
        remaining += 1.0
    return np.asarray(remaining**-beta)


def whd(steps: int, scheme: str = "uniform", beta: float = 1.0) -> FloatArray:
    """(steps + 1,) the cost of lifting a value from level 0 to each level."""
    weights = level_weights(steps, scheme, beta)
    costs = np.zeros(steps + 1)
    if steps:
        total = float(steps) if scheme == "height-koc" else float(weights.sum())
        np.cumsum(weights / total, out=costs[1:])
        if scheme != "height-koc":
            costs[-1] = 1.0  # exactly: rounding must not make the top cheaper or dearer than suppression
    return costs


def whd_matrix(steps: int, scheme: str = "uniform", beta: float = 1.0) -> FloatArray:
    """(steps + 1, steps + 1) entry [p, q] is the cost of lifting from level p to level q; 0 where q is not above p."""
    costs = whd(steps, scheme, beta)
    return np.maximum(0.0, costs[np.newaxis, :] - costs[:, np.newaxis])


def wid(steps: Sequence[int] | NDArray[np.integer]) -> FloatArray:
    """(attributes,) the weight of each attribute, 1 - L^m / sum(L^m) with L its steps and m the number of attributes.

    Attributes with few steps lose everything at once and weigh most. L is scaled by the largest one first, so that
    many attributes do not overflow. A single attribute, for which the formula gives 0, has weight 1.
    """
    given = np.asarray(steps, dtype=np.float64)
    if given.size == 0 or bool((given < 0).any()):
        raise ValueError("steps must hold at least one number, none of them below 0")
    if given.size == 1 or not given.any():
        return np.ones(given.size)
    powers = (given / given.max()) ** given.size
    return np.asarray(1.0 - powers / powers.sum())


def priority_weights(count: int) -> FloatArray:
    """(count,) the equally scaled priorities of attributes in order, the most important first: 1 - (j - 1) / (m - 1).

    X. Sun, H. Wang, J. Li, Priority driven k-anonymisation for privacy protection, AusDM 2008. The last one has
    priority 0, so generalizing it is free; a single attribute has priority 1.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    return np.linspace(1.0, 0.0, count) if count > 1 else np.ones(1)


def order_weights(order: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """The priority of every attribute when an order names some of them, the most important first.

    Those that it does not name come after all that it does, none before another: they share the places that are left,
    and each has the mean of their priorities. An order that leaves out none or one is that of the paper.
    """
    if not names:
        return {}
    scale = priority_weights(len(names))
    first = [name for name in dict.fromkeys(order) if name in names]
    rest = [name for name in names if name not in first]
    weights = {name: float(weight) for name, weight in zip(first, scale, strict=False)}
    return weights | {name: float(scale[len(first) :].mean()) for name in rest}


def order_problems(order: Sequence[str], names: Sequence[str]) -> list[Problem]:
    """What is wrong with a priority order: a name that is no attribute, or one that comes twice."""
    problems = []
    for name, times in Counter(order).items():
        if name not in names:
            hint = did_you_mean(name, list(names))
            problems.append(Problem("unknown-column", "a priority names it, but it is no quasi-identifier", name, hint))
        if times > 1:
            problems.append(Problem("bad-priority", "the priority order names it twice", name))
    return problems
