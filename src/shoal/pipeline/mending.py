"""Groups found anew for some records, so that a release holds together with earlier ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.encode.subset import table_of
from shoal.engines.local import cluster_table
from shoal.errors import RequirementError
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import threads_of
from shoal.progress import Watch
from shoal.releases.needs import Needs

NEIGHBOURS = 4  # groups that are found anew together, at least


def regrouped(
    prepared: Prepared, groups: NDArray[np.int32], records: NDArray[np.int64], needs: Needs, watch: Watch
) -> NDArray[np.int32] | None:
    """The same groups, but for some records, whose classes have what their needs ask for; None if that cannot be."""
    table, requirement = needs.bind(prepared.table, prepared.requirement)
    context = Context(
        prepared.job.seed, threads_of(prepared.job), watch.progress, watch.stop, wants_bound=False
    )  # fmt: skip
    try:
        part: Clustering = cluster_table(table_of(table, records), requirement, prepared.algorithm, context)
    except RequirementError:
        return None
    anew = groups.copy()
    anew[records] = part.groups + int(groups.max(initial=0)) + 1
    return np.unique(anew, return_inverse=True)[1].astype(np.int32)


def with_neighbours(
    prepared: Prepared, groups: NDArray[np.int32], chosen: NDArray[np.bool_], least: int
) -> NDArray[np.bool_]:
    """Groups near the chosen ones go along: those of the same block, and more until there are `least` records."""
    centres, sizes = _centres(prepared, groups)
    parts, ready = [np.arange(sizes.shape[0])], []
    while parts:
        part = parts.pop()
        if part.shape[0] < 2 * NEIGHBOURS:
            ready.append(part)
            continue
        widest = int(np.argmax(np.std(centres[part], axis=0)))
        ordered = part[np.argsort(centres[part, widest], kind="stable")]
        parts += [ordered[part.shape[0] // 2 :], ordered[: part.shape[0] // 2]]
    found = chosen.copy()
    for block in ready:
        found[block] = chosen[block].any()
    if found.any() and sizes[found].sum() < least:
        distance = np.abs(centres - centres[found].mean(axis=0)).sum(axis=1)
        order = np.lexsort((np.arange(sizes.shape[0]), distance, ~found))
        found[order[: int(np.searchsorted(np.cumsum(sizes[order]), least)) + 1]] = True
    return found


def _centres(prepared: Prepared, groups: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The middle of every group by its codes, each attribute from 0 to 1, and how many records it has."""
    table, sizes = prepared.table, np.bincount(groups)
    centres = np.empty((sizes.shape[0], table.width))
    for number, attribute in enumerate(table.attributes):
        codes = table.codes[number][table.row_of_record] / max(attribute.size - 1, 1)
        centres[:, number] = np.bincount(groups, weights=codes) / np.maximum(sizes, 1)
    return centres, sizes
