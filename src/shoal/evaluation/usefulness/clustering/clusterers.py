"""Clusterers: k-means and bisecting k-means of scikit-learn by name, or any function of the caller.

A function of the caller takes (points of all records, number of clusters, seed) and returns a label per record.
Clusters are renumbered by falling size, so that their numbers do not depend on chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.evaluation.usefulness.clustering.features import Features, Points

Labels = NDArray[np.int32]
Clusterer = Callable[[Points, int, int], ArrayLike]

CLUSTERERS = ("kmeans", "bisecting")
STARTS = 10  # k-means begins anew this many times and keeps the tightest result


def cluster_features(features: Features, clusterer: str | Clusterer, clusters: int, seed: int) -> Labels:
    """A cluster number for every record, 0 for the largest cluster.

    There are never more clusters than distinct rows. The named clusterers run on one thread, so that sums are always
    taken in the same order and the result is the same on every machine.
    """
    if clusters < 1:
        raise InputError(Problem("bad-clusters", f"the number of clusters must be at least 1, not {clusters}"))
    clusters = min(clusters, features.points.shape[0])
    if callable(clusterer):
        labels = np.asarray(clusterer(features.of_records, clusters, seed))
        if labels.shape != features.row_of_record.shape:
            raise InputError(Problem("bad-clusterer", "the clusterer must return one label per record"))
    else:
        labels = _run_named(features, clusterer, clusters, seed)[features.row_of_record]
    return by_falling_size(labels)


def by_falling_size(labels: ArrayLike) -> Labels:
    """Labels as numbers 0, 1, ... by falling cluster size; of equal sizes the label that sorts first."""
    _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    rank = np.empty(sizes.shape[0], dtype=np.int32)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.shape[0], dtype=np.int32)
    return rank[codes]


def _run_named(features: Features, name: str, clusters: int, seed: int) -> NDArray[np.int64]:
    if name not in CLUSTERERS:
        message = f"there is no clusterer '{name}'"
        raise InputError(Problem("unknown-clusterer", message, hint=did_you_mean(name, CLUSTERERS)))
    if seed < 0:
        raise InputError(Problem("bad-seed", "the seed must be at least 0"))
    try:
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        hint = "install the extra 'eval', or give a clusterer of your own"
        raise InputError(Problem("missing-package", "clustering needs scikit-learn", hint=hint)) from None
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        # Rows that differ in text can be equal points, so there may be fewer points than clusters: fewer it is then.
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator = _estimator(name, clusters, seed)
        found: NDArray[np.int64] = estimator.fit_predict(features.points, sample_weight=features.weights)
    return found


def _estimator(name: str, clusters: int, seed: int) -> Any:
    from sklearn.cluster import BisectingKMeans, KMeans

    seed %= 2**32  # scikit-learn takes no larger one
    if name == "kmeans":
        return KMeans(clusters, n_init=STARTS, random_state=seed)
    return BisectingKMeans(clusters, n_init=STARTS, random_state=seed, bisecting_strategy="largest_cluster")
