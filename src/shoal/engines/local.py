"""The engine of one machine: an algorithm on an encoded table in memory, then what all algorithms share.

The repair and the suppression are imported where they are used: most runs need neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.encode.canonical import canonical_order, in_order
from shoal.encode.encoded_table import EncodedTable
from shoal.engines.base import Abilities
from shoal.models.base import Requirement
from shoal.safe_groups import several_sets as multi_qid

if TYPE_CHECKING:
    from shoal.safe_groups.suppress import Hidden

LOCAL = Abilities(
    inputs="CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS; one file; a table or query of a database",
    outputs="CSV, Parquet, Arrow, Excel; one file; a table of a database",
    memory="the table: about ten times its size as CSV",
    any_algorithm=True,
    report=True,
    groups=True,
    frames="pandas, polars, pyarrow",
)
LOCAL_RECODING = "local"  # a value may be released differently in different groups


def cluster_table(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    suppression_limit: float = 0.0,
    hidden: Hidden | None = None,
    scheme: str = LOCAL_RECODING,
) -> Clustering:
    """Groups that are safe for every model: the algorithm's own, mended where it knows only the group size.

    Where attributes may be lifted up to a level only, the parts of the table that never meet are clustered one by one.
    Several quasi-identifier sets are clustered one after the other, unless the algorithm has its own way with them.
    Where a share of the records may be suppressed, outliers leave their groups at the end; `hidden` tells which records
    a clustering releases as `*` in every attribute, for they are one class with the suppressed ones.

    An algorithm that takes rows is given the records in canonical order, so that the order of the input means nothing.
    A `scheme` other than local makes the groups those of a global recoding, which decides itself about suppression.
    """
    context = replace(context, suppression_limit=suppression_limit)
    if scheme == LOCAL_RECODING:
        return _cluster_in_order(table, requirement, algorithm, context, suppression_limit, hidden)
    from shoal.safe_groups.global_recoding import recode_globally

    found = _cluster_in_order(table, requirement, algorithm, context, 0.0, hidden)
    return recode_globally(table, found, requirement, scheme, context)


def _cluster_in_order(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    suppression_limit: float,
    hidden: Hidden | None,
) -> Clustering:
    """With the records in canonical order, if that matters to the algorithm."""
    columns = key_columns(requirement, algorithm)
    in_any_order = not columns and deals_rows(requirement, algorithm, suppression_limit)
    if in_any_order or not algorithm.takes_rows:
        return cluster_records(table, requirement, algorithm, context, suppression_limit, hidden)
    order = canonical_order(table, columns)
    place = np.empty_like(order)
    place[order] = np.arange(order.shape[0])
    found = cluster_records(
        in_order(table, order),
        requirement,
        algorithm,
        context,
        suppression_limit,
        None if hidden is None else lambda one: hidden(_reordered(one, place))[order],
    )
    return _reordered(found, place)


def cluster_records(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    suppression_limit: float = 0.0,
    hidden: Hidden | None = None,
) -> Clustering:
    """Local recoding, with the records in the order in which the table has them.

    `suppression_limit` is for outliers; that of the context says what may be suppressed at all.
    """
    context = replace(context, suppression_limit=max(context.suppression_limit, suppression_limit))
    if any(attribute.capped for attribute in table.attributes) and not algorithm.takes_caps:
        from shoal.safe_groups.capped import cluster_strata

        outliers = suppression_limit > 0
        return cluster_strata(table, requirement, algorithm, context, hidden, cluster_records, outliers=outliers)
    if multi_qid.applies(requirement) and not algorithm.takes_sets:
        return multi_qid.cluster_sets(table, requirement, algorithm, context)
    clustering = algorithm.cluster(table, requirement, context)
    if clustering.boxes is not None:  # the algorithm decides about the released values, and answers for all models
        return clustering
    if not requirement.size_only:
        from shoal.safe_groups.repair import repair

        clustering = repair(table, clustering, requirement, context)
    if suppression_limit > 0:
        from shoal.safe_groups.suppress import suppress_outliers

        first = clustering
        clustering = suppress_outliers(table, first, requirement, suppression_limit, hidden)
        if algorithm.searches_again():
            from shoal.engines.without_outliers import may_search_again, search_without_outliers

            if may_search_again(requirement):
                clustering = search_without_outliers(
                    table, requirement, algorithm, context, suppression_limit, hidden, first, clustering
                )
    return clustering


def key_columns(requirement: Requirement, algorithm: Algorithm) -> tuple[str, ...]:
    """The columns, besides quasi-identifiers, that groups depend on: a record is told apart by these and no others."""
    return tuple(dict.fromkeys([*requirement.columns(), *algorithm.looks_at()]))


def deals_rows(requirement: Requirement, algorithm: Algorithm, suppression_limit: float) -> bool:
    """Whether groups can be found from rows and weights alone, and dealt out to the records of a row in order."""
    return algorithm.deals_rows(requirement) and suppression_limit == 0 and not multi_qid.applies(requirement)


def _reordered(found: Clustering, place: NDArray[np.int64]) -> Clustering:
    """A clustering of records in another order: `place` is where each record was."""
    boxes = found.boxes
    return replace(
        found,
        groups=found.groups[place],
        boxes=None if boxes is None else replace(boxes, box_of_record=boxes.box_of_record[place]),
        suppressed=None if found.suppressed is None else found.suppressed[place],
        attribute_groups=None if found.attribute_groups is None else found.attribute_groups[:, place],
    )
