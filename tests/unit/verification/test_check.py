from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.alpha_k import AlphaK
from shoal.models.k_anonymity import KAnonymity
from shoal.models.registry import parse_model, parse_models
from shoal.tables.distinct import with_categories
from shoal.verification.check import verify_release
from shoal.verification.classes import fully_suppressed
from shoal.verification.reading import Knowledge

RELEASE = pl.DataFrame(
    {
        "age": ["[20, 29]"] * 4 + ["[30, 39]"] * 3 + ["*"] * 2,
        "sex": ["m"] * 4 + ["f"] * 3 + ["*"] * 2,
        "disease": ["flu", "flu", "cold", "gout", "flu", "flu", "flu", "cold", "gout"],
        "patient": [1, 1, 2, 3, 4, 5, 6, 7, 8],
    }
)
QUASI = ["age", "sex"]


def check(spec: str, release: pl.DataFrame = RELEASE, suppression_limit: float = 0.0, **known: object):
    models = [parse_model(spec)]
    return verify_release(release, QUASI, models, Knowledge(**known), suppression_limit=suppression_limit).checks[0]


def test_classes_are_counted_on_the_released_values() -> None:
    found = verify_release(RELEASE, QUASI, [KAnonymity(2)])
    assert (found.passed, found.records, found.classes, found.smallest_class) == (True, 9, 3, 2)
    assert found.suppressed_records == 2


def test_a_failure_names_model_size_and_number_but_no_value() -> None:
    found = verify_release(RELEASE, QUASI, parse_models(["k-anonymity:4", "alpha-k:disease=flu:0.6"]))
    assert not found.passed
    first, second = found.checks
    assert (first.model, first.offending_classes, first.offending_records) == ("k-anonymity:4", 2, 5)
    assert (first.smallest_offending_class, first.measured) == (2, 2.0)
    assert (second.offending_classes, second.smallest_offending_class, second.measured) == (1, 3, 1.0)
    said = json.dumps(found.as_dict()) + " ".join(str(item) for item in found.failures())
    for value in ("flu", "cold", "gout", "[20", "[30"):
        assert value not in said


def test_a_moved_record_and_a_swapped_value_are_found() -> None:
    moved = RELEASE.with_columns(age=pl.Series(["[30, 39]", *RELEASE["age"][1:]]))
    assert check("k-anonymity:2", moved).smallest_offending_class == 1
    assert check("l-diversity:disease:2").offending_classes == 1
    swapped = RELEASE.with_columns(disease=pl.Series(["flu", "flu", "flu", *RELEASE["disease"][3:]]))
    assert check("l-diversity:disease:2", swapped).offending_classes == 2


def test_missing_values_never_make_a_class_larger() -> None:
    release = pl.DataFrame({"age": ["20", "20", None, None, "20"], "sex": ["m", "m", "m", "m", None]})
    found = verify_release(release, QUASI, [KAnonymity(2)])
    assert (found.passed, found.classes, found.smallest_class) == (False, 3, 1)


def test_typed_columns_are_compared_as_they_are_written() -> None:
    release = pl.DataFrame({"age": [0.0, -0.0, 1.5, 1.5], "sex": pl.Series(["m"] * 4, dtype=pl.Categorical)})
    assert verify_release(release, QUASI, [KAnonymity(2)]).checks[0].offending_classes == 2


def test_suppressed_records_are_exempt_within_the_limit_only() -> None:
    assert check("k-anonymity:3").offending_classes == 1
    assert check("k-anonymity:3", suppression_limit=0.1).offending_classes == 1
    found = verify_release(RELEASE, QUASI, [KAnonymity(3)], suppression_limit=0.25)
    assert (found.passed, found.suppressed_exempt, found.classes, found.smallest_class) == (True, True, 2, 3)


@pytest.mark.parametrize("kind", ["texts", "categories", "own categories", "enum"])
def test_suppressed_records_are_seen_in_every_kind_of_text(kind: str) -> None:
    texts = {"age": ["[20, 29]"] * 3 + ["*", "*", None], "sex": ["m"] * 3 + ["*", "*", "*"]}
    release = pl.DataFrame(texts)
    if kind == "categories":
        release = release.cast(pl.Categorical)
    elif kind == "own categories":
        release = with_categories(release, QUASI)
    elif kind == "enum":
        release = release.cast(pl.Enum(["[20, 29]", "m", "*"]))
    assert fully_suppressed(release, QUASI).tolist() == [False, False, False, True, True, False]
    found = verify_release(release.head(5), QUASI, [KAnonymity(3)], suppression_limit=0.4)
    assert (found.passed, found.suppressed_records, found.smallest_class) == (True, 2, 3)


def test_numbers_are_never_suppressed() -> None:
    assert not fully_suppressed(pl.DataFrame({"sex": ["*"], "age": [1]}), ["sex", "age"]).any()


def test_the_distribution_of_the_table_includes_exempt_records() -> None:
    strict = check("t-closeness:disease:0.3", suppression_limit=0.25)
    assert strict.measured == pytest.approx(1 - 5 / 9)


def test_persons_are_counted_in_the_release_or_beside_it() -> None:
    assert check("k-anonymity:4:patient").smallest_offending_class == 2
    assert check("k-anonymity:3:patient").offending_classes == 1
    hidden = RELEASE.select("patient")
    assert check("k-anonymity:3:patient", RELEASE.drop("patient"), hidden=hidden).offending_classes == 1
    with pytest.raises(InputError) as caught:
        check("k-anonymity:3:patient", RELEASE.drop("patient"))
    assert caught.value.reasons == ("missing-column",)


def test_sets_of_quasi_identifiers_have_their_own_classes() -> None:
    release = pl.DataFrame({"age": ["1", "1", "2", "2"], "sex": ["m", "f", "m", "f"]})
    assert check("qid:age:2", release).passed
    assert check("qid:sex:2", release).passed
    assert check("qid:age+sex:2", release).offending_classes == 4


def test_a_digest_stands_for_the_named_value() -> None:
    model = parse_model("alpha-k:disease=flu:0.6")
    by_digest = parse_model(model.public_spec())
    assert check(model.spec()).offending_classes == check(by_digest.spec()).offending_classes == 1


def test_everything_wrong_with_the_call_at_once() -> None:
    models = parse_models(["l-diversity:diseases:2", "qid:disease:2"])
    with pytest.raises(InputError, match="did you mean 'disease'") as caught:
        verify_release(
            RELEASE, ["agee", "sex"], models, Knowledge(hidden=RELEASE.head(2).select("patient")), suppression_limit=2
        )
    assert sorted(caught.value.reasons) == sorted(
        ["missing-column", "missing-column", "not-quasi-identifying", "bad-parameter", "different-length"]
    )


def test_an_empty_release_holds() -> None:
    found = verify_release(RELEASE.clear(), QUASI, parse_models(["k-anonymity:2", "t-closeness:disease:0.1"]))
    assert (found.passed, found.smallest_class, found.classes) == (True, None, 0)


def test_orders_of_text_are_numbers_dates_or_given() -> None:
    release = pl.DataFrame({"age": ["a"] * 2 + ["b"] * 2, "sex": ["m"] * 4, "pay": ["9", "10", "10", "100"]})
    assert check("t-closeness:pay:0.5:ordered", release).measured == pytest.approx(0.25)
    words = release.with_columns(pay=pl.Series(["low", "mid", "mid", "high"]))
    with pytest.raises(InputError) as caught:
        check("t-closeness:pay:0.5:ordered", words)
    assert caught.value.reasons == ("unordered-column",)
    found = check("t-closeness:pay:0.5:ordered", words, orders={"pay": ["low", "mid", "high"]})
    assert found.measured == pytest.approx(0.25)


def test_k_map_reads_released_values_back() -> None:
    towns = Hierarchy(
        leaves=("Ahl", "Berg", "Cott"),
        labels=("Ahl", "Berg", "Cott", "north", "south", "*"),
        ancestors=pl.DataFrame([[0, 1, 2], [3, 3, 4], [5, 5, 5]]).transpose().to_numpy().astype("int32").copy(),
    )
    population = pl.DataFrame(
        {"age": [20, 25, 30, 35, 25], "sex": ["m", "f", "m", None, "f"], "town": ["Ahl", "Berg", "Cott", "Ahl", "Ahl"]}
    )
    release = pl.DataFrame(
        {
            "age": ["[20, 30]", "25", "*", "[20, 40]"],
            "sex": ["{f, m}", "f", "*", None],
            "town": ["*", "north", "south", "north"],
        }
    )
    found = verify_release(
        release, ["age", "sex", "town"], [parse_model("k-map:2")], Knowledge({"town": towns}, population=population)
    ).checks[0]
    assert (found.offending_classes, found.measured) == (2, 1.0)  # 4, 2, 1 and 1 persons fit
    with pytest.raises(InputError) as caught:
        check("k-map:2")
    assert caught.value.reasons == ("missing-population",)


def test_the_exemption_never_makes_a_release_fail() -> None:
    """The class of both stars has three records, one of which is a star in every quasi-identifier."""
    release = pl.DataFrame({"age": ["*"] * 3 + ["5"] * 3, "sex": ["*", "m", "m", "m", "m", "m"]})
    qid = [parse_model("qid:age:3")]
    found = verify_release(release, QUASI, qid, suppression_limit=0.2)
    assert (found.passed, found.suppressed_exempt, found.suppressed_records) == (True, False, 1)
    assert not verify_release(release, QUASI, [parse_model("qid:age:4")], suppression_limit=0.2).passed


ORDERED_TEXTS = {
    "signs and spaces": ["+5", " 6", "10", "100"],
    "dots": ["31.12.2019", "01.01.2020", "05.01.2020", "02.02.2020"],
    "slashes": ["2019/12/31", "2020/01/01", "2020/01/05", "2020/02/02"],
    "times": ["2020-01-01 09:30", "2020-01-01 10:00", "2020-01-02 00:00", "2020-01-10 00:00"],
    "moments": [f"2020-01-01T09:30:00.000000{zone}" for zone in ("+0200", "+0100", "-0100", "-0330")],
}


@pytest.mark.parametrize("texts", ORDERED_TEXTS.values(), ids=ORDERED_TEXTS.keys())
def test_the_ordered_distance_knows_the_order_of_numbers_and_dates(texts: list[str]) -> None:
    """The same distances as with the ranks in place of the texts, a missing value after all others."""
    ranks = [0, 0, 1, 2, 3, 3, None, 0, None, 3]
    release = pl.DataFrame({"age": ["a"] * 4 + ["b"] * 6, "sex": ["m"] * 10, "rank": ranks}).with_columns(
        text=pl.Series(["?" if rank is None else texts[rank] for rank in ranks])
    )
    by_text = check("t-closeness:text:0.5:ordered", release, missing=["?"])
    by_rank = check("t-closeness:rank:0.5:ordered", release)
    assert by_text.measured == pytest.approx(by_rank.measured)
    assert by_text.measured > 0.1


def test_a_given_order_comes_before_that_of_numbers() -> None:
    release = pl.DataFrame({"age": ["a"] * 2 + ["b"] * 2, "sex": ["m"] * 4, "pay": [1, 2, 2, 3]})
    order = {"pay": ["2", "1", "3"]}
    text = release.with_columns(pl.col("pay").cast(pl.String))
    wanted = check("t-closeness:pay:0.5:ordered", text, orders=order).measured
    assert check("t-closeness:pay:0.5:ordered", release, orders=order).measured == wanted
    assert check("t-closeness:pay:0.5:ordered", release).measured != wanted


@pytest.mark.parametrize("distance", ["", ":ordered"])
def test_a_release_of_nothing_but_stars_has_no_distance(distance: str) -> None:
    release = pl.DataFrame({"age": ["*"] * 5, "sex": ["*"] * 5, "s": [1, 2, 3, 4, 5]})
    found = check(f"t-closeness:s:0.3{distance}", release, suppression_limit=1.0)
    assert (found.passed, found.measured) == (True, None)


def test_a_named_value_that_does_not_occur_is_an_error() -> None:
    release = pl.DataFrame({"age": ["x"] * 10, "sex": ["m"] * 10, "s": ["HIV"] * 10})
    assert not check("alpha-k:s=HIV:0.1", release).passed
    misspelled = parse_models(["alpha-k:s=HVI:0.1", "confidence:s=VIH:0.1", "t-closeness:s:0.1:ordered"])
    with pytest.raises(InputError) as caught:
        verify_release(release, QUASI, misspelled)
    assert caught.value.reasons == ("unknown-value", "unordered-column")
    assert "HVI" not in str(caught.value)
    by_digest = parse_model(misspelled[0].public_spec())
    with pytest.raises(InputError):
        verify_release(release, QUASI, [by_digest])


def test_moments_and_times_are_found_as_csv_files_spell_them() -> None:
    moments = pl.Series([dt.datetime(2020, 1, 1, hour) for hour in (0, 0, 12)])
    typed = pl.DataFrame(
        {
            "age": ["a"] * 3,
            "sex": ["m"] * 3,
            "plain": moments,
            "zone": moments.dt.replace_time_zone("Europe/Berlin"),
            "time": moments.dt.time(),
        }
    )
    written = pl.read_csv(typed.write_csv().encode(), infer_schema=False)
    for name in ("plain", "zone", "time"):
        named = typed[name].cast(pl.String)[0]
        for model in (AlphaK(0.5, name, named), parse_model(AlphaK(0.5, name, named).public_spec())):
            for release in (typed, written):
                assert verify_release(release, QUASI, [model]).checks[0].measured == pytest.approx(2 / 3)
