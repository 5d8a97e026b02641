"""A first job for a table, written as a commented file: a role for every column with its reason, and all else found.

The job errs on the safe side: columns of which nothing is known are dropped until somebody moves them. It can be run as
it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shoal.inspection.hierarchies import HierarchySuggestion, suggest_hierarchy
from shoal.inspection.inspect import Inspection
from shoal.inspection.judge import UNDECIDED, is_nearly_unique
from shoal.job.job import CsvSettings, seen_from
from shoal.job.kept import find_telling
from shoal.tables.distinct import code_columns
from shoal.tables.schema import Role

SMALL_TABLE = 1_000
K_OF_SMALL_TABLE, K = 5, 11
MOST_COMMON_SHARE = 0.4  # of a sensitive value, up to which groups with two values are easy to make
MANY_QUASI = 12
DECIDE = "DECIDE YOURSELF"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*\Z")
_NOT_PLAIN = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


@dataclass
class FirstJob:
    """The decisions of a first job: names with the reason for each, in the order of the table."""

    dropped: dict[str, str] = field(default_factory=dict)
    quasi: dict[str, str] = field(default_factory=dict)
    sensitive: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    person: str | None = None
    person_why: str = ""
    k: int = K
    models: list[str] = field(default_factory=list)
    hierarchies: dict[str, HierarchySuggestion] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def suggest_job(found: Inspection, frame: pl.DataFrame, k: int | None = None) -> FirstJob:
    """Decide every column from what was found out about the table."""
    job = FirstJob()
    if found.person is not None:
        job.person, job.person_why = str(found.person["column"]), str(found.person["why"])
    for name in found.judged:
        if name != job.person:
            _decide(job, found, name)
    if not job.quasi:
        _take_undecided(job, found)
    job.k = k if k is not None else _usual_k(found, job.person)
    job.missing = sorted({text for fact in found.facts.values() for text in fact.missing_texts})
    _drop_telling(job, frame)
    for name in (*job.quasi, *job.sensitive):
        suggested = suggest_hierarchy(found.facts[name], frame[name])
        if suggested is not None:
            job.hierarchies[name] = suggested
    job.models = [f"l-diversity:{name}:2" for name in job.sensitive if ":" not in name and _is_varied(found, name)]
    job.remarks = _remarks(found, job)
    return job


def _usual_k(found: Inspection, person: str | None) -> int:
    people = found.records if person is None else found.facts[person].distinct
    return K_OF_SMALL_TABLE if people < SMALL_TABLE else K


def _decide(job: FirstJob, found: Inspection, name: str) -> None:
    """Put a column where its judgement belongs."""
    verdict = found.judged[name]
    if verdict.role == UNDECIDED:
        job.dropped[name] = f"{DECIDE}: {verdict.why}"
    elif verdict.role == Role.SENSITIVE and is_nearly_unique(found.facts[name]):
        job.dropped[name] = f"{DECIDE}: sensitive, but nearly every record has its own value: it singles out"
    else:
        place = {Role.IDENTIFYING: job.dropped, Role.QUASI_IDENTIFYING: job.quasi, Role.SENSITIVE: job.sensitive}
        place.get(Role(verdict.role), job.kept)[name] = verdict.why


def _take_undecided(job: FirstJob, found: Inspection) -> None:
    """Where no column is known to be known to others, all are taken for such that can be generalized: a job with none
    could not be run, and nobody can be singled out by any of these then."""
    for name, verdict in found.judged.items():
        fact = found.facts[name]
        if verdict.role == UNDECIDED and fact.scale_without_texts.is_numeric and not is_nearly_unique(fact):
            del job.dropped[name]
            job.quasi[name] = f"{DECIDE}: nothing tells which columns others may know, so these are taken for them"


def _drop_telling(job: FirstJob, frame: pl.DataFrame) -> None:
    """Kept columns that a run would refuse are dropped, with the reason."""
    telling = find_telling(frame, list(job.kept), code_columns(frame, job.quasi), job.k, job.missing)
    for name, findings in telling.items():
        del job.kept[name]
        reasons = "; ".join(finding.message for finding in findings)
        job.dropped[name] = f"{DECIDE}: {reasons} (to publish it, name it in keep and in allow)"


def _is_varied(found: Inspection, name: str) -> bool:
    """A sensitive category in which no value is so common that groups with two values would be hard to make."""
    fact = found.facts[name]
    return 3 <= fact.distinct <= fact.records // 10 and fact.most_common <= MOST_COMMON_SHARE * fact.records


def _remarks(found: Inspection, job: FirstJob) -> list[str]:
    published = {*job.quasi, *job.sensitive, *job.kept}
    same = [[name for name in group if name in published] for group in found.dependence.same_groups()]
    remarks = [f"{' and '.join(map(repr, group))} say the same: one of them is enough" for group in same if group[1:]]
    remarks += [
        f"'{name}': {', '.join(f'{number:g}' for number in fact.missing_numbers)} may mean 'missing'"
        for name, fact in found.facts.items()
        if fact.missing_numbers
    ]
    if len(job.quasi) > MANY_QUASI:
        remarks.append(f"{len(job.quasi)} quasi-identifiers cost much of each: drop those that nobody needs")
    return remarks


def write_job(job: FirstJob, data: Path, place: Path, csv: CsvSettings, found: Inspection) -> str:
    """The text of the job file that is to lie at `place`."""
    stem = data.name.split(".")[0]
    size = f"{found.records:,} records, {len(found.facts)} columns"
    lines = [
        f"# A first job for {_comment(data.name)} ({size}), written by 'shoal init'.",
        f"# Read it, change what you know better, then:  shoal anonymize --job {_comment(place.name)}",
        f"input: {_scalar(str(seen_from(place.parent, data)))}",
        f"output: {_scalar(stem + '.release' + _suffix(data))}",
        f"certificate: {_scalar(stem + '.certificate.json')}",
        f"report: {_scalar(stem + '.report.html')}",
        *_roles(job),
        "",
        *_requirement(job),
        *_hierarchies(job),
        *_reading(job, csv),
    ]
    lines += ["", *(f"# Note: {_comment(remark)}." for remark in job.remarks)] if job.remarks else []
    return "\n".join(lines) + "\n"


def _roles(job: FirstJob) -> list[str]:
    """Every column below its role, with the reason."""
    lines = ["", "# Every column has one role. Move a line to another list to change it."]
    lines += _list("identifiers", job.dropped, "dropped: they identify, or nothing is known about them")
    lines += _list("quasi", job.quasi, "others may know these: generalized until nobody stands out")
    lines += _list("sensitive", job.sensitive, "nobody should learn these: kept, and looked at by the models")
    lines += _list("keep", job.kept, "published as they are")
    if job.person is not None:
        lines += ["", f"# Several records per person: {job.person_why}. k counts persons; the column is dropped."]
        lines += ["# If a record is a person: delete this line, and name the column among the identifiers."]
        lines += [f"person: {_scalar(job.person)}"]
    return lines


def _reading(job: FirstJob, csv: CsvSettings) -> list[str]:
    """How the table is read."""
    lines: list[str] = []
    scales = {name: "category" for name, entry in job.hierarchies.items() if entry.as_category}
    if scales:
        lines += ["", "# Numbers that are codes.", f"scales: {flow(scales)}"]
    if job.missing:
        lines += ["", "# Texts that mean 'missing' in columns of texts.", f"missing: {flow(job.missing)}"]
    given = csv.model_dump(exclude_none=True)
    return [*lines, "", f"csv: {flow(given)}"] if given else lines


def _requirement(job: FirstJob) -> list[str]:
    lines = [f"# Each record looks like {job.k - 1} others or more: the chance to find a person is at most 1/{job.k}."]
    if job.k == K:
        lines.append(
            "# 1/11 = 0.09 is the threshold of the European Medicines Agency's policy 0070. 5 is usual within a"
        )
        lines.append("# closed circle, 20 or more for what everybody may see.")
    if job.k == K_OF_SMALL_TABLE:
        lines.append("# The table is small; 11 or more is usual for data that everybody may see.")
    lines.append(f"k: {job.k}")
    if job.models:
        lines += ["# In each group a sensitive column has at least two values; see 'shoal models' for stronger ones."]
        lines += [f"models: {flow(job.models)}"]
    guarded = {spec.split(":")[1] for spec in job.models}
    unguarded = [_comment(name) for name in job.sensitive if name not in guarded]
    if unguarded:
        lines.append(
            f"# No model looks at {', '.join(unguarded)} (two values, or nearly always the same one, or one for"
        )
        lines.append(
            "# nearly every record). A group in which all have the same value gives it away: the report counts them."
        )
    return lines


def _hierarchies(job: FirstJob) -> list[str]:
    needed = {name: entry for name, entry in job.hierarchies.items() if entry.needed and name in job.quasi}
    optional = {name: entry for name, entry in job.hierarchies.items() if name in job.quasi and name not in needed}
    lines = ["", "# When values get coarser, a number or date becomes a range, a category a set such as {A, B}."]
    if not needed and not optional:
        return [*lines, "# With a hierarchy it becomes a node of that: see 'shoal hierarchies'."]
    lines += ["hierarchies:" if needed else "# hierarchies:"]
    lines += [f"  {_scalar(name)}: {flow(dict(entry.builder))}  # {entry.why}" for name, entry in needed.items()]
    if optional:
        lines += [
            "  # These need none; with one, and 'recodings: {NAME: nodes}', they become its nodes instead of ranges:"
        ]
        lines += [
            f"  # {_scalar(name)}: {flow(dict(entry.builder))}  # {entry.why}" for name, entry in optional.items()
        ]
    return lines


def _comment(text: str) -> str:
    """A text for a comment: on one line, whatever is in the name of a column."""
    return " ".join(text.split())


def _list(setting: str, names: Mapping[str, str], what: str) -> list[str]:
    if not names:
        return (
            [] if setting != "quasi" else ["quasi: []  # nothing was found: name what others may know about a person"]
        )
    width = max(len(_scalar(name)) for name in names)
    return [f"{setting}:  # {what}"] + [
        f"  - {_scalar(name):<{width}}  # {_comment(why)}" for name, why in names.items()
    ]


def _suffix(data: Path) -> str:
    name = data.name.lower()
    return next((end for end in (".csv.gz", ".tsv.gz", ".txt.gz") if name.endswith(end)), data.suffix)


def _scalar(value: Any) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, str) and _PLAIN.match(value) and value.lower() not in _NOT_PLAIN:
        return value
    return json.dumps(value, ensure_ascii=False)


def flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(name)}: {flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return _scalar(value)
