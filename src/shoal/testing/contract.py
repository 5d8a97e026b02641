"""The checks that every algorithm must pass, for ours and for those that others write.

    from shoal.testing import check_algorithm
    check_algorithm(MyAlgorithm())

Each check raises AssertionError with a sentence that says what was promised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.encode.codebook import Codebook
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.engines.local import cluster_table
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.recode.release import RecodeOptions, recode
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role
from shoal.verification.check import verify_release

COLOURS = {"*": {"warm": ["red", "orange", "yellow"], "cold": ["blue", "green"], "none": ["white", "black"]}}
LEAVES = [leaf for group in COLOURS["*"].values() for leaf in group]


class ContractTable:
    """A small table with what is needed to cluster, recode and verify it."""

    def __init__(self, name: str, frame: pl.DataFrame, k: int) -> None:
        self.name, self.frame, self.k = name, frame, k
        attributes = [Attribute(c, Role.QUASI_IDENTIFYING, find_scale(frame[c])) for c in frame.columns]
        trees = {"colour": make_hierarchy(COLOURS, [], "colour", None)} if "colour" in frame.columns else {}
        encoded: tuple[EncodedTable, Codebook] = encode_table(frame, attributes, trees, EncodeOptions())
        self.table, self.codebook = encoded


def contract_tables() -> Iterator[ContractTable]:
    """Mixed kinds, many equal rows, constants, missing values, as few records as k allows, skewed numbers."""
    random = np.random.default_rng(20240229)
    for records, k in ((60, 2), (61, 7), (300, 10)):
        yield ContractTable(f"mixed {records}", _mixed(random, records), k)
    yield ContractTable("equal rows", pl.DataFrame({"number": [1] * 9 + [2] * 4, "letter": ["a"] * 9 + ["b"] * 4}), 3)
    yield ContractTable("constant", pl.DataFrame({"number": [5] * 12, "letter": ["x"] * 12}), 4)
    yield ContractTable("as few as k", pl.DataFrame({"number": list(range(5)), "letter": list("aabbc")}), 5)
    yield ContractTable("one less than 2 k", pl.DataFrame({"number": list(range(9))}), 5)
    yield ContractTable("missing", _with_missing(50), 4)


def _mixed(random: np.random.Generator, records: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "number": random.integers(0, 90, records),
            "colour": random.choice(LEAVES, records),
            "letter": random.choice(list("abcdefgh"), records, p=[0.5, 0.3, 0.1, 0.04, 0.03, 0.01, 0.01, 0.01]),
            "decimal": np.round(random.lognormal(3, 1, records), 2),
        }
    )


def _with_missing(records: int) -> pl.DataFrame:
    places = range(records)
    return pl.DataFrame(
        {
            "number": [None if place % 7 == 0 else place % 11 for place in places],
            "letter": [None if place % 5 == 0 else "abc"[place % 3] for place in places],
            "colour": [None if place % 6 == 0 else LEAVES[place % 7] for place in places],
        }
    )


def check_algorithm(algorithm: Algorithm) -> None:
    """Run every check of the contract on every table."""
    for table in contract_tables():
        for check in CHECKS:
            try:
                check(algorithm, table)
            except AssertionError as error:
                raise AssertionError(f"{algorithm.name} on '{table.name}': {error}") from None


def _cluster(algorithm: Algorithm, table: ContractTable, seed: int = 7, threads: int = 1) -> Clustering:
    requirement = Requirement.of([KAnonymity(table.k)])
    return cluster_table(table.table, requirement, algorithm, Context(seed, threads))


def check_every_record_in_a_safe_group(algorithm: Algorithm, table: ContractTable) -> None:
    groups = _cluster(algorithm, table).groups
    assert groups.dtype == np.int32, "groups are 32-bit integers"
    assert groups.shape == (table.table.records,), "there is one group number per record"
    sizes = np.bincount(groups)
    assert (sizes > 0).all(), "groups are numbered without gaps"
    if algorithm.class_based:
        assert sizes.min() >= table.k, "every group has at least k records"


def check_deterministic(algorithm: Algorithm, table: ContractTable) -> None:
    first, again = _cluster(algorithm, table), _cluster(algorithm, table)
    assert (first.groups == again.groups).all(), "the same seed gives the same groups"


def check_independent_of_threads(algorithm: Algorithm, table: ContractTable) -> None:
    one, two = _cluster(algorithm, table, threads=1), _cluster(algorithm, table, threads=2)
    assert (one.groups == two.groups).all(), "the number of threads does not change the groups"


def check_input_untouched(algorithm: Algorithm, table: ContractTable) -> None:
    encoded = table.table
    codes, weights, rows = encoded.codes.copy(), encoded.weights.copy(), encoded.row_of_record.copy()
    _cluster(algorithm, table)
    assert np.array_equal(codes, encoded.codes), "the codes are not changed"
    assert np.array_equal(weights, encoded.weights), "the weights are not changed"
    assert np.array_equal(rows, encoded.row_of_record), "the rows of the records are not changed"


def check_released_values(algorithm: Algorithm, table: ContractTable) -> None:
    clustering = _cluster(algorithm, table)
    released = recode(table.frame, table.table, table.codebook, clustering, [], RecodeOptions())
    assert released.shape == table.frame.shape, "the release has as many records and columns as the input"
    if algorithm.class_based:
        found = verify_release(released, table.frame.columns, [KAnonymity(table.k)])
        assert found.passed, f"the released values hold k-anonymity; the smallest class is {found.smallest_class}"


CHECKS: tuple[Callable[[Algorithm, ContractTable], None], ...] = (
    check_every_record_in_a_safe_group,
    check_deterministic,
    check_independent_of_threads,
    check_input_untouched,
    check_released_values,
)
