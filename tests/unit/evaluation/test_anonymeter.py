"""Our attacks against those of anonymeter, which runs in an environment of its own (SHOAL_ANONYMETER_PYTHON).

anonymeter compares records by distance and knows no generalized values. In a full-domain release every value has one
released label, so an attacker generalizes what is known in the same way, and the nearest records are those that fit:
there both programs must find the same, up to what their samples leave open.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.evaluation.attacks.second_opinion import Question, ask_anonymeter, python_problems
from shoal.evaluation.attacks.singling_out import singling_out_attack
from shoal.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_release, found_domains
from shoal.evaluation.options import AttackerTables
from shoal.hierarchies.files import read_hierarchy_file
from shoal.released.domain import make_domains
from shoal.released.reading import read_release
from shoal.tables.schema import Attribute, Role, Scale

LEVELS = {"age": 3, "workclass": 1, "education": 2, "marital-status": 1, "occupation": 1, "sex": 0, "native-country": 1}
QUASI = list(LEVELS)
ATTACKS = 400
pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def python() -> Path:
    home = Path(__file__).resolve().parents[3]
    named = Path(os.environ.get("SHOAL_ANONYMETER_PYTHON", str(home / ".venv-anonymeter" / "bin" / "python")))
    if python_problems(named):
        pytest.skip(f"no Python with anonymeter at {named}: name one in SHOAL_ANONYMETER_PYTHON")
    return named


class Case:
    """Adult in two halves, one of them released by full-domain generalization."""

    def __init__(self, folder: Path) -> None:
        table = pl.read_csv(folder / "adult" / "adult_complete.csv", infer_schema=False)
        table = table.select([*QUASI, "income"]).sample(6000, shuffle=True, seed=1)
        self.original, self.control = table.head(4000), table.tail(2000)
        files = {name: folder / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in QUASI}
        self.trees = {name: read_hierarchy_file(path, name) for name, path in files.items()}
        self.labels = {name: _labels(path, LEVELS[name]) for name, path in files.items()}
        self.release = self.recoded(self.original)

    def recoded(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(name).replace_strict(self.labels[name]) for name in QUASI)

    def evaluation(self) -> Evaluation:
        options = EvaluationOptions(sensitive=("income",), parts=("attack",))
        return evaluate_release(
            self.original,
            self.release,
            QUASI,
            options,
            domains=found_domains(self.original, QUASI, self.trees),
            tables=AttackerTables(control=self.control),
        )


def _labels(path: Path, level: int) -> dict[str, str]:
    rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines() if line]
    return {row[0].strip(): row[level].strip() for row in rows}


@pytest.fixture(scope="module")
def case(data_folder: Path) -> Case:
    return Case(data_folder)


@pytest.fixture(scope="module")
def ours(case: Case) -> dict[str, Any]:
    found = case.evaluation().attack
    assert found is not None
    return found


@pytest.fixture(scope="module")
def theirs(case: Case, python: Path, ours: dict[str, Any]) -> dict[str, Any]:
    first, second = ours["linkability"]["parties"]
    released, others = case.release, case.recoded(case.control)
    return ask_anonymeter(
        python, released, released, Question(parties=(first, second), secret="income", attacks=ATTACKS), others
    )


def overlap(one: list[float], other: list[float]) -> bool:
    return max(one[0], other[0]) <= min(one[1], other[1])


def test_linkability_by_a_rule(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    mine, answer = ours["linkability"]["same_record"], theirs["agreed_linkability"]
    assert mine["success"] > 0.02
    assert overlap(mine["interval"], answer["interval"])
    assert overlap(mine["control"]["interval"], answer["control"]["interval"])
    assert overlap(mine["risk"]["interval"], answer["risk"]["interval"])


def test_linkability_without_a_rule(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    low, high = theirs["linkability"]["interval"]
    assert low <= ours["linkability"]["same_record"]["independent"] <= high


def test_inference(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    mine, answer = ours["inference"], theirs["tree_inference"]
    assert mine["success"] > mine["baseline"]
    assert overlap(mine["interval"], answer["interval"])
    assert overlap(mine["control"]["interval"], answer["control"]["interval"])
    assert overlap(mine["risk"]["interval"], answer["risk"]["interval"])
    assert theirs["inference"]["interval"][0] < mine["success"]  # the commonest value beats that of a single record


def test_singling_out(case: Case, theirs: dict[str, Any]) -> None:
    """The release is not k-anonymous, so a few conditions single out; both find about as many of them."""
    scales = {name: Scale.INTEGER if name == "age" else Scale.CATEGORY for name in QUASI}
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, scale) for name, scale in scales.items()]
    domains = make_domains(case.original, attributes, case.trees)
    table = read_release(case.original, case.release, QUASI, domains)
    mine = singling_out_attack(table, case.original, conditions=ATTACKS)
    found = theirs["singling_out"]["single"]
    assert found > 10
    assert abs(mine["single"] - found) <= 3 * (mine["single"] + found) ** 0.5
