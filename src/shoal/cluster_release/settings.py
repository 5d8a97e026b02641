"""What a release for cluster analysis is asked for, besides its job: how to cluster, how to mask, what to tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from shoal.cluster_release.cut import Range
from shoal.cluster_release.sweep import MODES, Sweep
from shoal.errors import Problem, did_you_mean
from shoal.evaluation.usefulness.clustering.clusterers import CLUSTERERS, Clusterer, clusterer_problems
from shoal.evaluation.usefulness.clustering.features import DEFAULT_ENCODING, Encoding
from shoal.models.base import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.models.linkage import Qid
from shoal.tables.schema import as_names

INTERVAL_TEXTS = ("closed", "half-open")
SPLIT_RULES = ("possible", "paper")
DEFAULT_THRESHOLD = 50
Qids = Sequence[tuple[Sequence[str], int]]


@dataclass(frozen=True)
class ClusterSettings:
    """How the table is clustered before and after, and how the masked values are written."""

    clusters: int = 6
    clusterer: str | Clusterer = "kmeans"
    recipient: str | Clusterer | None = None  # how the recipient clusters, if not as we do
    cluster_on: tuple[str, ...] | None = None  # None: all that is released, sensitive columns included
    encoding: Encoding = DEFAULT_ENCODING
    interval_text: str = "closed"
    ranges: Mapping[str, Range] = field(default_factory=dict)  # ends of domains for half-open intervals
    release_labels: bool = False
    sweep: tuple[int, ...] | Sweep = ()  # other thresholds (or more) for which only the quality is found out

    @property
    def swept(self) -> Sweep:
        return self.sweep if isinstance(self.sweep, Sweep) else Sweep(self.sweep)

    def problems(self) -> list[Problem]:
        problems = [*clusterer_problems(self.clusterer), *clusterer_problems(self.recipient)]
        if self.clusters < 1:
            message = f"the number of clusters must be at least 1, not {self.clusters}"
            problems.append(Problem("bad-clusters", message))
        if self.interval_text not in INTERVAL_TEXTS:
            message = f"intervals can be written {' or '.join(INTERVAL_TEXTS)}, not '{self.interval_text}'"
            problems.append(Problem("unknown-interval-text", message))
        return [*problems, *sweep_problems(self.swept)]


def sweep_problems(swept: Sweep) -> list[Problem]:
    problems = []
    if any(h < 2 for h in swept.thresholds):
        problems.append(Problem("bad-threshold", "every threshold of a sweep must be at least 2"))
    if any(clusters < 1 for clusters in swept.clusters):
        problems.append(Problem("bad-clusters", "every number of clusters of a sweep must be at least 1"))
    for what, given, known in (("clusterer", swept.clusterers, CLUSTERERS), ("mode", swept.modes, MODES)):
        for name in given:
            if name not in known:
                message, hint = f"there is no {what} '{name}' to sweep", did_you_mean(name, known)
                problems.append(Problem(f"unknown-{what}", message, hint=hint))
    return problems


def required_models(
    h: int | None, qids: Qids | None, models: Sequence[Model], problems: list[Problem]
) -> tuple[Model, ...]:
    """The conditions as models: one threshold for all quasi-identifiers, or one for each QID."""
    sizes: list[Model] = []
    try:
        if qids:
            sizes += [Qid(as_names(columns), k) for columns, k in qids]
        elif h is not None:
            sizes.append(KAnonymity(h))
    except ValueError as error:
        problems.append(Problem("bad-threshold", str(error)))
    return (*sizes, *models)


def thresholds(
    h: int | None, quasi: Sequence[str], models: Sequence[Model]
) -> tuple[int | None, Qids | None, list[Model]]:
    """The threshold of all quasi-identifiers, or the sets with theirs, and all other models.

    Beside sets, a threshold of all quasi-identifiers is one more set. A set that counts persons is a model like
    others. Where neither a threshold nor a model that counts is given, the threshold is 50.
    """
    sets = [(model.quasi, model.k) for model in models if isinstance(model, Qid) and model.person is None]
    others = [model for model in models if not isinstance(model, Qid) or model.person is not None]
    if sets:
        return None, [*sets, *([(tuple(quasi), h)] if h is not None and quasi else [])], others
    if h is None and not any(model.counts_only for model in models):
        h = DEFAULT_THRESHOLD
    return h, None, others


def at_threshold(models: Sequence[Model], threshold: int, person: str | None) -> tuple[Model, ...]:
    """The same conditions with another threshold: of every QID, or of the one of all quasi-identifiers.

    Models that count other persons than the job's are conditions of their own and stay.
    """

    def is_size(model: Model) -> TypeGuard[KAnonymity | Qid]:
        return isinstance(model, KAnonymity | Qid) and model.person in (None, person)

    changed = tuple(replace(model, k=threshold) if is_size(model) else model for model in models)
    return changed if any(is_size(model) for model in models) else (KAnonymity(threshold, person), *models)


def masking_parameters(algorithm: str, mode: str, split_rule: str = "possible") -> dict[str, Any]:
    """TDR is guided by the clusters, which are its class, unless another mode is asked for.

    Its split rule is ours (only splits that are possible), or that of the paper.
    """
    if algorithm != "tdr":
        return {}
    parameters: dict[str, Any] = {} if mode == "information" else {"mode": mode}
    return parameters if split_rule == "possible" else {**parameters, "possible_splits": False}


def split_rule_problems(algorithm: str, split_rule: str) -> list[Problem]:
    if split_rule not in SPLIT_RULES:
        message = f"there is no split rule '{split_rule}'"
        return [Problem("unknown-split-rule", message, hint=did_you_mean(split_rule, SPLIT_RULES))]
    if algorithm != "tdr" and split_rule != "possible":
        message = f"the split rule is one of 'tdr'; '{algorithm}' has none"
        return [Problem("bad-option", message, hint="leave it out, or mask with tdr")]
    return []
