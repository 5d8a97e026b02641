"""The experiments by name, and the one way to run them, for `shoal experiment NAME` and `make experiments`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from experiments.common import Extent, Finding, data_folder
from experiments.pages import counts, finish_page
from shoal.errors import InputError, Problem, did_you_mean
from shoal.progress import ProgressCallback, silent

Run = Callable[[Path, Path, Extent, ProgressCallback], list[Finding]]

HEAD = """# The papers' experiments, re-run

Made by `make experiments` (one alone: `shoal experiment NAME`) on Adult and CRX, and on generated SAL and INCOME tables
with the cardinalities that the CB paper gives. Claims that are numbers are judged as numbers, so many do not hold whose
direction does; the measured figure stands beside each, and why it may differ. Where that was not found out, the page
says so. Each page has its figures; the numbers lie beside it as CSV files. Times are those of this implementation,
whose costs are not the papers': they tell the ratio between algorithms in one run, not their speed at the time. The
deviations of each algorithm from its paper stand at the top of its module in `src/shoal/algorithms/`, with the readings
that a paper leaves open.
"""


@dataclass(frozen=True)
class Experiment:
    """What one paper measured; its module has `run(data, out, extent, progress)`."""

    name: str
    title: str
    tables: str
    captions: Mapping[str, str]  # what each figure shows
    needs_data: bool = True
    left_out: str = ""  # what only a full run has

    @property
    def file(self) -> str:
        """The name of its module and of its results."""
        return self.name.replace("-", "_")


EXTENTS = {
    Extent.QUICK: "These rows are those of a quick run (`--quick`), which shows that it works and proves nothing.",
    Extent.USUAL: "All rows are of the usual extent of `make experiments`. A full run (`--full`) has besides: {0}.",
    Extent.FULL: "All rows come from a full run (`--full`).",
}
RULES = "(solid: the paper's split rule, dashed: ours)"
_QUALITY = {"f_measure": "Overall F-measure", "match_point": "Match point"}

EXPERIMENTS = (
    Experiment(
        "koc",
        "KOC against k-means (Pramanik, Lau, Zhang 2016)",
        "Adult",
        {
            "koc_loss": "Total loss (WHD) against k, without and with WID",
            "koc_seconds_k": "Time against k, without and with WID",
            "koc_seconds_attributes": "Time against the number of quasi-identifiers, k = 100",
        },
    ),
    Experiment(
        "cb",
        "CB against non-homogeneous generalization (He et al. 2012)",
        "generated SAL and INCOME",
        {
            f"cb_{table}_{x}": f"{table.upper()}: {words}"
            for x, words in {
                "k": "loss against k, for 3 to 6 quasi-identifiers",
                "attributes": "loss against the number of quasi-identifiers, k = 150",
                "records": "loss against the number of records, 7 quasi-identifiers, k = 150",
                "seconds": "time against the number of records, 7 quasi-identifiers, k = 150",
            }.items()
            for table in ("sal", "income")
        },
        needs_data=False,
        left_out=(
            "100,000 records instead of 50,000 for loss against k and attributes, NH and other readings of CB with 100 "
            "and 200 for k, 200,000 and 400,000 records, and NH and the other readings with 500,000"
        ),
    ),
    Experiment(
        "two-level",
        "Two-level, KACA and TopDown-KACA (Verma 2013)",
        "Adult",
        {
            "two_level_seconds": "Time against the number of quasi-identifiers",
            "two_level_distortion": "Distortion against the number of quasi-identifiers",
            "two_level_discernibility": "Discernibility against the number of quasi-identifiers",
        },
    ),
    Experiment(
        "dbca",
        "DBCA, DBCA:CM and Mondrian (Sun, Wang, Li 2008)",
        "Adult",
        {
            "dbca_distortion": "Total distortion against k",
            "dbca_classification": "Classification metric against k",
            "dbca_seconds": "Time against k",
        },
    ),
    Experiment(
        "tdr",
        "publishing for cluster analysis (Fung, Wang, Wang, Hung 2009)",
        "Adult and CRX",
        {
            **{
                f"tdr_{name}_{table}": f"{words} on {title} against h, by number of clusters and clusterer {RULES}"
                for name, words in _QUALITY.items()
                for table, title in (("adult", "Adult"), ("crx", "CRX"))
            },
            "tdr_size": f"F-measure against the size of the QID, 6 clusters, mean over h = 5 to 100 {RULES}",
            "tdr_multi": f"Several QIDs against their union, mean F-measure of 30 random requirements {RULES}",
            "tdr_scale": "Time of masking against the number of records, h = 50",
        },
        left_out=(
            "20 thresholds instead of 11 (3 where the size of the QID and the recipient are looked at), QIDs of 4, 6 "
            "and 8 attributes, h = 50 and our split rule for several QIDs, our split rule for recipients, 400,000 and "
            "800,000 records"
        ),
    ),
    Experiment(
        "optimum",
        "every algorithm against the best of all partitions",
        "small random ones",
        {"optimum": "Loss as a multiple of that of the best partition, summed over 90 tables"},
        needs_data=False,
    ),
)


def find_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names ('all' means all), or an InputError that names every unknown one."""
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    if "all" in names:
        return list(EXPERIMENTS)
    given = [name.replace("_", "-") for name in names]
    problems = [
        Problem("unknown-experiment", f"there is no experiment '{name}'", hint=did_you_mean(name, list(known)))
        for name in given
        if name not in known
    ]
    if problems:
        raise InputError(problems)
    return [known[name] for name in dict.fromkeys(given)]


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    data: str | Path | None = None,
    extent: Extent = Extent.USUAL,
    progress: ProgressCallback = silent,
) -> list[Finding]:
    """Run the cases that `out` does not hold yet; CSV, charts and a page are written there."""
    folder = data_folder(data) if experiment.needs_data else Path()
    out.mkdir(parents=True, exist_ok=True)
    _remember(experiment, out, extent)
    try:
        run: Run = import_module(f"experiments.{experiment.file}").run
    except ModuleNotFoundError as error:
        message = f"this experiment needs the package '{error.name}'"
        raise InputError(Problem("missing-package", message, hint="pip install 'shoal[dev]'")) from None
    findings = run(folder, out, extent, progress)
    finish_page(
        out, experiment.file, experiment.captions, EXTENTS[extent].format(experiment.left_out or "nothing more")
    )
    return findings


def _remember(experiment: Experiment, out: Path, extent: Extent) -> None:
    """A page tells which run its rows are of, so rows of two kinds of run are not mixed in one folder."""
    mark = out / f".{experiment.file}.extent"
    before = mark.read_text(encoding="utf-8").strip() if mark.is_file() else extent.value
    if before != extent.value:
        message = f"the folder '{out}' holds a {before} run of '{experiment.name}', not a {extent.value} one"
        raise InputError(Problem("other-run", message, hint="choose another folder, or remove that one"))
    mark.write_text(extent.value + "\n", encoding="utf-8")


def join_pages(out: Path, page: Path) -> None:
    """One page that leads to the pages of all experiments that have been run."""
    lines = [HEAD, "| experiment | tables | claims that hold |", "|---|---|---|"]
    folder = Path(os.path.relpath(out, page.parent))
    for experiment in EXPERIMENTS:
        file = out / f"{experiment.file}.md"
        if file.is_file():
            claims, held = counts(file)
            link = f"[{experiment.title}]({(folder / file.name).as_posix()})"
            lines.append(f"| {link} | {experiment.tables} | {held} of {claims} |")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def publish_pages(out: Path, folder: Path) -> None:
    """Copy pages, figures and numbers of the results to where they are committed."""
    folder.mkdir(parents=True, exist_ok=True)
    for experiment in EXPERIMENTS:
        if (out / f"{experiment.file}.md").is_file():
            for ending in ("md", "svg", "csv"):
                for file in sorted(out.glob(f"{experiment.file}*.{ending}")):
                    shutil.copyfile(file, folder / file.name)
