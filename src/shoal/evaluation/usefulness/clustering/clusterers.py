"""Clusterers of scikit-learn by name (the list is `CLUSTERERS`), or any function of the caller.

`agglomerative` (Ward) and `mixture` (Gaussian, one variance per feature) know no weights, and the first compares all
pairs: they are fitted on a sample of at most some thousand records, and every other row joins the nearest centre, or
the most likely component.

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

CLUSTERERS = ("kmeans", "bisecting", "agglomerative", "mixture")
STARTS = 10  # k-means begins anew this many times and keeps the tightest result
SAMPLES = {"agglomerative": 4_000, "mixture": 20_000}  # records that these are fitted on, at most


Doubles = NDArray[np.float64]


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


def clusterer_problems(name: str | Clusterer | None) -> list[Problem]:
    """What speaks against a clusterer that was asked for."""
    if name is None or callable(name) or name in CLUSTERERS:
        return []
    hint = did_you_mean(name, CLUSTERERS)
    return [Problem("unknown-clusterer", f"there is no clusterer '{name}'", hint=hint)]


def _run_named(features: Features, name: str, clusters: int, seed: int) -> NDArray[np.int64]:
    problems = clusterer_problems(name)
    if seed < 0:
        problems.append(Problem("bad-seed", "the seed must be at least 0"))
    if problems:
        raise InputError(problems)
    try:
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        hint = "install the extra 'eval', or give a clusterer of your own"
        raise InputError(Problem("missing-package", "clustering needs scikit-learn", hint=hint)) from None
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        # Rows that differ in text can be equal points, so there may be fewer points than clusters: fewer it is then.
        warnings.simplefilter("ignore", ConvergenceWarning)
        seed %= 2**32  # scikit-learn takes no larger one
        if name in SAMPLES:
            return _run_on_sample(features, name, clusters, seed)
        estimator = _k_means(name, clusters, seed)
        found: NDArray[np.int64] = estimator.fit_predict(features.points, sample_weight=features.weights)
    return found


def _k_means(name: str, clusters: int, seed: int) -> Any:
    from sklearn.cluster import BisectingKMeans, KMeans

    if name == "kmeans":
        return KMeans(clusters, n_init=STARTS, random_state=seed)
    return BisectingKMeans(clusters, n_init=STARTS, random_state=seed, bisecting_strategy="largest_cluster")


def _run_on_sample(features: Features, name: str, clusters: int, seed: int) -> NDArray[np.int64]:
    """The label of every row, by clusters of a sample of records."""
    rows = _sample_rows(features, SAMPLES[name], seed)
    points = features.points[rows].astype(np.float64)
    clusters = min(clusters, np.unique(points, axis=0).shape[0])
    everything = features.points.astype(np.float64)
    if name == "mixture":
        return _by_mixture(points, everything, clusters, seed)
    return _by_merging(points, everything, clusters, rows)


def _by_mixture(points: Doubles, everything: Doubles, clusters: int, seed: int) -> NDArray[np.int64]:
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(clusters, covariance_type="diag", reg_covar=1e-3, random_state=seed).fit(points)
    found: NDArray[np.int64] = mixture.predict(everything)
    return found


def _by_merging(points: Doubles, everything: Doubles, clusters: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Agglomerative clusters of the sample; the other records belong to the nearest centre."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import pairwise_distances_argmin

    labels = AgglomerativeClustering(clusters).fit_predict(points) if clusters > 1 else np.zeros(len(rows), np.int64)
    centres = np.stack([points[labels == label].mean(axis=0) for label in range(clusters)])
    nearest: NDArray[np.int64] = pairwise_distances_argmin(everything, centres)
    nearest[rows] = labels  # rows of the sample keep the cluster that they were merged into
    return nearest


def _sample_rows(features: Features, most: int, seed: int) -> NDArray[np.int64]:
    """The rows of a sample of records: all records if there are few, so that a row stands there once per record."""
    if features.weights.sum() <= most:
        return np.repeat(np.arange(features.weights.shape[0]), features.weights)
    chosen = np.random.default_rng(seed).choice(features.row_of_record.shape[0], most, replace=False)
    return np.sort(features.row_of_record[chosen]).astype(np.int64)
