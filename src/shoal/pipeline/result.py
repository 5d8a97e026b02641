"""What a run gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.progress import ProgressCallback, silent
from shoal.tables.formats.atomic import check_outputs, make_folder
from shoal.tables.formats.files import format_to_write

if TYPE_CHECKING:
    from shoal.evaluation.evaluate import Evaluation
    from shoal.reports.frontier import Comparison
    from shoal.verification.result import Verification


class Holder:
    """What only the holder of the data can do with a result: it knows the original, so it is never stored or sent."""

    def __init__(
        self,
        evaluate: Callable[[ProgressCallback], Evaluation] | None = None,
        publish: Callable[[Mapping[str, Path]], Result] | None = None,
        frontier: Callable[[Sequence[int], ProgressCallback], Comparison] | None = None,
    ) -> None:
        self._evaluate = evaluate
        self._publish = publish
        self._frontier = frontier

    def evaluate(self, progress: ProgressCallback) -> Evaluation:
        if self._evaluate is None:
            raise _no_original("evaluate")
        return self._evaluate(progress)

    def publish(self, places: Mapping[str, Path]) -> Result:
        if self._publish is None:
            raise _no_original("save")
        return self._publish(places)

    def frontier(self, ks: Sequence[int], progress: ProgressCallback) -> Comparison:
        if self._frontier is None:
            raise _no_original("compare")
        return self._frontier(ks, progress)

    def __reduce__(self) -> tuple[type[Holder], tuple[()]]:
        return Holder, ()


def _no_original(verb: str) -> InputError:
    message = "the original is not kept with a result that was stored or sent"
    return InputError(Problem("no-original", message, hint=f"{verb} it in the program that made it"))


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A verified release with everything that is known about it."""

    release: Any  # the kind of frame that came in; a polars frame when a file came in; its path if it was streamed
    groups: NDArray[np.int32]  # one group number per input row; none if it was streamed
    certificate: dict[str, Any]  # what was checked on the released values, with hashes
    metrics: dict[str, float]  # gcp, ncp, discernibility, c_avg, lower_bound, ...
    per_attribute: dict[str, dict[str, float]]  # the metrics that exist per attribute
    risk: dict[str, dict[str, float]]  # before and after
    seconds: dict[str, float]  # per stage
    verification: Verification  # what the check of the released values found
    details: Mapping[str, Any] = field(default_factory=dict)  # what the algorithm tells about its run

    holder: Holder = field(default_factory=Holder, repr=False)

    def evaluate(self, progress: ProgressCallback = silent) -> Evaluation:
        """Loss, risk, attacks, statistics and queries, with the plan of the run; it shows itself in notebooks."""
        return self.holder.evaluate(progress)

    def frontier(self, ks: Sequence[int] = (2, 5, 10, 20, 50), progress: ProgressCallback = silent) -> Comparison:
        """The same table once for each k: what more protection would cost. A list of records; notebooks draw it.

        Every other model stays as it is, and nothing is written.
        """
        return self.holder.frontier(ks, progress)

    def report(
        self,
        progress: ProgressCallback = silent,
        *,
        public: bool = False,
        language: str | None = None,
        frontier: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        """The page about this release, as HTML that needs no network; `public` leaves out what helps an attacker.

        `frontier` is what `result.frontier()` or `shoal.compare` gave.
        """
        evaluation = self.evaluate(progress)
        return evaluation.report(summary=self.summary(), public=public, language=language, frontier=frontier)

    def save(self, folder: str | Path, format: str = "csv") -> Result:
        """Write release, certificate, report and job into a folder; the written bytes are checked as in every run.

        `format` is the ending of the release: csv, parquet or arrow. Returns the result with the certificate of the
        file. All files appear, or none.
        """
        folder = Path(folder)
        make_folder(folder)
        names = {
            "release": f"release.{format}",
            "certificate": "certificate.json",
            "report": "report.html",
            "job": "job.yaml",
        }
        places = {name: folder / file for name, file in names.items()}
        problems = check_outputs(places.values())
        try:
            format_to_write(places["release"])
        except InputError as error:
            problems += error.problems
        if problems:
            raise InputError(problems)
        return self.holder.publish(places)

    def summary(self) -> dict[str, Any]:
        """Everything but the table and the groups, as plain numbers and words."""
        return {
            "records": self.certificate["records"]["released"],
            "suppressed": self.certificate["records"]["suppressed"],
            "classes": self.certificate["classes"],
            "smallest_class": self.certificate["smallest_class"],
            "metrics": self.metrics,
            "per_attribute": self.per_attribute,
            "risk": self.risk,
            "seconds": self.seconds,
            "details": dict(self.details),
            "certificate": self.certificate,
        }

    def __repr__(self) -> str:
        """A summary that a person reads; no value of the data."""
        records, checks = self.certificate["records"], self.certificate["checks"]
        suppressed = f" ({records['suppressed']:,} suppressed)" if records["suppressed"] else ""
        smallest = "none" if self.certificate["smallest_class"] is None else f"{self.certificate['smallest_class']:,}"
        bound = self.metrics.get("lower_bound")
        least = f", at least {bound:.4f} is unavoidable" if bound else ""
        lines = [
            f"Release of {records['released']:,} records{suppressed}",
            f"  groups          {self.certificate['classes']:,}, the smallest of {smallest}",
            f"  loss (GCP)      {self.metrics['gcp']:.4f}" + least,
            f"  highest risk    {self.risk['before']['highest']:.1%} before, {self.risk['after']['highest']:.1%} after",
        ]
        lines += [f"  {check['model']:<15} {'holds' if check['passed'] else 'DOES NOT HOLD'}" for check in checks]
        lines.append("  .release, .certificate, .metrics, .evaluate(), .frontier(), .report(), .save(folder)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A short table and charts for notebooks."""
        from shoal.reports.notebook import summary_html

        return summary_html(self.summary())
