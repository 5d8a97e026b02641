"""Every algorithm that makes classes works with every monotone model, judged by the independent check."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms.registry import algorithm_class, algorithm_names
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.registry import model_class, model_names, parse_model
from shoal.verification.check import verify_release
from shoal.verification.reading import Knowledge

QUASI = ["age", "town", "colour"]
TOWNS = {"*": {"north": ["Ahl", "Berg"], "south": ["Cott", "Dorf"]}}
DISEASES = {"*": {"lung": ["d0", "d1"], "other": ["d2", "d3"]}}

# one setting of every model that groups of a plain k do not meet by themselves
SPECS = {
    "k-anonymity": ("k-anonymity:6",),
    "qid": ("qid:age+town:8", "qid:town+colour:5"),
    "xy-anonymity": ("xy-anonymity:patient:5",),
    "k-map": ("k-map:30",),
    "l-diversity": ("l-diversity:disease:2",),
    "distinct-l": ("distinct-l:disease:3",),
    "entropy-l": ("entropy-l:disease:2.2",),
    "recursive-cl": ("recursive-cl:disease:2,2",),
    "alpha-k": ("alpha-k:disease:0.5", "alpha-k:disease=d1:0.4"),
    "confidence": ("confidence:age+town:disease=d2:0.4",),
    "p-alpha": ("p-alpha:disease:2,2.5",),
    "t-closeness": (
        "t-closeness:disease:0.25",
        "t-closeness:income:0.2:ordered",
        "t-closeness:disease:0.2:hierarchical",
    ),
    "beta-likeness": ("beta-likeness:disease:1", "beta-likeness:disease:1.5:enhanced"),
    "delta-disclosure": ("delta-disclosure:disease:1.2",),
}  # fmt: skip


def make_frame(records: int = 160) -> pl.DataFrame:
    """The disease depends on the age, a patient has two records on average, and some cells are missing."""
    random = np.random.default_rng(11)
    ages = random.integers(20, 80, records)
    disease = np.where(random.random(records) < 0.6, (ages - 20) // 15, random.integers(0, 4, records))
    return pl.DataFrame(
        {
            "age": [None if place % 23 == 0 else int(age) for place, age in enumerate(ages)],
            "town": random.choice(["Ahl", "Berg", "Cott", "Dorf"], records).tolist(),
            "colour": [None if place % 31 == 0 else "rgbw"[place % 4] for place in range(records)],
            "disease": [f"d{number}" for number in disease],
            "income": (ages * 100 + random.integers(0, 2000, records)).tolist(),
            "patient": random.integers(0, records // 2, records).tolist(),
        }
    )


FRAME = make_frame()


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("population") / "population.csv"
    pl.concat([FRAME, make_frame(400)]).select(QUASI).write_csv(path)
    return str(path)


def test_every_model_has_its_settings_here() -> None:
    assert set(SPECS) == {name for name in model_names() if model_class(name).monotone}


@pytest.mark.parametrize("model", SPECS)
@pytest.mark.parametrize("algorithm", [name for name in algorithm_names() if algorithm_class(name).class_based])
def test_every_algorithm_meets_every_model(algorithm: str, model: str, population: str) -> None:
    size = () if model == "qid" else ("k-anonymity:3",)
    specs = (*size, *SPECS[model])
    result = shoal.anonymize(
        FRAME,
        quasi=QUASI,
        sensitive=["disease", "income", "patient"],
        models=specs,
        algorithm=algorithm,
        hierarchies={"town": TOWNS, "disease": DISEASES},
        **({"population": population} if model == "k-map" else {}),
    )
    again = [parse_model(spec) for spec in specs if parse_model(spec).name != "k-map"]
    tree = make_hierarchy(DISEASES, ["d0", "d1", "d2", "d3"], "disease", None)
    assert verify_release(result.release, QUASI, again, Knowledge({"disease": tree})).passed
    assert result.certificate["passed"]
    assert [check["model"] for check in result.certificate["checks"]] == [parse_model(s).public_spec() for s in specs]
    assert result.release.height == FRAME.height
