"""Checking released tables, ours or another tool's, given as files or frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.files import find_hierarchy_files, read_hierarchy_file
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.spec import make_hierarchy
from shoal.job.job import content_hash
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.registry import parse_model
from shoal.models.t_closeness import TCloseness
from shoal.pipeline.certificate import is_unchanged
from shoal.pipeline.signature import check_signature, read_signer
from shoal.pipeline.verify_together import TogetherOptions, lacking_hierarchies, together
from shoal.releases.order_leak import order_leak
from shoal.releases.verdict import TogetherVerdict
from shoal.tables.distinct import text_codes
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import read_table
from shoal.tables.formats.folders import file_hashes, is_release_folder
from shoal.tables.frames.frames import to_polars
from shoal.tables.schema import Scale, as_names
from shoal.verification.check import Verification, verify_release
from shoal.verification.classes import value_numbers
from shoal.verification.evidence import find_value
from shoal.verification.reading import NOTHING_KNOWN, Knowledge

_MISSING_NOT_GIVEN = (
    "the certificate does not hold the texts that mean 'missing' (name them with --missing, as in the job)"
)
_NOT_ALONE = "the release alone does not tell"
_ORDER_NOT_TOLD = "the certificate does not hold the order of values"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a release is to hold. With `person`, a column of it, k counts persons instead of records."""

    quasi: tuple[str, ...]
    k: int | None = None
    models: tuple[Model | str, ...] = ()
    person: str | None = None
    sensitive: tuple[str, ...] = ()
    suppression_limit: float = 0.0

    def wanted(self, problems: list[Problem]) -> list[Model]:
        """The models, those that count persons made so."""
        return list(Requirement.of(_models(self.k, self.models, problems)).count_persons(self.person).models)


@dataclass(frozen=True, eq=False)
class GivenFrames:
    """What is known besides a released frame; the hierarchies as the caller has them, not built yet."""

    known: Knowledge
    hierarchies: Mapping[str, Any]

    def with_trees(self, frame: pl.DataFrame, quasi: Sequence[str], problems: list[Problem]) -> Knowledge:
        try:
            trees = _given_trees(self.hierarchies, frame, quasi, self.known.population)
        except InputError as error:
            problems += error.problems
            return self.known
        return replace(self.known, hierarchies=trees)


def verify_frames(
    release: Any,
    asked: Asked,
    given: GivenFrames,
    *,
    counts: NDArray[np.int64] | None = None,
    earlier: Sequence[Any] = (),
    how: TogetherOptions,
) -> Verification:
    """Check a released frame, and with `earlier` ones what an attacker learns who has all of them."""
    problems: list[Problem] = []
    wanted, quasi = asked.wanted(problems), list(asked.quasi)
    frame, _ = to_polars(release)
    problems += _unknown_columns(frame.columns, quasi)
    known = given.with_trees(frame, quasi, problems)
    if earlier:
        problems += counting_persons(asked.person)
    if problems:
        raise InputError(problems)
    found = verify_release(frame, quasi, wanted, known, suppression_limit=asked.suppression_limit, counts=counts)
    if not earlier:
        return found
    trees = {**_quasi_trees(given.hierarchies, quasi), **known.hierarchies}
    verdict = together([*(to_polars(one)[0] for one in earlier), frame], quasi, wanted, how, trees, known.missing)
    return replace(found, passed=found.passed and verdict.passed, together=verdict.as_dict())


def _quasi_trees(specs: Mapping[str, Any], quasi: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies with which cells of several releases are read; a builder would need the values behind them."""
    built = {name: spec for name, spec in specs.items() if isinstance(spec, Mapping) and "builder" in spec}
    return {
        name: spec if isinstance(spec, Hierarchy) else make_hierarchy(spec, [], name)
        for name, spec in specs.items()
        if name in quasi and name not in built
    }


def _given_trees(
    specs: Mapping[str, Any], frame: pl.DataFrame, quasi: Sequence[str], population: pl.DataFrame | None
) -> dict[str, Hierarchy]:
    """The hierarchies of a call. What a builder builds on are the values of a column that is released as it is or,
    for a quasi-identifier, those of the population: without one, nobody looks at its hierarchy."""
    trees = {}
    for name, spec in specs.items():
        values = population if name in quasi else frame
        if isinstance(spec, Hierarchy):
            trees[name] = spec
        elif values is not None and name in values.columns:
            texts, _ = text_codes(values[name])
            trees[name] = make_hierarchy(spec, texts.drop_nulls().to_list(), name)
    return trees


def verify_file(
    release: Path,
    asked: Asked,
    *,
    hierarchies: Path | None = None,
    population: Path | None = None,
    missing: Sequence[str] = (),
    earlier: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The same for a file; every problem of the call is raised together.

    `missing` are texts that mean a missing value, besides the empty one and `NaN`.
    """
    problems = list(earlier)
    wanted, named, quasi = asked.wanted(problems), [*asked.quasi, *asked.sensitive], list(asked.quasi)
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier is named", hint="--quasi age,sex"))
    frame = _release_with([*named, *as_names(asked.person or ())], release, problems)
    known = _given_files(hierarchies, [*named, *Requirement.of(wanted).columns()], population, missing, problems)
    if problems or frame is None:
        raise InputError(problems)
    found = verify_release(frame, quasi, wanted, known, suppression_limit=asked.suppression_limit).as_dict()
    return {**found, "row_order": order_leak(frame, quasi, known.hierarchies, missing=missing)}


def _release_with(columns: Sequence[str], release: Path, problems: list[Problem]) -> pl.DataFrame | None:
    try:
        frame = read_table(release).frame
    except InputError as error:
        problems += error.problems
        return None
    problems += _unknown_columns(frame.columns, columns)
    return frame


def _given_files(
    hierarchies: Path | None,
    columns: Sequence[str],
    population: Path | None,
    missing: Sequence[str],
    problems: list[Problem],
) -> Knowledge:
    """What files tell besides the release."""
    try:
        trees = _read_trees(hierarchies, columns)
        people = read_table(population).frame if population is not None else None
    except InputError as error:
        problems += error.problems
        return NOTHING_KNOWN
    return Knowledge(trees, missing=tuple(missing), population=people)


def verify_with(
    release: Path,
    before: Sequence[Path],
    *,
    quasi: Sequence[str],
    k: int | None,
    models: Sequence[str] = (),
    person: str | None = None,
    hierarchies: Path | None = None,
    missing: Sequence[str] = (),
    certificates: Sequence[Mapping[str, Any]] = (),
    options: TogetherOptions,
) -> TogetherVerdict:
    """What an attacker learns who joins a released file with the ones published before it, the earliest first.

    The `certificates` of some of them tell which columns cannot be read without their hierarchies.
    """
    problems: list[Problem] = []
    wanted = _models(k, models, problems)
    frames = []
    for path in (*before, release):
        try:
            frames.append(read_table(path).frame)
        except InputError as error:
            problems += error.problems
    trees = _read_trees(hierarchies, quasi)
    problems += [*lacking_hierarchies(certificates, quasi, trees), *counting_persons(person)]
    if problems:
        raise InputError(dict.fromkeys(problems))
    return together(frames, quasi, wanted, options, trees, missing)


def counting_persons(person: str | None) -> list[Problem]:
    """Candidates are counted by records, so nothing can be said of persons who have several."""
    if person is None:
        return []
    message = "persons with several records cannot be looked at over releases yet: candidates are counted by records"
    return [Problem("not-with-earlier", message, hint="leave out --with and --series, or --person")]


def _same_files(release: Path, certificate: Mapping[str, Any]) -> bool:
    """Whether a release in a folder has the files that its certificate names, and no others."""
    return is_release_folder(release) and file_hashes(release) == certificate.get("files")


def verify_certified(
    release: Path,
    certificate: dict[str, Any],
    hierarchies: Path | None = None,
    population: Path | None = None,
    missing: Sequence[str] = (),
    signer: Path | None = None,
) -> dict[str, Any]:
    """Check that a file is the certified one, and check its values again, as far as it alone tells.

    A certificate holds no values, so hierarchies, the population and the texts that mean 'missing' have to be given
    again. The notes say what was not checked again, and why. `signer` is the file of the public key that must have
    signed the certificate.
    """
    signed, about_signature = check_signature(certificate, read_signer(signer) if signer is not None else None)
    file = read_table(release, _written_form(certificate))
    problems = _unknown_columns(file.frame.columns, certificate["quasi"])
    known = _given_files(hierarchies, file.frame.columns, population, missing, problems)
    if problems:
        raise InputError(problems)
    found = _checked_again(_Certified(certificate, file.frame, replace(known, scales=certified_scales(certificate))))
    same = file.sha256 == certificate["hashes"].get("release") or _same_files(release, certificate)
    unchanged = is_unchanged(certificate)
    return {
        **found,
        "passed": found["passed"] and same and unchanged and signed,
        "same_file": same,
        "same_certificate": unchanged,
        "signature": about_signature,
        "notes": [*_notes_on_change(same, unchanged), *found["notes"]],
    }


def _notes_on_change(same_file: bool, same_certificate: bool) -> list[str]:
    notes = [] if same_file else ["The file is not the one that was certified: its hash differs."]
    return notes + (
        [] if same_certificate else ["The certificate was changed after it was written: its own hash differs."]
    )


def _checked_again(certified: _Certified) -> dict[str, Any]:
    """The verdict on the models that the release tells of, notes on the others, and what the order of rows tells."""
    checkable, notes = [], []
    for spec in certified.certificate["models"]:
        reason = certified.not_checkable(spec)
        if reason is None:
            checkable.append(parse_model(spec))
        else:
            notes.append(f"Not checked again, {reason}: {spec}")
    if not checkable:
        notes.append("Nothing but the hash of the file was checked.")
    frame, known, quasi = certified.release, certified.known, certified.certificate["quasi"]
    limit = float(certified.job.get("suppression_limit", 0.0))
    found = verify_release(frame, quasi, checkable, known, suppression_limit=limit).as_dict()
    leak = order_leak(frame, quasi, known.hierarchies, scales=known.scales, missing=known.missing)
    return {**found, "notes": notes, "row_order": leak}


def certified_scales(certificate: Mapping[str, Any]) -> dict[str, Scale]:
    given = certificate.get("job", {}).get("scales", {}).items()
    return {name: Scale(scale) for name, scale in given if scale in set(Scale)}


def _written_form(certificate: dict[str, Any]) -> CsvOptions:
    """How the certified file is written, if the certificate tells."""
    form = certificate.get("csv", {})
    texts = {name: form[name] for name in ("delimiter", "quote") if isinstance(form.get(name), str)}
    return CsvOptions(**texts, header=form["header"] if isinstance(form.get("header"), bool) else None)


@dataclass(frozen=True, eq=False)
class _Certified:
    """A certificate beside the release, and what was given to check it again."""

    certificate: dict[str, Any]
    release: pl.DataFrame
    known: Knowledge

    @property
    def job(self) -> dict[str, Any]:
        found: dict[str, Any] = self.certificate.get("job", {})
        return found

    def not_checkable(self, spec: str) -> str | None:
        """Why the release alone does not tell whether a model holds; None if it does."""
        if self.certificate.get("class_based") is False:
            return "the release has no classes, and candidates can be counted beside the original table only"
        try:
            model = parse_model(spec)
        except InputError:
            return _NOT_ALONE
        if not all(column in self.release.columns for column in model.columns()):
            return _NOT_ALONE
        if isinstance(model, KMap):
            return self._not_for_k_map()
        if isinstance(model, TCloseness) and (reason := self._not_for_distance(model)) is not None:
            return reason
        if model.columns() and not self._knows_missing():
            return _MISSING_NOT_GIVEN
        return self._not_for_named_values(model)

    def _not_for_k_map(self) -> str | None:
        """Released cells have to be read, so all that they were made with has to be known."""
        quasi = self.certificate["quasi"]
        labelled = [name for name in self.job.get("hierarchies", {}) if name in quasi]
        if self.known.population is None or not self.known.hierarchies.keys() >= set(labelled):
            return _NOT_ALONE
        if "orders" in self.job:
            return _ORDER_NOT_TOLD
        return None if self._knows_missing() else _MISSING_NOT_GIVEN

    def _not_for_distance(self, model: TCloseness) -> str | None:
        if model.distance == "hierarchical" and model.column not in self.known.hierarchies:
            return _NOT_ALONE
        return _ORDER_NOT_TOLD if model.distance == "ordered" and "orders" in self.job else None

    def _not_for_named_values(self, model: Model) -> str | None:
        for name, value in model.named_values():
            if find_value(name, value_numbers(self.release[name], self.known.missing)[1], value) < 0:
                return "the release does not have the value, or writes it in another way"
        return None

    def _knows_missing(self) -> bool:
        hidden = self.job.get("missing")
        return not hidden or hidden.get("sha256") == content_hash(list(self.known.missing))


def _read_trees(folder: Path | None, columns: Sequence[str]) -> dict[str, Hierarchy]:
    if folder is None:
        return {}
    return {name: read_hierarchy_file(path, name) for name, path in find_hierarchy_files(folder, columns).items()}


def _models(k: int | None, models: Sequence[Model | str], problems: list[Problem]) -> list[Model]:
    wanted: list[Model] = []
    before = len(problems)
    if k is not None:
        try:
            wanted.append(KAnonymity(k))
        except ValueError as error:
            problems.append(Problem("bad-k", str(error)))
    for model in models:
        try:
            wanted.append(parse_model(model) if isinstance(model, str) else model)
        except InputError as error:
            problems.extend(error.problems)
    if not wanted and len(problems) == before and not any(problem.reason == "bad-k" for problem in problems):
        problems.append(Problem("no-model", "nothing to check: no k and no model is given", hint="e.g. -k 10"))
    return wanted


def _unknown_columns(known: Sequence[str], named: Sequence[str]) -> list[Problem]:
    return [
        Problem("unknown-column", "the release has no such column", name, did_you_mean(name, list(known)))
        for name in dict.fromkeys(named)
        if name not in known
    ]
