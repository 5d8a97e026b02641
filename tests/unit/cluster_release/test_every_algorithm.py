"""Every algorithm can mask for cluster analysis, and meets the models through the shared repair."""

from __future__ import annotations

import pytest

import shoal
from shoal.algorithms.registry import algorithm_class, algorithm_names
from shoal.sample.hospital import hospital_table

BY_CLASSES = [name for name in algorithm_names() if algorithm_class(name).class_based]


@pytest.mark.parametrize("name", BY_CLASSES)
def test_every_algorithm_masks_and_meets_a_model(name: str) -> None:
    patients = hospital_table(300, seed=5).select("age", "sex", "length_of_stay", "occupation")
    made = shoal.publish_for_clustering(
        patients,
        quasi=["age", "sex"],
        keep_rest=True,
        h=6,
        clusters=3,
        algorithm=name,
        models=[shoal.LDiversity(2, "occupation")],
    )
    assert made.verification.passed
    assert shoal.verify(made.release, quasi=["age", "sex"], k=6, models=[shoal.LDiversity(2, "occupation")]).passed
