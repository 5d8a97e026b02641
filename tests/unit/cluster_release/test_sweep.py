"""Sweeps over several settings: every row is what a release with these settings would have said."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.cluster_release.publish import publish_for_clustering
from shoal.cluster_release.sweep import Sweep
from shoal.errors import InputError


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    random = np.random.default_rng(8)
    kind = random.integers(0, 3, 150)
    return pl.DataFrame(
        {
            "age": (30 * kind + random.integers(0, 25, 150)).tolist(),
            "hours": (10 * kind + random.integers(0, 12, 150)).tolist(),
            "town": random.choice(["Ahl", "Berg", "Cott"], 150).tolist(),
        }
    )


def test_every_combination_is_one_row_and_says_what_a_release_says(people: pl.DataFrame) -> None:
    sweep = Sweep(thresholds=(20, 5), clusters=(2, 3), modes=("information", "distort"))
    found = publish_for_clustering(people, quasi=["age", "hours", "town"], clusters=2, h=10, sweep=sweep)
    keys = [(row["h"], row["clusters"], row["mode"]) for row in found.sweep]
    assert keys == [(h, c, m) for h in (5, 20) for c in (2, 3) for m in ("information", "distort")]
    for h, clusters, mode in ((5, 3, "distort"), (20, 2, "information")):
        alone = publish_for_clustering(people, quasi=["age", "hours", "town"], clusters=clusters, h=h, mode=mode)
        row = found.sweep[keys.index((h, clusters, mode))]
        assert row["f_measure"] == pytest.approx(alone.comparison.f_measure)
        assert row["match_point"] == pytest.approx(alone.comparison.match_point)
    page = found.report()
    assert "3 clusters" in page
    assert "dashed: distort" in page


def test_without_thresholds_the_own_one_is_kept(people: pl.DataFrame) -> None:
    sweep = Sweep(clusterers=("kmeans", "bisecting"))
    found = publish_for_clustering(people, quasi=["age", "hours"], drop_rest=True, clusters=3, h=10, sweep=sweep)
    assert [(row["h"], row["clusterer"]) for row in found.sweep] == [(10, "kmeans"), (10, "bisecting")]
    assert found.sweep[0]["f_measure"] == pytest.approx(found.comparison.f_measure)


def test_the_split_rule_of_the_paper_is_the_parameter_of_tdr(people: pl.DataFrame) -> None:
    from shoal.algorithms.tdr.tdr import Tdr

    given = publish_for_clustering(people, quasi=["age", "hours"], drop_rest=True, clusters=3, h=20, split_rule="paper")
    same = publish_for_clustering(
        people, quasi=["age", "hours"], drop_rest=True, clusters=3, h=20, algorithm=Tdr(possible_splits=False)
    )
    assert given.release.equals(same.release)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"split_rule": "ours"}, "unknown-split-rule"),
        ({"split_rule": "paper", "algorithm": "mondrian"}, "bad-option"),
        ({"sweep": Sweep(modes=("information",)), "algorithm": "mondrian"}, "bad-option"),
        ({"sweep": Sweep(clusterers=("kmean",))}, "unknown-clusterer"),
        ({"sweep": Sweep(clusters=(0,))}, "bad-clusters"),
    ],
)
def test_what_cannot_be_swept_is_told(people: pl.DataFrame, settings: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        publish_for_clustering(people, quasi=["age"], clusters=2, h=5, **settings)  # type: ignore[arg-type]
    assert reason in caught.value.reasons
