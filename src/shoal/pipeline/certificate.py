"""The certificate: what was released, how, and what was checked on the released values. No value of the data.

The same input, job and seed give the same certificate, byte for byte: there are no times and no folders in it. One
that has a public version beside it holds a salt, which is new in every run.
"""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.errors import InputError, Problem
from shoal.job.job import Job
from shoal.pipeline.signature import sign
from shoal.tables.content_hash import frame_hash as frame_hash

if TYPE_CHECKING:
    from shoal.job.plan import Plan
    from shoal.models.base import Requirement
    from shoal.released.domain import Domain

FORMAT = 1
_SEALS = ("self_hash", "signature")
HOLDER_ONLY = (
    "this certificate is for the holder of the data: with hashes.input and the digests of named values somebody can "
    "confirm a guess of the table; what --public-certificate writes may be published"
)
MISSING_RULE = (
    "a missing value is a value of its own: it is released as missing only together with at least k - 1 others, "
    "and generalizes with present values to the top of the hierarchy, a set, or *"
)
INPUT_ORDER = (
    "the rows are in the order of the input: if that is sorted by an attribute, released ranges narrow each other and "
    "tell more than was checked"
)
NOT_BY_CLASSES = (
    "this release has no classes of equal records and is not k-anonymous in that sense: every released row fits at "
    "least k records of the input, and every record of the input fits at least k released rows"
)


def job_hash(public: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(public, sort_keys=True).encode()).hexdigest()


def versions() -> dict[str, str]:
    return {"shoal": shoal.__version__, "python": platform.python_version(), **_versions_of_others()}


@cache
def _versions_of_others() -> dict[str, str]:
    """Read once: it takes as long as the check of a small table."""
    return {name: version(name) for name in ("numpy", "numba", "polars")}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a run found out about its release, and how it was written.

    `alone_with_kept` counts the records that stand alone for whoever knows the kept columns too. `row_order` is how
    the rows of the file are sorted, `csv` how a text file is written, so that nobody has to find it out again.
    `files` are those of a release in a folder, with their hashes. `together` names the earlier releases by their
    hashes, with what was found with them.
    """

    hashes: dict[str, str]
    records: dict[str, int]
    verification: dict[str, Any]
    missing_cells: dict[str, int]
    loss: dict[str, Any]
    alone_with_kept: int
    row_order: str
    class_based: bool
    notes: list[str]
    csv: dict[str, Any]
    database: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    together: dict[str, Any] = field(default_factory=dict)


def make_certificate(
    job: Job, plan: Plan, requirement: Requirement, domains: Mapping[str, Domain], facts: Facts
) -> dict[str, Any]:
    """All that a reader needs to trust a release, and to check it again.

    It tells the quasi-identifiers as they were planned, and the columns that are published as they are, with what spoke
    against each.
    """
    columns, specs = plan.public(domains), [model.public_spec() for model in requirement.models]
    public = {**job.public(), "hierarchies": _described_trees(plan, requirement), "models": specs}
    certificate = {
        "certificate": FORMAT,
        "versions": versions(),
        "job": public,
        "seed": job.seed,
        "hashes": {**facts.hashes, "job": job_hash(public)},
        "quasi": list(columns),
        "columns": columns,
        "kept": {name: [one.message for one in plan.telling.get(name, ())] for name in plan.kept},
        "alone_with_kept": facts.alone_with_kept,
        "row_order": facts.row_order,
        "models": specs,
        **_found(facts),
    }
    return sealed(certificate | for_whom(job.public_certificate is not None), job.sign)


def _found(facts: Facts) -> dict[str, Any]:
    """What was counted and checked, and where the release stands."""
    verdict = facts.verification
    return {
        "records": facts.records,
        **{name: verdict[name] for name in ("classes", "smallest_class", "passed", "checks")},
        "missing": {"rule": MISSING_RULE, "cells": facts.missing_cells},
        "loss": facts.loss,
        "class_based": facts.class_based,
        "csv": facts.csv,
        **({"database": facts.database} if facts.database else {}),
        **({"files": facts.files} if facts.files else {}),
        "notes": facts.notes if facts.class_based else [NOT_BY_CLASSES, *facts.notes],
        **({"together": facts.together} if facts.together else {}),
    }


def _described_trees(plan: Plan, requirement: Requirement) -> dict[str, dict[str, Any]]:
    """The hierarchies of quasi-identifiers and of what models look at."""
    matter = {column.name for column in plan.quasi} | set(requirement.columns())
    return {
        name: {"levels": tree.levels, "leaves": len(tree.leaves), "sha256": tree.digest()}
        for name, tree in plan.hierarchies.items()
        if name in matter
    }


def for_whom(has_public: bool) -> dict[str, Any]:
    """Which part of a certificate may be published; with a public version beside it, the salt of its hashes."""
    told: dict[str, Any] = {"publish": HOLDER_ONLY}
    return {**told, "private": {"salt": secrets.token_hex(32)}} if has_public else told


def sealed(certificate: dict[str, Any], key: Path | None = None) -> dict[str, Any]:
    """The certificate with its own hash and, if there is a key, a signature."""
    whole = {**certificate, "self_hash": self_hash(certificate)}
    return whole if key is None else {**whole, "signature": sign(whole["self_hash"], key)}


def self_hash(certificate: dict[str, Any]) -> str:
    """The hash of all that a certificate says but for this hash and what signs it.

    It shows that a certificate was changed by accident or without care. It proves nothing against somebody who
    computes it anew: that takes a signature, or another way to the holder.
    """
    return job_hash({name: value for name, value in certificate.items() if name not in _SEALS})


def is_unchanged(certificate: dict[str, Any]) -> bool:
    """Whether a certificate is as it was written; those of older versions do not tell."""
    return "self_hash" not in certificate or certificate["self_hash"] == self_hash(certificate)


def certificate_text(certificate: dict[str, Any]) -> str:
    return json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"


def load_certificate(path: str | Path) -> dict[str, Any]:
    """Read a certificate, or say what is wrong with the file."""
    path = Path(path)
    hint = "name the JSON file that 'shoal anonymize --certificate' wrote"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(Problem("no-such-file", f"there is no certificate '{path}'")) from None
    except (OSError, ValueError, RecursionError):
        raise InputError(Problem("unreadable-certificate", f"'{path}' is not a certificate", hint=hint)) from None
    if not _is_certificate(content):
        raise InputError(Problem("unreadable-certificate", f"'{path}' is not a certificate", hint=hint))
    return dict(content)


def _is_certificate(content: Any) -> bool:
    """Whether all that is read from a certificate is there and what it should be."""
    if not isinstance(content, dict):
        return False
    lists = [content.get(name) for name in ("quasi", "models")]
    texts = all(isinstance(one, list) and all(isinstance(item, str) for item in one) for one in lists)
    objects = [content.get(name, {}) for name in ("job", "columns", "csv", "loss")]
    return texts and all(isinstance(one, dict) for one in [*objects, content.get("hashes")])
