"""Countries by region: names and ISO codes below subregions and regions of the United Nations' standard M49.

The table ships with the package (`countries.txt`, which says its source). Names are compared by their letters only, so
`United-States`, `united states` and `US` are found. What is not found goes below `other`, and can be listed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from shoal.errors import InputError, Problem
from shoal.hierarchies.building import distinct_texts, with_root
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import factorize

LEVELS = ("subregion", "region")
OTHER = "other"
_NOT_A_LETTER = re.compile(r"[^a-z]+")


def regions(values: Sequence[str | None], levels: Sequence[str] = LEVELS, *, column: str | None = None) -> Hierarchy:
    """Countries by `subregion`, `region`, or one of them."""
    if not isinstance(levels, (list, tuple)) or list(levels) not in (
        ["subregion", "region"],
        ["subregion"],
        ["region"],
    ):
        raise InputError(Problem("bad-builder", "levels must be [subregion, region], or one of them", column))
    texts = distinct_texts(values, column)
    places = {text: region_of(text) or (OTHER, OTHER) for text in texts}
    leaves = sorted(texts, key=lambda text: (places[text][0] == OTHER, *places[text], text))
    numbers = {"region": 0, "subregion": 1}
    return with_root(leaves, [factorize([places[text][numbers[level]] for text in leaves]) for level in levels])


def region_of(text: str) -> tuple[str, str] | None:
    """Region and subregion of a country, given by a name or an ISO code; None if it is not known."""
    return _table().get(_letters(text))


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    return _NOT_A_LETTER.sub("", plain)


@cache
def _table() -> dict[str, tuple[str, str]]:
    """Every spelling, in letters only, with its region and subregion."""
    found: dict[str, tuple[str, str]] = {}
    place = ("", "")
    for line in files("shoal.hierarchies").joinpath("countries.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(">"):
            region, subregion = (part.strip() for part in line[1:].split(">"))
            place = (region, subregion)
        elif line and not line.startswith("#"):
            two, three, names = line.split(" ", 2)
            for spelling in (two, three, *names.split("|")):
                found.setdefault(_letters(spelling), place)
    return found
