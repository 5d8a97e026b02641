"""anonymeter itself as a second opinion on attacks, from a Python of its own.

anonymeter (https://github.com/statice/anonymeter) attacks synthetic data: tables in the format of the original. It
needs an older numpy than Shoal, so it runs in another environment that the user names. A generalized release is read
into its format by drawing, for every cell, one of the values that the cell covers, as common as the release has them
(see `reading_cells`): what a recipient would do who wants exact values. Its attacks then look for the nearest drawn
records, where ours look for all records that contain a person.

The tables are handed over through a pipe, never through a file.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem
from shoal.evaluation.attacks.linkability import two_parties
from shoal.evaluation.options import Compared
from shoal.evaluation.usefulness.reading_cells import covered_codes
from shoal.released.domain import DomainKind, as_text
from shoal.released.reading import ReadTable

ATTACKS = 500  # its own default
PROGRAM = Path(__file__).with_name("second_opinion_program.py")


def drawn_table(table: ReadTable, release: pl.DataFrame, kept: Sequence[str], seed: int) -> pl.DataFrame:
    """The release as a table of exact values, one drawn for every cell; `kept` columns stay as they are."""
    random = np.random.default_rng([seed, 15])
    columns = []
    for name, column in table.columns.items():
        values = pl.Series(name, [*column.domain.values, None], dtype=pl.String)
        columns.append(values.gather(covered_codes(column, random)))
    return pl.DataFrame([*columns, *(as_text(release[name]) for name in kept if name not in table.columns)])


@dataclass(frozen=True, kw_only=True)
class Question:
    """What anonymeter is asked: who knows which columns, which are numbers, what is to be guessed, how often."""

    parties: tuple[Sequence[str], Sequence[str]]
    numeric: Sequence[str] = ()
    secret: str | None = None
    attacks: int = ATTACKS
    seed: int = 0

    @property
    def known(self) -> list[str]:
        return [*self.parties[0], *self.parties[1]]

    def as_dict(self) -> dict[str, Any]:
        known = self.known
        number = "number"
        while number in known:
            number += "_"
        return {
            "parties": [list(party) for party in self.parties],
            "numeric": [name for name in self.numeric if name in known],
            "secret": self.secret,
            "attacks": self.attacks,
            "seed": self.seed % 2**32,  # what it draws from takes no larger one
            "number": number,
        }


def ask_anonymeter(
    python: Path,
    original: pl.DataFrame,
    release: pl.DataFrame,
    question: Question,
    control: pl.DataFrame | None = None,
) -> dict[str, Any]:
    """What anonymeter says of a release whose cells are values like those of the original."""
    problems = python_problems(python)
    if problems:
        raise InputError(problems)
    wanted = [*question.known, *([question.secret] if question.secret is not None else [])]
    frames = {"original": original, "release": release, "control": control}
    tables = {name: frame.select(wanted).write_csv() for name, frame in frames.items() if frame is not None}
    return _answer(python, json.dumps({**question.as_dict(), "tables": tables}))


def _answer(python: Path, asked: str) -> dict[str, Any]:
    call = [str(python), "-I", "-X", "utf8", str(PROGRAM)]
    done = subprocess.run(call, input=asked, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        # What it printed may hold cell values, so it is not repeated.
        raise InputError(Problem("anonymeter-failed", f"anonymeter ended with code {done.returncode}"))
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def anonymeter_opinion(python: Path, compared: Compared, control: pl.DataFrame | None) -> dict[str, Any]:
    """anonymeter's three attacks on any release, its cells drawn as exact values."""
    table, options = compared.table, compared.options
    parties = two_parties(table, options.party)
    if not all(parties):
        raise InputError(Problem("one-quasi-identifier", "anonymeter's linkability needs two quasi-identifiers"))
    secret = options.sensitive[0] if options.sensitive else None
    if control is not None and secret is not None and secret not in control.columns:
        secret = None
    numeric = [name for name, column in table.columns.items() if column.domain.kind is DomainKind.NUMBER]
    kept = [secret] if secret is not None else []
    drawn = drawn_table(table, compared.release, kept, options.seed)
    question = Question(parties=parties, numeric=numeric, secret=secret, seed=options.seed)
    return {**ask_anonymeter(python, compared.original, drawn, question, control), "column": secret}


def python_problems(python: Path) -> list[Problem]:
    """What speaks against asking anonymeter with this Python, before any work is done."""
    hint = "python3 -m venv FOLDER, FOLDER/bin/pip install anonymeter, then name FOLDER/bin/python"
    try:
        asked = subprocess.run([str(python), "-I", "-c", "import anonymeter"], capture_output=True, check=False)
    except OSError:
        return [Problem("no-anonymeter", "the named Python cannot be started", hint=hint)]
    return [Problem("no-anonymeter", "the named Python has no anonymeter", hint=hint)] if asked.returncode else []
