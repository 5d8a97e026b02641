"""Every model's verdict against a plain reading of its definition, and what must hold whatever the data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.encode.encoded_table import EncodedColumn, EncodedTable
from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model
from shoal.models.registry import parse_model
from shoal.verification.check import verify_release
from shoal.verification.reading import Knowledge

SIZE = 6
TREE = Hierarchy(
    leaves=tuple(str(leaf) for leaf in range(SIZE)),
    labels=(*(str(leaf) for leaf in range(SIZE)), "low", "high", "top", "all"),
    ancestors=np.array([range(SIZE), [6, 6, 7, 7, 8, 8], [9] * 6], dtype=np.int32),
)
SPECS = [
    "k-anonymity:3",
    "k-anonymity:3:person",
    "l-diversity:s:2",
    "l-diversity:s:2.5",
    "distinct-l:s:3",
    "entropy-l:s:2",
    "recursive-cl:s:1.5,2",
    "recursive-cl:s:2,3",
    "alpha-k:s:0.5",
    "alpha-k:s=2:0.3",
    "confidence:s=1:0.4",
    "t-closeness:s:0.3",
    "t-closeness:s:0.25:ordered",
    "t-closeness:s:0.3:hierarchical",
    "beta-likeness:s:1",
    "beta-likeness:s:2:enhanced",
    "delta-disclosure:s:1.2",
    "p-alpha:s:2,1.5",
    "p-alpha:s:3,0",
    "xy-anonymity:person:3",
]


def earth_movers_distance(here: Sequence[Fraction], there: Sequence[Fraction], distance: np.ndarray) -> float:
    """The definition: the cheapest way to move one distribution into the other, by linear programming."""
    number = len(here)
    rows = np.zeros((2 * number, number * number))
    for i in range(number):
        rows[i, i * number : (i + 1) * number] = 1
        rows[number + i, i::number] = 1
    found = linprog(distance.ravel(), A_eq=rows, b_eq=[float(share) for share in (*here, *there)])
    return float(found.fun)


def plain_verdict(model: Model, members: list[int], persons: list[int], everyone: list[int]) -> bool:
    """Is one class safe? Read from the definitions, with exact fractions where there are any."""
    count, size = Counter(members), len(members)
    table, records = Counter(everyone), len(everyone)
    numbers = sorted(count.values(), reverse=True)
    given = vars(model)
    share = {value: Fraction(count[value], size) for value in table}
    base = {value: Fraction(table[value], records) for value in table}
    name = model.name
    if name == "k-anonymity":
        return (len(set(persons)) if given["person"] else size) >= given["k"]
    if name == "xy-anonymity":
        return len(set(persons)) >= given["k"]
    if name == "l-diversity":
        return numbers[0] * Fraction(given["l"]) <= size
    if name == "distinct-l":
        return len(count) >= given["l"]
    if name == "entropy-l":
        return -sum(float(p) * math.log(p) for p in share.values() if p) >= math.log(given["l"]) - 1e-9
    if name == "recursive-cl":
        return numbers[0] < Fraction(given["c"]) * sum(numbers[given["l"] - 1 :])
    if name in ("alpha-k", "confidence"):
        bound = Fraction(str(given["alpha" if name == "alpha-k" else "bound"]))
        watched = [int(given["value"])] if given["value"] is not None else list(count)
        return all(Fraction(count[value], size) <= bound for value in watched)
    if name == "beta-likeness":
        bounds = {v: min(given["beta"], -math.log(base[v])) if given["enhanced"] else given["beta"] for v in base}
        return all(float((share[v] - base[v]) / base[v]) <= bounds[v] + 1e-9 for v in base if share[v] > base[v])
    if name == "delta-disclosure":
        return all(share[v] > 0 and abs(math.log(share[v] / base[v])) < given["delta"] for v in base)
    if name == "p-alpha":  # three categories of two values each; they weigh 0, 1/2 and 1
        weight = sum(Fraction(member // 2, 2) for member in members)
        return len({member // 2 for member in members}) >= given["p"] and weight >= Fraction(given["alpha"])
    values = sorted(table)
    ground = {
        "equal": lambda i, j: float(i != j),
        "ordered": lambda i, j: abs(i - j) / max(1, len(values) - 1),
        "hierarchical": lambda i, j: (
            min(level for level in range(3) if TREE.ancestors[level, values[i]] == TREE.ancestors[level, values[j]]) / 2
        ),
    }[given["distance"]]
    distance = np.array([[ground(i, j) for j in range(len(values))] for i in range(len(values))])
    moved = earth_movers_distance([share[v] for v in values], [base[v] for v in values], distance)
    return moved <= given["t"] + 1e-7


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Class, sensitive value and person of every record; classes are numbered without gaps."""
    records = draw(st.integers(1, 40))
    numbers = st.lists(st.integers(0, draw(st.integers(0, 5))), min_size=records, max_size=records)
    classes = draw(numbers)
    known = sorted(set(classes))
    values = draw(st.lists(st.integers(0, SIZE - 1), min_size=records, max_size=records))
    persons = draw(st.lists(st.integers(0, records - 1), min_size=records, max_size=records))
    return [known.index(number) for number in classes], values, persons


def as_frame(classes: list[int], values: list[int], persons: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"q": [f"class {c}" for c in classes], "s": values, "person": persons})


def as_table(classes: list[int], values: list[int], persons: list[int]) -> EncodedTable:
    columns = {
        "s": EncodedColumn(
            "s",
            np.array(values, dtype=np.int32),
            SIZE,
            positions=np.arange(SIZE) / (SIZE - 1),
            ancestors=TREE.ancestors,
            value_codes={str(value): value for value in range(SIZE)},
            categories=np.array([0, 0, 1, 1, 2, 2], dtype=np.int32),
            category_weights=np.array([0, 0, 0.5, 0.5, 1, 1]),
        ),
        "person": EncodedColumn("person", np.array(persons, dtype=np.int32), len(persons)),
    }
    rows = np.zeros(len(classes), dtype=np.int32)
    return EncodedTable((), np.zeros((0, 1), dtype=np.int32), np.array([len(classes)]), rows, columns)


def check(spec: str, classes: list[int], values: list[int], persons: list[int]):
    return verify_release(
        as_frame(classes, values, persons), ["q"], [parse_model(spec)], Knowledge({"s": TREE})
    ).checks[0]


def lacks_a_named_value(model: Model, values: list[int]) -> bool:
    return any(int(value) not in values for _, value in model.named_values())


@pytest.mark.parametrize("spec", [spec for spec in SPECS if parse_model(spec).named_values()])
@settings(max_examples=30, deadline=None)
@given(release=releases())
def test_a_named_value_that_is_nowhere_is_an_error_not_a_pass(spec: str, release: tuple) -> None:
    if not lacks_a_named_value(parse_model(spec), release[1]):
        check(spec, *release)
        return
    with pytest.raises(InputError) as caught:
        check(spec, *release)
    assert caught.value.reasons == ("unknown-value",)


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(release=releases())
def test_verdict_and_deficit_agree_with_the_definition(spec: str, release: tuple) -> None:
    classes, values, persons = release
    model = parse_model(spec)
    assume(not lacks_a_named_value(model, values))
    count = max(classes) + 1
    members = [[r for r, c in enumerate(classes) if c == number] for number in range(count)]
    expected = [
        plain_verdict(model, [values[r] for r in records], [persons[r] for r in records], values) for records in members
    ]
    found = check(spec, *release)
    bad = [len(records) for records, safe in zip(members, expected, strict=True) if not safe]
    assert found.offending_classes == len(bad)
    assert found.offending_records == sum(bad)
    assert found.smallest_offending_class == (min(bad) if bad else None)
    assert found.passed == (not bad)
    deficits = model.deficits(as_table(*release), np.array(classes, dtype=np.int32), count)
    assert [bool(deficit == 0) for deficit in deficits] == expected


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(release=releases(), data=st.data())
def test_safe_classes_stay_safe_when_they_merge(spec: str, release: tuple, data: st.DataObject) -> None:
    classes, values, persons = release
    model = parse_model(spec)
    assume(not lacks_a_named_value(model, values))
    count = max(classes) + 1
    deficits = model.deficits(as_table(*release), np.array(classes, dtype=np.int32), count)
    safe = [number for number in range(count) if deficits[number] == 0]
    if len(safe) < 2:
        return
    one, other = data.draw(st.permutations(safe))[:2]
    merged = np.array([one if c == other else c for c in classes], dtype=np.int32)
    after = model.deficits(as_table(*release), merged, count)
    assert after[one] == 0
    if check(spec, *release).passed:
        assert check(spec, merged.tolist(), values, persons).passed


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(release=releases(), data=st.data())
def test_a_release_broken_on_purpose_is_told_without_values(spec: str, release: tuple, data: st.DataObject) -> None:
    """A record moves to another class, or two records swap their values: what breaks is counted, and nothing quoted."""
    classes, values, persons = (list(part) for part in release)
    one, other = data.draw(st.integers(0, len(classes) - 1)), data.draw(st.integers(0, len(classes) - 1))
    if data.draw(st.booleans()):
        classes[one] = classes[other]
    else:
        values[one], values[other] = values[other], values[one]
    members: dict[int, list[int]] = {}
    for record, number in enumerate(classes):
        members.setdefault(number, []).append(record)
    model = parse_model(spec)
    assume(not lacks_a_named_value(model, values))
    bad = [
        len(records)
        for records in members.values()
        if not plain_verdict(model, [values[r] for r in records], [persons[r] for r in records], values)
    ]
    frame = as_frame(classes, values, persons).with_columns(pl.concat_str(pl.lit("secret-"), "q").alias("q"))
    found = verify_release(frame, ["q"], [model], Knowledge({"s": TREE})).checks[0]
    assert found.passed == (not bad)
    if bad:
        said = str(found)
        assert model.public_spec() in said
        assert f"{len(bad)} classes with {sum(bad)} records, the smallest of {min(bad)}" in said
        assert "secret" not in said
        assert "secret" not in str(found.as_dict())


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_missing_values_never_overstate_k(data: st.DataObject) -> None:
    """A missing cell equals only a missing one: the measured k is that of exact equality, and no more than it was."""
    records = data.draw(st.integers(1, 30))
    cell = st.one_of(st.none(), st.integers(0, 2))
    columns = [data.draw(st.lists(cell, min_size=records, max_size=records)) for _ in range(2)]
    texts = [[None if value is None else f"v{value}" for value in column] for column in columns]
    frame = pl.DataFrame(dict(zip("ab", texts, strict=True)), schema={"a": pl.String, "b": pl.String})
    sizes = Counter(zip(*texts, strict=True))
    checks = verify_release(frame, ["a", "b"], [parse_model("k-anonymity:3"), parse_model("qid:a:3")]).checks
    assert checks[0].measured == min(sizes.values())
    assert checks[1].measured == min(Counter(texts[0]).values())
    # whatever stands for the missing cells, if each is its own, nobody has fewer companions than was measured among
    # the records without missing cells
    own = pl.DataFrame({"a": [v if v is not None else f"?{n}" for n, v in enumerate(texts[0])], "b": texts[1]})
    complete = [row for row in zip(*texts, strict=True) if None not in row]
    if complete:
        assert checks[0].measured <= min(sizes[row] for row in complete)
    assert verify_release(own, ["a", "b"], [parse_model("k-anonymity:3")]).checks[0].measured <= checks[0].measured
