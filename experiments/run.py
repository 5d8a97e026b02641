"""`make experiments`: every paper's experiment, and pages that put claim and measurement side by side.

    python -m experiments.run [NAME ...] [--data FOLDER] [--out experiments/results] [--page docs/papers.md]
                              [--quick | --full]

Each experiment writes CSV files, figures as SVG and a page of its own into the folder of results. Finished cases are
kept, so a run that was stopped goes on where it was; `--fresh` begins anew. At the end all of it is copied beside the
page, into a folder of its name (docs/papers/), and the page that leads there is written anew. The usual run is what the
pages show; `--full` adds the cases that cost most and tell least (each page says which).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from experiments.catalogue import Experiment, find_experiments, join_pages, publish_pages, run_experiment
from experiments.common import Extent
from shoal.errors import ShoalError
from shoal.progress import Progress

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"


def main() -> int:
    options = _options()
    start = time.process_time()
    if options.fresh:
        shutil.rmtree(options.out, ignore_errors=True)
    try:
        for experiment in find_experiments(options.names):
            _run(experiment, options)
    except ShoalError as error:
        print("\n".join(str(problem) for problem in error.problems), file=sys.stderr)
        return error.exit_code
    folder = options.page.with_suffix("")
    publish_pages(options.out, folder)
    join_pages(folder, options.page)
    print(f"written: {options.page}, with {time.process_time() - start:.0f} s of processor time")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["all"], help="experiments to run; all by default")
    parser.add_argument("--data", help="folder of real tables (or SHOAL_DATA)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that joins all results")
    parser.add_argument("--fresh", action="store_true", help="forget the cases that are finished")
    extent = parser.add_mutually_exclusive_group()
    for one in (Extent.QUICK, Extent.FULL):
        words = {Extent.QUICK: "a part of the cases, to see that it works", Extent.FULL: "all cases of the papers"}[one]
        extent.add_argument(f"--{one.value}", dest="extent", action="store_const", const=one, help=words)
    parser.set_defaults(extent=Extent.USUAL)
    return parser.parse_args()


def _run(experiment: Experiment, options: argparse.Namespace) -> None:
    print(f"{experiment.name}: {experiment.title}", flush=True)
    start = time.process_time()
    findings = run_experiment(experiment, options.out, data=options.data, extent=options.extent, progress=tell)
    for finding in findings:
        print(f"  {'holds' if finding.holds else 'FAILS'}  {finding.claim}: {finding.measured}")
    print(f"  {time.process_time() - start:.0f} s of processor time", flush=True)


def tell(event: Progress) -> None:
    print(f"  {event.fraction:4.0%}  {event.note or ''}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
