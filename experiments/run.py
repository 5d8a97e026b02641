"""`make experiments`: every paper's experiment, and one page that puts claim and measurement side by side.

    python -m experiments.run --data FOLDER [--out experiments/results] [--only koc,cb] [--quick]

Each experiment writes CSV files, charts as PNG and a page of its own into the folder of results. Finished cases are
kept, so a run that was stopped goes on where it was. At the end docs/papers.md is written anew from the pages.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from experiments.common import data_folder

EXPERIMENTS = ("koc", "cb", "two_level", "dbca", "tdr")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"
HEAD = """# The papers' experiments, re-run

Made by `make experiments` on Adult and CRX, and on generated SAL and INCOME tables with the cardinalities that the
CB paper gives. A claim that does not hold is said to, with the measured figure. Times are those of this implementation,
whose costs are not the papers': they tell the ratio between algorithms in one run, not their speed at the time.
The deviations of each algorithm from its paper stand at the top of its module in `src/shoal/algorithms/`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for results")
    parser.add_argument("--only", default=",".join(EXPERIMENTS), help="experiments to run, with commas between")
    parser.add_argument("--quick", action="store_true", help="a part of the cases")
    options = parser.parse_args()
    data = data_folder(options.data)
    options.out.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(options.only.split(","), start=1):
        print(f"[{number}/{len(options.only.split(','))}] {name}", flush=True)
        start = time.perf_counter()
        command = [sys.executable, "-m", f"experiments.{name}", "--data", str(data), "--out", str(options.out)]
        subprocess.run([*command, *(["--quick"] if options.quick else [])], check=True)
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)
    write_page(options.out)


def write_page(out: Path, page: Path = PAGE) -> None:
    """Join the pages of all experiments that have been run; their own headings move down one level."""
    parts = [HEAD]
    for name in EXPERIMENTS:
        file = out / f"{name}.md"
        if file.is_file():
            parts.append(demoted(file.read_text(encoding="utf-8")))
    page.write_text("\n".join(parts), encoding="utf-8")
    print(f"written: {page}")


def demoted(text: str) -> str:
    return "\n".join("#" + line if line.startswith("#") else line for line in text.splitlines()) + "\n"


if __name__ == "__main__":
    main()
