"""Chart specs: valid Vega-Lite, drawn without a browser, with the data in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import InputError
from shoal.reports.charts import draw, specs

WHEN = ("before", "after")
SPECS: dict[str, dict[str, Any]] = {
    "loss": specs.loss_per_attribute([{"attribute": "<b>age</b>", "loss": 0.2}, {"attribute": "sex", "loss": 0.0}]),
    "risk": specs.before_and_after([{"measure": "m", "when": when, "value": 0.5} for when in WHEN], "risk"),
    "sizes": specs.class_sizes(
        [{"sizes": "1", "order": 0, "records": 5, "share": 0.5, "when": when} for when in WHEN]
        + [{"sizes": "500+", "order": 8, "records": 0, "share": 0.0, "when": "after"}]
    ),
    "curve": specs.risk_curve([{"risk": 0.1, "share": 0.5, "when": when} for when in WHEN]),
    "queries": specs.query_errors(
        [{"selectivity": "1-5%", "order": 1, "queries": 9, "median": 0.1, "low": 0.05, "high": 0.3}]
    ),
    "accuracy": specs.accuracy([{"model": "m", "trained": name, "accuracy": 0.8} for name in ("original", "release")]),
    "tradeoff": specs.tradeoff(
        [{"algorithm": "a", "k": k, "gcp": 0.1, "average_risk": 1 / k} for k in (2, 10)], "gcp", "loss (GCP)"
    ),
    "frontier": specs.frontier(
        [{"algorithm": "a", "k": k, "gcp": 0.1, "seconds": 1.0} for k in (2, 10)], "gcp", "loss (GCP)"
    ),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_is_valid_and_plain(name: str) -> None:
    altair = pytest.importorskip("altair", reason="altair is not installed")
    spec = SPECS[name]
    json.dumps(spec, allow_nan=False)
    altair.Chart.from_dict(spec) if "layer" not in spec else altair.LayerChart.from_dict(spec)
    hovered = json.dumps(spec)
    assert "tooltip" in hovered


@pytest.mark.parametrize("name", ["loss", "queries", "frontier"])
def test_a_spec_can_be_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    picture = tmp_path / "chart.svg"
    draw.save_picture(SPECS[name], picture)
    text = picture.read_text()
    assert text.startswith("<svg")
    assert "<b>age" not in text


def test_a_picture_for_papers(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    picture = tmp_path / "chart.png"
    draw.save_picture(SPECS["risk"], picture)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(InputError, match="pictures are"):
        draw.save_picture(SPECS["risk"], tmp_path / "chart.bmp")


def test_empty_sizes_at_the_end_are_not_drawn() -> None:
    assert [record["sizes"] for record in SPECS["sizes"]["data"]["values"]] == ["1", "1"]


def test_the_script_is_kept_and_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(draw, "_bundle", lambda: "let x = 1;")
    draw.script.cache_clear()
    try:
        assert draw.script() == "let x = 1;"
        kept = list((tmp_path / "shoal").glob("vega-*.js"))
        assert len(kept) == 1
        monkeypatch.setattr(draw, "_bundle", lambda: "never called")
        draw.script.cache_clear()
        assert draw.script() == "let x = 1;"
    finally:
        draw.script.cache_clear()


def test_without_vl_convert_there_is_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise draw.PackageNotFoundError(name)

    monkeypatch.setattr(draw, "version", absent)
    draw.script.cache_clear()
    assert draw.script() is None
    draw.script.cache_clear()
