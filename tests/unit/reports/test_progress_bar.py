"""The bar of notebooks: what it shows, how often, and where."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import polars as pl
import pytest

import shoal
from shoal.progress import Progress
from shoal.reports import progress_bar


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook of Jupyter gets to show."""
    pictures: list[str] = []
    handle = SimpleNamespace(update=pictures.append)
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    display = SimpleNamespace(HTML=str, display=lambda first, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return pictures


def test_a_run_in_a_notebook(shown: list[str]) -> None:
    frame = pl.DataFrame({"age": [20 + n % 40 for n in range(200)]})
    shoal.anonymize(frame, quasi=["age"], k=5, algorithm="mondrian", progress=shoal.ProgressBar())
    assert any("Clustering" in picture for picture in shown)
    assert "100%" in shown[-1]
    assert not any("<script" in picture or "http" in picture for picture in shown)


def test_it_is_drawn_seldom_and_at_the_end(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    bar = shoal.ProgressBar()
    for step in range(101):
        now[0] = step / 100
        bar(Progress("cluster", step / 100, loss=0.5))
    assert 5 <= len(shown) <= 8
    assert "loss 0.5000" in shown[-1]
    assert "width:100%" in shown[-1]
    bar(Progress("cluster", 0.3, bound=0.1))
    assert len(shown) <= 8
    bar(Progress("verify", 0.1, note="<b>"))
    assert "&lt;b&gt;" in shown[-1]


def test_lines_where_there_is_no_notebook(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.delitem(sys.modules, "marimo", raising=False)
    shoal.ProgressBar()(Progress("read", 0.5))
    assert capsys.readouterr().err == "Reading     [############............] 50%, 0 s\n"
