"""Shoal publishes tables about people so that nobody in them can be singled out, and loses as little as possible.

    import shoal
    result = shoal.anonymize(frame, quasi=["age", "zip", "sex"], k=10)
    result.release

Everything is loaded on first use, so that `import shoal` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "anonymize": "shoal.api",
    "evaluate": "shoal.api",
    "inspect": "shoal.api",
    "compare": "shoal.api",
    "publish_for_clustering": "shoal.cluster_release.publish",
    "publish_versions": "shoal.cluster_release.publish",
    "release_m_invariant": "shoal.pipeline.m_invariant",
    "run": "shoal.pipeline.run",
    "read_sql": "shoal.tables.formats.sql.connections",
    "verify": "shoal.api",
    "Job": "shoal.job.job",
    "Result": "shoal.pipeline.result",
    "ProgressBar": "shoal.reports.progress_bar",
    "Hierarchy": "shoal.hierarchies.hierarchy",
    "KAnonymity": "shoal.models.k_anonymity",
    "Qid": "shoal.models.linkage",
    "XYAnonymity": "shoal.models.linkage",
    "KMap": "shoal.models.k_map",
    "LDiversity": "shoal.models.l_diversity",
    "DistinctLDiversity": "shoal.models.l_diversity",
    "EntropyLDiversity": "shoal.models.l_diversity",
    "RecursiveCLDiversity": "shoal.models.l_diversity",
    "AlphaK": "shoal.models.alpha_k",
    "ConfidenceBound": "shoal.models.alpha_k",
    "PAlpha": "shoal.models.p_alpha",
    "TCloseness": "shoal.models.t_closeness",
    "BetaLikeness": "shoal.models.likeness",
    "DeltaDisclosure": "shoal.models.likeness",
    "ShoalError": "shoal.errors",
    "InputError": "shoal.errors",
    "RequirementError": "shoal.errors",
    "VerificationError": "shoal.errors",
    "InternalError": "shoal.errors",
}

if TYPE_CHECKING:
    from shoal.api import anonymize as anonymize
    from shoal.api import compare as compare
    from shoal.api import evaluate as evaluate
    from shoal.api import inspect as inspect
    from shoal.api import verify as verify
    from shoal.cluster_release.publish import publish_for_clustering as publish_for_clustering
    from shoal.cluster_release.publish import publish_versions as publish_versions
    from shoal.errors import InputError as InputError
    from shoal.errors import InternalError as InternalError
    from shoal.errors import RequirementError as RequirementError
    from shoal.errors import ShoalError as ShoalError
    from shoal.errors import VerificationError as VerificationError
    from shoal.hierarchies.hierarchy import Hierarchy as Hierarchy
    from shoal.job.job import Job as Job
    from shoal.models.alpha_k import AlphaK as AlphaK
    from shoal.models.alpha_k import ConfidenceBound as ConfidenceBound
    from shoal.models.k_anonymity import KAnonymity as KAnonymity
    from shoal.models.k_map import KMap as KMap
    from shoal.models.l_diversity import DistinctLDiversity as DistinctLDiversity
    from shoal.models.l_diversity import EntropyLDiversity as EntropyLDiversity
    from shoal.models.l_diversity import LDiversity as LDiversity
    from shoal.models.l_diversity import RecursiveCLDiversity as RecursiveCLDiversity
    from shoal.models.likeness import BetaLikeness as BetaLikeness
    from shoal.models.likeness import DeltaDisclosure as DeltaDisclosure
    from shoal.models.linkage import Qid as Qid
    from shoal.models.linkage import XYAnonymity as XYAnonymity
    from shoal.models.p_alpha import PAlpha as PAlpha
    from shoal.models.t_closeness import TCloseness as TCloseness
    from shoal.pipeline.m_invariant import release_m_invariant as release_m_invariant
    from shoal.pipeline.result import Result as Result
    from shoal.pipeline.run import run as run
    from shoal.reports.progress_bar import ProgressBar as ProgressBar
    from shoal.tables.formats.sql.connections import read_sql as read_sql

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
