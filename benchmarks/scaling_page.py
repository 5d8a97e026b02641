"""The scaling benchmark as a table on the screen and as a page."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.measure import growth_exponent

Row = dict[str, Any]
Exponents = dict[str, dict[str, float]]

HEAD = """# How the algorithms scale

Made by `python -m benchmarks.scaling --page docs/scaling.md` (`make scaling`) on a machine with {processors}
cores, one thread per run, at k = {k}. Tables of up to 45,222 records are random parts of Adult's complete records with
8 quasi-identifiers and their hierarchies; larger ones are drawn from it with noise (15 of 100 cells anew, ages moved by
up to two years), so they have more distinct rows, as a larger country would. Times are processor seconds of the
clustering stage alone; compiling is not counted. The growth is the slope of log(seconds) over log(records), over runs
of at least 0.02 s, beside that of n log n over the same sizes. A run that is expected to take longer than the limit, by
its own growth so far, is not started: the cell says so.
"""


def growth_of_n_log_n(sizes: list[int]) -> float:
    """The exponent that n log n shows over these sizes; a little above 1."""
    return float(growth_exponent(sizes, [size * float(np.log(size)) for size in sizes]) or 1.0)


def _sizes(rows: list[Row]) -> list[int]:
    return list(dict.fromkeys(row["records"] for row in rows))


def _cells(rows: list[Row], name: str, what: str) -> list[str]:
    cells = []
    for size in _sizes(rows):
        row = next((row for row in rows if row["name"] == name and row["records"] == size), {"skipped": "not run"})
        if "gcp" not in row:
            cells.append(str(row.get("skipped") or row.get("failed")) if what == "seconds" else "")
        elif what == "seconds":
            cells.append(f"{row['stages']['cluster']:.2f}")
        else:
            cells.append(f"{row['peak_megabytes']:.0f}" if what == "memory" else f"{row['gcp']:.4f}")
    return cells


def _growth(exponents: Exponents, name: str) -> tuple[str, str]:
    if name not in exponents:
        return "", ""
    return f"n^{exponents[name]['measured']:.2f}", f"n^{exponents[name]['n_log_n']:.2f}"


def rich_table(rows: list[Row], names: list[str], exponents: Exponents, k: int) -> Table:
    """Seconds / MB / loss in every cell."""
    table = Table(title=f"k = {k}: processor seconds of clustering / peak MB / loss (GCP)", title_justify="left")
    table.add_column("algorithm")
    for size in _sizes(rows):
        table.add_column(f"{size:,}", justify="right")
    table.add_column("grows like", justify="right")
    table.add_column("n log n", justify="right")
    for name in names:
        parts = zip(*(_cells(rows, name, what) for what in ("seconds", "memory", "loss")), strict=True)
        table.add_row(name, *(" / ".join(filter(None, cell)) for cell in parts), *_growth(exponents, name))
    return table


def markdown(rows: list[Row], names: list[str], exponents: Exponents, k: int, late: list[str]) -> str:
    """The page: seconds with growth, then memory, then loss."""
    parts = [HEAD.format(processors=os.cpu_count(), k=k)]
    for what, title in (
        ("seconds", "Processor seconds of clustering"),
        ("memory", "Peak memory of the whole run, MB"),
        ("loss", "Loss (GCP)"),
    ):
        timed = what == "seconds"
        heads = ["algorithm", *(f"{size:,}" for size in _sizes(rows)), *(["grows like", "n log n"] if timed else [])]
        lines = [f"## {title}", "", "| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
        for name in names:
            cells = [name, *_cells(rows, name, what), *(_growth(exponents, name) if timed else ())]
            lines.append("| " + " | ".join(cells) + " |")
        if timed:
            lines += ["", *([f"- {line}" for line in late] or ["With all of Adult every algorithm keeps its time."])]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
