"""The named clusterers and those of the caller."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import InputError
from shoal.evaluation.usefulness.clustering.clusterers import CLUSTERERS, SAMPLES, by_falling_size, cluster_features
from shoal.evaluation.usefulness.clustering.features import Features


def three_heaps() -> tuple[Features, np.ndarray]:
    random = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], [45, 35, 20])
    points = (truth[:, None] * [4.0, 2.0] + random.normal(0, 0.2, (100, 2))).astype(np.float32)
    return Features(points, np.ones(100, dtype=np.int64), np.arange(100, dtype=np.int32)), truth


@pytest.mark.parametrize("name", CLUSTERERS)
def test_named_clusterers_find_the_heaps_and_number_them_by_size(name):
    features, truth = three_heaps()
    assert (cluster_features(features, name, 3, seed=0) == truth).all()


@pytest.mark.parametrize("name", CLUSTERERS)
def test_same_seed_same_labels(name):
    features, _ = three_heaps()
    one, other = (cluster_features(features, name, 5, seed=3) for _ in range(2))
    assert (one == other).all()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_what_is_fitted_on_a_sample_finds_the_heaps_of_all_records(name, monkeypatch):
    monkeypatch.setitem(SAMPLES, name, 40)
    features, truth = three_heaps()
    assert (cluster_features(features, name, 3, seed=0) == truth).all()


def test_agglomerative_is_scikit_learns_on_every_record():
    from sklearn.cluster import AgglomerativeClustering

    points = np.random.default_rng(5).normal(size=(60, 3)).astype(np.float32)
    weights = np.random.default_rng(6).integers(1, 4, 60)
    features = Features(points, weights, np.repeat(np.arange(60), weights).astype(np.int32))
    expected = AgglomerativeClustering(4).fit_predict(features.of_records)
    assert (cluster_features(features, "agglomerative", 4, seed=0) == by_falling_size(expected)).all()


@pytest.mark.parametrize("name", ["kmeans", "agglomerative", "mixture"])
def test_weights_count_as_records(name):
    features, _ = three_heaps()
    few = Features(
        np.array([[0.0], [1.0], [1.1]], np.float32),
        np.array([90, 5, 5]),
        np.repeat([0, 1, 2], [90, 5, 5]).astype(np.int32),
    )
    labels = cluster_features(few, name, 2, seed=0)
    assert np.bincount(labels).tolist() == [90, 10]
    assert features.points.shape == (100, 2)


def test_a_function_of_the_caller_sees_every_record():
    features, truth = three_heaps()
    seen = {}

    def halves(points, clusters, seed):
        seen["call"] = points.shape, clusters, seed
        return ["far" if x > 2 else "near" for x in points[:, 0]]

    labels = cluster_features(features, halves, 2, seed=7)
    assert seen["call"] == ((100, 2), 2, 7)
    assert (labels == (truth == 0)).all()  # the far ones are more


@pytest.mark.parametrize("name", CLUSTERERS)
def test_never_more_clusters_than_points(name):
    same = Features(np.zeros((2, 3), np.float32), np.array([3, 3]), np.repeat([0, 1], 3).astype(np.int32))
    assert set(cluster_features(same, name, 6, seed=0)) <= {0, 1}


@pytest.mark.parametrize(
    ("clusterer", "clusters", "reason"),
    [
        ("kmean", 2, "unknown-clusterer"),
        ("kmeans", 0, "bad-clusters"),
        (lambda points, k, seed: [0], 2, "bad-clusterer"),
    ],
)
def test_what_is_wrong_is_said(clusterer, clusters, reason):
    features, _ = three_heaps()
    with pytest.raises(InputError) as caught:
        cluster_features(features, clusterer, clusters, seed=0)
    assert caught.value.reasons == (reason,)


def test_labels_by_falling_size():
    assert by_falling_size(["b", "a", "a", "c", "b", "a"]).tolist() == [1, 0, 0, 2, 1, 0]
