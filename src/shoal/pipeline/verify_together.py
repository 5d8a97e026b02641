"""Checking a release together with the ones published before it, as files or frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.releases.verdict import Setting, TogetherVerdict


@dataclass(frozen=True)
class TogetherOptions:
    """How releases are looked at together; see `shoal.releases.check`.

    `sensitive` are the columns that tell records of different releases apart. Without them all columns do that at
    least two releases have and that are not quasi-identifiers: what is published unchanged can be joined on. By the
    columns of a `join_key` an attacker joins the releases record by record.
    """

    sensitive: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    setting: Setting | str = Setting.GROWING
    same_order: bool = False
    strict: bool = False
    join_key: tuple[str, ...] = ()


def together(
    releases: Sequence[pl.DataFrame],
    quasi: Sequence[str],
    models: Sequence[Model],
    options: TogetherOptions,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    missing: Sequence[str] = (),
) -> TogetherVerdict:
    """What an attacker learns who has all releases, the earliest first. k is that of the k-anonymity asked for."""
    from shoal.releases.check import check_together

    sizes = [model.k for model in models if isinstance(model, KAnonymity)]
    problems = _problems(releases, [*quasi, *options.sensitive, *options.changing, *options.join_key])
    if not sizes:
        message = "to check several releases together, k is needed"
        problems.append(Problem("no-k", message, hint="-k 10"))
    if problems:
        raise InputError(dict.fromkeys(problems))
    linking = options.sensitive or linking_columns(releases, [*quasi, *options.join_key])
    return check_together(
        releases,
        quasi,
        max(sizes),
        [name for name in linking if name not in options.changing],
        models=[model for model in models if set(model.columns()) <= set(linking)],
        changing=options.changing,
        setting=options.setting,
        hierarchies=hierarchies,
        missing=missing,
        same_order=options.same_order,
        join_key=options.join_key,
        strict=options.strict,
    )


def common_columns(releases: Sequence[pl.DataFrame], quasi: Collection[str]) -> tuple[str, ...]:
    """The columns besides the quasi-identifiers that all releases have."""
    first, *others = releases
    return tuple(name for name in first.columns if name not in quasi and all(name in frame.columns for frame in others))


def linking_columns(releases: Sequence[pl.DataFrame], quasi: Collection[str]) -> tuple[str, ...]:
    """The columns besides the quasi-identifiers that at least two releases have."""
    names = [name for frame in releases for name in frame.columns if name not in quasi]
    return tuple(name for name in dict.fromkeys(names) if names.count(name) > 1)


def _problems(releases: Sequence[pl.DataFrame], named: Sequence[str]) -> list[Problem]:
    return [
        Problem("unknown-column", f"release {number} has no such column", name, did_you_mean(name, frame.columns))
        for number, frame in enumerate(releases, start=1)
        for name in dict.fromkeys(named)
        if name not in frame.columns
    ]


def lacking_hierarchies(
    certificates: Sequence[Mapping[str, Any]], quasi: Sequence[str], given: Collection[str]
) -> list[Problem]:
    """Categories that were released with a hierarchy, by the certificates: without it a group is taken for a value."""
    with_one = {
        name
        for told in certificates
        for name in told.get("job", {}).get("hierarchies", {})
        if told.get("columns", {}).get(name, {}).get("scale") == "category"
    }
    message = "it was released with a hierarchy, and without it a group of values would be taken for a value"
    return [Problem("no-hierarchy", message, name, "--hierarchies") for name in quasi if name in with_one - set(given)]


def with_together(found: dict[str, Any], verdict: TogetherVerdict) -> dict[str, Any]:
    """The outcome of `shoal verify` with that of the releases together."""
    return {**found, "together": verdict.as_dict(), "passed": found["passed"] and verdict.passed}
