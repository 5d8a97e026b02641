"""Does a release keep the clusters of the original? k-means on both, compared record by record.

Features are those of `models_ml`, numbers scaled to the range of the original. At most `largest` records are used,
drawn at random. For publishing that is made for cluster analysis, see `shoal.cluster_release`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.evaluate.clusters import compare_clusterings
from shoal.evaluate.models_ml import LARGEST, few_threads, is_installed, table_features
from shoal.metrics.reading import ReadTable

CLUSTERS = 6


def cluster_agreement(
    table: ReadTable, original: pl.DataFrame, *, clusters: int = CLUSTERS, largest: int = LARGEST, seed: int = 0
) -> dict[str, Any]:
    """F-measure, match point and adjusted Rand index of the two clusterings; or why there are none."""
    if not is_installed():
        return {"skipped": "scikit-learn is not installed: pip install 'shoal[eval]'"}
    if not table.aligned:
        return {"skipped": "the rows of release and original do not belong together"}
    random = np.random.default_rng([seed, 41])
    rows = np.sort(random.permutation(original.height)[:largest]).astype(np.int64)
    before = table_features(table, original, rows, scaled=True)
    after = table_features(table, original, rows, release=True, scaled=True)
    if min(np.unique(features, axis=0).shape[0] for features in (before, after)) < clusters:
        return {"skipped": f"there are fewer than {clusters} different records"}
    from sklearn.cluster import KMeans

    with few_threads():
        labels = [
            KMeans(clusters, n_init=2, max_iter=60, random_state=seed).fit_predict(features)
            for features in (before, after)
        ]
    found = compare_clusterings(*labels).as_dict()
    found.pop("contingency")
    return {**found, "clusters": clusters, "records": int(rows.shape[0]), "sampled": original.height > largest}
