"""The verdict of (p+, alpha)-sensitive k-anonymity: the categories of a class, and what its records weigh."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.p_alpha import PAlpha
from shoal.verification.evidence import Evidence
from shoal.verification.result import TOLERANCE, ModelCheck, judge


def check_p_alpha(model: PAlpha, evidence: Evidence) -> ModelCheck:
    """The measured value is the smallest weight of a class; one with too few categories weighs nothing."""
    kinds, weights = _kinds_and_weights(model, evidence)
    several = kinds >= model.p
    safe = several & (weights >= model.alpha - TOLERANCE)
    measured = np.where(several, weights, 0.0)
    return judge(model, evidence.classes, "smallest weight of a class with p categories", measured, safe, worst="min")


def _kinds_and_weights(model: PAlpha, evidence: Evidence) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(classes,) each: how many categories occur in a class, and what its records weigh together."""
    counts = evidence.counts(model.column)
    _, distinct = evidence.numbers(model.column)
    category, weight = _categories(model.column, distinct, evidence.known.hierarchies.get(model.column))
    entries = pl.DataFrame(
        {
            "class": counts.classes,
            "category": np.array(category)[counts.values],
            "weight": np.array([float(one) for one in weight])[counts.values] * counts.counts,
        }
    )
    found = entries.group_by("class").agg(pl.col("category").n_unique(), pl.col("weight").sum()).sort("class")
    return found["category"].to_numpy().astype(np.int64), found["weight"].to_numpy()


def _categories(name: str, distinct: pl.Series, hierarchy: Hierarchy | None) -> tuple[list[int], list[Fraction]]:
    """The category of every distinct value, from its path, and the weight of that category."""
    texts = distinct.cast(pl.String).to_list()
    tree = _covering(name, texts, hierarchy)
    tops = [tree.path(leaf)[max(0, tree.levels - 2)] for leaf in range(len(tree.leaves))]
    order = list(dict.fromkeys(tops))
    last = max(1, len(order) - 1)
    category, weight = [], []
    for text in texts:
        place = len(order) if text is None else order.index(tops[tree.leaf_index[text]])
        category.append(place)
        weight.append(Fraction(0) if text is None else Fraction(place if len(order) > 1 else 1, last))
    return category, weight


def _covering(name: str, texts: list[str | None], hierarchy: Hierarchy | None) -> Hierarchy:
    """The hierarchy, if there is one and it has every value."""
    if hierarchy is None:
        message = "categories of sensitive values need a hierarchy of this column"
        hint = "its groups right below the root, the most sensitive one first"
        raise InputError(Problem("missing-hierarchy", message, name, hint))
    uncovered = sum(text is not None and text not in hierarchy.leaf_index for text in texts)
    if uncovered:
        message = f"{uncovered} of {len(texts)} distinct values are not in its hierarchy"
        raise InputError(Problem("uncovered-values", message, name))
    return hierarchy
