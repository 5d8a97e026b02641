"""Random jobs. A case is plain JSON: columns, settings, and the way in; the same number gives the same case.

    {"number": 7, "columns": {"q0": {"kind": "int64", "values": ["1", null]}}, "settings": {"quasi": ["q0"], "k": 2},
     "way": {"kind": "frame", "frame": "pandas"}}

Settings are those of a job, and mostly ones that fit together; a share does not, and must be refused in words.
"""

from __future__ import annotations

from random import Random
from typing import Any

from fuzzing.frames import FILES, FRAMES
from fuzzing.values import MISSING_TEXTS, Column, random_column, text_column

Case = dict[str, Any]

ALGORITHMS = (
    "shoal",
    "mondrian",
    "k-member",
    "tdr",
    "koc",
    "kmeans",
    "cb",
    "nonhomogeneous",
    "kaca",
    "topdown",
    "topdown-kaca",
    "two-level",
    "dbca",
    "dbca-cm",
    "full-domain",
    "infogain-mondrian",
)
SCHEMES = ("full-domain", "subtree", "sibling")
RECODINGS = ("range", "mean", "midpoint", "nodes", "cell-suppression", "value-suppression")
DATE_UNITS = ("day", "month", "quarter", "year", "hour", "minute", "exact")
NUMBER_UNITS = ("5", "10", "1", "3", "0.5", "0.1")
OBJECTIVES = ("gcp", "distortion", "discernibility", "class", "squares")
NUMERIC = ("int64", "int8", "uint64", "huge", "float", "float32", "decimal", "date", "datetime")


def make_case(number: int) -> Case:
    """The case of this number."""
    random = Random(f"case {number}")
    n = random.choice([1, 3, 5, 8, 10, 12, 14, 16, 18, 20, 25, 30, 40])
    quasi = {f"q{place}": random_column(random, n) for place in range(random.choice([1, 1, 2, 2, 3, 4]))}
    columns = dict(quasi)
    columns["s"] = _sensitive(random, n)
    if random.random() < 0.3:
        columns["kept"] = random_column(random, n)
    if random.random() < 0.3:
        columns["name"] = {"kind": "text", "values": [f"Name Surname {row}" for row in range(n)]}
    settings: dict[str, Any] = {"quasi": list(quasi), "sensitive": ["s"], "seed": random.randint(0, 3)}
    if "name" in columns:
        settings["identifiers"] = ["name"]
    if random.random() < 0.15:
        columns["who"] = _persons(random, n)
        settings["person"] = "who"
    case: Case = {"number": number, "columns": columns, "settings": settings}
    _choose_algorithm(case, random)
    _choose_models(case, random)
    _choose_reading(case, random)
    _choose_release(case, random)
    case["way"] = _way(random)
    items = list(columns.items())
    random.shuffle(items)
    case["columns"] = dict(items)
    _choose_rounding(case, random)
    _choose_newer(case, random)
    return case


def _sensitive(random: Random, n: int) -> Column:
    if random.random() < 0.4:
        return random_column(random, n)
    values = random.choice([["flu", "gout", "cold"], ["flu", "gout", "cold", "acne", "burn"], ["yes", "no"]])
    column = text_column(random, n, values)
    if random.random() < 0.25:
        column["values"] = [random.choice([None, "", "?"]) if random.random() < 0.3 else v for v in column["values"]]
    return column


def _persons(random: Random, n: int) -> Column:
    few = max(1, n // random.choice([1, 2, 3]))
    values: list[str | None] = [f"p{random.randrange(few)}" for _ in range(n)]
    if random.random() < 0.3:
        values = [None if random.random() < 0.2 else value for value in values]
    return {"kind": "text", "values": values}


def _choose_algorithm(case: Case, random: Random) -> None:
    settings = case["settings"]
    settings["algorithm"] = random.choice(ALGORITHMS)
    if settings["algorithm"] in ("dbca-cm", "tdr", "infogain-mondrian") or random.random() < 0.05:
        settings["class"] = random.choice(["s", "s", "kept"]) if "kept" in case["columns"] else "s"
    if settings["algorithm"] == "full-domain" and random.random() < 0.3:
        settings["objective"] = random.choice(["gcp", "entropy", "precision", "height", "discernibility"])
    if settings["algorithm"] == "shoal":
        if random.random() < 0.35:
            settings["objective"] = random.choice(OBJECTIVES)
            if settings["objective"] == "class":
                settings["class"] = "s"
        if random.random() < 0.2:
            settings["effort"] = random.choice(["low", 0.01, 0.5])


def _choose_models(case: Case, random: Random) -> None:
    settings = case["settings"]
    if settings["algorithm"] == "nonhomogeneous":
        settings["k"] = random.randint(2, 5)
        settings.pop("person", None) if random.random() < 0.9 else None
        return
    if random.random() < 0.85:
        settings["k"] = random.choice([2, 2, 3, 3, 4, 5, 9])
    count = random.choice([0, 1, 1, 1, 2]) if "k" in settings else random.choice([1, 1, 2])
    models = [_model(case, random) for _ in range(count)]
    settings["models"] = [model for model in models if model is not None]
    if not settings["models"] and "k" not in settings:
        settings["k"] = 2
    if random.random() < 0.2:
        settings["suppression_limit"] = random.choice([0.05, 0.1, 0.3, 0.5, 1.0])


def _model(case: Case, random: Random) -> str | None:
    kinds = {
        "k-anonymity": lambda: f"k-anonymity:{random.randint(2, 4)}",
        "qid": lambda: f"qid:{_some_quasi(case, random)}:{random.randint(2, 5)}",
        "xy-anonymity": lambda: random.choice(["", f"{_some_quasi(case, random)}:"]) + f"s:{random.randint(2, 3)}",
        "k-map": lambda: str(random.randint(2, 6)),
        "l-diversity": lambda: f"s:{random.choice([1.2, 1.5, 2, 3])}",
        "distinct-l": lambda: f"s:{random.choice([2, 3])}",
        "entropy-l": lambda: f"s:{random.choice([1.2, 1.5, 2, 2.5])}",
        "recursive-cl": lambda: f"s:{random.choice([1, 2, 3.5])},{random.choice([2, 3])}",
        "alpha-k": lambda: f"s{_named_value(case, random)}:{random.choice([0.3, 0.5, 0.7])}",
        "confidence": lambda: _confidence(case, random),
        "t-closeness": lambda: (
            f"s:{random.choice([0.1, 0.2, 0.4])}{random.choice(['', '', ':ordered', ':hierarchical'])}"
        ),
        "beta-likeness": lambda: f"s:{random.choice([0.5, 1, 2])}{random.choice(['', ':enhanced'])}",
        "delta-disclosure": lambda: f"s:{random.choice([0.5, 1, 1.5])}",
    }
    name = random.choice(list(kinds))
    rest = kinds[name]()
    if rest is None:
        return None
    if name == "k-map":
        case["population"] = _population(case, random)
    return rest if rest.startswith(f"{name}:") else f"{name}:{rest}"


def _some_quasi(case: Case, random: Random) -> str:
    quasi = case["settings"]["quasi"]
    return "+".join(random.sample(quasi, random.randint(1, len(quasi))))


def _value_of_s(case: Case, random: Random) -> str | None:
    column = case["columns"]["s"]
    if column["kind"] not in ("text", "int64", "category", "date"):
        return None
    present = [text for text in column["values"] if text and text not in (*MISSING_TEXTS, "NaN", "nan")]
    return random.choice(present) if present else None


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in ":+=,\\" else letter for letter in text)


def _named_value(case: Case, random: Random) -> str:
    value = _value_of_s(case, random)
    return "" if value is None or random.random() < 0.5 else f"={_escaped(value)}"


def _confidence(case: Case, random: Random) -> str | None:
    value = _value_of_s(case, random)
    if value is None:
        return None
    quasi = random.choice(["", f"{_some_quasi(case, random)}:"])
    return f"{quasi}s={_escaped(value)}:{random.choice([0.3, 0.5, 0.7])}"


def _population(case: Case, random: Random) -> dict[str, Column]:
    """A table of the same people and some more."""
    more = random.choice([1, 2, 3])
    picked = [row for row in range(len(case["columns"]["q0"]["values"])) for _ in range(more)]
    names = [*case["settings"]["quasi"]]
    if "person" in case["settings"] and random.random() < 0.5:
        names.append(case["settings"]["person"])
    columns = {}
    for name in names:
        column = case["columns"][name]
        columns[name] = {**column, "values": [column["values"][row] for row in picked]}
    return columns


def _choose_reading(case: Case, random: Random) -> None:
    """How columns are read: missing texts, hierarchies, orders, scales."""
    settings = case["settings"]
    if random.random() < 0.6:
        settings["missing"] = random.choice([["?"], ["?", "NA"], MISSING_TEXTS])
    for name in [*settings["quasi"], "s"]:
        column = case["columns"][name]
        draw = random.random()
        wanted = any(
            model.startswith("t-closeness:s") and model.count(":") == 3 for model in settings.get("models", ())
        )
        if draw < 0.35 or (name == "s" and wanted):
            _give_meaning(case, name, column, random)
        elif draw < 0.42:
            settings.setdefault("scales", {})[name] = random.choice(["category", "decimal", "integer", "date"])
        elif column["kind"] == "category" and column["ordered"]:  # in pandas the type says so; here it is said for all
            settings.setdefault("orders", {})[name] = list(column["categories"])


def _give_meaning(case: Case, name: str, column: Column, random: Random) -> None:
    settings = case["settings"]
    known = set(settings.get("missing", ())) | {"", "NaN", "nan"}
    present = sorted({text for text in column["values"] if text is not None and text not in known})
    if not present:
        return
    if column["kind"] in ("text", "category", "bool") and random.random() < 0.3:
        order = list(present)
        random.shuffle(order)
        settings.setdefault("orders", {})[name] = order
        return
    settings.setdefault("hierarchies", {})[name] = _hierarchy(column, present, random, name == "s")


def _hierarchy(column: Column, present: list[str], random: Random, plain: bool) -> dict[str, Any]:
    """What is given for a hierarchy: a builder, or a tree as rows (leaf first), nested names, parents or a file.

    With `plain` it is one whose tree the reader knows without building it.
    """
    kind = "" if plain else column["kind"]
    choices = ["tree", "tree", "flat"]
    if kind == "text":
        choices += ["prefix"] if present[0][:1].isdigit() else ["prefix", "order"]  # [1, 9] would be two things
    if kind in ("int64", "int8", "uint64", "float", "decimal"):
        choices += ["ranges", "ranges", "edges"]
    if kind == "date":
        choices += ["dates", "dates"]
    choice = random.choice(choices)
    if choice == "flat":
        return {"builder": "flat"}
    if choice == "prefix":
        return {"builder": "prefix", "step": random.choice([1, 2])}
    if choice == "order":
        order = list(present)
        random.shuffle(order)
        return {"builder": "order", "values": order, "sizes": random.choice([[2], [2, 4]])}
    if choice == "ranges":
        return {"builder": "ranges", **random.choice([{}, {"width": 5}, {"width": 5, "levels": 3}, {"levels": 2}])}
    if choice == "edges":
        return {"builder": "ranges", "edges": random.choice([[0, 10, 20], [[0, 5, 10], [0, 10]]])}
    if choice == "dates":
        return {"builder": "dates", "levels": random.choice([["month", "year"], ["quarter"], ["year", "decade"]])}
    return {"form": random.choice(["rows", "rows", "nested", "parents", "file"]), "rows": _tree(present, random)}


def _tree(present: list[str], random: Random) -> list[list[str]]:
    """Rows of labels, from the value to the root: one or two levels between them, each node below one other."""
    levels = random.choice([0, 1, 1, 2])
    rows = []
    for text in present:
        group = random.randrange(3)
        inner = [f"group {group}", f"part {group // 2}"][:levels]
        rows.append([text, *inner, "*"])
    return rows


def _choose_release(case: Case, random: Random) -> None:
    """How groups are released, and what is kept most."""
    settings = case["settings"]
    if random.random() < 0.25:
        settings["recoding"] = random.choice(RECODINGS)
    for name in settings["quasi"]:
        if random.random() < 0.1:
            settings.setdefault("recodings", {})[name] = random.choice(RECODINGS)
    if random.random() < 0.15 and settings["algorithm"] not in ("topdown", "tdr"):
        some = random.sample(settings["quasi"], random.randint(1, len(settings["quasi"])))
        weights = {name: random.choice([0, 0.5, 1, 2]) for name in some}
        settings["priorities"] = random.choice([some, weights])


def _choose_rounding(case: Case, random: Random) -> None:
    """The last choice of a case: the unit at which ranges end. Mostly one that fits."""
    settings = case["settings"]
    for name in settings["quasi"]:
        if random.random() < 0.75:
            continue
        fits = name not in settings.get("hierarchies", {}) and name not in settings.get("orders", {})
        recoding = settings.get("recodings", {}).get(name, settings.get("recoding", "range"))
        kind = case["columns"][name]["kind"]
        if (fits and recoding not in ("mean", "midpoint", "nodes") and kind in NUMERIC) or random.random() < 0.1:
            numbers = NUMBER_UNITS[:4] if kind in ("int64", "int8", "uint64", "huge") else NUMBER_UNITS
            units = DATE_UNITS if kind in ("date", "datetime") else numbers
            settings.setdefault("round", {})[name] = random.choice(units)


def _choose_newer(case: Case, random: Random) -> None:
    """Highest levels, schemes, dropped records, forms of dates, and what is written besides the release."""
    settings, way = case["settings"], case["way"]
    for name in settings["quasi"]:
        if random.random() < 0.04:
            settings.setdefault("at_most", {})[name] = random.choice([0, 0, 1, 1, 2])
        form = case["columns"][name].get("form")
        if form is not None and (random.random() < 0.5 or form == "%m/%d/%Y"):
            settings.setdefault("date_formats", {})[name] = form
    if random.random() < 0.06:
        settings["recoding"] = random.choice(SCHEMES)
        settings.pop("round", None)
    if "suppression_limit" in settings and random.random() < 0.3:
        settings["suppressed"] = "drop"
        rows = len(case["columns"]["s"]["values"])
        case["columns"]["row"] = {"kind": "text", "values": [f"{row}" for row in range(rows)]}
    if "output" not in way:
        return
    if random.random() < 0.15:
        settings["order"] = "input"
    if random.random() < 0.3 and "suppressed" not in settings:
        settings["key"] = True
    if random.random() < 0.2:
        settings["public_certificate"] = True
    if way["kind"] == "files" and random.random() < 0.3:
        way["kind"] = "stream"
        way.update({end: random.choice(["csv", "parquet"]) for end in ("input", "output")})
        settings["algorithm"] = "shoal"
        for name in ("key", "at_most", "suppressed", "date_formats"):
            settings.pop(name, None)


def _way(random: Random) -> dict[str, Any]:
    """Through a frame, a frame and an output file, or files (by the library or by the command line)."""
    draw = random.random()
    if draw < 0.55:
        return {"kind": "frame", "frame": random.choice(FRAMES)}
    if draw < 0.7:
        return {"kind": "frame", "frame": random.choice(FRAMES), "output": random.choice(FILES)}
    kind = "cli" if random.random() < 0.3 else "files"
    return {"kind": kind, "input": random.choice(FILES), "output": random.choice(FILES)}
