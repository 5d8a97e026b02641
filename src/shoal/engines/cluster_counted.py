"""Groups of a counted table: from rows alone where that will do, else from records in canonical order."""

from __future__ import annotations

from shoal.algorithms.base import Algorithm, Context
from shoal.encode.counted import CountedTable
from shoal.engines.local import cluster_records, deals_rows
from shoal.models.base import Requirement
from shoal.recode.deals import Deals, deals_of_items, deals_of_records
from shoal.recode.release import RecodeOptions, hidden_records


def cluster_counted(
    counted: CountedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    suppression_limit: float,
    options: RecodeOptions,
) -> Deals:
    """The groups that `cluster_table` finds for the same records, as deals.

    Models besides k-anonymity, persons and suppression look at records one by one: these then take 4 bytes per record
    and column, besides what the search needs. With k-anonymity alone nothing grows with the number of records.
    """
    if deals_rows(requirement, algorithm, suppression_limit):
        found = algorithm.cluster_rows(counted.table, requirement, context)
        assert found is not None
        return deals_of_items(found, counted)
    table = counted.with_records()
    clustering = cluster_records(
        table,
        requirement,
        algorithm,
        context,
        suppression_limit,
        lambda one: hidden_records(table, counted.codebook, one, options),
    )
    return deals_of_records(clustering, counted)
