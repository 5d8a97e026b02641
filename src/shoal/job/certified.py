"""What a certificate tells of the plan of its release, put into a job: so that it is measured as the run did.

Scales, weights and orders are told in full (an order by the ranks of its values, see `Plan.public`). Hierarchies and
the texts that mean 'missing' are values, so a certificate holds their hashes only: they must be given again, and must
be the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from shoal.errors import Problem
from shoal.job.job import Job, content_hash
from shoal.job.plan import Plan
from shoal.tables.distinct import text_codes
from shoal.tables.rounding import EXACT
from shoal.tables.scales import is_missing
from shoal.tables.schema import Scale

Columns = Mapping[str, Mapping[str, Any]]  # what a certificate tells of each


def certified_job(job: Job, certificate: Mapping[str, Any], original: pl.DataFrame, problems: list[Problem]) -> Job:
    """The job with what the certificate tells about scales, orders, units and weights, where the job says nothing."""
    columns: Columns = certificate.get("columns", {})
    known = {name: told for name, told in columns.items() if name in job.quasi and name in original.columns}
    if known:
        problems += _other_missing(job, certificate)
    silent = {name: told for name, told in known.items() if name not in job.orders and name not in job.scales}
    units = {name: str(told.get("round", EXACT)) for name, told in known.items()}
    weights = {name: float(told["weight"]) for name, told in known.items() if told.get("weight", 1.0) != 1.0}
    return job.model_copy(
        update={
            "orders": {**_orders(silent, original, job.missing, problems), **job.orders},
            "scales": {**_scales(silent), **job.scales},
            "priorities": job.priorities or weights,
            "round": {**units, **job.round},
        }
    )


def _scales(columns: Columns) -> dict[str, Scale]:
    told = {name: column.get("scale") for name, column in columns.items()}
    return {name: Scale(scale) for name, scale in told.items() if scale in tuple(Scale) and scale != Scale.ORDERED}


def _other_missing(job: Job, certificate: Mapping[str, Any]) -> list[Problem]:
    """Whether other texts meant 'missing' then; a public certificate does not tell."""
    told = certificate.get("job", {}).get("missing") or {}
    given = content_hash(list(job.missing))
    if told.get("sha256", given) == given:
        return []
    message = "other texts meant 'missing' when the release was made"
    return [Problem("other-missing", message, hint="give the same --missing, or the job with --job")]


def _orders(
    columns: Mapping[str, Mapping[str, Any]], original: pl.DataFrame, missing: tuple[str, ...], problems: list[Problem]
) -> dict[str, tuple[str, ...]]:
    """The orders of ordered categories, from the ranks that are told and the values of the original."""
    orders = {}
    for name, told in columns.items():
        if told.get("scale") != Scale.ORDERED:
            continue
        order = _order(original[name], told.get("ranks"), missing)
        if order is None:
            message = "the certificate is about a table with other values"
            problems.append(Problem("other-original", message, name, "give the table that the release was made of"))
        else:
            orders[name] = order
    return orders


def other_hierarchies(plan: Plan, certificate: Mapping[str, Any]) -> list[Problem]:
    """Hierarchies that the release was made with and that are not given, or are others."""
    told: Mapping[str, Mapping[str, Any]] = certificate.get("job", {}).get("hierarchies", {})
    given = plan.hierarchies
    hint = "give the same hierarchies with --hierarchies, or the job with --job"
    return [
        Problem("other-hierarchy", "the release was made with another hierarchy", column.name, hint)
        for column in plan.quasi
        if column.name in told
        and (column.name not in given or told[column.name].get("sha256") not in (None, given[column.name].digest()))
    ]


def _order(column: pl.Series, ranks: Any, missing: tuple[str, ...]) -> tuple[str, ...] | None:
    """The values of a column at their ranks; ranks that no value has are filled with texts that no cell can be."""
    texts, _ = text_codes(column)
    present = sorted(texts.filter(~is_missing(texts, missing)).to_list())
    if not isinstance(ranks, list) or sorted(set(ranks)) != sorted(ranks) or len(ranks) != len(present):
        return None
    value_at = dict(zip(ranks, present, strict=True))
    return tuple(value_at.get(rank, f"\0{rank}") for rank in range(max(ranks, default=-1) + 1))
