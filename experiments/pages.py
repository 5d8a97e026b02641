"""The pages of the experiments: claims beside what was measured, figures, and the numbers as CSV files beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from experiments.common import Finding

FIGURES = "## Figures"


def claims_table(findings: Sequence[Finding]) -> str:
    lines = ["| claim | measured | holds | why |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {f.claim} | {f.measured} | {_holds(f)} | {f.why} |" for f in findings)])


def _holds(finding: Finding) -> str:
    return "yes" if finding.holds else "**no**"


def write_page(
    out: Path, name: str, title: str, findings: Sequence[Finding], rows: pl.DataFrame, note: str | None = None
) -> None:
    """The claims and a note; the numbers that they come from go into a CSV file of their own."""
    rows.write_csv(out / f"{name}_means.csv", float_precision=6)
    parts = [f"# {title}", claims_table(findings), *([note] if note is not None else [])]
    (out / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def finish_page(out: Path, name: str) -> None:
    """Add the figures and the tables of an experiment to its page: whatever lies beside it under its name."""
    page = out / f"{name}.md"
    text = page.read_text(encoding="utf-8").split(FIGURES)[0].rstrip()
    figures = sorted(path.name for path in out.glob(f"{name}*.svg"))
    tables = sorted(path.name for path in out.glob(f"{name}*.csv"))
    shown = [f"![{_words(file, name)}]({file})" for file in figures]
    listed = [f"- [{file}]({file})" for file in tables]
    parts = [text, FIGURES, *shown, "## Numbers", "\n".join(listed)]
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _words(file: str, name: str) -> str:
    return file.removesuffix(".svg").removeprefix(name).strip("_").replace("_", " ") or name


def counts(page: Path) -> tuple[int, int]:
    """How many claims a page has, and how many of them hold."""
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    verdicts = [line.split(" | ")[2].strip(" |*") for line in rows if line.count(" | ") >= 3]
    return len(verdicts), sum(verdict == "yes" for verdict in verdicts)
