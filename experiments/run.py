"""`make experiments`: every paper's experiment, and pages that put claim and measurement side by side.

    python -m experiments.run [NAME ...] [--data FOLDER] [--out experiments/results] [--page docs/papers.md] [--quick]

Each experiment writes CSV files, figures as SVG and a page of its own into the folder of results. Finished cases are
kept, so a run that was stopped goes on where it was. At the end all of it is copied beside the page, into a folder of
its name (docs/papers/), and the page that leads there is written anew.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from experiments.catalogue import find_experiments, join_pages, publish_pages, run_experiment
from shoal.errors import ShoalError
from shoal.progress import Progress

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["all"], help="experiments to run; all by default")
    parser.add_argument("--data", help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that joins all results")
    parser.add_argument("--quick", action="store_true", help="a part of the cases")
    options = parser.parse_args()
    try:
        for experiment in find_experiments(options.names):
            print(f"{experiment.name}: {experiment.title}", flush=True)
            start = time.perf_counter()
            findings = run_experiment(experiment, options.out, data=options.data, quick=options.quick, progress=tell)
            for finding in findings:
                print(f"  {'holds' if finding.holds else 'FAILS'}  {finding.claim}: {finding.measured}")
            print(f"  {time.perf_counter() - start:.0f} s", flush=True)
    except ShoalError as error:
        print("\n".join(str(problem) for problem in error.problems), file=sys.stderr)
        return error.exit_code
    folder = options.page.with_suffix("")
    publish_pages(options.out, folder)
    join_pages(folder, options.page)
    print(f"written: {options.page}")
    return 0


def tell(event: Progress) -> None:
    print(f"  {event.fraction:4.0%}  {event.note or ''}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
