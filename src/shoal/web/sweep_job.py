"""How well clusters survive, threshold by threshold: the framework for cluster analysis, with nothing released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.cluster_release.framework import publish_clusters
from shoal.cluster_release.publish import BY_TAXONOMY, parsed
from shoal.cluster_release.settings import ClusterSettings, masking_parameters, required_models, thresholds
from shoal.cluster_release.sweep import Sweep
from shoal.errors import Problem
from shoal.job.draft import resolve
from shoal.job.job import Job
from shoal.pipeline.sources import begin_reading
from shoal.progress import Watch


def sweep_quality(job: Job, wanted: Mapping[str, Any], watch: Watch) -> list[dict[str, Any]]:
    """F-measure, match point and adjusted Rand of every threshold, clustered on the quasi-identifiers."""
    problems: list[Problem] = []
    h, qids, others = thresholds(job.k, job.quasi, parsed(job.models, problems))
    masking = job.model_copy(
        update={
            "k": None,
            "models": (),
            "recoding": BY_TAXONOMY,
            "parameters": {**masking_parameters(job.algorithm, "information"), **job.parameters},
        }
    )
    settings = ClusterSettings(
        clusters=int(wanted["clusters"]),
        cluster_on=job.quasi,
        sweep=Sweep(thresholds=tuple(wanted["thresholds"])),
    )
    draft = resolve(masking, required_models(h, qids, others, problems), problems)
    return [dict(row) for row in publish_clusters(draft, begin_reading(masking), settings, watch).sweep]
