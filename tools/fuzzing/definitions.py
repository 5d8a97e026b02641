"""The privacy models, each written down from its definition in plain Python: counts, fractions and logarithms.

Every function takes the classes (lists of record numbers) and what the model looks at, and returns the worst number
over all classes beside whether the model holds. Nothing here is shared with the code under test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

SLACK = 1e-9  # a bound is met within one in a billion

Classes = list[list[int]]


@dataclass
class Release:
    """What the models look at."""

    classes: Callable[[tuple[str, ...]], Classes]  # over some quasi-identifiers; () means all
    values: dict[str, list[Hashable]]  # the values of sensitive and person columns; None: missing
    orders: dict[str, list[Hashable]] = field(default_factory=dict)  # values from low to high, a missing one last
    trees: dict[str, dict[Hashable, list[str]]] = field(default_factory=dict)  # value -> labels up to the root
    fitting: Callable[[list[int]], list[Hashable]] | None = None  # of k-map: who fits a class


@dataclass(frozen=True)
class Verdict:
    holds: bool
    measured: float | None  # None: unbounded, or nothing to measure


def judge(model: dict[str, Any], release: Release) -> Verdict:
    """The verdict on one model, given as its parts (see `parse`)."""
    return _JUDGES[model["name"]](model, release)


def parse(spec: str) -> dict[str, Any]:
    """A model as it is written on the command line, taken apart."""
    name, *parts = _split(spec, ":")
    if name in ("k-anonymity", "k-map"):
        return {"name": name, "k": int(parts[0]), "person": _plain(parts[1]) if len(parts) > 1 else None}
    if name == "qid":
        over = tuple(map(_plain, _split(parts[0], "+")))
        return {"name": name, "over": over, "k": int(parts[1]), "person": _plain(parts[2]) if parts[2:] else None}
    if name == "xy-anonymity":
        over = tuple(map(_plain, _split(parts[0], "+"))) if len(parts) == 3 else ()
        return {"name": name, "over": over, "column": _plain(parts[-2]), "k": int(parts[-1])}
    if name == "confidence":
        over = tuple(map(_plain, _split(parts[0], "+"))) if len(parts) == 3 else ()
        column, value = map(_plain, _split(parts[-2], "="))
        return {"name": name, "over": over, "column": column, "value": value, "bound": float(parts[-1])}
    if name == "alpha-k":
        column, *value = map(_plain, _split(parts[0], "="))
        return {"name": name, "column": column, "value": value[0] if value else None, "bound": float(parts[1])}
    if name == "recursive-cl":
        c, l = _split(parts[1], ",")  # noqa: E741
        return {"name": name, "column": _plain(parts[0]), "c": float(c), "l": int(l)}
    form = parts[2] if len(parts) > 2 else ""
    return {"name": name, "column": _plain(parts[0]), "bound": float(parts[1]), "form": form}


def _split(text: str, sign: str) -> list[str]:
    """At every sign that has no backslash before it; the backslashes stay."""
    parts, current, escaped = [], "", False
    for letter in text:
        if letter == sign and not escaped:
            parts.append(current)
            current = ""
        else:
            current += letter
        escaped = letter == "\\" and not escaped
    return [*parts, current]


def _plain(text: str) -> str:
    found, escaped = "", False
    for letter in text:
        if letter == "\\" and not escaped:
            escaped = True
            continue
        found, escaped = found + letter, False
    return found


def _counts(release: Release, members: list[int], column: str) -> Counter[Hashable]:
    values = release.values[column]
    return Counter(values[record] for record in members)


def _worst(numbers: Sequence[float], smallest: bool) -> float | None:
    if not numbers:
        return None
    worst = min(numbers) if smallest else max(numbers)
    return float(worst) if math.isfinite(worst) else None


def _sizes(model: dict[str, Any], release: Release) -> Verdict:
    counted = model.get("column", model.get("person"))
    classes = release.classes(model.get("over", ()))
    if counted is None:
        numbers = [len(members) for members in classes]
    else:
        numbers = [len(_counts(release, members, counted)) for members in classes]
    return Verdict(all(number >= model["k"] for number in numbers), _worst(numbers, smallest=True))


def _k_map(model: dict[str, Any], release: Release) -> Verdict:
    assert release.fitting is not None
    numbers = [len(set(release.fitting(members))) for members in release.classes(())]
    return Verdict(all(number >= model["k"] for number in numbers), _worst(numbers, smallest=True))


def _frequency_l(model: dict[str, Any], release: Release) -> Verdict:
    numbers = [
        len(members) / max(_counts(release, members, model["column"]).values()) for members in release.classes(())
    ]
    return Verdict(all(number >= model["bound"] - SLACK for number in numbers), _worst(numbers, smallest=True))


def _distinct_l(model: dict[str, Any], release: Release) -> Verdict:
    numbers = [len(_counts(release, members, model["column"])) for members in release.classes(())]
    return Verdict(all(number >= model["bound"] for number in numbers), _worst(numbers, smallest=True))


def _entropy_l(model: dict[str, Any], release: Release) -> Verdict:
    numbers = []
    for members in release.classes(()):
        shares = [count / len(members) for count in _counts(release, members, model["column"]).values()]
        numbers.append(math.exp(-sum(share * math.log(share) for share in shares)))
    holds = all(math.log(number) >= math.log(model["bound"]) - SLACK for number in numbers)
    return Verdict(holds, _worst(numbers, smallest=True))


def _recursive_cl(model: dict[str, Any], release: Release) -> Verdict:
    numbers, holds = [], True
    for members in release.classes(()):
        counts = sorted(_counts(release, members, model["column"]).values(), reverse=True)
        tail = sum(counts[model["l"] - 1 :])
        holds = holds and counts[0] < model["c"] * tail
        numbers.append(counts[0] / tail if tail else math.inf)
    return Verdict(holds, _worst(numbers, smallest=False))


def _share_bound(model: dict[str, Any], release: Release) -> Verdict:
    numbers = []
    for members in release.classes(model.get("over", ())):
        counts = _counts(release, members, model["column"])
        if model.get("value") is None:
            numbers.append(max(counts.values()) / len(members))
        else:
            wanted = [count for value, count in counts.items() if value is not None and _is_text(value, model["value"])]
            numbers.append(sum(wanted) / len(members))
    return Verdict(all(number <= model["bound"] + SLACK for number in numbers), _worst(numbers, smallest=False))


def _is_text(value: Hashable, text: str) -> bool:
    return str(value) == text


def _in_table(release: Release, column: str) -> dict[Hashable, Fraction]:
    values = release.values[column]
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def _beta(model: dict[str, Any], release: Release) -> Verdict:
    table, numbers, holds = _in_table(release, model["column"]), [], True
    for members in release.classes(()):
        worst = 0.0
        for value, count in _counts(release, members, model["column"]).items():
            share = table[value]
            gain = float(Fraction(count, len(members)) / share - 1)
            bound = min(model["bound"], -math.log(share)) if model["form"] == "enhanced" else model["bound"]
            holds = holds and not gain > bound + SLACK
            worst = max(worst, gain)
        numbers.append(worst)
    return Verdict(holds, _worst(numbers, smallest=False))


def _delta(model: dict[str, Any], release: Release) -> Verdict:
    table, numbers = _in_table(release, model["column"]), []
    for members in release.classes(()):
        counts = _counts(release, members, model["column"])
        ratios = [Fraction(counts.get(value, 0), len(members)) / share for value, share in table.items()]
        numbers.append(max(abs(math.log(ratio)) if ratio else math.inf for ratio in ratios))
    return Verdict(all(number < model["bound"] for number in numbers), _worst(numbers, smallest=False))


def _t_closeness(model: dict[str, Any], release: Release) -> Verdict:
    table, column = _in_table(release, model["column"]), model["column"]
    numbers = []
    for members in release.classes(()):
        counts = _counts(release, members, column)
        change = {value: Fraction(counts.get(value, 0), len(members)) - share for value, share in table.items()}
        if model["form"] == "ordered":
            numbers.append(float(_moved_in_order(change, release.orders[column])))
        elif model["form"] == "hierarchical":
            numbers.append(float(_moved_in_tree(change, release.trees[column])))
        else:
            numbers.append(float(sum(part for part in change.values() if part > 0)))
    return Verdict(all(number <= model["bound"] + SLACK for number in numbers), _worst(numbers, smallest=False))


def _moved_in_order(change: dict[Hashable, Fraction], order: list[Hashable]) -> Fraction:
    """What must be carried over each step between neighbours, a step being 1 / (m - 1) of the way."""
    if len(order) < 2:
        return Fraction(0)
    carried, total = Fraction(0), Fraction(0)
    for value in order:
        carried += change.get(value, Fraction(0))
        total += abs(carried)
    return total / (len(order) - 1)


def _moved_in_tree(change: dict[Hashable, Fraction], tree: dict[Hashable, list[str]]) -> Fraction:
    """Li, Li, Venkatasubramanian: what can be settled below a node is carried as high as the node and no higher."""
    height = max(len(path) for path in tree.values())
    if height == 0:
        return Fraction(0)
    total = Fraction(0)
    left = {(value,): part for value, part in change.items()}  # of every node at this height: what is too much there
    paths = {(value,): tree[value] for value in change}
    for level in range(height):
        above: dict[tuple[Hashable, ...], list[Fraction]] = {}
        path_of = {}
        for node, part in left.items():
            path = paths[node]
            parent = tuple(path[level:])
            above.setdefault(parent, []).append(part)
            path_of[parent] = path
        left, paths = {}, path_of
        for parent, parts in above.items():
            too_much = sum((part for part in parts if part > 0), Fraction(0))
            too_little = -sum((part for part in parts if part < 0), Fraction(0))
            total += Fraction(level + 1, height) * min(too_much, too_little)
            left[parent] = too_much - too_little
    return total


_JUDGES: dict[str, Callable[[dict[str, Any], Release], Verdict]] = {
    "k-anonymity": _sizes,
    "qid": _sizes,
    "xy-anonymity": _sizes,
    "k-map": _k_map,
    "l-diversity": _frequency_l,
    "distinct-l": _distinct_l,
    "entropy-l": _entropy_l,
    "recursive-cl": _recursive_cl,
    "alpha-k": _share_bound,
    "confidence": _share_bound,
    "t-closeness": _t_closeness,
    "beta-likeness": _beta,
    "delta-disclosure": _delta,
}
