"""The pages of the experiments: claims beside what was measured, figures, and the numbers as CSV files beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl

from experiments.common import Finding

FIGURES = "## Figures"
HEADER = ("| claim | measured | holds | why |", "|---|---|---|---|")


def claims_table(findings: Sequence[Finding]) -> str:
    """One table of all claims, or one below each heading where claims have parts."""
    found = []
    for part, group in groupby(findings, key=lambda finding: finding.part):
        lines = [f"| {f.claim} | {f.measured} | {_holds(f)} | {f.why} |" for f in group]
        found.append("\n".join([*([f"## {part}", ""] if part else []), *HEADER, *lines]))
    return "\n\n".join(found)


def _holds(finding: Finding) -> str:
    return "yes" if finding.holds else "**no**"


def write_page(
    out: Path, name: str, title: str, findings: Sequence[Finding], rows: pl.DataFrame, notes: Sequence[str] = ()
) -> None:
    """The claims and notes; the numbers that they come from go into a CSV file of their own."""
    rows.write_csv(out / f"{name}_means.csv", float_precision=6)
    parts = [f"# {title}", claims_table(findings), *notes]
    (out / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def finish_page(out: Path, name: str, captions: Mapping[str, str], extent: str) -> None:
    """Add what was run, the figures, each with its caption, and the tables of an experiment to its page."""
    page = out / f"{name}.md"
    text = page.read_text(encoding="utf-8").split(FIGURES)[0].rstrip()
    shown = [
        f"![{words}]({file}.svg)\n\n*{words}*" for file, words in captions.items() if (out / f"{file}.svg").is_file()
    ]
    listed = [f"- [{path.name}]({path.name})" for path in sorted(out.glob(f"{name}*.csv"))]
    parts = [text, FIGURES, *shown, "## Numbers", extent, "\n".join(listed)]
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def counts(page: Path) -> tuple[int, int]:
    """How many claims a page has, and how many of them hold."""
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    verdicts = [line.split(" | ")[2].strip(" |*") for line in rows if line.count(" | ") >= 3 and line != HEADER[0]]
    return len(verdicts), sum(verdict == "yes" for verdict in verdicts)
