"""Codes that carry their hierarchy in themselves: diagnoses (ICD-10), drugs (ATC), occupations (ISCO) and the like.

ICD-10: `E11.9`, `E11` (the category), `E00-E90` (the chapter). ATC: `A10BA02`, `A10BA`, `A10B`, `A10`, `A`. ISCO and
other decimal codes: one digit less per level. Codes of another system are cut at the lengths that are given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.building import distinct_texts, is_whole, with_root
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import factorize

LENGTHS = {"atc": (5, 4, 3, 1), "isco": (3, 2, 1), "icd10": (3,)}
# The chapters of the International Classification of Diseases, 10th revision (World Health Organization).
ICD10_CHAPTERS = (
    *("A00-B99", "C00-D48", "D50-D90", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99"),
    *("K00-K93", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "V01-Y84"),
    *("Z00-Z99", "U00-U99"),
)
OTHER = "other codes"
_CATEGORY = re.compile(r"[A-Z][0-9][0-9A-Z]\Z")


def codes(
    values: Sequence[str | None],
    *,
    system: str | None = None,
    lengths: Sequence[int] | None = None,
    column: str | None = None,
) -> Hierarchy:
    """Codes by their own structure.

    `system` is icd10, atc or isco; or `lengths` says how many letters each level keeps, from fine to coarse (dots do
    not count).
    """
    kept = _checked_lengths(system, lengths, column)
    leaves = sorted(distinct_texts(values, column), key=lambda text: (_chapter_place(text, system), text))
    plain = [_plain(leaf) for leaf in leaves]
    levels = [factorize([text[:length] for text in plain]) for length in kept]
    if system == "icd10":
        levels.append(factorize([icd10_chapter(text) for text in plain]))
    return with_root(leaves, levels)


def icd10_chapter(code: str) -> str:
    """The chapter of a diagnosis, such as E00-E90; codes outside all chapters are `other codes`."""
    category = _plain(code)[:3]
    if not _CATEGORY.match(category):
        return OTHER
    for chapter in ICD10_CHAPTERS:
        first, last = chapter.split("-")
        if first <= category <= last + "~":
            return chapter
    return OTHER


def _chapter_place(code: str, system: str | None) -> int:
    """Chapters in their order, so that the leaves of one are neighbours."""
    if system != "icd10":
        return 0
    chapter = icd10_chapter(code)
    return ICD10_CHAPTERS.index(chapter) if chapter in ICD10_CHAPTERS else len(ICD10_CHAPTERS)


def _plain(code: str) -> str:
    return code.strip().upper().replace(".", "")


def _checked_lengths(system: object, lengths: object, column: str | None) -> tuple[int, ...]:
    if (system is None) == (lengths is None):
        hint = "for example {builder: codes, system: icd10} or {builder: codes, lengths: [4, 2, 1]}"
        raise InputError(Problem("bad-builder", "the builder 'codes' needs a system or lengths", column, hint))
    if system is not None:
        if system not in LENGTHS:
            known = did_you_mean(str(system), list(LENGTHS))
            raise InputError(Problem("bad-builder", f"unknown system of codes '{system}'", column, known))
        return LENGTHS[str(system)]
    given = list(lengths) if isinstance(lengths, (list, tuple)) else []
    if not given or not all(is_whole(length, 1) for length in given) or any(b >= a for a, b in pairwise(given)):
        message = "lengths must be whole numbers of at least 1, from long to short"
        raise InputError(Problem("bad-builder", message, column, "for example lengths: [4, 2, 1]"))
    return tuple(given)
