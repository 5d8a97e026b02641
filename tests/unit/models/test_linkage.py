from __future__ import annotations

from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.linkage import Qid, without_covered
from shoal.models.registry import parse_models


def test_covered_sets_are_left_out_and_said_so() -> None:
    models = parse_models(["qid:age:5", "qid:age+sex:10", "qid:sex+age:10", "qid:age+zip:20", "k-anonymity:3"])
    kept, said = without_covered(models)
    assert kept == (Qid(("age", "sex"), 10), Qid(("age", "zip"), 20), KAnonymity(3))
    assert said == (
        "qid:age:5 is redundant: qid:age+sex:10 covers it",
        "qid:sex+age:10 is redundant: qid:age+sex:10 covers it",
    )


def test_a_set_with_a_higher_k_is_not_covered_by_a_larger_set() -> None:
    models = parse_models(["qid:age:20", "qid:age+sex:10"])
    assert without_covered(models) == (models, ())


def test_persons_are_counted_everywhere_or_nowhere() -> None:
    requirement = Requirement.of(parse_models(["k-anonymity:3", "qid:age:5", "distinct-l:s:2"]))
    assert requirement.count_persons(None) is requirement
    counted = requirement.count_persons("patient")
    assert [model.spec() for model in counted.models] == [
        "k-anonymity:3:patient",
        "qid:age:5:patient",
        "distinct-l:s:2",
    ]
    assert not counted.size_only
    assert counted.columns() == ("patient", "s")
