from __future__ import annotations

import pytest

from shoal.errors import InputError
from shoal.models.alpha_k import AlphaK, ConfidenceBound
from shoal.models.catalogue import catalogue, explain
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity, RecursiveCLDiversity
from shoal.models.likeness import BetaLikeness
from shoal.models.linkage import Qid, XYAnonymity
from shoal.models.registry import model_class, model_names, parse_model, parse_models
from shoal.models.t_closeness import TCloseness


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        ("k-anonymity:10", KAnonymity(10)),
        ("k-anonymity:10:patient", KAnonymity(10, "patient")),
        ("qid:age+sex:10", Qid(("age", "sex"), 10)),
        ("xy-anonymity:patient:5", XYAnonymity(5, "patient")),
        ("xy-anonymity:age+sex:patient:5", XYAnonymity(5, "patient", ("age", "sex"))),
        ("l-diversity:disease:3", LDiversity(3, "disease")),
        ("l-diversity:a\\:b:3", LDiversity(3, "a:b")),
        ("recursive-cl:disease:1.5,3", RecursiveCLDiversity(1.5, 3, "disease")),
        ("alpha-k:disease:0.5", AlphaK(0.5, "disease")),
        ("alpha-k:disease=HIV:0.2", AlphaK(0.2, "disease", "HIV")),
        ("confidence:age+sex:disease=HIV:0.5", ConfidenceBound(0.5, "disease", "HIV", ("age", "sex"))),
        ("t-closeness:disease:0.2", TCloseness(0.2, "disease")),
        ("t-closeness:income:0.2:ordered", TCloseness(0.2, "income", "ordered")),
        ("beta-likeness:disease:2:enhanced", BetaLikeness(2, "disease", True)),
    ],
)
def test_forms_are_read_and_written_back(spec: str, model: object) -> None:
    read = parse_model(spec)
    assert read == model
    assert read.spec() == spec
    assert parse_model(read.spec()) == read


def test_arrow_is_another_way_to_write_an_inference() -> None:
    assert parse_model("confidence:age+sex->disease=HIV:0.5") == parse_model("confidence:age+sex:disease=HIV:0.5")


def test_unknown_models_get_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean 'l-diversity'") as caught:
        parse_model("l-diversty:disease:3")
    assert caught.value.reasons == ("unknown-model",)


@pytest.mark.parametrize(
    "spec",
    [
        "k-anonymity",
        "k-anonymity:1",
        "k-anonymity:2.5",
        "k-anonymity:many",
        "l-diversity:3",
        "l-diversity:disease:1",
        "l-diversity:disease:nan",
        "recursive-cl:disease:3",
        "alpha-k:disease:1.5",
        "confidence:disease:0.5",
        "t-closeness:disease:1",
        "t-closeness:disease:0.1:orderd",
        "beta-likeness:disease:1:best",
        "delta-disclosure:disease:0",
        "qid::3",
        "p-alpha:disease:2",
        "p-alpha:disease:1,0",
        "p-alpha:disease:0,2",
        "k-map:ten",
    ],
)
def test_bad_forms_are_refused_with_the_right_form(spec: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_model(spec)
    assert caught.value.reasons == ("bad-model",)


def test_all_problems_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_models(["k-anonymity:x", "k-anonymity:3", "nothing:1"])
    assert caught.value.reasons == ("bad-model", "unknown-model")


def test_messages_and_certificates_do_not_carry_the_named_value() -> None:
    with pytest.raises(InputError) as caught:
        parse_model("alpha-k:disease=secret:7")
    assert "secret" not in str(caught.value)
    public = parse_model("alpha-k:disease=secret:0.5").public_spec()
    assert "secret" not in public
    assert parse_model(public).public_spec() == public


def test_every_model_is_explained() -> None:
    assert [entry.name for entry in catalogue()] == list(model_names())
    for name in model_names():
        text = explain(name)
        assert model_class(name).citation in text
        assert "Does not stop" in text
