"""The family and DBCA on the real adult table: safe groups, bounded loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.kaca.distance import table_distortion
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encode import encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> EncodedTable:
    frame = pl.read_csv(data_folder / "adult" / "adult_complete.csv").select(*QUASI, "income")
    attributes = [
        Attribute(name, Role.QUASI_IDENTIFYING if name in QUASI else Role.SENSITIVE, find_scale(frame[name], ()))
        for name in frame.columns
    ]
    folder = data_folder / "adult" / "hierarchies"
    trees = {
        name: make_hierarchy(
            folder / f"adult_hierarchy_{name}.csv", frame[name].unique().cast(pl.String).to_list(), name
        )
        for name in QUASI
    }
    return encode_table(frame, attributes, trees)[0]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "distortion_per_record"),
    [("kaca", 1.3), ("topdown", 1.8), ("topdown-kaca", 1.3), ("two-level", 1.45), ("dbca", 1.8), ("dbca-cm", 1.9)],
)
def test_adult_with_eight_attributes_at_k_10(adult: EncodedTable, name: str, distortion_per_record: float) -> None:
    algorithm = make_algorithm(name, **({"class_column": "income"} if name == "dbca-cm" else {}))
    requirement = Requirement.of([KAnonymity(10)])
    groups = algorithm.cluster(adult, requirement, Context(threads=1)).groups
    assert adult.records == 45_222
    assert np.bincount(groups).min() >= 10
    assert table_distortion(adult, groups) / adult.records < distortion_per_record
