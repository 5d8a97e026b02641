"""KACA: k-anonymisation by clustering in attribute hierarchies.

J. Li, R. C.-W. Wong, A. W.-C. Fu, J. Pei, Anonymization by local recoding in data with attribute hierarchical
taxonomies, IEEE TKDE 20(9), 2008; described in M. Verma, k-Anonymity using two level clustering, NIT Rourkela, 2013.

1. Start from the equivalence classes: records that are equal in all quasi-identifiers.
2. While a class has fewer than k records, take one of them at random and merge it with the class at the smallest
   distance: the cost of lifting both to their closest common generalization, each weighted by its size.

Cost: with c classes, of which u are too small, at most u searches over the living classes: O(u c m) at worst, quadratic
in n unless many records are equal. Classes stand in blocks of similar ones with bounds, so a search leaves most
blocks out, and it gives a class up at the first attribute that makes it worse than the best.

Deviations: ties go to the first class found. Models other than k-anonymity are
left to the shared repair. The release is the tight box of each group, which is never
wider than the node that the algorithm lifted to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.kaca.distance import make_ladders
from shoal.algorithms.kaca.merging import check_feasible, merge_small, random_state
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import renumber
from shoal.hierarchies.weights import check_scheme
from shoal.models.base import Requirement


@dataclass(frozen=True, kw_only=True)
class Kaca(Algorithm):
    """Merge classes that are too small with their nearest class."""

    weights: str = "uniform"  # of the levels: uniform or height
    beta: float = 1.0  # exponent of height weights

    name: ClassVar[str] = "kaca"
    title: ClassVar[str] = "merge each small equivalence class with its nearest one"
    citation: ClassVar[str] = "Li, Wong, Fu, Pei 2008"

    def __post_init__(self) -> None:
        check_scheme(self.weights, self.beta)

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        check_feasible(table, requirement)
        ladders = make_ladders(table.attributes, self.weights, self.beta)
        merged = merge_small(
            ladders,
            ladders.flat_codes(table.codes),
            table.weights,
            requirement.k,
            random_state(context),
            lambda done: context.report(0.9 * done),
        )
        groups = renumber(merged)[table.row_of_record]
        classes = int(np.count_nonzero(table.weights < requirement.k))
        return Clustering(groups, details={"classes": table.rows, "small_classes": classes})
