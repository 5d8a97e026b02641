"""What a release for cluster analysis shows: its charts, and one offline page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.charts.clusters import (
    contingency,
    contingency_records,
    grown_taxonomy,
    quality_against_h,
    taxonomy_records,
)
from shoal.reports.page import (
    MEANING,
    Page,
    card,
    cards,
    count,
    note,
    number,
    paragraph,
    section,
    table,
)

Dict = Mapping[str, Any]
SHOWN_STEPS = 50
SHOWN_VALUES = 12
MEASURES = (
    ("f_measure", "Overall F-measure", "How well each raw cluster is found again in the release: 1 is perfectly."),
    ("match_point", "Match point", "Share of all pairs of records on which both agree: together or apart."),
    ("adjusted_rand", "Adjusted Rand index", "Agreement on pairs beyond chance: 1 is equal, 0 is chance."),
    ("mutual_information", "Normalised mutual information", "What one clustering tells about the other: 1 is all."),
)
REFINED = {"generalize": "a node into its children", "suppress": "a value is disclosed", "discretize": "a split"}


def cluster_charts(content: Dict) -> dict[str, dict[str, Any]]:
    """Every chart that there are numbers for, by a name that can be a file's."""
    charts = {"contingency": contingency(contingency_records(content["comparison"]["contingency"]))}
    swept = sweep_records(content)
    if swept:
        charts["quality-against-h"] = quality_against_h(swept, "agreement with the raw clusters")
    for attribute, nodes in grown(content).items():
        name = "taxonomy-" + re.sub(r"[^\w.-]+", "_", attribute)
        while name in charts:
            name += "_"
        charts[name] = grown_taxonomy(taxonomy_records(nodes), attribute)
    return charts


def sweep_records(content: Dict) -> list[dict[str, Any]]:
    series = (("f_measure", "overall F-measure"), ("match_point", "match point"))
    return [
        {"h": row["h"], "value": row[name], "series": title, "panel": _panel(row), "mode": row.get("mode", "")}
        for row in content.get("sweep", ())
        if "error" not in row
        for name, title in series
    ]


def _panel(row: Dict) -> str:
    """Number of clusters and clusterer, in words, if they are swept."""
    clusters = [f"{row['clusters']} clusters"] if "clusters" in row else []
    return ", ".join([*clusters, *([str(row["clusterer"])] if "clusterer" in row else [])])


def grown(content: Dict) -> dict[str, list[dict[str, Any]]]:
    """The attributes whose range was split at least once."""
    return {name: nodes for name, nodes in content["taxonomies"].items() if len(nodes) > 1}


def cluster_report(content: Dict) -> str:
    """How well the clusters survived, how values were cut, and what was checked; from `ClusterRelease.as_dict()`."""
    page = Page("Release for cluster analysis")
    page.heading("how well the clusters of the original are found again in the release")
    comparison = content["comparison"]
    page.add(
        cards(
            card("Records", count(_records(content)), "In the original and in the release."),
            card("F-measure", f"{comparison['f_measure']:.3f}", "How well the clusters are found again: 1 is fully."),
            card("Smallest group", count(content["smallest_group"]), "Every record looks the same as so many or more."),
            card("Refinements", count(len(content["steps"])), "Steps from everything masked to the release."),
        )
    )
    page.add(_clusters(page, comparison), _sweep(page, content), _checks(content), _cut(content))
    page.add(*_taxonomies(page, content), _steps(content))
    page.add("<footer>Made with Shoal. This page needs no network and sends nothing.</footer>")
    return page.html()


def _records(content: Dict) -> int:
    return sum(sum(row) for row in content["comparison"]["contingency"])


def _clusters(page: Page, comparison: Dict) -> str:
    rows = [[title, f"{comparison[name]:.4f}", meaning] for name, title, meaning in MEASURES]
    drawn = contingency(contingency_records(comparison["contingency"]))
    caption = "Records by their cluster in the raw table (rows) and in the release (columns); numbered by size."
    measures = table(["Measure", "Value", MEANING], rows, (1,))
    intro = "The same records were clustered twice: as they were, and as they are released."
    return section("Clusters", intro, measures, page.chart(drawn, caption))


def _sweep(page: Page, content: Dict) -> str:
    swept = content.get("sweep")
    if not swept:
        return ""
    records = sweep_records(content)
    parts = []
    if records:
        caption = "Agreement of raw and released clusters over the threshold h; 1 is full." + _kinds_of_lines(records)
        parts.append(page.chart(quality_against_h(records, "agreement with the raw clusters"), caption))
    intro = (
        "The same table masked in other settings; h is the number of records that every group has at least. What "
        "they keep of the clusters; these tables were not released."
    )
    return section("Other settings", intro, *parts, _sweep_table(swept))


def _sweep_table(swept: Sequence[Dict]) -> str:
    others = [name for name in ("mode", "clusterer", "clusters") if any(name in row for row in swept)]
    shown = MEASURES[: 2 if others else 3]
    rows = []
    for row in swept:
        settings = [*(str(row.get(name, "")) for name in others), count(row["h"])]
        if "error" in row:
            rows.append([*settings, "not possible", *[""] * (len(shown) - 1)])
        else:
            rows.append([*settings, *(f"{row[name]:.4f}" for name, _, _ in shown)])
    header = [*others, "h", *(title for _, title, _ in shown)]
    return table(header, rows, range(len(others), len(header)))


def _kinds_of_lines(records: list[dict[str, Any]]) -> str:
    modes = list(dict.fromkeys(record["mode"] for record in records if record["mode"]))
    return f" Solid: mode {modes[0]}, dashed: {modes[1]}." if len(modes) == 2 else ""


def _checks(content: Dict) -> str:
    rows = [
        [str(check["model"]), "holds" if check["passed"] else "does not hold",
         f"{check.get('measure', '')}: {number(check.get('measured'))}"]
        for check in content["verification"]["checks"]
    ]  # fmt: skip
    intro = "The check reads the released values alone and shares no code with the algorithm that made them."
    return section("What was checked", intro, table(["Requirement", "Result", "Found"], rows))


def _cut(content: Dict) -> str:
    rows = []
    for name, values in content["cut"].items():
        shown = ", ".join(f"{_value(one['value'])} ({count(one['records'])})" for one in values[:SHOWN_VALUES])
        more = f", and {len(values) - SHOWN_VALUES} more" if len(values) > SHOWN_VALUES else ""
        rows.append([name, count(len(values)), shown + more])
    intro = "The values that are released of every quasi-identifier, with the number of their records."
    return section("The cut", intro, table(["Attribute", "Values", "Released values (records)"], rows, (1,)))


def _value(text: str | None) -> str:
    return "(missing)" if text is None else ("* (nothing told)" if text == "*" else text)


def _taxonomies(page: Page, content: Dict) -> list[str]:
    drawn = []
    for name, nodes in grown(content).items():
        caption = "From top to bottom: how the range was split. A box is as wide as its share of the records."
        drawn.append(page.chart(grown_taxonomy(taxonomy_records(nodes), name), caption))
    whole = [name for name in content["taxonomies"] if name not in grown(content)]
    if whole:
        reason = "the best split told nothing about the clusters, or left a group too small"
        drawn.append(note(f"Never split: {', '.join(whole)} ({reason})."))
    if not drawn:
        return []
    return [section("Grown intervals", "Numbers begin as one interval, and are split where it helps most.", *drawn)]


def _steps(content: Dict) -> str:
    steps = content["steps"][:SHOWN_STEPS]
    if not steps:
        return ""
    rows = [
        [str(place), step["attribute"], REFINED.get(step["refinement"], step["refinement"]), count(step["records"]),
         f"{step['gain']:.4f}", count(step["anonymity_loss"]), f"{step['score']:.3g}"]
        for place, step in enumerate(steps, start=1)
    ]  # fmt: skip
    header = ["Step", "Attribute", "Refined", "Records", "Gain", "Anonymity lost", "Score"]
    meaning = (
        "Records: how many the step refined. Gain: what it tells about the clusters, in bits. Anonymity lost: by how "
        "many records the smallest group shrank. Score: gain / (anonymity lost + 1); the highest allowed was taken."
    )
    if content.get("mode") == "distort":
        meaning += " In this run the score was the number of refined records, whatever they tell about clusters."
    shown = "all of them" if len(content["steps"]) <= SHOWN_STEPS else f"the first {SHOWN_STEPS}"
    return section("Refinements", f"In order, {shown}.", paragraph(meaning), table(header, rows, numbers=(3, 4, 5, 6)))
