"""What publishing for cluster analysis gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster_release.cut import told_paths, told_taxonomy
from shoal.cluster_release.report import cluster_charts, cluster_report
from shoal.evaluation.usefulness.clustering.agreement import ClusterComparison
from shoal.evaluation.usefulness.clustering.clusterers import Labels
from shoal.pipeline.result import Result
from shoal.reports.charts.draw import save_pictures
from shoal.verification.result import Verification

TOLD_OF_STEPS = ("attribute", "refinement", "records", "gain", "anonymity_loss", "privacy_loss", "igpl", "score")


@dataclass(frozen=True, eq=False)
class ClusterRelease:
    """A release made for cluster analysis, with what the recipient may get besides."""

    result: Result  # the release as every run gives it back: frame, groups, certificate, losses and risks
    raw_labels: Labels  # the cluster of every record in the raw table
    masked_labels: Labels  # and in the released table
    comparison: ClusterComparison
    cut: Mapping[str, list[dict[str, Any]]]  # released values of every quasi-identifier with their records
    taxonomies: Mapping[str, list[dict[str, Any]]]  # the intervals grown for numbers
    sweep: Sequence[Mapping[str, Any]] = ()  # how well clusters survive at other thresholds
    hierarchies: Mapping[str, list[tuple[str, ...]]] = field(default_factory=dict)  # given taxonomies: leaf to root

    @property
    def release(self) -> Any:
        """The kind of frame that came in."""
        return self.result.release

    @property
    def certificate(self) -> dict[str, Any]:
        return self.result.certificate

    @property
    def verification(self) -> Verification:
        return self.result.verification

    @property
    def groups(self) -> NDArray[np.int32]:
        return self.result.groups

    @property
    def details(self) -> Mapping[str, Any]:
        return self.result.details

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """What was refined, in order, with scores."""
        steps: Sequence[Mapping[str, Any]] = self.result.details.get("steps", ())
        return steps

    def report(self) -> str:
        """One offline HTML page with charts."""
        return cluster_report(self.as_dict())

    def charts(self) -> dict[str, dict[str, Any]]:
        """Every chart by name, as Vega-Lite."""
        return cluster_charts(self.as_dict())

    def save_charts(self, folder: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
        """Write every chart into a folder; returns the files."""
        return save_pictures(self.charts(), folder, formats)

    def save(self, folder: str | Path, format: str = "csv") -> Result:
        """Write release, certificate, report and job into a folder, as `Result.save` does."""
        return self.result.save(folder, format)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the tables and labels, ready for JSON: it may go with the release, and tells no more of the
        raw values than that does."""
        return {
            "comparison": self.comparison.as_dict(),
            "cut": dict(self.cut),
            "taxonomies": {name: told_taxonomy(nodes) for name, nodes in self.taxonomies.items()},
            "hierarchies": {
                name: told_paths(paths, {str(one["value"]) for one in self.cut.get(name, ())})
                for name, paths in self.hierarchies.items()
            },
            "steps": [{name: step[name] for name in TOLD_OF_STEPS if name in step} for step in self.steps],
            "qids": list(self.details.get("qids", [])),
            "mode": self.details.get("mode"),
            "classes": int(self.groups.max()) + 1,
            "smallest_group": int(np.bincount(self.groups).min()),
            "sweep": [dict(row) for row in self.sweep],
            "verification": self.verification.as_dict(),
        }
