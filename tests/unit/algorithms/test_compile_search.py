"""The first run compiles in two processes: the little examples must need the very kernels that a real table needs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.shoal import compile_search
from shoal.algorithms.shoal.kernels.anneal import anneal
from shoal.algorithms.shoal.kernels.near import nearest_rows
from shoal.algorithms.shoal.kernels.rebuild import gather_members, place_members, rebuild
from shoal.algorithms.shoal.kernels.regrow import regrow
from shoal.algorithms.shoal.shoal import Shoal
from shoal.kernels import second_process as beside
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

KERNELS = (anneal, nearest_rows, regrow, gather_members, place_members, rebuild)


def test_the_examples_compile_what_a_table_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_search, "must_compile", lambda kernel: True)
    compile_search.compile_side()
    compile_search.end_compiling()
    before = [set(kernel.signatures) for kernel in KERNELS]
    assert all(before)
    random = np.random.default_rng(5)
    table = encode_simple(
        {"age": random.integers(20, 70, 300).tolist(), "place": random.choice(list("abcdefgh"), 300).tolist()},
        hierarchies={"place": {"*": {"low": list("abcd"), "high": list("efgh")}}},
    )
    Shoal(effort=0.5).cluster(table, Requirement.of([KAnonymity(4)]), Context())
    assert [set(kernel.signatures) for kernel in KERNELS] == before


def test_a_second_process_is_started_once_and_only_if_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    real = subprocess.Popen

    def popen(command: list[str], **others: int) -> subprocess.Popen[bytes]:
        started.append(command)
        return real([sys.executable, "-c", "pass"], **others)

    monkeypatch.setattr(beside.subprocess, "Popen", popen)
    monkeypatch.setattr(beside.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(beside, "must_compile", lambda kernel: False)
    beside.compile_beside("some.module", "some.kernel")
    assert started == []
    monkeypatch.setattr(beside, "must_compile", lambda kernel: True)
    monkeypatch.setattr(beside, "remembers", lambda: False)  # the other process could hand nothing over
    beside.compile_beside("some.module", "some.kernel")
    assert started == []
    monkeypatch.setattr(beside, "remembers", lambda: True)
    beside.compile_beside("some.module", "some.kernel")
    beside.compile_beside("some.module", "some.kernel")
    assert started == [[sys.executable, "-m", "some.module"]]
    beside.wait_for("some.module")
    beside.wait_for("some.module")


def test_a_process_that_is_not_needed_any_more_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(beside.subprocess, "Popen", lambda command, **others: real(sleeper, **others))
    monkeypatch.setattr(beside.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(beside, "must_compile", lambda kernel: True)
    beside.compile_beside("another.module", "some.kernel")
    process = beside._running["another.module"]
    beside._end("another.module")
    assert process.poll() is not None
