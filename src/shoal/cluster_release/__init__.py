"""Publishing for cluster analysis: cluster, mask guided by the clusters, cluster again, compare, release."""

from typing import Any

__all__ = ["ClusterRelease", "compare_release", "publish_for_clustering"]


def __getattr__(name: str) -> Any:
    if name == "publish_for_clustering":
        from shoal.cluster_release.publish import publish_for_clustering

        return publish_for_clustering
    if name == "ClusterRelease":
        from shoal.cluster_release.result import ClusterRelease

        return ClusterRelease
    if name == "compare_release":
        from shoal.evaluation.usefulness.clustering.comparison import compare_release

        return compare_release
    raise AttributeError(name)
