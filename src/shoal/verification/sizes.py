"""Verdicts about how many are in a class: k-anonymity, quasi-identifier sets, (X, Y)-anonymity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.models.k_anonymity import KAnonymity
from shoal.models.linkage import Qid, XYAnonymity
from shoal.verification.classes import Classes
from shoal.verification.evidence import Evidence
from shoal.verification.result import ModelCheck, judge


def check_k_anonymity(model: KAnonymity, evidence: Evidence) -> ModelCheck:
    return _at_least(model, evidence, evidence.classes, model.person, model.k, "smallest class")


def check_qid(model: Qid, evidence: Evidence) -> ModelCheck:
    classes = evidence.classes_over(model.quasi)
    return _at_least(model, evidence, classes, model.person, model.k, "smallest class over these quasi-identifiers")


def check_xy(model: XYAnonymity, evidence: Evidence) -> ModelCheck:
    classes = evidence.classes_over(model.x) if model.x else evidence.classes
    return _at_least(model, evidence, classes, model.y, model.k, "fewest linked values")


def _at_least(
    model: KAnonymity | Qid | XYAnonymity,
    evidence: Evidence,
    classes: Classes,
    counted: str | None,
    least: int,
    measure: str,
) -> ModelCheck:
    number = classes.sizes if counted is None else distinct_in_classes(evidence, classes, counted)
    if counted is not None and not isinstance(model, XYAnonymity):
        measure = measure.replace("class", "class, in persons")
    return judge(model, classes, measure, number.astype(np.float64), number >= least, worst="min")


def distinct_in_classes(evidence: Evidence, classes: Classes, name: str) -> NDArray[np.int64]:
    """(classes,) how many different values of a column occur in each class; missing ones count together as one."""
    return np.bincount(evidence.counts(name, classes).classes, minlength=classes.count)
