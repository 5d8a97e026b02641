"""Checking released tables, ours or another tool's, given as files or frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

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
from shoal.pipeline.verify_together import TogetherOptions, together
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

_MISSING_NOT_GIVEN = (
    "the certificate does not hold the texts that mean 'missing' (name them with --missing, as in the job)"
)


def verify(
    release: Any,
    *,
    quasi: Sequence[str],
    k: int | None = None,
    models: Sequence[Model | str] = (),
    earlier: Sequence[Any] = (),
    sensitive: Sequence[str] | str = (),
    changing: Sequence[str] | str = (),
    setting: str = "growing",
    same_order: bool = False,
    strict: bool = False,
    **options: Any,
) -> Verification:
    """Check a released frame: k-anonymity if k is given, and the given models (objects or their text form).

    `hierarchies` may be given in every form that `anonymize` takes.

    With `earlier` releases of the same people, the earliest first, also what an attacker learns who has all of them
    (docs/several_releases.md); the answer's `together` tells. `setting` is `growing`, `same` (versions of one table) or
    `moving` (people may leave).
    """
    problems: list[Problem] = []
    wanted = _models(k, models, problems)
    quasi = [quasi] if isinstance(quasi, str) else list(quasi)  # a single name is meant as a list of one
    frame, _ = to_polars(release)
    problems += _unknown_columns(frame.columns, quasi)
    specs = options.pop("hierarchies", None) or {}
    try:
        trees = _given_trees(specs, frame, quasi, options.get("population"))
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    found = verify_release(frame, quasi, wanted, hierarchies=trees, **options)
    if not earlier:
        return found
    how = TogetherOptions(as_names(sensitive), as_names(changing), setting, same_order, strict)
    frames = [*(to_polars(one)[0] for one in earlier), frame]
    verdict = together(frames, quasi, wanted, how, {**_quasi_trees(specs, quasi), **trees})
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
    *,
    quasi: Sequence[str],
    k: int | None,
    person: str | None = None,
    sensitive: Sequence[str] = (),
    models: Sequence[str] = (),
    hierarchies: Path | None = None,
    suppression_limit: float = 0.0,
    population: Path | None = None,
    missing: Sequence[str] = (),
    earlier: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The same for a file; every problem of the call is raised together.

    With `person`, a column of the file, k counts persons instead of records. `missing` are texts that mean a missing
    value, besides the empty one and `NaN`.
    """
    problems = list(earlier)
    wanted = _models(k, models, problems)
    wanted = list(Requirement.of(wanted).count_persons(person).models)
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier is named", hint="--quasi age,sex"))
    frame = None
    try:
        frame = read_table(release).frame
        problems += _unknown_columns(frame.columns, [*quasi, *sensitive, *([person] if person is not None else [])])
    except InputError as error:
        problems += error.problems
    trees: dict[str, Hierarchy] = {}
    people = None
    try:
        trees = _read_trees(hierarchies, [*quasi, *sensitive, *Requirement.of(wanted).columns()])
        people = read_table(population).frame if population is not None else None
    except InputError as error:
        problems += error.problems
    if problems or frame is None:
        raise InputError(problems)
    found = verify_release(
        frame,
        list(quasi),
        wanted,
        suppression_limit=suppression_limit,
        hierarchies=trees,
        population=people,
        missing=missing,
    )
    return {**found.as_dict(), "row_order": order_leak(frame, list(quasi), trees, missing=missing)}


def verify_with(
    release: Path,
    before: Sequence[Path],
    *,
    quasi: Sequence[str],
    k: int | None,
    models: Sequence[str] = (),
    hierarchies: Path | None = None,
    options: TogetherOptions,
) -> TogetherVerdict:
    """What an attacker learns who joins a released file with the ones published before it, the earliest first."""
    problems: list[Problem] = []
    wanted = _models(k, models, problems)
    frames = []
    for path in (*before, release):
        try:
            frames.append(read_table(path).frame)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(dict.fromkeys(problems))
    return together(frames, quasi, wanted, options, _read_trees(hierarchies, quasi))


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
    if problems:
        raise InputError(problems)
    same = file.sha256 == certificate["hashes"].get("release") or _same_files(release, certificate)
    notes = [] if same else ["The file is not the one that was certified: its hash differs."]
    unchanged = is_unchanged(certificate)
    if not unchanged:
        notes.append("The certificate was changed after it was written: its own hash differs.")
    trees = _read_trees(hierarchies, file.frame.columns)
    people = read_table(population).frame if population is not None else None
    certified = _Certified(certificate, file.frame, trees, people is not None, tuple(missing))
    checkable = []
    for spec in certificate["models"]:
        reason = certified.not_checkable(spec)
        if reason is None:
            checkable.append(parse_model(spec))
        else:
            notes.append(f"Not checked again, {reason}: {spec}")
    if not checkable:
        notes.append("Nothing but the hash of the file was checked.")
    found = verify_release(
        file.frame,
        certificate["quasi"],
        checkable,
        suppression_limit=float(certified.job.get("suppression_limit", 0.0)),
        hierarchies=trees,
        population=people,
        missing=missing,
        scales=certified.scales(),
    )
    leak = order_leak(file.frame, certificate["quasi"], trees, scales=certified.scales(), missing=missing)
    return {
        **found.as_dict(),
        "passed": found.passed and same and unchanged and signed,
        "same_file": same,
        "same_certificate": unchanged,
        "signature": about_signature,
        "notes": notes,
        "row_order": leak,
    }


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
    trees: dict[str, Hierarchy]
    population: bool
    missing: tuple[str, ...]

    @property
    def job(self) -> dict[str, Any]:
        found: dict[str, Any] = self.certificate.get("job", {})
        return found

    def scales(self) -> dict[str, Scale]:
        given = self.job.get("scales", {}).items()
        return {name: Scale(scale) for name, scale in given if scale in set(Scale)}

    def not_checkable(self, spec: str) -> str | None:
        """Why the release alone does not tell whether a model holds; None if it does."""
        alone = "the release alone does not tell"
        if self.certificate.get("class_based") is False:
            return "the release has no classes, and candidates can be counted beside the original table only"
        try:
            model = parse_model(spec)
        except InputError:
            return alone
        if not all(column in self.release.columns for column in model.columns()):
            return alone
        if isinstance(model, KMap):
            return self._not_for_k_map(alone)
        if isinstance(model, TCloseness) and model.distance == "hierarchical" and model.column not in self.trees:
            return alone
        if isinstance(model, TCloseness) and model.distance == "ordered" and "orders" in self.job:
            return "the certificate does not hold the order of values"
        if model.columns() and not self._knows_missing():
            return _MISSING_NOT_GIVEN
        numbered = {name: value_numbers(self.release[name], self.missing)[1] for name, _ in model.named_values()}
        if any(find_value(name, numbered[name], value) < 0 for name, value in model.named_values()):
            return "the release does not have the value, or writes it in another way"
        return None

    def _not_for_k_map(self, alone: str) -> str | None:
        """Released cells have to be read, so all that they were made with has to be known."""
        quasi = self.certificate["quasi"]
        labelled = [name for name in self.job.get("hierarchies", {}) if name in quasi]
        if not self.population or not self.trees.keys() >= set(labelled):
            return alone
        if "orders" in self.job:
            return "the certificate does not hold the order of values"
        if not self._knows_missing():
            return _MISSING_NOT_GIVEN
        return None

    def _knows_missing(self) -> bool:
        hidden = self.job.get("missing")
        return not hidden or hidden.get("sha256") == content_hash(list(self.missing))


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
