"""Asks anonymeter about a table. Run by a Python of its own that has anonymeter, which needs an older numpy:

    python -I second_opinion_program.py < questions.json

The questions are {"tables": {"original": CSV text, "release": ..., perhaps "control": ...}, "numeric": [...],
"parties": [[...], [...]], "secret": name or null, "attacks": 1000, "seed": 0, "number": a column name that no table
has}. Prints one JSON object. Nothing of Shoal is imported here.

Linkability is asked twice: as it is, where the nearest record of many that are equally near is taken by accident, and
with parties that agreed on an order of the records for this case. So is inference: by the nearest record, and by a
decision tree, which knows the commonest value among equal records.
"""

import io
import json
import logging
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
from anonymeter.evaluators import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    InferenceEvaluator,
    LinkabilityEvaluator,
    SinglingOutEvaluator,
)
from anonymeter.evaluators.sklearn_inference_predictor import (  # type: ignore[import-not-found,unused-ignore]
    SklearnInferencePredictor,
)
from anonymeter.stats.confidence import EvaluationResults  # type: ignore[import-not-found,unused-ignore]
from sklearn.compose import make_column_transformer  # type: ignore[import-untyped,unused-ignore]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped,unused-ignore]
from sklearn.preprocessing import OneHotEncoder  # type: ignore[import-untyped,unused-ignore]
from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped,unused-ignore]

ORDERS = 25
FAR = 1e9  # makes the agreed order count only between records that are equally near
ATTEMPTS = 20  # conditions that are tried for each that is wanted


def read(text: str | None, numeric: list[str]) -> Any:
    if text is None:
        return None
    table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for name in numeric:
        table[name] = pd.to_numeric(table[name], errors="coerce")
    return table


def words(results: Any) -> dict[str, Any]:
    """Its rates and, with a control, its risk."""

    def interval(rate: Any) -> list[float]:
        return [float(end) for end in rate.to_risk().ci]

    found: dict[str, Any] = {
        "targets": int(results.n_attacks_ori),
        "success": float(results.n_success) / max(1, results.n_attacks_ori),
        "interval": interval(results.attack_rate),
        "baseline": float(results.n_baseline) / max(1, results.n_attacks_baseline),
    }
    if results.control_rate is not None:
        risk = results.risk()
        found["control"] = {
            "success": float(results.n_control) / max(1, results.n_attacks_control),
            "interval": interval(results.control_rate),
        }
        found["risk"] = {"value": float(risk.value), "interval": [float(end) for end in risk.ci]}
    return found


def linkability(tables: dict[str, Any], parties: list[list[str]], attacks: int) -> Any:
    evaluator = LinkabilityEvaluator(
        tables["original"], tables["release"], (parties[0], parties[1]), attacks, control=tables["control"]
    )
    return evaluator.evaluate(n_jobs=1).results(confidence_level=0.95)


def agreed_linkability(tables: dict[str, Any], parties: list[list[str]], attacks: int, number: str) -> Any:
    """The same, when both parties take the first of equally near records in an order; over several random orders."""
    release = tables["release"]
    ordered = {name: None if table is None else table.assign(**{number: 0.0}) for name, table in tables.items()}
    counts = []
    for _ in range(ORDERS):
        ordered["release"] = in_random_order(release, number)
        found = linkability(ordered, [[*party, number] for party in parties], max(1, attacks // ORDERS))
        counts.append((found.n_attacks_ori, found.n_success, found.n_baseline, found.n_control or 0))
    made, success, baseline, control = (sum(column) for column in zip(*counts, strict=True))
    return EvaluationResults(made, success, baseline, None if tables["control"] is None else control)


def in_random_order(release: Any, number: str) -> Any:
    """The release with a column that numbers its records, and one record so far away that the others lie near 0."""
    order = np.random.permutation(len(release)).astype(float)
    stretched = pd.concat([release.assign(**{number: order}), release.head(1).assign(**{number: -FAR})])
    return stretched.reset_index(drop=True)


def inference(tables: dict[str, Any], known: list[str], secret: str, attacks: int, model: Any = None) -> Any:
    evaluator = InferenceEvaluator(
        tables["original"], tables["release"], known, secret, regression=False, n_attacks=attacks,
        control=tables["control"], inference_model=model,
    )  # fmt: skip
    return evaluator.evaluate(n_jobs=1).results(confidence_level=0.95)


def tree(release: Any, known: list[str], numeric: list[str], secret: str, seed: int) -> Any:
    named = [name for name in known if name not in numeric]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), named), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=seed))
    return SklearnInferencePredictor(_OnColumns(model.fit(release[known], release[secret]), known))


class _OnColumns(DecisionTreeClassifier):  # type: ignore[misc,unused-ignore]
    """A fitted model that looks at the known columns only; anonymeter hands it the whole record."""

    def __init__(self, model: Any, known: list[str]) -> None:
        super().__init__()
        self.model, self.known = model, known

    def predict(self, x: Any) -> Any:
        return self.model.predict(x[self.known])


def singling_out(tables: dict[str, Any], known: list[str], number: str, attacks: int, seed: int) -> dict[str, Any]:
    """anonymeter drops equal rows of the original; a running number keeps everybody, and no condition asks for it."""
    people = {
        name: None if table is None else table[known].assign(**{number: range(len(table))})
        for name, table in tables.items()
    }
    evaluator = SinglingOutEvaluator(
        people["original"], tables["release"][known], attacks, n_cols=min(3, len(known)), control=people["control"],
        max_attempts=ATTEMPTS * attacks, seed=seed,
    )  # fmt: skip
    results = evaluator.evaluate(mode="multivariate").results(confidence_level=0.95)
    return {**words(results), "single": len(evaluator.queries())}


def main() -> None:
    asked = json.load(sys.stdin)
    numeric = asked["numeric"]
    tables = {name: read(asked["tables"].get(name), numeric) for name in ("original", "release", "control")}
    np.random.seed(asked["seed"])  # anonymeter draws from the global generator
    print(json.dumps(answers(asked, tables)))


def answers(asked: dict[str, Any], tables: dict[str, Any]) -> dict[str, Any]:
    parties, number, secret, seed = asked["parties"], asked["number"], asked["secret"], asked["seed"]
    attacks = min([asked["attacks"], *(len(table) for table in tables.values() if table is not None)])
    known = [*parties[0], *parties[1]]
    found = {
        "linkability": words(linkability(tables, parties, attacks)),
        "agreed_linkability": words(agreed_linkability(tables, parties, attacks, number)),
        "singling_out": singling_out(tables, known, number, asked["attacks"], seed),
    }
    if secret is not None:
        model = tree(tables["release"], known, asked["numeric"], secret, seed)
        found["inference"] = words(inference(tables, known, secret, attacks))
        found["tree_inference"] = words(inference(tables, known, secret, attacks, model))
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    main()
