"""Command-line words to settings: lists, pairs and numbers, with every mistake collected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, Problem

if TYPE_CHECKING:
    from shoal.job.job import Job


def complete_algorithm(begun: str) -> list[str]:
    """Names of algorithms for the shell's completion."""
    from shoal.algorithms.registry import algorithm_names

    return [name for name in algorithm_names() if name.startswith(begun)]


def complete_model(begun: str) -> list[str]:
    """Names of models for the shell's completion."""
    from shoal.models.registry import model_names

    return [f"{name}:" for name in model_names() if name.startswith(begun)]


def names(text: str | None) -> tuple[str, ...]:
    """`a,b,c` to its parts; a name that holds a comma is written twice quoted: `"a,b",c`."""
    if text is None:
        return ()
    import csv

    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break outside quotes: part of a name, then
        parts = text.split(",")
    return tuple(part.strip() for part in parts if part.strip())


def all_names(texts: list[str] | None) -> tuple[str, ...]:
    """The names of an option that may be repeated."""
    return tuple(name for text in texts or () for name in names(text))


def pairs(texts: list[str] | None, option: str, problems: list[Problem]) -> dict[str, str]:
    """`a=1,b=2` (and the option repeated) to a mapping."""
    found: dict[str, str] = {}
    for text in texts or []:
        for part in names(text):
            name, sign, value = part.rpartition("=")
            if not sign or not name.strip() or not value.strip():
                problems.append(Problem("bad-option", f"{option}: write NAME=VALUE", hint=f"e.g. {option} age=2"))
                continue
            if found.setdefault(name.strip(), value.strip()) != value.strip():
                problems.append(Problem("bad-option", f"{option}: '{name.strip()}' has two values"))
    return found


def levels(texts: list[str] | None, problems: list[Problem]) -> dict[str, int]:
    """`age=2,sex=0` to levels."""
    found = {}
    for name, text in pairs(texts, "--at-most", problems).items():
        level = whole_number(text, f"--at-most {name}", problems, least=0)
        if level is not None:
            found[name] = level
    return found


def whole_number(text: str | None, option: str, problems: list[Problem], *, least: int | None = None) -> int | None:
    """A whole number, of at least `least` if that is given; None if it is not given or wrong."""
    if text is None:
        return None
    reason = "bad-k" if option == "-k" else "bad-option"
    try:
        number = int(text)
    except ValueError:
        problems.append(Problem(reason, f"{option} must be a whole number"))
        return None
    if least is not None and number < least:
        problems.append(Problem(reason, f"{option} must be at least {least}"))
        return None
    return number


def whole_numbers(text: str | None, option: str, problems: list[Problem]) -> list[int]:
    """`5,10,50` to its numbers."""
    found = (whole_number(part, option, problems) for part in names(text))
    return [number for number in found if number is not None]


def decimal_number(text: str | None, option: str, problems: list[Problem]) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        problems.append(Problem("bad-option", f"{option} must be a number"))
        return None


def positive_number(text: str | None, option: str, problems: list[Problem]) -> float | None:
    """A number above 0."""
    number = decimal_number(text, option, problems)
    if number is not None and not 0 < number < float("inf"):
        problems.append(Problem("bad-option", f"{option} must be a number above 0"))
        return None
    return number


QUASI_HELP = "quasi-identifying columns"
HIERARCHIES_HELP = "folder of hierarchy files"
SEED_HELP = "same seed, same release"
JSON_HELP = "one JSON object on standard output"
RELEASE_HELP = "the released table"
K_HELP = "smallest number of records that look the same"
PERSON_HELP = "column that tells persons apart; k counts persons"
SENSITIVE_COLUMNS_HELP = "sensitive columns"
MODEL_HELP = "a model, e.g. l-diversity:disease:3 (repeatable)"
POPULATION_HELP = "the population table of k-map"
SUPPRESSION_HELP = "share of records that may be suppressed"
WITH_HELP = "a release of the same people published before (repeatable, earliest first)"
SERIES_HELP = "the series of the release, instead of --with: all before it in there"
CHANGING_HELP = "with --with: columns whose values may have changed"
CLASS_HELP = "a label to keep predictable"
CHARTS_HELP = "write the charts into this folder, as PNG and SVG"
QUIET_HELP = "no progress, no summary"
WITH_ORIGINAL_HELP = "the table behind the last of them: it tells who is new"
PERSON_KEY_HELP = "columns that tell persons apart in both tables"
QUERY_HELP = "a file with the query to read from the database"
REPLACE_HELP = "replace a table of a database"
SENSITIVE_HELP = "sensitive columns, kept"
IDENTIFIERS_HELP = "identifying columns, dropped"
THREADS_HELP = "does not change the result; or SHOAL_THREADS"
JOB_HELP = "a job file; options given here override it"
CERTIFICATE_HELP = "where the certificate goes (JSON)"
THRESHOLD_HELP = "records that look the same (default: 50)"
RECIPIENT_HELP = "how the recipient clusters, if not as we do"
MODE_HELP = "information (guided by the clusters) or distort"
CLUSTER_ON_HELP = "columns to cluster on (default: all kept)"
TABLE_HELP = "the table: a file (CSV, Parquet, Arrow, ...) or postgresql://host/database?table=schema.name"
OUTPUT_HELP = "where the release goes: a file, or the address of a table"
PARAMETER_HELP = "of the algorithm: NAME=VALUE (repeatable)"
DATA_HELP = "the table: CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS"
ENGINE_HELP = "where records are held: auto, local, stream (larger than memory) or spark; it never changes the release"
SPARK_HELP = "the cluster for --engine spark: spark://host:port, local[4], yarn, or sc://host:port (Spark Connect)"
MEMORY_HELP = "how much of it may be used, e.g. 4GB; 'auto' decides by it"
RECODING_HELP = (
    "range, mean, midpoint, nodes, cell- or value-suppression; or the same everywhere: full-domain, subtree, sibling"
)
AT_MOST_HELP = "the highest level to which columns may be lifted, 0: not at all: age=2,sex=0"
ROUND_HELP = "the unit at which ranges end: birth=month,age=5, or birth=exact; dates have one unless it costs too much"
PUBLIC_CERTIFICATE_HELP = "where the part of the certificate goes that may be published (JSON)"
SIGN_HELP = "a private key (Ed25519, PEM) to sign certificates with"
CLUSTERER_HELP = "kmeans, bisecting, agglomerative or mixture"
KEEP_HELP = "columns that are published as they are"
KEEP_REST_HELP = "publish the columns that are not named as they are"
DROP_REST_HELP = "drop the columns that are not named"
ALLOW_HELP = "kept columns that may tell who somebody is (repeatable)"
ORDER_HELP = "of the rows: released (by their released values) or input (gives away more than the cells)"
KEY_HELP = "where the private key goes: which row of the input became which row of the release"
SCALE_HELP = "integer, decimal, date or category: zip=category"
MISSING_HELP = "a text that means 'missing' (repeatable)"
DATE_FORMAT_HELP = "how the dates of a column are written: birth=%m/%d/%Y (repeatable); released as yyyy-mm-dd"
CSV_HELP = "of the CSV file, if it is not found out"
HEADER_HELP = "whether the CSV file has one, if it is not found out"
HIERARCHY_HELP = "hierarchy of one column: COLUMN=FILE, or a builder: COLUMN=prefix (repeatable)"
DECIMAL_COMMA_HELP = "read numbers such as 3,5 as 3.5; they are published with a point"
DUPLICATES_HELP = "a second column of the same name 'a' becomes 'a_2'"
PRIORITY_HELP = "what to keep most: an order a,b,c (first matters most), or weights a=1,b=0.5"


def priorities(texts: list[str] | None, problems: list[Problem]) -> dict[str, float] | tuple[str, ...]:
    """`a,b,c` to an order, `a=1,b=0.5` to weights; the option may be repeated, but not in both forms."""
    option, parts = "--priority", [part for text in texts or [] for part in names(text)]
    weighted = ["=" in part for part in parts]
    if any(weighted) and not all(weighted):
        message = f"{option}: give an order or weights, not a mix of both"
        problems.append(Problem("bad-option", message, hint=f"{option} a,b,c or {option} a=1,b=0.5"))
        return tuple(dict.fromkeys(part.rpartition("=")[0].strip() or part for part in parts))
    if not any(weighted):
        return tuple(parts)
    found: dict[str, float] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.rpartition("="))
        if name in found:
            problems.append(Problem("bad-priority", "it has two weights", name))
        try:
            found[name] = float(value)
        except ValueError:
            problems.append(Problem("bad-priority", "a priority must be a number of at least 0", name))
            found[name] = 1.0  # so that everything else about it is still checked
    return found


def effort_value(text: str | None) -> str | float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def hierarchies(
    folder: Path | None, texts: list[str] | None, columns: tuple[str, ...], problems: list[Problem]
) -> Path | dict[str, str] | None:
    """A folder, single columns, or both: what is named for a column counts more than its file in the folder.

    `columns` are those whose files are looked for in the folder, where both are given.
    """
    single = pairs(texts, "--hierarchy", problems)
    if folder is None or not single:
        return folder or single or None
    from shoal.hierarchies.files import find_hierarchy_files

    try:
        return {**{name: str(path) for name, path in find_hierarchy_files(folder, columns).items()}, **single}
    except InputError as error:
        problems.extend(error.problems)
        return single


def checked_job(settings: dict[str, Any], problems: list[Problem]) -> Job:
    """A job of these settings alone; what is wrong with them and with the command line is raised together."""
    job = make_job(None, settings, problems)
    if problems:
        raise InputError(problems)
    return job


def make_job(
    job_file: Path | None, settings: dict[str, Any], problems: list[Problem], usual: dict[str, Any] | None = None
) -> Job:
    """The job file, if any, with the settings of the command line put over it; None means not given.

    `usual` is what the verb takes where neither says anything.

    What is wrong with the command line, the job file and the settings is raised together by the caller's check.
    """
    from shoal.job.job import Job

    given = {name: value for name, value in settings.items() if value not in (None, (), {}, [])}
    try:
        base = Job.load(job_file).model_dump(by_alias=True, exclude_unset=True) if job_file is not None else {}
        for name in ("csv", "spark"):
            if name in base and name in given:
                given[name] = {**base[name], **given[name]}  # one setting of a file does not forget the others
        if all(isinstance(of.get("hierarchies"), dict) for of in (base, given)):
            given["hierarchies"] = {**base["hierarchies"], **given["hierarchies"]}
        job = Job.make(**{**(usual or {}), **base, **given})
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    return job


def typed(parameters: dict[str, str]) -> dict[str, Any]:
    """`true`, `3` and `0.5` are what they look like; anything else is text, and so is the name of a column."""
    return {name: text if name.endswith("_column") else _read_value(text) for name, text in parameters.items()}


def _read_value(text: str) -> Any:
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, bool | int | float) else text
