"""Checking a file of prices against the original table: is the lower bound one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.job.certified import certified_job, other_hierarchies
from shoal.job.job import Job
from shoal.job.plan import Plan, make_plan
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.registry import parse_model
from shoal.pipeline.prices_file import PricesFile, load_prices
from shoal.pipeline.sources import as_stated
from shoal.released.domain import Domain
from shoal.released.ranges import parse_numbers
from shoal.tables.formats.files import read_table
from shoal.tables.rounding import outer_ends, outer_places
from shoal.verification.bound import PricedColumn, check_prices


def verify_bound(
    original: Path, prices: Path, job: Job, certificate: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Whether the prices prove that no release of the original loses less than they stand for.

    The job says what the release had to hold and how values are released; the certificate, if there is one, tells the
    rest of it. The answer has the bound, whether it `holds`, and the reason if not.
    """
    told = certificate or {}
    problems: list[Problem] = []
    file = load_prices(prices)
    table = read_table(original, job.csv_options())
    job = _with_recodings(certified_job(job, told, table.frame, problems), told)
    frame = as_stated(table.frame, job)
    only_quasi = {"keep": (), "keep_rest": False, "drop_rest": True}  # other columns lose nothing
    plan = make_plan(job.model_copy(update=only_quasi), frame)
    problems += other_hierarchies(plan, told)
    problems += _other_original(file, table.frame.height)
    if problems:
        raise InputError(problems)
    reason = _not_what_was_asked(file, job, told)
    if reason:
        return {"bound": 0.0, "holds": False, "reason": reason, "k": file.k}
    columns = _columns(plan, frame)
    found = check_prices(columns, file.prices, file.k, suppression=file.suppression, rungs=file.rungs)
    return {**found.as_dict(), "k": file.k, "notes": _notes(found.bound, told)}


def _other_original(file: PricesFile, records: int) -> list[Problem]:
    if len(file.prices) == records:
        return []
    message = f"there are {len(file.prices)} prices for {records} records of the original"
    return [Problem("other-original", message, hint="give the table that the release was made of")]


def _columns(plan: Plan, frame: pl.DataFrame) -> list[PricedColumn]:
    domains = plan.domains(frame)
    for column in plan.quasi:
        if column.rounding is not None:
            domains[column.name] = _in_units(domains[column.name], column.rounding)
    return [
        PricedColumn(
            domains[column.name],
            domains[column.name].encode(frame[column.name]),
            column.weight,
            column.name in plan.as_nodes,
        )
        for column in plan.quasi
    ]


def _in_units(domain: Domain, unit: str) -> Domain:
    """The domain with every value where its unit begins: what a range of whole units costs at least."""
    ends = outer_ends(pl.Series(domain.values, dtype=pl.String), domain.scale, unit)
    return replace(domain, positions=outer_places(parse_numbers(ends.low, domain.scale), domain.positions))


def _with_recodings(job: Job, told: Mapping[str, Any]) -> Job:
    """The job with the recodings that the certificate tells."""
    columns: Mapping[str, Mapping[str, Any]] = told.get("columns", {})
    recodings = {name: one["recoding"] for name, one in columns.items() if name in job.quasi and "recoding" in one}
    return job.model_copy(update={"recodings": {**recodings, **job.recodings}})


def _not_what_was_asked(file: PricesFile, job: Job, told: Mapping[str, Any]) -> str:
    """Why the prices say nothing about releases as they were asked for; empty if they do."""
    specs: Sequence[str] = told.get("models", job.models)
    models: list[Model] = [KAnonymity(job.k)] if job.k is not None else []
    for spec in specs:
        try:
            models.append(parse_model(spec))
        except InputError:  # a certificate does not show the values that a model names; fewer models ask for less
            continue
    smallest = Requirement.of(models).smallest_class(list(job.quasi))
    if file.k > smallest:
        return f"the prices are for groups of at least {file.k} records; here groups may be as small as {smallest}"
    limit = float(told.get("job", {}).get("suppression_limit", job.suppression_limit))
    if limit > 0 and not file.suppression:
        return "the prices are for releases without suppressed records"
    return ""


def _notes(bound: float, told: Mapping[str, Any]) -> list[str]:
    loss = told.get("loss", {})
    certified = loss.get("weighted_lower_bound", loss.get("lower_bound"))
    if certified is None or certified <= bound + 1e-6:
        return []
    return [f"The certificate tells a larger bound, {certified:.6f}, which was found in another way."]
