"""A job: everything that decides a release, as one frozen value that can be saved and repeated.

    input: patients.csv
    output: release.csv
    quasi: [age, sex, postcode]
    sensitive: [diagnosis]
    identifiers: [name]
    keep: [ward]
    k: 10
    models: ["l-diversity:diagnosis:3"]
    hierarchies: {postcode: {builder: prefix}}

`Job.load` and `Job.save` read and write YAML (or JSON, by the ending). Paths are taken relative to the job file.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer, field_validator
from pydantic_core import PydanticCustomError

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.weights import order_weights
from shoal.tables.formats.atomic import atomic_output
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.sql.address import SqlAddress, is_address, parse_address
from shoal.tables.schema import Scale

Recoding = Literal["range", "mean", "midpoint", "nodes", "cell-suppression", "value-suppression"]
Scheme = Literal["full-domain", "subtree", "sibling"]  # recodings that release a value the same way everywhere
SCHEMES: tuple[str, ...] = get_args(Scheme)
PLACES = (
    *("input", "query", "output", "population", "certificate"),
    *("report", "prices", "key", "earlier_original", "series", "public_certificate", "sign"),
)
NOT_PART_OF_THE_RESULT = {*PLACES, "earlier", "replace", "threads"}
HOW_IT_IS_DONE = {"engine", "memory", "spark"}  # who holds the records changes no cell


class CsvSettings(BaseModel):
    """How the CSV file is written; what is not given is found out."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    header: bool | None = None
    rename_duplicates: bool | None = None
    decimal_comma: bool | None = None


class SparkSettings(BaseModel):
    """Which Spark holds the records; what is not given is left to the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    master: str | None = None  # spark://host:port, local[4], yarn; sc://host:port is Spark Connect
    config: dict[str, str] = Field(default_factory=dict)  # settings of Spark for a session that is started here


class Job(BaseModel):
    """All settings of one release."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, arbitrary_types_allowed=True)

    input: SqlAddress | Path | None = None  # a file, or a table of a database
    query: Path | None = None  # a file with the query whose rows are the input, instead of a table
    output: SqlAddress | Path | None = None
    replace: bool = False  # a table of a database, or a release in a folder, that is there already may be replaced
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()  # published as they are; a quasi-identifier: never generalized
    keep_rest: bool = False  # so are the columns that have no role
    drop_rest: bool = False  # or they are dropped
    allow: tuple[str, ...] = ()  # kept although they tell who somebody is
    class_column: str | None = Field(default=None, alias="class")
    person: str | None = None
    population: Path | None = None
    k: int | None = None
    models: tuple[str, ...] = ()
    suppression_limit: float = Field(default=0.0, ge=0.0, le=1.0)
    hierarchies: Path | dict[str, Any] = Field(default_factory=dict)
    scales: dict[str, Scale] = Field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    missing: tuple[str, ...] = ()
    date_formats: dict[str, str] = Field(default_factory=dict)  # how the dates of a column of texts are written
    algorithm: str = "shoal"
    parameters: dict[str, Any] = Field(default_factory=dict)
    effort: str | float | None = None
    objective: str | None = None  # what the search makes small: gcp, distortion, discernibility, class or squares
    priorities: dict[str, float] | tuple[str, ...] = Field(default_factory=dict)  # weights, or names in order
    recoding: Recoding | Scheme = "range"
    recodings: dict[str, Recoding] = Field(default_factory=dict)
    at_most: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)  # the highest level of each; 0: exact
    round: dict[str, str] = Field(default_factory=dict)  # the unit of each column at which its ranges end, or 'exact'
    suppressed: Literal["star", "drop"] = "star"  # what becomes of suppressed records
    csv: CsvSettings = CsvSettings()
    order: Literal["released", "input"] = "released"  # of the rows of a file: by their values, or as they came
    engine: Literal["auto", "local", "stream", "spark"] = "auto"  # where records are held; it never changes the release
    spark: SparkSettings = SparkSettings()  # with the engine 'spark'
    memory: str | None = None  # how much of it a run may use, such as 4GB: what 'auto' decides by
    seed: int = Field(default=0, ge=0, lt=2**63)
    threads: int | None = Field(default=None, ge=1, le=4096)
    certificate: Path | None = None
    public_certificate: Path | None = None  # without what lets a guess of the table be confirmed
    sign: Path | None = None  # a private key (Ed25519, PEM) with which certificates are signed
    report: Path | None = None
    prices: Path | None = None  # what proves the lower bound
    key: Path | None = None  # which row of the input became which row of the file: for the holder alone
    earlier: tuple[Path, ...] = ()  # releases of the same people, the earliest first
    earlier_original: Path | None = None  # the table behind the last of them: it tells who is new
    person_key: tuple[str, ...] = ()  # columns that tell persons apart in this table and that one
    strategy: Literal["keep", "search"] = "keep"  # with earlier releases: their classes, or new ones
    setting: Literal["growing", "moving"] = "growing"  # since the earlier ones people came, or some left as well
    changing: tuple[str, ...] = ()  # columns whose values may have changed since then
    join_key: tuple[str, ...] = ()  # published columns by which releases can be joined record by record
    series: Path | None = None  # a file that keeps track of all releases, instead of naming them
    new_values: Literal["refuse", "root"] = "refuse"  # values that a hierarchy lacks: an error, or right below its root

    @property
    def weaker_case(self) -> bool:
        """Since the earlier releases people may have left, or values changed: less is promised then."""
        return self.setting == "moving" or bool(self.changing)

    @classmethod
    def make(cls, **settings: Any) -> Job:
        """A job from keyword arguments; every wrong setting is named in one InputError."""
        try:
            return cls(**settings)
        except ValidationError as error:
            raise InputError(_problems(error)) from None

    @classmethod
    def load(cls, path: str | Path) -> Job:
        """Read a job from a YAML or JSON file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise InputError(Problem("no-such-file", f"there is no job file '{path}'")) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = type(error).__name__
            raise InputError(Problem("unreadable-job", f"the job file '{path}' cannot be read ({reason})")) from None
        content = _settings_of(text, path)
        return cls.make(**{str(name): value for name, value in content.items()})._relative_to(path.parent)

    def save(self, path: str | Path) -> None:
        """Write the job as YAML or JSON; what equals the default is left out.

        Paths are written as seen from the job file, so that loading it finds the same files. A path that is absolute
        stays so, unless it is below the folder of the job file.
        """
        import yaml

        path = Path(path)
        seen = self._with_paths(lambda file: seen_from(path.parent, file))
        content = json.loads(seen.model_dump_json(by_alias=True, exclude_defaults=True))
        if path.suffix == ".json":
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        else:
            text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        with atomic_output(path) as waiting:
            waiting.write_text(text, encoding="utf-8")

    @field_validator("input", "output", mode="before")
    @classmethod
    def _file_or_table(cls, given: Any) -> Any:
        """A text such as `postgresql://host/database?table=name` is the address of a table."""
        if not is_address(given):
            return given
        try:
            return parse_address(given)
        except InputError as error:
            found = error.problems[0]
            raise PydanticCustomError("bad_address", "{text}", {"text": f"{found.message} ({found.hint})"}) from None

    @field_serializer("input", "output", when_used="json")
    def _as_text(self, place: SqlAddress | Path | None) -> str | None:
        return place.text if isinstance(place, SqlAddress) else None if place is None else str(place)

    @field_validator("priorities", mode="before")
    @classmethod
    def _weights_or_order(cls, given: Any) -> Any:
        """One of the two forms; a single name is an order of one."""
        if isinstance(given, str):
            return (given,)
        if isinstance(given, dict) and not all(_is_number(weight) for weight in given.values()):
            raise PydanticCustomError("bad_weights", "each column needs a number, such as {age: 1, sex: 0.5}")
        if not isinstance(given, dict) and not (
            isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)
        ):
            message = "give an order such as [age, sex] or weights such as {age: 1, sex: 0.5}, not a mix of both"
            raise PydanticCustomError("neither_form", message)
        return given

    @field_validator("round", mode="before")
    @classmethod
    def _units_as_texts(cls, given: Any) -> Any:
        """A width may be given as a number."""
        if not isinstance(given, dict):
            return given
        return {name: str(unit) if _is_number(unit) else unit for name, unit in given.items()}

    @field_validator("memory", mode="before")
    @classmethod
    def _amount_of_memory(cls, given: Any) -> Any:
        if given is not None and memory_bytes(str(given)) is None:
            raise PydanticCustomError("bad_memory", "give a number with a unit, such as 500MB or 4GB")
        return None if given is None else str(given)

    def weights(self) -> dict[str, float]:
        """The weight of each column that has one: as given, or equally scaled from the order of importance."""
        if isinstance(self.priorities, dict):
            return dict(self.priorities)
        return order_weights(self.priorities, self.quasi) if self.priorities else {}

    def column_recoding(self, name: str) -> Recoding:
        """How the groups' values of a column are written."""
        everywhere = "range" if self.recoding in SCHEMES else self.recoding
        return self.recodings.get(name, cast(Recoding, everywhere))

    def caps(self) -> dict[str, int]:
        """The highest level of each quasi-identifier that has one; one that is to be kept is not generalized at all."""
        return {**self.at_most, **{name: 0 for name in self.keep if name in self.quasi}}

    def outputs(self) -> tuple[Path, ...]:
        """Every file that the job writes."""
        named = (self.output, self.certificate, self.public_certificate, self.report, self.prices, self.key)
        return tuple(path for path in named if isinstance(path, Path))

    def csv_options(self) -> CsvOptions:
        return CsvOptions(**self.csv.model_dump(), missing=self.missing)

    def public(self) -> dict[str, Any]:
        """The job as the certificate shows it: no value of the data, no folder, nothing that cannot change the result.

        Hierarchies, orders and texts that mean 'missing' hold values, so only their number and hash appear.
        """
        content: dict[str, Any] = json.loads(
            self.model_dump_json(
                by_alias=True, exclude=NOT_PART_OF_THE_RESULT | HOW_IT_IS_DONE | {"hierarchies", "models"}
            )
        )
        for key in ("orders", "missing", "parameters"):
            if content.get(key):
                content[key] = {"entries": len(content[key]), "sha256": content_hash(content[key])}
        if self.suppressed == "star":  # nothing to tell
            del content["suppressed"]
        content["csv"] = {name: value for name, value in content["csv"].items() if value is not None}
        content.update({name: content[name] or None for name in ("keep_rest", "drop_rest")})
        return {name: value for name, value in content.items() if value not in (None, {}, [], ())}

    def _relative_to(self, folder: Path) -> Job:
        """Paths in a job file are meant from where the file is."""
        return self._with_paths(lambda path: folder / path)

    def _with_paths(self, change: Callable[[Path], Path]) -> Job:
        """The job with every path in it changed; a text that ends like a file name is the path of a hierarchy."""
        changes: dict[str, Any] = {
            name: change(path) for name in PLACES if isinstance(path := getattr(self, name), Path)
        }
        changes["earlier"] = tuple(change(path) for path in self.earlier)
        if isinstance(self.hierarchies, Path):
            changes["hierarchies"] = change(self.hierarchies)
        else:
            changes["hierarchies"] = {
                column: str(change(Path(spec)))
                if isinstance(spec, Path) or (isinstance(spec, str) and Path(spec).suffix)
                else spec
                for column, spec in self.hierarchies.items()
            }
        return self.model_copy(update=changes)


def _settings_of(text: str, path: Path) -> dict[Any, Any]:
    """What the text of a job file says, or what is wrong with it."""
    import yaml

    try:
        content = json.loads(text) if path.suffix == ".json" else yaml.load(text, _yaml_loader())
    except RecursionError:
        message = f"the job file '{path}' is nested too deeply"
        raise InputError(Problem("unreadable-job", message, hint="put large hierarchies into files")) from None
    except (yaml.YAMLError, ValueError) as error:  # also a number with more digits than Python reads
        line = getattr(getattr(error, "problem_mark", None), "line", getattr(error, "lineno", 0) - 1) + 1
        raise InputError(Problem("unreadable-job", f"the job file is not well formed (line {line})")) from None
    if not isinstance(content, dict):
        hint = "write one setting per line, such as 'k: 10'"
        raise InputError(Problem("unreadable-job", "the job file holds no settings", hint=hint))
    return content


def _yaml_loader() -> Any:
    """The safe loader, in its compiled form where there is one: ten times as fast."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def as_tuple(given: Any) -> tuple[Any, ...]:
    """A single name or model is meant as a list of one."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def seen_from(folder: Path, path: Path) -> Path:
    """The way from a folder to a file, through real folders: `..` leads out of the place that a link points to."""
    here = Path(os.path.realpath(folder))
    there = Path(os.path.realpath(path.parent)) / path.name
    if path.is_absolute() and not there.is_relative_to(here):
        return path
    try:
        return Path(os.path.relpath(there, here))
    except ValueError:  # on another drive
        return there


def _is_number(given: Any) -> bool:
    try:
        float(given)
    except (TypeError, ValueError):
        return False
    return not isinstance(given, bool)


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def memory_bytes(text: str) -> int | None:
    """`500MB`, `4GB` or a number of bytes; None if it is none of them, or more than any machine has."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    size = float(found[1]) * _UNITS[found[2].upper()] if found is not None else math.inf
    return int(size) if size < 2.0**63 else None


def content_hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _problems(error: ValidationError) -> list[Problem]:
    """pydantic's errors in our words; the value itself is never repeated."""
    known = [field.alias or name for name, field in Job.model_fields.items()]
    problems = []
    for detail in error.errors(include_input=False, include_url=False, include_context=False):
        place = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            hint = did_you_mean(str(detail["loc"][-1]), known)
            problems.append(Problem("unknown-setting", f"there is no setting '{place}'", hint=hint))
        elif place == "k":
            problems.append(Problem("bad-k", "k must be a whole number of at least 2"))
        else:
            message = detail["msg"][0].lower() + detail["msg"][1:]
            problems.append(Problem("bad-setting", f"setting '{place}': {message}"))
    return problems
