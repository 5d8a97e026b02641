"""The certificate: what was released, how, and what was checked on the released values. No value of the data.

The same input, job and seed give the same certificate, byte for byte: there are no times and no folders in it. One
that has a public version beside it holds a salt, which is new in every run.
"""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from importlib.metadata import version
from pathlib import Path
from typing import Any

import shoal
from shoal.errors import InputError, Problem
from shoal.job.job import Job
from shoal.pipeline.signature import sign
from shoal.tables.content_hash import frame_hash as frame_hash

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
    names = ("numpy", "numba", "polars")
    return {"shoal": shoal.__version__, "python": platform.python_version(), **{name: version(name) for name in names}}


def make_certificate(
    *,
    job: Job,
    columns: dict[str, dict[str, Any]],
    kept: dict[str, list[str]],
    alone_with_kept: int,
    row_order: str,
    models: list[str],
    hierarchies: dict[str, dict[str, Any]],
    hashes: dict[str, str],
    records: dict[str, int],
    verification: dict[str, Any],
    missing_cells: dict[str, int],
    loss: dict[str, Any],
    class_based: bool,
    notes: list[str],
    csv: dict[str, Any],
    database: dict[str, str],
    files: dict[str, str] | None = None,
    together: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """All that a reader needs to trust a release, and to check it again.

    `columns` are the quasi-identifiers as they were planned, `kept` the columns that are published as they are, with
    what spoke against each, and `alone_with_kept` the records that stand alone for whoever knows these too.
    `row_order` is how the rows of the file are sorted, `csv` how a text file is written, so that nobody has to find it
    out again. `files` are those of a release in a folder, with their hashes. `together` names the earlier releases by
    their hashes, with what was found with them.
    """
    public = job.public()
    public["hierarchies"] = hierarchies
    public["models"] = models
    certificate = {
        "certificate": FORMAT,
        "versions": versions(),
        "job": public,
        "seed": job.seed,
        "hashes": {**hashes, "job": job_hash(public)},
        "quasi": list(columns),
        "columns": columns,
        "kept": kept,
        "alone_with_kept": alone_with_kept,
        "row_order": row_order,
        "models": models,
        "records": records,
        "classes": verification["classes"],
        "smallest_class": verification["smallest_class"],
        "passed": verification["passed"],
        "checks": verification["checks"],
        "missing": {"rule": MISSING_RULE, "cells": missing_cells},
        "loss": loss,
        "class_based": class_based,
        "csv": csv,
        **({"database": database} if database else {}),
        **({"files": files} if files else {}),
        "notes": notes if class_based else [NOT_BY_CLASSES, *notes],
        **({"together": together} if together else {}),
    }
    return sealed(certificate | for_whom(job.public_certificate is not None), job.sign)


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
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(Problem("no-such-file", f"there is no certificate '{path}'")) from None
    except (OSError, ValueError, RecursionError):
        raise InputError(Problem("unreadable-certificate", f"'{path}' is not a certificate")) from None
    if not _is_certificate(content):
        hint = "it is the JSON file that 'shoal anonymize --certificate' writes"
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
