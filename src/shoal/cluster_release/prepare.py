"""What the framework needs before its first step: roles, scales, hierarchies, domains and the encoded table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.encode.codebook import Codebook
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.base import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.models.linkage import Qid
from shoal.released.domain import Domain, make_domains
from shoal.tables.scales import find_scale, is_missing
from shoal.tables.schema import Attribute, Role, Scale, as_names

Qids = Sequence[tuple[Sequence[str], int]]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that passed all checks."""

    table: EncodedTable
    codebook: Codebook
    domains: Mapping[str, Domain]  # of every column that is clustered on
    hierarchies: Mapping[str, Hierarchy]
    cluster_on: tuple[str, ...]


def required_models(h: int | None, qids: Qids | None, models: Sequence[Model]) -> tuple[Model, ...]:
    """The conditions as models: one threshold for all quasi-identifiers, or one for each QID."""
    sizes: list[Model] = []
    try:
        if qids:
            sizes += [Qid(as_names(columns), k) for columns, k in qids]
        elif h is not None:
            sizes.append(KAnonymity(h))
    except ValueError as error:
        raise InputError(Problem("bad-threshold", str(error))) from None
    if not sizes and not models:
        raise InputError(Problem("no-model", "no threshold and no model is given", hint="e.g. -k 50"))
    return (*sizes, *models)


def prepare(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    hierarchies: Mapping[str, Any],
    scales: Mapping[str, Scale | str],
    identifiers: Sequence[str],
    missing: Sequence[str],
    cluster_on: Sequence[str] | None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> Prepared:
    """Encode the table. Every problem of every column is raised together."""
    looked_at = {name for model in models for name in model.columns()}
    orders = orders or {}
    _check_names(frame, quasi, identifiers, looked_at, cluster_on or (), (*hierarchies, *scales, *orders))
    chosen = tuple(cluster_on) if cluster_on is not None else tuple(n for n in frame.columns if n not in identifiers)
    problems: list[Problem] = []
    attributes = []
    for name in frame.columns:
        role = _role(name, quasi, identifiers, looked_at)
        if name in orders:
            attributes.append(Attribute(name, role, Scale.ORDERED, tuple(orders[name])))
        else:
            attributes.append(Attribute(name, role, _scale(frame[name], scales, missing, problems)))
    trees: dict[str, Hierarchy] = {}
    for name, spec in hierarchies.items():
        present = frame[name].filter(~is_missing(frame[name], missing)).unique().sort().cast(pl.String)
        try:
            trees[name] = make_hierarchy(spec, present.to_list(), name)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    options = EncodeOptions(
        missing=tuple(missing),
        model_columns=tuple(sorted(looked_at)),
        named_values=tuple(pair for model in models for pair in model.named_values()),
    )
    table, codebook = encode_table(frame, attributes, trees, options)
    clustered = [attribute for attribute in attributes if attribute.name in chosen]
    domains = make_domains(frame, clustered, trees, missing)
    return Prepared(table, codebook, domains, trees, chosen)


def _role(name: str, quasi: Sequence[str], identifiers: Sequence[str], looked_at: set[str]) -> Role:
    if name in quasi:
        return Role.QUASI_IDENTIFYING
    if name in looked_at:
        return Role.SENSITIVE
    return Role.IDENTIFYING if name in identifiers else Role.INSENSITIVE


def _scale(
    column: pl.Series, scales: Mapping[str, Scale | str], missing: Sequence[str], problems: list[Problem]
) -> Scale:
    given = scales.get(column.name)
    if given is None:
        return find_scale(column, missing)
    known = [scale.value for scale in Scale if scale is not Scale.ORDERED]
    if str(given) not in known:
        hint = "give 'orders'" if given == Scale.ORDERED else did_you_mean(str(given), known)
        problems.append(Problem("unknown-scale", f"'{given}' is not a scale that can be given", column.name, hint))
        return Scale.CATEGORY
    return Scale(given)


def _check_names(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    identifiers: Sequence[str],
    looked_at: set[str],
    cluster_on: Sequence[str],
    described: Sequence[str],
) -> None:
    problems = [
        Problem("unknown-column", "the table has no such column", name, did_you_mean(name, frame.columns))
        for name in dict.fromkeys([*quasi, *identifiers, *sorted(looked_at), *cluster_on, *described])
        if name not in frame.columns
    ]
    problems += [
        Problem("two-roles", "the column is both identifying and quasi-identifying", name)
        for name in quasi
        if name in identifiers
    ]
    problems += [
        Problem("two-roles", "the quasi-identifiers name the column twice", name)
        for name, times in Counter(quasi).items()
        if times > 1
    ]
    problems += [
        Problem("two-roles", "a model looks at its values, but a quasi-identifier is generalized", name)
        for name in quasi
        if name in looked_at
    ]
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier was given"))
    if frame.height == 0:
        problems.append(Problem("no-records", "the table has no records"))
    if problems:
        raise InputError(problems)
