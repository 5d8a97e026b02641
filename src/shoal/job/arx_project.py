"""Projects of ARX (`.deid`): data, roles, types, hierarchies and privacy models, as a job with its files.

A project is a zip archive. Read are `data/input.csv`, `input/definition.xml`, `input/config.xml` and
`input/hierarchies/`, all of them text; Java objects in it are never looked at. What has no counterpart here is listed.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from shoal.errors import InputError, Problem
from shoal.job.job import Job

LARGEST_PART = 2_000_000_000  # bytes of one file of the archive, unpacked
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifiers",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "keep",
}
_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_ATTRIBUTE = r"for attribute '(.*)'"
_MODELS: tuple[tuple[str, Callable[..., str]], ...] = (
    (rf"^{_NUMBER}-anonymity$", lambda k: f"k-anonymity:{int(float(k))}"),
    (rf"^distinct-{_NUMBER}-diversity {_ATTRIBUTE}$", lambda least, name: f"distinct-l:{name}:{int(float(least))}"),
    (
        rf"^(?:shannon-)?entropy-{_NUMBER}-diversity {_ATTRIBUTE}$",
        lambda least, name: f"entropy-l:{name}:{float(least):g}",
    ),
    (
        rf"^recursive-\({_NUMBER}, ?{_NUMBER}\)-diversity {_ATTRIBUTE}$",
        lambda c, least, name: f"recursive-cl:{name}:{float(c):g},{int(float(least))}",
    ),
    (rf"^{_NUMBER}-closeness with equal.*{_ATTRIBUTE}$", lambda t, name: f"t-closeness:{name}:{float(t):g}"),
    (
        rf"^{_NUMBER}-closeness with (hierarchical|ordered).*{_ATTRIBUTE}$",
        lambda t, kind, name: f"t-closeness:{name}:{float(t):g}:{kind}",
    ),
    (
        rf"^(?:basic-)?{_NUMBER}-likeness {_ATTRIBUTE}$",
        lambda beta, name: f"beta-likeness:{name}:{float(beta):g}",
    ),
    (
        rf"^enhanced-{_NUMBER}-likeness {_ATTRIBUTE}$",
        lambda beta, name: f"beta-likeness:{name}:{float(beta):g}:enhanced",
    ),
    (rf"^{_NUMBER}-disclosure privacy {_ATTRIBUTE}$", lambda delta, name: f"delta-disclosure:{name}:{float(delta):g}"),
)
_READ_AS_THEY_ARE = ("yyyy-MM-dd", "yyyy/MM/dd", "dd.MM.yyyy", "yyyy-MM-dd HH:mm", "yyyy-MM-dd HH:mm:ss")
_PARTS_OF_DATES = (("yyyy", "%Y"), ("MMM", "%b"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))
_MISSING = "NULL"  # how ARX writes a missing value


@dataclass
class ArxProject:
    """What a project says, in our words; `left_out` is what could not be carried over."""

    data: bytes
    delimiter: str = ";"
    roles: dict[str, list[str]] = field(default_factory=dict)
    scales: dict[str, str] = field(default_factory=dict)
    date_formats: dict[str, str] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    at_most: dict[str, int] = field(default_factory=dict)
    hierarchies: dict[str, bytes] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    suppression_limit: float = 0.0
    weights: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def read_arx_project(path: Path | str) -> ArxProject:
    """Read a project. Raises InputError if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except FileNotFoundError:
        raise InputError(Problem("no-such-file", f"there is no file '{path}'", hint="check the path")) from None
    except (zipfile.BadZipFile, OSError, KeyError, ElementTree.ParseError) as error:
        message = f"'{path}' is not a project of ARX that can be read ({type(error).__name__})"
        raise InputError(Problem("damaged-file", message, hint="save the project in ARX 2.0 or newer")) from None


def _read(archive: zipfile.ZipFile) -> ArxProject:
    project = ArxProject(data=_part(archive, "data/input.csv"))
    names = set(archive.namelist())
    if "project.xml" in names:
        found = _xml(archive, "project.xml").findtext("separator")
        project.delimiter = found if found and len(found) == 1 else project.delimiter
    for entry in _xml(archive, "input/definition.xml"):
        _read_column(entry, project, archive, names)
    if "input/config.xml" in names:
        _read_config(_xml(archive, "input/config.xml"), project)
    if "data/input_subset.csv" in names and _lines(archive, "data/input_subset.csv") < project.data.count(b"\n"):
        project.left_out.append("the research subset: all records of the data are taken")
    if "data/output.csv" in names:
        project.left_out.append("the result of ARX (data/output.csv): evaluate it with 'shoal evaluate'")
    return project


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > LARGEST_PART:
        raise zipfile.BadZipFile(name)
    return archive.read(name)


def _lines(archive: zipfile.ZipFile, name: str) -> int:
    return _part(archive, name).count(b"\n")


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    text = _part(archive, name).decode("utf-8", errors="replace")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # ARX writes none, and they are good for nothing but attacks
        raise ElementTree.ParseError(name)
    return ElementTree.fromstring(text)


def _read_column(entry: ElementTree.Element, project: ArxProject, archive: zipfile.ZipFile, names: set[str]) -> None:
    column = entry.findtext("name") or ""
    role = _ROLES.get(entry.findtext("type") or "")
    if not column or role is None:
        project.left_out.append(f"the role of '{column}', which is not known here")
        return
    project.roles.setdefault(role, []).append(column)
    reference = entry.findtext("ref")
    if reference is not None and f"input/{reference}" in names and role in ("quasi", "sensitive"):
        project.hierarchies[column] = _part(archive, f"input/{reference}")
        highest = entry.findtext("max") or ""
        if role == "quasi" and highest.isdecimal():
            project.at_most[column] = int(highest)
    if role == "quasi":
        _read_type(entry, column, project)
    project.left_out += _without_counterpart(entry, column)


def _read_type(entry: ElementTree.Element, column: str, project: ArxProject) -> None:
    """What the values of a column are. Where a hierarchy says how they become coarser, dates and orders stay texts,
    which its leaves are."""
    kind, form = entry.findtext("datatype") or "", entry.findtext("format") or ""
    scale = {"Integer": "integer", "Decimal": "decimal", "String": "category"}.get(kind)
    if scale is not None:
        project.scales[column] = scale
    elif column in project.hierarchies:
        project.scales[column] = "category"
    elif kind == "Date/Time" and form in _READ_AS_THEY_ARE:
        project.scales[column] = "date"
    elif kind == "Date/Time" and _python_form(form):
        project.date_formats[column] = _python_form(form)
    elif kind == "Ordinal" and form.split():
        project.scales[column] = "ordered"
        project.orders[column] = tuple(line.strip() for line in form.splitlines() if line.strip())
    elif kind:
        project.left_out.append(f"the type '{kind}' of '{column}'" + (f" with the form '{form}'" if form else ""))


def _python_form(form: str) -> str:
    """A form of dates as Java writes it in that of `--date-format`; empty if it has parts that are not known."""
    for theirs, ours in _PARTS_OF_DATES:
        form = form.replace(theirs, ours)
    known = re.sub(r"%[A-Za-z]", "", form)
    return form if not re.search("[A-Za-z']", known) and {"%Y", "%d"} <= set(re.findall("%.", form)) else ""


def _without_counterpart(entry: ElementTree.Element, column: str) -> list[str]:
    """What a column of a project says that a job cannot."""
    lowest = entry.findtext("min")
    left_out = [f"the lowest level of '{column}'"] if lowest not in (None, "All", "0") else []
    function = entry.findtext("microAggregationFunction")
    if function:
        left_out.append(f"the microaggregation '{function}' of '{column}': see --recode {column}=mean")
    return left_out


def _read_config(config: ElementTree.Element, project: ArxProject) -> None:
    limit = config.findtext("relativeMaxOutliers") or config.findtext("suppressionLimit")
    if limit is not None and _is_number(limit):
        project.suppression_limit = min(1.0, max(0.0, float(limit)))
    for criterion in config.iter("criterion"):
        spec = _model(criterion.text or "")
        if spec is not None:
            project.models.append(spec)
        else:
            project.left_out.append(f"the privacy model '{(criterion.text or '').strip()}'")
    for weight in config.iter("attributeWeight"):
        name, value = weight.findtext("attribute"), weight.findtext("weight")
        if name in project.roles.get("quasi", ()) and value is not None and _is_number(value):
            project.weights[str(name)] = float(value)
    metric = config.findtext("metric")
    if metric:
        project.left_out.append(f"the quality model '{metric}': the loss here is GCP, see --objective")


def _model(text: str) -> str | None:
    for pattern, make in _MODELS:
        found = re.match(pattern, text.strip())
        if found:
            return make(*found.groups())
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def write_arx_project(project: ArxProject, folder: Path) -> Job:
    """Write the data and the hierarchies of a project into a folder, and the job that uses them; returns the job."""
    (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    (folder / "data.csv").touch(mode=0o600)  # the people themselves: not for others on this machine
    (folder / "data.csv").write_bytes(project.data)
    equal = len(set(project.weights.values())) <= 1
    job = Job.make(
        input=folder / "data.csv",
        output=folder / "release.csv",
        certificate=folder / "certificate.json",
        report=folder / "report.html",
        **{role: tuple(names) for role, names in project.roles.items() if role in Job.model_fields},
        models=tuple(project.models),
        suppression_limit=project.suppression_limit,
        hierarchies=_write_hierarchies(project, folder / "hierarchies"),
        scales=project.scales,
        date_formats=project.date_formats,
        orders=project.orders,
        at_most=project.at_most,
        missing=(_MISSING,) if _has_missing(project) else (),
        priorities={} if equal else project.weights,
        csv={"delimiter": project.delimiter, "header": True},
    )
    job.save(folder / "job.yaml")
    return job


def _has_missing(project: ArxProject) -> bool:
    mark = rf'(?:^|{re.escape(project.delimiter)})"?{_MISSING}"?(?:{re.escape(project.delimiter)}|\r?$)'
    return re.search(mark.encode(), project.data, re.MULTILINE) is not None


def _write_hierarchies(project: ArxProject, folder: Path) -> dict[str, Any]:
    """The file of each column that has a hierarchy; names that are no names of files are numbered."""
    files: dict[str, Any] = {}
    for number, (column, content) in enumerate(project.hierarchies.items(), start=1):
        safe = re.sub(r"[^\w.-]", "_", column)
        place = folder / (f"{safe}.csv" if safe == column else f"{number}_{safe}.csv")
        place.write_text(_with_semicolons(content, project.delimiter), encoding="utf-8", newline="")
        files[column] = str(place)
    return files


def _with_semicolons(content: bytes, delimiter: str) -> str:
    text = io.StringIO(newline="")
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()
