"""What there is to choose from, in the words of the rooms that offer it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import shoal
from shoal.algorithms.registry import algorithm_class, algorithm_names
from shoal.hierarchies.builders import DATE_LEVELS
from shoal.hierarchies.spec import BUILDERS
from shoal.metrics.exactness import METRICS as BESIDE_THE_LOSS
from shoal.models.catalogue import catalogue as model_entries
from shoal.tables.formats.files import readable_endings

PRESETS = (
    {
        "name": "Nobody alone among five",
        "text": "Every record looks like at least four others. For tables that go to people bound by a contract.",
        "k": 5,
        "l": None,
    },
    {
        "name": "One in eleven",
        "text": "A chance of at most 9.1 % to recognise anybody: the bound that is usual for public clinical data.",
        "k": 11,
        "l": None,
    },
    {
        "name": "Nobody alone, nothing certain",
        "text": "Groups of ten, and in every group no sensitive value is held by more than a third.",
        "k": 10,
        "l": 3,
    },
    {
        "name": "Open to everybody",
        "text": "Groups of twenty-five, and no sensitive value is held by more than a fifth of a group.",
        "k": 25,
        "l": 5,
    },
)


def catalogue() -> dict[str, Any]:
    algorithms = [(name, algorithm_class(name)) for name in algorithm_names()]
    return {
        "version": shoal.__version__,
        "models": [entry.as_dict() for entry in model_entries()],
        "algorithms": [
            {
                "name": name,
                "title": kind.title,
                "citation": kind.citation,
                "class_based": kind.class_based,
                "takes_priorities": kind.takes_priorities,
                "takes_class": any(field.name == "class_column" for field in fields(kind)) and name != "shoal",
            }
            for name, kind in algorithms
        ],
        "builders": {name: list(builder.settings) for name, builder in BUILDERS.items()},
        "date_levels": list(DATE_LEVELS),
        "presets": list(PRESETS),
        "beside_the_loss": [metric.as_dict() for metric in BESIDE_THE_LOSS],
        "endings": readable_endings(),
    }
