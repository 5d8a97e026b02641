"""The readings that the papers leave open, each replayed in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.bisection.cb import Cb
from shoal.algorithms.bisection.kernels.split import grow_halves
from shoal.algorithms.bisection.kernels.split_work import load_group, make_work
from shoal.algorithms.dbca.dbca import Dbca, DbcaCm
from shoal.algorithms.greedy.koc import Koc, closest_rows
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table
from shoal.testing.tables import encode_simple


def numbers(seed: int, records: int) -> tuple[EncodedTable, np.ndarray]:
    cells = np.random.default_rng(seed).permutation(1000)[: 2 * records].reshape(2, records)
    table = encode_simple({"one": cells[0].tolist(), "two": cells[1].tolist()})
    return table, np.stack(
        [one.positions[codes] for one, codes in zip(table.attributes, table.record_codes, strict=True)]
    )


def requirement(k: int) -> Requirement:
    return Requirement.of([KAnonymity(k)])


@pytest.mark.parametrize("total", [False, True])
def test_cb_joins_by_the_increase_or_by_the_total(total: bool) -> None:
    table, places = numbers(3, 40)
    geometry = table_geometry(table)
    order, state = np.arange(40, dtype=np.int64), np.array([12345], dtype=np.uint64)
    work = make_work(geometry, 40, 3, 40)
    load_group(table.record_codes, order, 0, 40, work, state)
    work.centres[:, 0], work.centres[:, 1] = places[:, 4], places[:, 30]
    grow_halves(geometry, work, 40, total, state)
    halves = [[places[:, 4]], [places[:, 30]]]  # with the centres, which do not count as members
    for place in work.turn[:40].tolist():
        record = places[:, order[place]]
        scores = []
        for half in halves:
            before, after = np.ptp(half, axis=0).sum(), np.ptp([*half, record], axis=0).sum()
            members = len(half) - 1
            scores.append((members + 1) * after - (0 if total else members * before))
        smaller = 0 if len(halves[0]) <= len(halves[1]) else 1
        joined = smaller if scores[0] == scores[1] else int(np.argmin(scores))
        if abs(scores[0] - scores[1]) > 1e-12:
            assert work.side[place] == joined
        halves[int(work.side[place])].append(record)


def test_the_joins_of_cb_give_different_groups_of_k() -> None:
    table = random_table(2, 300, attributes=3, values=40)
    found = {
        join: Cb(join=join).cluster(table, requirement(4), Context()).groups
        for join in ("increase", "total", "centres")
    }
    assert all(np.bincount(groups).min() >= 4 for groups in found.values())
    assert len({groups.tobytes() for groups in found.values()}) == 3
    again = Cb(join="groups").cluster(table, requirement(4), Context()).groups
    assert (again == found["increase"]).all()


def test_koc_takes_the_records_nearest_to_the_fixed_centre() -> None:
    table, places = numbers(8, 31)
    groups = Koc(join="centre").cluster(table, requirement(5), Context()).groups
    apart = np.abs(places[:, :, None] - places[:, None, :]).sum(axis=0)
    record_of_row = np.argsort(table.row_of_record)
    centres = record_of_row[closest_rows(table, 6)].tolist()
    free = set(range(31)) - set(centres)
    expected = {centre: [centre] for centre in centres}
    for centre in reversed(centres):
        for record in sorted(free, key=lambda other: apart[centre, other])[:4]:
            expected[centre].append(record)
            free.discard(record)
    for record in sorted(free):
        expected[min(centres, key=lambda centre: apart[centre, record])].append(record)
    assert sorted(map(sorted, expected.values())) == sorted(np.flatnonzero(groups == g).tolist() for g in range(6))


@pytest.mark.parametrize("join", ["distortion", "centre"])
def test_koc_makes_as_many_clusters_as_it_is_told(join: str) -> None:
    table, _ = numbers(1, 50)
    groups = Koc(clusters=4, join=join).cluster(table, requirement(5), Context()).groups
    sizes = np.bincount(groups)
    assert sizes.shape == (4,)
    assert sizes.min() >= 5
    most = Koc(clusters=99, join=join).cluster(table, requirement(5), Context()).groups
    assert np.bincount(most).shape == (10,)


def test_dbca_cm_forces_one_label_on_a_group_where_that_is_possible() -> None:
    table = random_table(4, 200, attributes=3, values=9)
    labels = table.columns["label"].codes
    forced = DbcaCm(class_column="label", labels="forced").cluster(table, requirement(5), Context())
    assert np.bincount(forced.groups).min() >= 5
    assert all(len(set(labels[forced.groups == group].tolist())) == 1 for group in range(int(forced.groups.max()) + 1))
    one = np.flatnonzero(labels == 1)
    inside = Dbca().cluster(_only(table, one), requirement(5), Context()).groups
    pairs = set(zip(inside.tolist(), forced.groups[one].tolist(), strict=True))
    assert len(pairs) == int(inside.max()) + 1  # the same groups as DBCA on this label alone


def test_records_of_a_rare_label_join_other_groups() -> None:
    table = encode_simple({"number": list(range(12))}, sensitive={"label": ["x"] * 10 + ["y"] * 2})
    found = DbcaCm(class_column="label", labels="forced").cluster(table, requirement(5), Context())
    assert found.details["records_of_rare_labels"] == 2
    assert sorted(np.bincount(found.groups).tolist()) == [5, 7]


def _only(table: EncodedTable, records: np.ndarray) -> EncodedTable:
    from shoal.encode.some_records import some_records

    return some_records(table, records)
