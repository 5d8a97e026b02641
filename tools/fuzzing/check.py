"""The check of one release: every promise that can be seen from outside, from the input, the job and what came out."""

from __future__ import annotations

import math
import numbers
from collections import defaultdict
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

from fuzzing.cases import Case
from fuzzing.covering import Reader, is_missing, moment_of, number_of
from fuzzing.definitions import Classes, Release, Verdict, judge, parse
from fuzzing.frames import Cells, plain_text, shown
from fuzzing.limits import check_limits
from fuzzing.values import Column, typed

Finding = tuple[str, str]  # what kind, and in words

NUMBERS = ("int64", "int8", "uint64", "huge", "float", "float32", "decimal")


def as_read(case: Case) -> dict[str, Column]:
    """The columns as the way in lets them be seen: in a CSV file everything is text."""
    if case["way"].get("input") != "csv":
        return case["columns"]  # type: ignore[no-any-return]
    return {name: {"kind": "text", "values": column["values"]} for name, column in case["columns"].items()}


def missing_texts(case: Case) -> tuple[str, ...]:
    return tuple(case["settings"].get("missing", ()))


def canonical(text: str | None, column: Column, missing: tuple[str, ...]) -> Hashable:
    """One thing for equal values, None for a missing one: numbers as numbers, all else as text."""
    kind = column["kind"]
    if kind in NUMBERS:
        value = typed(text, column)
        if is_missing(value):
            return None
        return value if isinstance(value, float) else Decimal(value)
    if is_missing(text, missing if kind in ("text", "category") else ()):
        return None
    return text


def check_cells(case: Case, cells: Cells, keys: dict[str, list[Hashable]]) -> list[Finding]:
    """Everything about one form of a release whose rows are those of the input, in their order.

    `keys` says by what the cells of a quasi-identifier are told apart: all that Python shows of them, or their text.
    """
    columns, settings = as_read(case), case["settings"]
    findings = _covering(case, columns, cells, keys) + check_limits(case, readers(case, columns), cells)
    if settings["algorithm"] == "nonhomogeneous":
        return findings + _candidates(case, columns, cells)
    failed = [spec for spec, verdict in verdicts(case, cells, keys) if not verdict.holds]
    return findings + [(f"violates {parse(spec)['name']}", f"{spec} does not hold") for spec in failed]


def readers(case: Case, columns: dict[str, Column]) -> dict[str, Reader]:
    settings = case["settings"]
    return {
        name: Reader(
            columns[name],
            missing_texts(case),
            settings.get("orders", {}).get(name),
            settings.get("hierarchies", {}).get(name),
        )
        for name in settings["quasi"]
    }


def _covering(case: Case, columns: dict[str, Column], cells: Cells, keys: dict[str, list[Hashable]]) -> list[Finding]:
    """Every cell stands for the value that it came from; a mean lies within its class."""
    settings, findings = case["settings"], []
    classes = _classes(keys, tuple(settings["quasi"]), None)
    for name, reader in readers(case, columns).items():
        recoding = settings.get("recodings", {}).get(name, settings.get("recoding", "range"))
        texts = columns[name]["values"]
        wrong = [row for row, cell in enumerate(cells[name]) if not reader.covers(cell, texts[row])]
        if wrong and recoding in ("mean", "midpoint"):
            if _sets_alone(case):  # every column has groups of its own then
                classes = _classes(keys, (name,), None)
            bad = set(wrong)
            wrong = [row for rows in classes if bad & set(rows) for row in _outside(rows, cells[name], texts, reader)]
        unit = settings.get("round", {}).get(name)
        if unit is not None and not all(in_units(cell, unit) for cell in cells[name]):
            findings.append(("not rounded", f"cells of {name} do not end at units of {unit}"))
        if wrong:
            findings.append(("not covered", f"{len(wrong)} cells of {name} do not stand for their values"))
    return findings


def in_units(cell: Any, unit: str) -> bool:
    """Whether a range of numbers or of days begins where a unit does; other cells are not looked at."""
    if not (isinstance(cell, str) and cell.startswith("[") and ", " in cell):
        return True
    low = cell[1:].partition(", ")[0]
    number = number_of(low)
    if unit[0].isdigit():
        return number is None or number % Decimal(unit) == 0
    moment = moment_of(low)
    if moment is None or unit == "exact":
        return True
    months = {"month": range(1, 13), "quarter": (1, 4, 7, 10), "year": (1,)}.get(unit)
    at_day = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    if months is not None:
        return at_day and moment.day == 1 and moment.month in months
    return (moment.minute if unit == "hour" else 0, moment.second) == (0, 0) and (unit != "day" or at_day)


def _sets_alone(case: Case) -> bool:
    """Whether the sets of quasi-identifiers are clustered one by one: there is no other model."""
    return all(spec.startswith("qid:") for spec in models_of(case))


def _outside(rows: list[int], cells: list[Any], texts: list[str | None], reader: Reader) -> list[int]:
    """Rows of a class whose released number is beyond the numbers of the class."""
    values = [texts[row] for row in rows]
    if any(value is None for value in values):
        return rows
    for read in (number_of, lambda value: moment_of(value, reader.zone)):
        found = [read(value) for value in values]
        cell = read(cells[rows[0]])
        if cell is not None and None not in found:
            return [] if _within(cell, found, reader) else rows
    return rows


def _within(cell: Any, values: list[Any], reader: Reader) -> bool:
    low, high = min(values), max(values)
    if not isinstance(cell, Decimal):
        low, high = (moment_of(end, reader.zone) for end in (low, high))
        return bool(low.replace(microsecond=0) <= cell <= high)
    slack = abs(high) * Decimal("1e-6") if reader.kind == "float32" else abs(high) * Decimal("1e-15")
    return bool(low - slack <= cell <= high + slack)


def _classes(keys: dict[str, list[Hashable]], quasi: tuple[str, ...], exempt: set[int] | None) -> Classes:
    found: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*(keys[name] for name in quasi), strict=True)):
        if exempt is None or row not in exempt:
            found[key].append(row)
    return list(found.values())


def suppressed(case: Case, cells: Cells) -> set[int]:
    quasi = case["settings"]["quasi"]
    return {row for row in range(len(cells[quasi[0]])) if all(_is_star(cells[name][row]) for name in quasi)}


def _is_star(cell: Any) -> bool:
    return isinstance(cell, str) and cell == "*"


def models_of(case: Case) -> list[str]:
    """The models of a job in their text form, the k among them; with persons, those that count them."""
    settings = case["settings"]
    specs = [f"k-anonymity:{settings['k']}"] if settings.get("k") is not None else []
    specs += settings.get("models", [])
    person = settings.get("person")
    counted = ("k-anonymity:", "qid:", "k-map:")
    return [f"{spec}:{person}" if person and spec.startswith(counted) else spec for spec in specs]


def verdicts(case: Case, cells: Cells, keys: dict[str, list[Hashable]]) -> list[tuple[str, Verdict]]:
    """The verdict on every model. Suppressed records within the limit need not be safe, if the rest is."""
    return judged(case, cells, keys)[1]


def judged(
    case: Case, cells: Cells, keys: dict[str, list[Hashable]]
) -> tuple[set[int] | None, list[tuple[str, Verdict]]]:
    """The records that are exempt, and the verdict on every model without them."""
    limit, hidden = case["settings"].get("suppression_limit", 0.0), suppressed(case, cells)
    exempt = hidden if hidden and len(hidden) <= limit * len(next(iter(cells.values()))) + 1e-12 else None
    found = _judge_all(case, cells, keys, exempt)
    if exempt is not None and not all(verdict.holds for _, verdict in found):
        whole = _judge_all(case, cells, keys, None)
        if all(verdict.holds for _, verdict in whole):
            return None, whole
    return exempt, found


def _judge_all(
    case: Case, cells: Cells, keys: dict[str, list[Hashable]], exempt: set[int] | None
) -> list[tuple[str, Verdict]]:
    quasi = tuple(case["settings"]["quasi"])
    release = knowledge(case)
    release.classes = lambda names: _classes(keys, names or quasi, exempt)
    if "population" in case:
        release.fitting = _fitting(case, cells)
    return [(spec, judge(parse(spec), release)) for spec in models_of(case)]


def knowledge(case: Case) -> Release:
    """What the models look at besides the classes, from the input."""
    columns, settings = as_read(case), case["settings"]
    looked_at = {"s", settings.get("person")} & set(columns)
    missing = missing_texts(case)
    values = {name: [canonical(text, columns[name], missing) for text in columns[name]["values"]] for name in looked_at}
    release = Release(lambda names: [], values)
    for name in looked_at:
        release.orders[name] = _in_order(values[name], settings.get("orders", {}).get(name))
        hierarchy = settings.get("hierarchies", {}).get(name)
        if hierarchy is not None:
            release.trees[name] = _tree(values[name], hierarchy)
    return release


def _in_order(values: list[Hashable], order: list[str] | None) -> list[Hashable]:
    present = {value for value in values if value is not None}
    missing = [None] if None in values else []
    if order is not None:
        place = {text: number for number, text in enumerate(order)}
        return [*sorted(present, key=lambda value: place.get(str(value), -1)), *missing]
    as_numbers = {value: number_of(value) for value in present}
    if all(number is not None for number in as_numbers.values()):
        return [*sorted(present, key=lambda value: (as_numbers[value], str(value))), *missing]
    moments = {value: moment_of(value) for value in present}
    if all(moment is not None for moment in moments.values()):
        return [*sorted(present, key=lambda value: (moments[value], str(value))), *missing]
    return [*sorted(present, key=str), *missing]


def _tree(values: list[Hashable], hierarchy: dict[str, Any]) -> dict[Hashable, list[str]]:
    """For every value the labels above it; a missing value hangs right below the root."""
    rows = {row[0]: row[1:] for row in hierarchy.get("rows", [])}
    by_number = {number_of(leaf): path for leaf, path in rows.items()}
    height = max((len(path) for path in rows.values()), default=1)
    root = next(iter(rows.values()))[-1] if rows else "*"
    found: dict[Hashable, list[str]] = {}
    for value in set(values):
        if value is None:
            found[value] = ["(missing)"] * (height - 1) + [root]
        elif rows:
            found[value] = rows.get(str(value)) or by_number.get(number_of(value), ["?"] * (height - 1) + [root])
        else:
            found[value] = ["*"]
    return found


def _fitting(case: Case, cells: Cells) -> Any:
    """Who of the population fits a class: rows, or persons where the population tells them apart."""
    population, read = case["population"], readers(case, as_read(case))
    person = case["settings"].get("person")
    count = len(next(iter(population.values()))["values"])
    if person in population:
        column, missing = population[person], missing_texts(case)
        who: list[Hashable] = [canonical(text, column, missing) for text in column["values"]]
    else:
        who = list(range(count))

    def fitting(members: list[int]) -> list[Hashable]:
        first = members[0]
        return [
            who[row]
            for row in range(count)
            if all(read[name].covers(cells[name][first], population[name]["values"][row]) for name in read)
        ]

    return fitting


def _candidates(case: Case, columns: dict[str, Column], cells: Cells) -> list[Finding]:
    """Without classes: each released row fits k records of the input, and each of these k released rows."""
    k, read = case["settings"]["k"], readers(case, columns)
    rows = range(len(next(iter(cells.values()))))
    fits = [
        [all(read[name].covers(cells[name][row], columns[name]["values"][other]) for name in read) for other in rows]
        for row in rows
    ]
    fewest = min(*(sum(line) for line in fits), *(sum(line[row] for line in fits) for row in rows), len(rows))
    return [("violates candidates", f"a record has {fewest} candidates, not {k}")] if fewest < k else []


def is_possible(case: Case) -> bool:
    """Whether the whole table as one class meets every model."""
    columns = as_read(case)
    rows = list(range(len(columns["s"]["values"])))
    if "at_most" in case["settings"]:
        return False  # not known: parts of the table must not be mixed
    release = knowledge(case)
    release.classes = lambda names: [rows]
    if "population" in case:
        everybody = {name: ["*"] * len(rows) for name in case["settings"]["quasi"]}
        release.fitting = _fitting(case, everybody)
    return all(judge(parse(spec), release).holds for spec in models_of(case))


def check_certificate(case: Case, cells: Cells, certificate: dict[str, Any]) -> list[Finding]:
    """What the certificate says of the release, against what is there."""
    if not certificate.get("class_based", True):
        return []
    findings = []
    keys = {name: [shown(cell) for cell in cells[name]] for name in case["settings"]["quasi"]}
    hidden = suppressed(case, cells)
    exempt, found_all = judged(case, cells, keys)
    classes = _classes(keys, tuple(case["settings"]["quasi"]), exempt)
    smallest = min((len(rows) for rows in classes), default=None)
    for name, said, found in (
        ("classes", certificate["classes"], len(classes)),
        ("smallest class", certificate["smallest_class"], smallest),
        ("suppressed", certificate["records"]["suppressed"], len(hidden)),
        ("records", certificate["records"]["released"], len(next(iter(cells.values())))),
    ):
        if said != found:
            findings.append((f"certificate {name}", f"the certificate says {said} {name}, the release has {found}"))
    for check, (spec, verdict) in zip(certificate["checks"], found_all, strict=False):
        if len(certificate["checks"]) == len(found_all) and not _near(check["measured"], verdict.measured):
            text = f"{spec}: the certificate says {check['measured']}, the reader finds {verdict.measured}"
            findings.append((f"measured {parse(spec)['name']}", text))
    return findings


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is None and other is None
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-8)


def check_kept(case: Case, before: Cells, after: Cells, whole: bool) -> list[Finding]:
    """Columns that are no quasi-identifiers come out as they went in; with `whole`, integers as integers."""
    settings, findings = case["settings"], []
    dropped = {*settings.get("identifiers", ()), settings.get("person")}
    expected = [name for name in case["columns"] if name not in dropped]
    if sorted(after) != sorted(expected):
        return [("wrong columns", f"{sorted(after)} are released, not {sorted(expected)}")]
    for name in expected:
        if name in settings["quasi"]:
            continue
        pairs = list(zip(before[name], after[name], strict=True))
        if any(plain_text(one) != plain_text(other) for one, other in pairs):
            findings.append(("kept column changed", f"a value of {name} is another one"))
        elif whole and any(_is_whole(one) and not _is_whole(other) for one, other in pairs):
            findings.append(("kept column changed", f"an integer of {name} is none any more"))
    return findings


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
