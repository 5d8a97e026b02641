from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.bisection.nonhomogeneous import NonHomogeneous
from shoal.errors import InputError
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.recode.release import RecodeOptions, recode
from shoal.testing.contract import ContractTable, contract_tables
from shoal.verification.nonhomogeneous import check_candidates
from shoal.verification.reading import Knowledge

ORIGINAL = pl.DataFrame({"age": [20, 25, 30, 35], "town": ["Ahl", "Berg, Ost", "Cott", "Dorf"]})


def test_a_ring_of_four_has_two_candidates_in_both_directions() -> None:
    release = pl.DataFrame(
        {
            "age": ["[20, 25]", "[25, 30]", "[30, 35]", "[20, 35]"],
            "town": ['{Ahl, "Berg, Ost"}', '{"Berg, Ost", Cott}', "{Cott, Dorf}", "{Ahl, Dorf}"],
        }
    )
    found = check_candidates(ORIGINAL, release, ["age", "town"], 2)
    assert found.passed
    assert (found.records_per_released_row, found.released_rows_per_record) == (2, 2)
    three = check_candidates(ORIGINAL, release, ["age", "town"], 3)
    assert not three.passed
    assert (three.offending_released_rows, three.offending_records) == (4, 4)


def test_one_direction_alone_is_not_enough() -> None:
    """Every released row fits all four people, but the first person fits one row only."""
    release = pl.DataFrame({"age": ["[20, 35]", "[25, 35]", "[25, 35]", "[25, 35]"]})
    found = check_candidates(ORIGINAL, release, ["age"], 2)
    assert found.records_per_released_row == 2
    assert found.released_rows_per_record == 1
    assert found.offending_records == 1
    assert not found.passed


def test_exact_values_stars_and_missing_values() -> None:
    original = pl.DataFrame({"age": [20, 20, None, None, 40]})
    release = pl.DataFrame({"age": ["20", "20", None, None, "*"]})
    found = check_candidates(original, release, ["age"], 2)
    assert found.records_per_released_row == 2
    assert found.released_rows_per_record == 1  # 40 fits only the suppressed row
    assert found.offending_records == 1


def test_labels_of_a_hierarchy_and_dates() -> None:
    tree = make_hierarchy({"*": {"west": ["Ahl", "Cott"], "east": ["Berg, Ost", "Dorf"]}}, [], "town", None)
    release = pl.DataFrame({"town": ["west", "east", "west", "east"]})
    assert check_candidates(ORIGINAL, release, ["town"], 2, Knowledge({"town": tree})).passed
    assert not check_candidates(ORIGINAL, release, ["town"], 3, Knowledge({"town": tree})).passed
    days = pl.DataFrame({"day": [date(2020, 1, 1), date(2020, 1, 31), date(2021, 5, 5), date(2021, 6, 6)]})
    ranges = pl.DataFrame({"day": ["[2020-01-01, 2020-01-31]"] * 2 + ["[2021-05-05, 2021-06-06]"] * 2})
    assert check_candidates(days, ranges, ["day"], 2).passed


def test_a_text_that_says_nothing_fits_nobody() -> None:
    release = pl.DataFrame({"age": ["young", "[20, 35]", "[20, 35]", "[20, 35]"]})
    found = check_candidates(ORIGINAL, release, ["age"], 2)
    assert found.records_per_released_row == 0
    assert found.offending_released_rows == 1


def test_tables_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError):
        check_candidates(ORIGINAL, ORIGINAL.head(3), ["age"], 2)


@pytest.mark.parametrize("table", list(contract_tables()), ids=lambda table: table.name)
def test_released_boxes_hold_on_every_kind_of_column(table: ContractTable) -> None:
    """The whole way: cluster, recode to text, read the text back, count."""
    requirement = Requirement.of([KAnonymity(table.k)])
    clustering = NonHomogeneous().cluster(table.table, requirement, Context(seed=1))
    release = recode(table.frame, table.table, table.codebook, clustering, [], RecodeOptions())
    trees = {column.name: column.hierarchy for column in table.codebook.columns if column.hierarchy is not None}
    assert check_candidates(table.frame, release, table.frame.columns, table.k, Knowledge(trees)).passed


def test_large_integers_are_told_apart() -> None:
    """Neighbours beyond 2^53 are one float, but nobody's candidates for each other."""
    original = pl.DataFrame({"number": [2**53, 2**53 + 1, 2**53, 2**53 + 1]})
    assert check_candidates(original, original.cast(pl.String), ["number"], 3).records_per_released_row == 2
    assert check_candidates(original, original.cast(pl.String), ["number"], 2).passed
