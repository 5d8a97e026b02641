"""Which engines there are, and what each of them declares."""

from __future__ import annotations

from collections.abc import Callable

from shoal.engines.base import Abilities
from shoal.engines.local import LOCAL
from shoal.engines.spark.abilities import SPARK
from shoal.engines.stream import StreamEngine

ABILITIES: dict[str, Abilities] = {"local": LOCAL, StreamEngine.name: StreamEngine.can, "spark": SPARK}


def support_table() -> str:
    """What each engine can do, as a table in Markdown; `docs/scale.md` holds it, and a test compares."""
    rows: list[tuple[str, Callable[[Abilities], str]]] = [
        ("input", lambda can: can.inputs),
        ("output", lambda can: can.outputs),
        ("frames in Python", lambda can: can.frames),
        ("algorithms", lambda can: "all" if can.any_algorithm else "those that take rows (`shoal`)"),
        ("report", lambda can: "yes" if can.report else "no"),
        ("group of every record", lambda can: "yes" if can.groups else "no"),
        ("memory grows with", lambda can: can.memory),
    ]
    lines = ["| | " + " | ".join(f"`{name}`" for name in ABILITIES) + " |", "|---" * (len(ABILITIES) + 1) + "|"]
    lines += [f"| {title} | " + " | ".join(tell(can) for can in ABILITIES.values()) + " |" for title, tell in rows]
    return "\n".join(lines)
