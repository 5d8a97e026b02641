"""Tables in which a person has several records: k counts persons, wherever a k or a risk is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.inspection.inspect import inspect_table
from shoal.models.k_map import KMap
from shoal.models.registry import parse_model
from shoal.verification.check import verify_release
from shoal.verification.reading import Knowledge

QUASI = ["age", "town"]


def make_visits(records: int = 240) -> pl.DataFrame:
    """Three visits of every patient, all with the same age and nearly always in the same town."""
    random = np.random.default_rng(3)
    patients = np.arange(records) // 3
    return pl.DataFrame(
        {
            "patient": [f"p{number}" for number in patients],
            "age": (20 + (patients * 7) % 50).tolist(),
            "town": np.where(random.random(records) < 0.9, patients % 4, random.integers(0, 4, records)).astype(str),
            "disease": random.choice(["flu", "cold", "gout"], records).tolist(),
        }
    )


VISITS = make_visits()


def fewest_persons(release: pl.DataFrame, over: list[str], persons: pl.Series = VISITS["patient"]) -> int:
    counted = release.with_columns(persons.alias("who")).group_by(over).agg(pl.col("who").n_unique())
    return int(counted["who"].min())  # type: ignore[arg-type]


@pytest.mark.parametrize("algorithm", ["shoal", "mondrian", "k-member", "topdown", "cb", "tdr"])
def test_k_counts_persons_whatever_the_algorithm(algorithm: str) -> None:
    records = shoal.anonymize(VISITS, keep_rest=True, quasi=QUASI, identifiers=["patient"], k=4, algorithm=algorithm)
    persons = shoal.anonymize(VISITS, keep_rest=True, quasi=QUASI, k=4, algorithm=algorithm, person="patient")
    assert fewest_persons(persons.release, QUASI) >= 4
    assert "patient" not in persons.release.columns
    assert fewest_persons(records.release, QUASI) < 4  # so the option does something
    assert persons.certificate["checks"][0]["model"] == "k-anonymity:4:patient"
    assert persons.certificate["checks"][0]["measured"] == fewest_persons(persons.release, QUASI)


def test_the_risk_is_that_of_persons() -> None:
    result = shoal.anonymize(VISITS, keep_rest=True, quasi=QUASI, k=4, algorithm="mondrian", person="patient")
    assert result.risk["before"]["highest"] == 1 / fewest_persons(VISITS, QUASI)
    assert result.risk["after"]["highest"] == 1 / fewest_persons(result.release, QUASI)
    classes = result.release.with_columns(VISITS["patient"]).group_by(QUASI).agg(pl.len(), pl.col("patient").n_unique())
    assert result.risk["after"]["average"] == pytest.approx((classes["len"] / classes["patient"]).sum() / VISITS.height)
    several = VISITS.group_by(QUASI).agg(pl.col("patient").n_unique().alias("persons"))
    of_one = VISITS.join(several.filter(pl.col("persons") == 1), on=QUASI, how="semi")
    assert result.risk["before"]["unique"] == of_one["patient"].n_unique() > 0
    assert result.risk["before"]["unique"] < several.filter(pl.col("persons") == 1).height  # classes are no persons
    told = result.evaluate().risk  # the report has the same numbers
    assert told["before"]["unique"] == result.risk["before"]["unique"]
    assert told["after"]["highest"] == result.risk["after"]["highest"]
    assert told["after"]["average"] == pytest.approx(result.risk["after"]["average"])


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member"])
def test_several_sets_count_persons_and_still_lose_less_than_their_union(algorithm: str) -> None:
    frame = VISITS.with_columns(pl.Series("colour", ["rgbw"[n % 4] for n in range(VISITS.height)]))
    quasi = [*QUASI, "colour"]
    sets = shoal.anonymize(
        frame,
        keep_rest=True,
        quasi=quasi,
        models=["qid:age+town:4", "qid:town+colour:6"],
        algorithm=algorithm,
        person="patient",
    )
    assert fewest_persons(sets.release, ["age", "town"]) >= 4
    assert fewest_persons(sets.release, ["town", "colour"]) >= 6
    union = shoal.anonymize(frame, keep_rest=True, quasi=quasi, k=6, algorithm=algorithm, person="patient")
    assert sets.metrics["gcp"] < union.metrics["gcp"]


def test_k_map_counts_the_persons_of_the_population(tmp_path: Path) -> None:
    everybody = pl.concat([VISITS, VISITS.with_columns(pl.col("patient") + "x")]).select("patient", *QUASI)
    everybody.write_csv(tmp_path / "population.csv")
    result = shoal.anonymize(
        VISITS, keep_rest=True, quasi=QUASI, models=["k-map:9"], algorithm="mondrian", person="patient",
        population=str(tmp_path / "population.csv"),
    )  # fmt: skip
    assert result.certificate["checks"][0]["model"] == "k-map:9:patient"
    rows, persons = (
        verify_release(result.release, QUASI, [model], Knowledge(population=everybody)).checks[0]
        for model in (KMap(9), KMap(9, "patient"))
    )
    assert persons.passed
    assert rows.measured is not None
    assert persons.measured is not None
    assert rows.measured > persons.measured >= 9  # three visits each
    assert parse_model("k-map:9:patient") == KMap(9, "patient")
    without = verify_release(
        VISITS.select(QUASI), QUASI, [KMap(2, "patient")], Knowledge(population=everybody.drop("patient"))
    )
    assert without.checks[0].measured == VISITS.group_by(QUASI).len()["len"].min() * 2  # type: ignore[operator]


def test_alpha_and_l_stay_shares_of_records() -> None:
    """The models of sensitive values have no k; with --person the k beside them counts persons."""
    specs = ["alpha-k:disease:0.6", "l-diversity:disease:1.5", "xy-anonymity:patient:5"]
    result = shoal.anonymize(
        VISITS, keep_rest=True, quasi=QUASI, k=4, models=specs, algorithm="mondrian", person="patient"
    )
    assert [check["model"] for check in result.certificate["checks"]] == ["k-anonymity:4:patient", *specs]
    assert fewest_persons(result.release, QUASI) >= 5


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0), capsys.readouterr().out


def test_verify_and_evaluate_and_inspect_count_persons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = shoal.anonymize(VISITS, keep_rest=True, quasi=QUASI, identifiers=["patient"], k=6, algorithm="mondrian")
    persons = fewest_persons(result.release, QUASI)
    assert persons < 6
    VISITS.write_csv(tmp_path / "original.csv")
    result.release.write_csv(tmp_path / "release.csv")
    result.release.with_columns(VISITS["patient"]).write_csv(tmp_path / "with_persons.csv")
    ask = ("verify", str(tmp_path / "with_persons.csv"), "--quasi", "age,town", "-k", "6")
    assert run(capsys, *ask)[0] == 0
    assert run(capsys, *ask, "--person", "patient")[0] == 3
    assert run(capsys, *ask, "--person", "nobody")[0] == 2
    files = (str(tmp_path / "original.csv"), str(tmp_path / "release.csv"), "--quasi", "age,town", "--json")
    plain = json.loads(run(capsys, "evaluate", *files)[1])["risk"]
    counted = json.loads(run(capsys, "evaluate", *files, "--person", "patient")[1])["risk"]
    assert plain["after"]["smallest_class"] >= 6
    assert counted["after"]["smallest_class"] == persons
    assert counted["after"]["records"] == VISITS.height
    assert counted["before"]["highest"] == 1 / fewest_persons(VISITS, QUASI)
    alone = VISITS.filter(pl.col("patient").n_unique().over(QUASI) == 1).height
    found = inspect_table(VISITS, QUASI, person="patient").as_dict()
    assert next(c for c in found["combinations"] if c["columns"] == QUASI)["unique"] == alone
    assert run(capsys, "inspect", str(tmp_path / "original.csv"), "--person", "nobody")[0] == 2
