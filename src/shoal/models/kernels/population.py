"""How many records of a population fit the released values of each group, counted up to a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel


@kernel
def count_fitting(
    population: Any,
    owners: Any,
    codes: Any,
    starts: Any,
    members: Any,
    low: Any,
    high: Any,
    kinds: Any,
    flat: int,
    offsets: Any,
    limit: int,
    found: Any,
) -> None:
    """For each group a scan of the population that stops at `limit`; the first attribute that does not fit rejects.

    IN  population  int32 (attributes, rows)   owners int32 (rows,) the number of the person of each row, from 0
    IN  codes       int32 (attributes, records)
    IN  starts      int64 (groups + 1,)   members int32 (records,) in the order of the groups
    IN  low, high   int32 (attributes, groups) the codes that fit an interval or a tree
    IN  kinds       int32 (attributes,)   flat: the kind whose sets are not ranges   offsets int64 (attributes + 1,)
    OUT found       int64 (groups,) at most limit
    """
    attributes, rows = population.shape
    last_group = np.full(owners.max() + 1 if rows > 0 else 1, -1)  # the last group in which each person was counted
    present = np.zeros(offsets[attributes], dtype=np.bool_)
    for group in range(found.shape[0]):
        for attribute in range(attributes):
            if kinds[attribute] == flat:
                for place in range(starts[group], starts[group + 1]):
                    present[offsets[attribute] + codes[attribute, members[place]]] = True
        count = 0
        for row in range(rows):
            fits = last_group[owners[row]] != group
            if not fits:
                continue
            for attribute in range(attributes):
                code = population[attribute, row]
                if kinds[attribute] == flat:
                    fits = present[offsets[attribute] + code]
                else:
                    fits = low[attribute, group] <= code <= high[attribute, group]
                if not fits:
                    break
            if fits:
                last_group[owners[row]] = group
                count += 1
                if count == limit:
                    break
        found[group] = count
        for attribute in range(attributes):
            if kinds[attribute] == flat:
                for place in range(starts[group], starts[group + 1]):
                    present[offsets[attribute] + codes[attribute, members[place]]] = False
