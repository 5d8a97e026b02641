"""The pictures of docs/concepts.md, drawn from real releases of the invented hospital.

python tools/draw_concepts.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.reports.frontier import frontier_picture
from shoal.reports.pictures import crowds
from shoal.sample.hospital import hospital_table

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "concepts"
COLOURS = ("#2563a8", "#d9772b", "#23744a", "#7b4fa3", "#a8342a", "#1d8a99", "#8a6d1f", "#5c6675")
SCALE, LEFT, FLOOR = 4, 40, 300


def patients() -> pl.DataFrame:
    table = hospital_table(60).select("age", "length_of_stay")
    return table.filter(pl.col("length_of_stay") <= 20)


def groups_picture() -> str:
    """Every patient as a dot by age and days of stay, and every group as the box that is published."""
    table = patients()
    result = shoal.anonymize(table, quasi=["age", "length_of_stay"], k=5)
    drawn = _axes()
    for group in range(int(result.groups.max()) + 1):
        members = table.filter(pl.Series(np.asarray(result.groups == group)))
        colour = COLOURS[group % len(COLOURS)]
        ages, days = members["age"].to_list(), members["length_of_stay"].to_list()
        x, y = _place(min(ages), max(days))
        wide, high = (max(ages) - min(ages)) * SCALE + 12, (max(days) - min(days)) * 13 + 12
        drawn += f'<rect x="{x - 6}" y="{y - 6}" width="{wide}" height="{high}" rx="6" fill="{colour}" opacity="0.14"/>'
        drawn += "".join(_dot(*_place(*point), colour) for point in zip(ages, days, strict=True))
    return _svg(460, 345, drawn)


def _place(age: int, days: int) -> tuple[int, int]:
    return LEFT + age * SCALE, FLOOR - days * 13


def _dot(x: int, y: int, colour: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>'


def _axes() -> str:
    across = "".join(_text(_place(age, 0)[0] - 7, FLOOR + 22, str(age)) for age in range(0, 101, 20))
    up = "".join(_text(8, _place(0, days)[1] + 4, str(days)) for days in (5, 10, 15, 20))
    return across + up + _text(200, FLOOR + 42, "age") + _text(4, 14, "days in hospital")


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{text}</text>'


def _svg(width: int, height: int, drawn: str) -> str:
    style = "font:13px system-ui,sans-serif;background:#fff"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="{style}">{drawn}</svg>\n'
    )


def standing_alone(figure: str) -> str:
    """The drawing of a figure of a report, as a file of its own."""
    found = re.search(r"<svg viewBox=\"0 0 (\d+) (\d+)\".*?>(.*)</svg>", figure, re.S)
    assert found is not None
    return _svg(int(found[1]), int(found[2]), found[3])


def main(names: Sequence[str] = ("groups", "crowds", "frontier")) -> None:
    FOLDER.mkdir(exist_ok=True)
    table = hospital_table(2000).select("age", "sex", "postcode")
    result = shoal.anonymize(table, quasi=table.columns, k=10, hierarchies={"postcode": {"builder": "prefix"}})
    risk = result.evaluate().risk
    pictures = {
        "groups": groups_picture(),
        "crowds": standing_alone(crowds(risk["sizes_before"], risk["sizes_after"])),
        "frontier": standing_alone(frontier_picture(result.frontier([2, 5, 10, 20, 50]))),
    }
    for name in names:
        (FOLDER / f"{name}.svg").write_text(pictures[name], encoding="utf-8")


if __name__ == "__main__":
    main()
