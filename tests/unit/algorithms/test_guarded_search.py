"""The search under models besides k-anonymity: its own counts are right at every price, and it pays to charge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.algorithms.test_shoal import make_table, plain_loss

from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.shoal.kernels.state import NOBODY, energy_after
from shoal.algorithms.shoal.refine import STRICT, Round, search_block
from shoal.algorithms.shoal.shoal import Shoal
from shoal.encode.encoded_table import EncodedColumn, EncodedTable
from shoal.encode.items import SearchProblem, make_problem, record_groups
from shoal.kernels.random import random_state
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.models.safety import bind_search_rules
from shoal.progress import StopRequest
from shoal.safe_groups.repair import repair

MODELS = {
    "persons": (["k-anonymity:4"], "person"),
    "diversity": (["k-anonymity:4", "l-diversity:disease:2"], None),
    "both": (["k-anonymity:4", "l-diversity:disease:1.5"], "person"),
    "distinct": (["k-anonymity:3", "distinct-l:disease:3"], None),
    "closeness": (["k-anonymity:4", "t-closeness:disease:0.3:equal"], None),
}


def table_of_people(records: int, seed: int) -> EncodedTable:
    """Persons have one to three records that are the same but for a number."""
    random = np.random.default_rng(seed)
    table = make_table(records, seed=seed)
    order = np.lexsort(table.codes[:, table.row_of_record])
    person = np.empty(records, dtype=np.int32)
    person[order] = np.cumsum(random.random(records) < 0.6)
    person -= person.min()
    disease = random.choice(4, records, p=[0.6, 0.2, 0.15, 0.05]).astype(np.int32)
    columns = {
        "disease": EncodedColumn("disease", disease, 4),
        "person": EncodedColumn("person", person, int(person.max()) + 1),
    }
    return replace(table, columns=columns)


def requirement_of(name: str) -> Requirement:
    models, person = MODELS[name]
    return Requirement.of(parse_models(models)).count_persons(person)


def problem_of(table: EncodedTable, requirement: Requirement) -> SearchProblem:
    safety, apart = bind_search_rules(requirement, table, 4_000)
    return replace(make_problem(table, requirement.k, safety), counted=apart.codes, wanted=apart.wanted)


def groups_of(problem: SearchProblem, state_group: NDArray[np.int64], table: EncodedTable) -> NDArray[np.int32]:
    return record_groups(problem, state_group.astype(np.int32), table.row_of_record)


@pytest.mark.parametrize("price", [0.1, 5.0, STRICT])
@pytest.mark.parametrize("name", MODELS)
def test_what_the_search_counts_is_so(name: str, price: float) -> None:
    table, requirement = table_of_people(160, seed=3), requirement_of(name)
    problem = problem_of(table, requirement)
    everything = np.arange(problem.items, dtype=np.int32)
    plan = Round(
        block_size=1_000, trials=30.0, hot=0.3, cold=0.05, power=0.3, rebuilds=20.0, near_share=12, heat=1.0,
        unsafe=price,
    )  # fmt: skip
    start = (everything // requirement.k).clip(max=problem.items // requirement.k - 1)
    before = requirement.deficits(table, groups_of(problem, start, table), int(start.max()) + 1)
    state, guard = search_block(
        problem, everything, start, plan, 0.3, random_state(np.random.default_rng(7)), StopRequest()
    )
    assert guard is not None
    assert problem.item_record is not None
    assert not guard.row.any()
    for group in range(state.size.shape[0]):
        records = problem.item_record[np.flatnonzero(state.group == group)]
        assert state.size[group] == records.shape[0]
        assert records.shape[0] == 0 or records.shape[0] >= requirement.k
        for column, codes in enumerate(problem.counted if problem.counted is not None else []):
            assert guard.distinct[group, column] == np.unique(codes[records]).shape[0]
        if records.shape[0]:
            one = np.zeros(table.records, dtype=np.int32)
            one[records] = 1
            assert (guard.deficit[group] > 0) == (requirement.deficits(table, one, 2)[1] > 0)
            assert state.energy[group] == pytest.approx(energy_after(state, group, NOBODY, NOBODY))
    if price == STRICT:
        after = groups_of(problem, state.group, table)
        assert (requirement.deficits(table, after, int(after.max()) + 1) > 0).sum() <= (before > 0).sum()


def test_persons_are_counted_apart_and_few_values_by_a_histogram() -> None:
    table, requirement = table_of_people(300, seed=1), requirement_of("both")
    safety, apart = bind_search_rules(requirement, table, 4_000)
    assert apart.codes.shape == (1, 300)
    assert apart.wanted.tolist() == [4.0]
    assert safety.starts.tolist() == [0, 4]
    assert safety.complete
    few = replace(
        table, columns={**table.columns, "person": EncodedColumn("person", np.arange(300, dtype=np.int32) % 60, 60)}
    )
    safety, apart = bind_search_rules(requirement, few, 4_000)
    assert apart.codes.shape[0] == 0
    assert safety.starts.tolist() in ([0, 4, 64], [0, 60, 64])


@pytest.mark.parametrize("name", ["persons", "both"])
def test_a_search_that_charges_loses_less_than_mending(name: str) -> None:
    table, requirement = table_of_people(600, seed=5), requirement_of(name)
    found = Shoal(effort=0.2).cluster(table, requirement, Context())
    assert requirement.deficits(table, found.groups, int(found.groups.max()) + 1).max() == 0.0
    plain = Shoal(effort=0.2).cluster(table, requirement_of_k(requirement.k), Context())
    mended = repair(table, Clustering(plain.groups), requirement, Context())
    assert plain_loss(table, found.groups) < 0.97 * plain_loss(table, mended.groups)
    again = Shoal(effort=0.2).cluster(table, requirement, Context(threads=2))
    assert np.array_equal(found.groups, again.groups)


def requirement_of_k(k: int) -> Requirement:
    return Requirement.of(parse_models([f"k-anonymity:{k}"]))
