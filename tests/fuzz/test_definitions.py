"""Models that compare a class with the table, where missing values meet them: `shoal.verify` against plain Python."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
import pytest

import shoal
from fuzzing.definitions import Release, Verdict, judge, parse
from shoal.pipeline.verify_files import Asked, verify_file

SPELLINGS = [None, "", "NaN", "nan", "?", " ? ", " "]
SPECS = (
    *("beta-likeness:s:2", "beta-likeness:s:0.5", "beta-likeness:s:1:enhanced"),
    *("delta-disclosure:s:1", "delta-disclosure:s:2.5", "t-closeness:s:0.3"),
    *("l-diversity:s:2", "distinct-l:s:3", "entropy-l:s:1.5", "recursive-cl:s:2,2", "alpha-k:s:0.6"),
)


def by_definition(spec: str, keys: list[str], values: list[str | None], limit: float) -> Verdict:
    """Classes of equal keys; `*` is exempt up to a limit, but the table it is compared with has everybody."""
    meant = [None if value is None or value.strip() in ("", "NaN", "nan", "?") else value for value in values]
    hidden = keys.count("*")
    exempt = {"*"} if 0 < hidden <= limit * len(keys) else set()
    verdicts = []
    for left_out in (exempt, set()) if exempt else (set(),):
        rows: dict[str, list[int]] = defaultdict(list)
        for row, key in enumerate(keys):
            if key not in left_out:
                rows[key].append(row)
        verdicts.append(judge(parse(spec), Release(lambda names, rows=rows: list(rows.values()), {"s": meant})))  # type: ignore[misc]
    return verdicts[0] if verdicts[0].holds else max(verdicts, key=lambda verdict: verdict.holds)


@pytest.mark.parametrize("number", range(60))
def test_as_the_definition_says(number: int, tmp_path: Path) -> None:
    draw = random.Random(f"definitions {number}")
    rows = draw.randint(2, 24)
    share = draw.choice([0.0, 0.2, 0.6, 1.0])
    keys = [draw.choice(["a", "b", "c", "*"][: draw.randint(1, 4)]) for _ in range(rows)]
    values = [draw.choice(SPELLINGS) if draw.random() < share else draw.choice(["x", "y", "z"]) for _ in range(rows)]
    limit = draw.choice([0.0, 0.0, 0.3, 1.0])
    frame = pl.DataFrame({"q": keys, "s": values}, schema={"q": pl.String, "s": pl.String})
    file = tmp_path / "release.csv"
    frame.write_csv(file)
    for spec in SPECS:
        expected = by_definition(spec, keys, values, limit)
        verification = shoal.verify(frame, quasi=["q"], models=[spec], missing=["?"], suppression_limit=limit)
        found = verification.checks[0]
        assert found.passed == expected.holds, spec
        told = None if found.measured is None else pytest.approx(found.measured, abs=1e-8)
        assert expected.measured == told, spec
        asked = Asked(quasi=("q",), models=(spec,), suppression_limit=limit)
        assert verify_file(file, asked, missing=("?",))["passed"] == expected.holds, spec


def verified(keys: str, values: list[str | None], spec: str, limit: float = 0.0) -> tuple[bool, float | None]:
    frame = pl.DataFrame({"q": list(keys), "s": values})
    check = shoal.verify(frame, quasi=["q"], models=[spec], suppression_limit=limit).checks[0]
    return check.passed, check.measured


def test_the_table_of_a_gain_has_the_records_without_a_value() -> None:
    # flu: 3 of 10 records, and all of a class: the gain is 1 / 0.3 - 1, not 3 - 1 as among the nine that have a value
    values = ["flu"] * 3 + ["gout"] * 6 + [None]
    holds, gain = verified("aaabbbbbbb", values, "beta-likeness:s:2")
    assert (holds, gain) == (False, pytest.approx(7 / 3))
    assert verified("aaabbbbbbb", values, "beta-likeness:s:2.34")[0]


def test_a_class_must_not_lack_what_the_table_has() -> None:
    # everybody of the first class has a value; one of the others has none
    assert verified("aabb", ["flu", "gout", "flu", None], "delta-disclosure:s:9") == (False, None)
    assert verified("aabb", ["flu", None, "flu", ""], "delta-disclosure:s:9")[0]  # two ways to write what is missing
    assert verified("aabb", ["flu", "gout", "flu", None], "beta-likeness:s:1")[0]  # lacking a value is no gain


def test_suppressed_records_are_part_of_the_table() -> None:
    # the exempt record alone has gout: the class of the others lacks it
    assert verified("aaa*", ["flu", "flu", "flu", "gout"], "delta-disclosure:s:9", limit=0.25) == (False, None)
    assert verified("aaa*", ["flu", "flu", "flu", "gout"], "beta-likeness:s:0.5", limit=0.25)[0]


def test_integers_that_floats_do_not_tell_apart_are_in_order(tmp_path: Path) -> None:
    low, middle, high = "-1152921504606846977", "-1152921504606846976", "9007199254740993"
    release = pl.DataFrame({"q": ["a", "a", "b"], "s": [low, high, middle]})
    for frame in (release, release.with_columns(pl.col("s").cast(pl.Int64))):
        check = shoal.verify(frame, quasi=["q"], models=["t-closeness:s:0.4:ordered"]).checks[0]
        assert check.measured == pytest.approx(1 / 3)  # of `b`: a third has a step to go from either side
    tree = {"*": {"first": [middle], "second": [low, high]}}  # in another order
    table = pl.DataFrame({"q": [1, 2, 3], "s": [low, middle, high]})
    result = shoal.anonymize(
        table, quasi=["q"], sensitive=["s"], models=["t-closeness:s:0.4:ordered"], hierarchies={"s": tree}, allow=["s"]
    )
    classes = Counter(result.release["q"].to_list())
    assert classes == {"[1, 3]": 3} or 2 not in result.release["q"].to_list()
