"""Verdicts about the sensitive values of a class: the l-diversities, (alpha, k) and confidence bounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.models.alpha_k import AlphaK, ConfidenceBound
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity, RecursiveCLDiversity
from shoal.verification.classes import Classes, ValueCounts
from shoal.verification.evidence import Evidence
from shoal.verification.result import TOLERANCE, ModelCheck, judge
from shoal.verification.sizes import distinct_in_classes


def check_frequency_l(model: LDiversity, evidence: Evidence) -> ModelCheck:
    classes = evidence.classes
    smallest_l = classes.sizes / np.maximum(1, _commonest(evidence.counts(model.column), classes))
    return judge(model, classes, "smallest l", smallest_l, smallest_l >= model.l - TOLERANCE, worst="min")


def check_distinct_l(model: DistinctLDiversity, evidence: Evidence) -> ModelCheck:
    number = distinct_in_classes(evidence, evidence.classes, model.column)
    return judge(model, evidence.classes, "fewest values", number.astype(np.float64), number >= model.l, worst="min")


def check_entropy_l(model: EntropyLDiversity, evidence: Evidence) -> ModelCheck:
    classes = evidence.classes
    counts = evidence.counts(model.column)
    share = counts.counts / classes.sizes[counts.classes]
    entropy = np.bincount(counts.classes, weights=-share * np.log(share), minlength=classes.count)
    safe = entropy >= np.log(model.l) - TOLERANCE
    return judge(model, classes, "smallest l (exp of the entropy)", np.exp(entropy), safe, worst="min")


def check_recursive_cl(model: RecursiveCLDiversity, evidence: Evidence) -> ModelCheck:
    """The measured value is the smallest c with which every class would hold at this l; none: too few values."""
    classes = evidence.classes
    counts = evidence.counts(model.column)
    order = np.lexsort((-counts.counts, counts.classes))
    of_class, number = counts.classes[order], counts.counts[order]
    starts = np.searchsorted(of_class, np.arange(classes.count))
    rank = np.arange(of_class.shape[0]) - starts[of_class]
    tail = np.bincount(of_class, weights=np.where(rank >= model.l - 1, number, 0), minlength=classes.count)
    most = _commonest(counts, classes)
    with np.errstate(divide="ignore"):
        least_c = np.where(tail > 0, most / tail, np.inf)
    safe = most < model.c * tail - TOLERANCE
    return judge(model, classes, "largest ratio of the commonest value to the tail", least_c, safe, worst="max")


def check_alpha_k(model: AlphaK, evidence: Evidence) -> ModelCheck:
    classes = evidence.classes
    if model.value is None:
        share = _commonest(evidence.counts(model.column), classes) / classes.sizes
    else:
        share = _share_of(evidence, classes, model.column, model.value)
    return judge(model, classes, "largest share", share, share <= model.alpha + TOLERANCE, worst="max")


def check_confidence(model: ConfidenceBound, evidence: Evidence) -> ModelCheck:
    classes = evidence.classes_over(model.quasi) if model.quasi else evidence.classes
    share = _share_of(evidence, classes, model.column, model.value)
    return judge(model, classes, "largest confidence", share, share <= model.bound + TOLERANCE, worst="max")


def _commonest(counts: ValueCounts, classes: Classes) -> NDArray[np.int64]:
    most = np.zeros(classes.count, dtype=np.int64)
    np.maximum.at(most, counts.classes, counts.counts)
    return most


def _share_of(evidence: Evidence, classes: Classes, column: str, value: str) -> NDArray[np.float64]:
    wanted = evidence.number_of_value(column, value)
    counts = evidence.counts(column, classes)
    here = counts.values == wanted
    return np.bincount(counts.classes[here], weights=counts.counts[here], minlength=classes.count) / classes.sizes
