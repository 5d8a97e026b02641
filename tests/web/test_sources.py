"""Tables of databases as sources: those that were named at the start, and no other ones."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A database with a table, a view, and a table that is to be left alone."""
    pytest.importorskip("adbc_driver_sqlite", reason="databases need adbc: pip install 'shoal[sql]'")
    path = tmp_path / "clinic.db"
    rows = [(f"SECRETname{n}", 20 + n % 40, f"0410{n % 8}", "mf"[n % 2], f"SECRETill{n % 5}") for n in range(240)]
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE patients (name TEXT, age INTEGER, zip TEXT, sex TEXT, disease TEXT)")
        database.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", rows)
        database.execute("CREATE VIEW adults AS SELECT * FROM patients")
        database.commit()
    return path


def test_a_table_of_a_database_with_a_highest_level(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, clinic: Path
) -> None:
    server = serve("--workspace", tmp_path / "workspace", "--database", f"sqlite://{clinic}")
    seen = visit(server)
    page = seen.page
    table = page.get_by_role("combobox", name="Table")
    table.wait_for()
    assert table.locator("option").all_inner_texts() == ["adults", "patients"]
    table.select_option("patients")
    page.get_by_role("button", name="Open patients").click()
    seen.see("Who stands alone")
    seen.step("Hierarchies")
    page.get_by_role("navigation", name="Columns").get_by_role("button", name="zip").click()
    page.get_by_role("button", name="Prefix").click()
    page.get_by_role("combobox", name="At most as blurred as").select_option("level 1, such as 0410*")
    seen.step("Run")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Checked")
    page.get_by_role("table").get_by_role("link", name="Publish").click()
    seen.see("The release holds.")
    saved = {name: seen.save(name, tmp_path) for name in ("The release", "Job file")}
    assert page.get_by_role("heading", name="The table", exact=True).count() == 0
    assert set(pl.read_csv(saved["The release"], infer_schema=False)["zip"]) <= {
        *(f"0410{n}" for n in range(8)),
        "0410*",
    }
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    saved["Job file"].rename(elsewhere / "job.yaml")
    command = [sys.executable, "-m", "shoal.cli.main", "anonymize", "--job", "job.yaml", "--quiet"]
    subprocess.run(command, cwd=elsewhere, check=True, capture_output=True)
    assert (elsewhere / "release.csv").read_bytes() == saved["The release"].read_bytes()
    seen.is_clean()
    server.end()
    assert "SECRET" not in "".join(server.said)


def test_only_what_was_named_can_be_opened(serve: Callable[..., Any], clinic: Path) -> None:
    server = serve("--database", f"sqlite://{clinic}?table=adults", "--database", f"sqlite://{clinic}")
    server.enter()
    named = server.json("GET", "/api/catalogue")["databases"]
    assert named == [{"number": 0, "kind": "sqlite", "table": "adults"}, {"number": 1, "kind": "sqlite", "table": None}]
    assert server.json("GET", "/api/databases/0")["tables"] == ["adults"]
    wanted = {"kind": "database", "number": 0, "table": "patients", "key": ""}
    made = server.json("POST", "/api/projects", wanted)  # the address names its table: no other one
    assert made["source"] == {"kind": "database", "name": "adults (sqlite)"}
    place = f"/api/projects/{made['number']}"
    assert server.json("POST", f"{place}/ask", {"ask": "rows", "count": 1})["records"] == 240
    assert server.ask("GET", f"{place}/table")[0] == 404
    for number in (-1, 2, "0", f"sqlite://{clinic}"):
        assert server.ask("POST", "/api/projects", {**wanted, "number": number})[0] == 422
    status, _, content = server.ask("POST", "/api/projects", {**wanted, "number": 1, "table": ""})
    assert (status, b"choose a table" in content) == (422, True)
    missing = server.json("POST", "/api/projects", {**wanted, "number": 1, "table": "nobody"})
    status, _, content = server.ask("POST", f"/api/projects/{missing['number']}/ask", {"ask": "overview"})
    assert (status, b"there is no such table" in content) == (422, True)
