"""The parts of a report that come from an evaluation: loss, risk, attacks, usefulness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from shoal.reports.attacks import attack_section
from shoal.reports.charts import specs
from shoal.reports.charts.clusters import contingency, contingency_records
from shoal.reports.language import tell
from shoal.reports.page import MEANING, Page, bad_if, count, heading, note, number, paragraph, section, share, table
from shoal.reports.pictures import pairs
from shoal.reports.summary import bound_note, loss_per_attribute, metric_table
from shoal.reports.together import together_section

Dict = Mapping[str, Any]

COMBINATIONS_SHOWN = 12
COLUMNS_BESIDE = 4  # sensitive columns beside each other in one table
TABLES_SHOWN = 12
WORDS = ("(missing)", "other values")  # of shapes; all other labels are of the data


def evaluation_sections(
    page: Page, evaluation: Dict, *, public: bool, bounds: Mapping[str, float] | None = None
) -> list[str]:
    """All sections that the evaluation has numbers for; `bounds` are what the run knows of the best possible loss."""
    parts = [_risk(page, evaluation, public=public)]
    if not public:
        parts += [_drivers(evaluation), attack_section(evaluation), together_section(evaluation)]
    parts.append(_loss(page, evaluation, bounds or {}, public=public))
    if not public:
        parts.append(_shapes(evaluation))
    parts.append(_queries(page, evaluation))
    parts += [_models(page, evaluation), _clusters(page, evaluation, public=public)]
    if not public:
        parts.append(_statistics(evaluation))
    parts.append(_samples(evaluation))
    return [part for part in parts if part]


def _risk(page: Page, evaluation: Dict, *, public: bool) -> str:
    risk = evaluation["risk"]
    rows = _risk_rows(risk)
    if public:
        rows = [[row[0], row[2], row[3]] for row in rows[:2]]
        return section("Risk", _RISK_INTRO, table(["Risk", "In the release", MEANING], rows, numbers=(1,)))
    parts = [table(["Risk", "Before", "After", MEANING], rows, numbers=(1, 2))]
    if risk.get("basis") == "candidates":
        parts.insert(
            0, note("Every record has cells of its own. In the release a class is the records that fit a person.")
        )
    return section("Risk", _RISK_INTRO, *parts, *_risk_charts(page, risk), *_disclosure(risk["disclosure"]))


def _risk_charts(page: Page, risk: Dict) -> list[str]:
    sizes = [{**row, "when": when} for when in ("before", "after") for row in risk[f"sizes_{when}"]]
    curve = [{**row, "when": when} for when in ("before", "after") for row in risk[f"curve_{when}"]]
    return [
        heading("Class sizes"),
        page.chart(specs.class_sizes(sizes), "Share of the records by how many records look the same as they do."),
        heading("Records above a risk"),
        page.chart(specs.risk_curve(curve), "Share of the records whose risk is above the threshold on the axis."),
    ]


def _risk_rows(risk: Dict) -> list[list[str]]:
    """Each measure before and after, with the sentence that says what it means."""
    before, after = risk["before"], risk["after"]
    limit = share(risk["threshold"])
    return [
        ["Highest risk", share(before["highest"]), share(after["highest"]),
         "Prosecutor: chance to recognise the most exposed record for someone who knows it is there."],
        ["Average risk", share(before["average"]), share(after["average"]),
         "Marketer: share of all records that an attacker who links the whole table gets right."],
        _counted_row("Unique records", risk, "unique",
                     "Records whose quasi-identifiers nobody shares: they are recognised with certainty."),
        _counted_row(tell("Records with a risk above {limit}", limit=limit), risk, "at_risk",
                     tell("Records that share their quasi-identifiers with too few others for a risk of {limit}.",
                          limit=limit)),
        ["Smallest class", count(before["smallest_class"]),
         bad_if((after["smallest_class"] or 2) < 2, count(after["smallest_class"])),
         "The fewest records that look the same."],
        ["Mean class", number(round(before["mean_class"], 2)), number(round(after["mean_class"], 2)),
         "How many records look the same, on average over the classes."],
        *_journalist_rows(risk.get("journalist")),
    ]  # fmt: skip


def _journalist_rows(journalist: Dict | None) -> list[list[str]]:
    if not journalist:
        return []
    who = "The same for someone who does not know whether the person is in the table."
    mean = "The mean of that risk over all released records."
    return [
        ["Journalist's highest risk", "", share(journalist["highest"]), who],
        ["Journalist's average risk", "", share(journalist["average"]), mean],
    ]


def _counted_row(title: str, risk: Dict, measure: str, meaning: str) -> list[str]:
    """Records of which there should be none in a release."""
    before, after = risk["before"][measure], risk["after"][measure]
    return [title, count(before), bad_if(after > 0, count(after)), meaning]


_RISK_INTRO = "How easily a person can be recognised by the quasi-identifiers, before and after."


def _disclosure(disclosure: Dict) -> list[str]:
    if not disclosure:
        return []
    names = list(disclosure)
    told = [heading("What a class gives away")]
    for start in range(0, len(names), COLUMNS_BESIDE):
        some = names[start : start + COLUMNS_BESIDE]
        rows = [
            [what, *(value(disclosure[name]) for name in some), meaning] for what, value, meaning in _DISCLOSURE_ROWS
        ]
        told.append(table(["What", *some, MEANING], rows, numbers=range(1, len(some) + 1)))
    return told


def _uniform(found: Dict) -> str:
    return bad_if(found["records_in_uniform_classes"] > 0, count(found["records_in_uniform_classes"]))


def _fewest(found: Dict) -> str:
    return bad_if(found["fewest_values"] < 2, count(found["fewest_values"]))


_DISCLOSURE_ROWS: tuple[tuple[str, Callable[[Dict], str], str], ...] = (
    ("Best guess before", lambda found: share(found["baseline"]), "Right guesses when only the whole table is known."),
    ("Best guess in the class", lambda found: share(found["best_guess"]), "Right guesses when the class is known."),
    (
        "Mean growth of belief",
        lambda found: share(found["mean_gain"]),
        "How much the belief in the likeliest grown value rises when the class is known, on average.",
    ),
    ("Highest growth of belief", lambda found: share(found["highest_gain"]), "The same in the worst class."),
    (
        "Records in uniform classes",
        _uniform,
        "Records whose class has a single sensitive value: finding the class reveals it.",
    ),
    ("Fewest values in a class", _fewest, "Sensitive values in the worst class."),
    (
        "Highest distance",
        lambda found: number(round(found["highest_distance"], 4)),
        "How far the worst class is from the whole table, 0 to 1 (t-closeness with equal distances).",
    ),
)


def _drivers(evaluation: Dict) -> str:
    found = evaluation.get("combinations")
    if not found:
        return ""
    attributes = [
        [part["attribute"], share(part["alone"]), share(part["added_average"]), count(part["added_unique"])]
        for part in found["attributes"]
    ]
    combinations = [
        [", ".join(entry["columns"]), count(entry["unique"]), count(entry["at_risk"]), share(entry["average"])]
        for entry in found["combinations"][:COMBINATIONS_SHOWN]
    ]
    return section(
        "What drives the risk",
        "Computed on the original: which attributes, and which few of them together, make people stand out.",
        heading("Attributes"),
        paragraph(
            "Alone: average risk if only this attribute is known. Added: how much average risk and how many unique "
            "records come on top when this attribute is known besides all the others."
        ),
        table(["Attribute", "Alone", "Added risk", "Added unique"], attributes, numbers=(1, 2, 3)),
        heading("Combinations"),
        paragraph(
            tell(
                "The riskiest of {examined} combinations of up to {largest} attributes: records that nobody shares, "
                "records above the risk threshold, and the average risk if these attributes are known.",
                examined=count(found["examined"]),
                largest=found["largest"],
            )
        ),
        table(["Attributes", "Unique", "At risk", "Average risk"], combinations, numbers=(1, 2, 3)),
    )


def _loss(page: Page, evaluation: Dict, bounds: Mapping[str, float], *, public: bool) -> str:
    scores = evaluation["scores"]
    parts = [bound_note(bounds), metric_table({**scores["totals"], **bounds}, public=public)]
    for key, text in (
        ("unreadable", "cells could not be read and count as a full loss (labels need their hierarchy)"),
        (
            "not_covering",
            "cells do not contain the original value and count as lost (are the rows in the same order?)",
        ),
    ):
        cells = sum(scores[key].values())
        if cells:
            columns = "" if public else " " + tell("Columns: {names}.", names=", ".join(scores[key]))
            parts.append(note(f"{count(cells)} {tell(text)}.{columns}"))
    if scores["removed"]:
        lost = "{count} records of the original are not in the release; they count as lost."
        parts.append(note(tell(lost, count=count(scores["removed"]))))
    if not public:
        parts += [heading("Per attribute"), *loss_per_attribute(page, scores["per_attribute"]["gcp"])]
    return section("Loss", "What the release no longer tells, compared with the original.", *parts)


def _shapes(evaluation: Dict) -> str:
    """Every column as a picture, before and after."""
    found = evaluation.get("shapes")
    if not found:
        return ""
    intro = (
        "Grey before, blue after: the share of the records in each bin. Ranges and nodes are read as the values they "
        "cover. Values that fewer than ten people have are not named."
    )
    rows = {
        name: [{**row, "label": tell(row["label"]) if row["label"] in WORDS else row["label"]} for row in shape]
        for name, shape in found.items()
    }
    drawn = "".join(pairs(name, shape) for name, shape in rows.items())
    return section("Columns before and after", intro, f'<div class="pictures two">{drawn}</div>')


def _queries(page: Page, evaluation: Dict) -> str:
    found = evaluation.get("queries")
    if not found or not found["queries"]:
        return ""
    rows = [
        [row["selectivity"], count(row["queries"]), share(row["median"]), share(row["low"]), share(row["high"])]
        for row in found["by_selectivity"]
    ]
    intro = tell(
        "{queries} random questions of the form 'how many records have these values', answered from the release. Half "
        "of the answers are off by less than {median}; the mean error is {mean}. A cell is read as the values it "
        "covers, as common as the release has them.",
        queries=count(found["queries"]),
        median=share(found["median_error"]),
        mean=share(found["mean_error"]),
    )
    chart = page.chart(
        specs.query_errors(found["by_selectivity"]),
        "Relative error by how many records a question asks for: the median, and the middle half of the questions.",
    )
    header = ["Share asked for", "Queries", "Median error", "Lower quarter", "Upper quarter"]
    meaning = (
        "Median error: half of the questions of this size are off by less. A quarter is off by less than the lower "
        "quarter, a quarter by more than the upper one."
    )
    return section("Counting queries", intro, chart, paragraph(meaning), table(header, rows, numbers=(1, 2, 3, 4)))


def _models(page: Page, evaluation: Dict) -> str:
    found = evaluation.get("models")
    if not found or "skipped" in found:
        return ""
    by_model: dict[str, dict[str, float]] = {}
    for result in found["results"]:
        by_model.setdefault(result["model"], {})[result["trained"]] = result["accuracy"]
    rows = [
        [name, share(values["original"]), share(values["release"]), share(values["majority"])]
        for name, values in by_model.items()
    ]
    intro = tell(
        "Models that predict '{label}' from the quasi-identifiers, trained on {trained} records and tested on {tested} "
        "untouched originals: the share that is predicted right.",
        label=found["label"],
        trained=count(found["trained_on"]),
        tested=count(found["tested_on"]),
    )
    chart = page.chart(specs.accuracy(found["results"]), "Accuracy on untouched originals, by what was trained on.")
    header = ["Model", "Trained on the original", "Trained on the release", "Always the commonest"]
    return section("Prediction", intro, chart, table(header, rows, numbers=(1, 2, 3)))


_CLUSTERS = (
    ("f_measure", "F-measure", "How well the original clusters are found again; 1 is fully."),
    ("match_point", "Match point", "Share of all pairs of records that stay together or stay apart."),
    ("adjusted_rand", "Adjusted Rand index", "Agreement on pairs, corrected for chance: 0 is chance, 1 is full."),
    ("mutual_information", "Mutual information", "What one clustering tells about the other: 0 nothing, 1 all."),
)


def _clusters(page: Page, evaluation: Dict, *, public: bool) -> str:
    found = evaluation.get("clusters")
    if not found or "skipped" in found:
        return ""
    rows = [[title, f"{found[name]:.4f}", meaning] for name, title, meaning in _CLUSTERS if name in found]
    intro = tell(
        "k-means with {clusters} clusters on the original and on the release ({records} records): do the same records "
        "come together?",
        clusters=found["clusters"],
        records=count(found["records"]),
    )
    parts = [table(["Measure", "Value", MEANING], rows, numbers=(1,))]
    if found.get("contingency") and not public:
        drawn = contingency(contingency_records(found["contingency"]))
        parts.append(page.chart(drawn, "Records by their cluster in the original (rows) and in the release (columns)."))
    return section("Clusters", intro, *parts)


def _statistics(evaluation: Dict) -> str:
    found = evaluation.get("utility")
    if not found:
        return ""
    intro = (
        "What an analyst finds before and after. Ranges are spread evenly between their ends, categories over the "
        "values they cover, as common as the release has them; dates are counted in days."
    )
    parts = (_means(found["moments"]), _correlations(found["correlations"]), _marginals(found), _pairs_of(found))
    return section("Statistics", intro, *parts)


def _means(moments: Dict) -> str:
    rows = [
        [name, _mean(row, "before"), _mean(row, "after"), _deviation(row, "before"), _deviation(row, "after")]
        for name, row in moments.items()
    ]
    header = ["Attribute", "Mean before", "Mean after", "Deviation before", "Deviation after"]
    meaning = "The mean of the attribute, and how far its values are from it on average (standard deviation)."
    return _titled("Means", meaning, header, rows) if rows else ""


def _correlations(correlations: Sequence[Dict]) -> str:
    rows = [[f"{row['one']}, {row['other']}", _signed(row["before"]), _signed(row["after"])] for row in correlations]
    meaning = "How strongly two numeric attributes go together: 0 not at all, 1 or -1 completely."
    return _titled("Correlations", meaning, ["Attributes", "Before", "After"], rows) if rows else ""


def _marginals(utility: Dict) -> str:
    worst_first = sorted(utility["marginals"].items(), key=lambda item: -item[1])
    meaning = "Share of the records that would have to change their value to give the original frequencies."
    rows = [[name, share(value)] for name, value in worst_first]
    return _titled("Single attributes", meaning, ["Attribute", "Distance"], rows)


def _pairs_of(utility: Dict) -> str:
    meaning = (
        "The same for tables of two attributes, the most changed first, and how strongly the two go together (Cramér's "
        "V: 0 not at all, 1 completely)."
    )
    rows = [
        [
            f"{row['one']}, {row['other']}",
            share(row["distance"]),
            f"{row['association_before']:.3f}",
            f"{row['association_after']:.3f}",
        ]
        for row in sorted(utility["tables"], key=lambda row: -row["distance"])[:TABLES_SHOWN]
    ]
    header = ["Attributes", "Distance", "Association before", "Association after"]
    return _titled("Tables of two attributes", meaning, header, rows)


def _titled(title: str, meaning: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of numbers below its title and what it means; the first column names the rows."""
    return heading(title) + paragraph(meaning) + table(header, rows, numbers=range(1, len(header)))


def _mean(row: Dict, when: str) -> str:
    """A mean as a number, or as the day that it is."""
    mean = row[f"mean_{when}"]
    return (date(1970, 1, 1) + timedelta(days=round(mean))).isoformat() if row.get("days") else number(mean)


def _deviation(row: Dict, when: str) -> str:
    deviation = number(row[f"deviation_{when}"])
    return tell("{count} days", count=deviation) if row.get("days") else deviation


def _signed(value: float | None) -> str:
    return "not known" if value is None or value != value else f"{value:.3f}"


def _samples(evaluation: Dict) -> str:
    if not evaluation["samples"]:
        return ""
    return note(
        tell(
            "Computed on samples: {samples}. Everything else is computed on all records.",
            samples="; ".join(evaluation["samples"]),
        )
    )
