"""The frontier that fills by itself after the first run: small tables fully, large ones from a sample that says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.web.settings import FRONTIER_ALGORITHMS, FRONTIER_KS, FRONTIER_RECORDS, planned_frontier
from shoal.web.turns import Turns

ALL = len(FRONTIER_ALGORITHMS) * len(FRONTIER_KS)


def stored_runs(tmp_path: Path) -> list[dict[str, Any]]:
    paths = (tmp_path / "workspace").glob("projects/owner/*/runs/*/run.json")
    return sorted((json.loads(path.read_text()) for path in paths), key=lambda run: run["made"])


def start_a_run(seen: Any, table: Path) -> None:
    seen.page.get_by_role("link", name=table.stem).click()
    seen.see("Who stands alone")
    seen.step("Run")
    seen.see("It begins when the first run has finished.")
    seen.page.get_by_role("button", name="Start the run").click()


def test_it_fills_by_itself_and_makes_room_for_runs(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path
) -> None:
    server = serve("--workspace", tmp_path / "workspace", people)
    seen = visit(server)
    page = seen.page
    start_a_run(seen, people)
    seen.see(f"of {ALL} done")
    page.get_by_role("button", name="Start the run").click()  # comes between
    seen.see(f"all {ALL} done")
    first, own, second = stored_runs(tmp_path)
    assert [first["state"], own["state"], second["state"]] == ["done"] * 3
    assert own["points"][-1]["k"] == min(FRONTIER_KS)
    tasks = [(point["algorithm"], point["k"]) for point in own["points"]]
    assert sorted(tasks) == sorted((name, k) for name in FRONTIER_ALGORITHMS for k in FRONTIER_KS)
    (same,) = [point for point in own["points"] if (point["algorithm"], point["k"]) == ("shoal", 5)]
    assert same["loss"] == pytest.approx(first["loss"])
    assert same["bound"] <= same["loss"]
    assert [
        path.name for path in (tmp_path / "workspace").glob(f"projects/owner/*/runs/{own['number']}/release*")
    ] == []
    figure = page.locator("figure").filter(has_text="Loss against k")
    figure.get_by_role("button", name="Table").click()
    assert figure.locator("tbody tr").count() == ALL + 2
    page.get_by_role("link", name="Look").first.click()
    page.get_by_role("combobox", name="Run").wait_for()
    assert page.get_by_role("combobox", name="Run").locator("option").count() == 2
    seen.is_clean()
    server.end()
    assert "SECRET" not in "".join(server.said)


def test_a_large_table_is_drawn_from_and_it_can_be_stopped(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    random, records = np.random.default_rng(0), FRONTIER_RECORDS + 5000
    table = tmp_path / "many.csv"
    columns = {"age": (0, 30), "zip": (10_000, 10_005), "ward": (0, 3)}
    pl.DataFrame({name: random.integers(*ends, records) for name, ends in columns.items()}).write_csv(table)
    server = serve("--workspace", tmp_path / "workspace", table)
    seen = visit(server)
    page = seen.page
    page.get_by_role("link", name="many").click()
    seen.see("Who stands alone")
    for name in columns:
        page.get_by_label(f"Role of {name}", exact=True).select_option("quasi-identifying")
    seen.step("Run")
    page.get_by_role("combobox", name="Algorithm").select_option("mondrian")
    page.get_by_role("button", name="Start the run").click()
    seen.see(f"Its points are of a sample of {FRONTIER_RECORDS:,} of the {records:,} records")
    page.get_by_role("checkbox", name="Fill it by itself").uncheck()
    seen.see("stopped, ")
    assert [run["state"] for run in stored_runs(tmp_path)] == ["done", "cancelled"]
    before = len(stored_runs(tmp_path)[1]["points"])
    page.get_by_role("checkbox", name="Fill it by itself").check()
    seen.see(f"all {ALL} done")
    (_, own) = stored_runs(tmp_path)
    assert (own["records"], own["of"], own["frontier"]["algorithms"][0]) == (FRONTIER_RECORDS, records, "mondrian")
    assert before <= len(own["points"]) == ALL
    figure = page.locator("figure").filter(has_text="Loss against k")
    figure.get_by_role("button", name="Table").click()
    figure.get_by_role("cell", name="mondrian, sample").first.wait_for()
    page.get_by_role("button", name="Begin anew").click()
    seen.see(f" of {ALL} done")
    assert [run["number"] == own["number"] for run in stored_runs(tmp_path)] == [False, False]
    seen.is_clean()


def test_switched_off_nothing_begins(serve: Callable[..., Any], people: Path) -> None:
    server = serve(people)
    server.enter()
    (folder,) = server.json("GET", "/api/catalogue")["folders"]
    assert folder
    made = server.json("POST", "/api/projects", {"kind": "file", "number": 0, "below": ""})
    place = f"/api/projects/{made['number']}"
    assert server.ask("PUT", f"{place}/frontier", {"on": "no"})[0] == 400
    server.json("PUT", f"{place}/frontier", {"on": False})
    settings = {**made["settings"], "roles": {"age": "quasi-identifying"}}
    run = server.json("POST", f"{place}/runs", {"settings": settings})
    while server.json("GET", f"{place}/runs/{run['number']}")["state"] in ("waiting", "running"):
        pass
    assert [one["number"] for one in server.json("GET", place)["runs"]] == [run["number"]]


def test_the_algorithm_that_was_chosen_stands_beside_two_others() -> None:
    assert planned_frontier({"algorithm": "koc", "k": 7})["algorithms"] == ["koc", "shoal", "mondrian"]
    assert planned_frontier({"algorithm": "koc", "k": 7})["ks"] == [2, 5, 7, 10, 25, 50]
    assert planned_frontier({})["ks"] == list(FRONTIER_KS)


def test_the_background_gives_way_and_begins_anew() -> None:
    said: list[str] = []

    async def everything() -> None:
        turns = Turns(1)
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            said.append("begun")
            begun.set()
            await go_on.wait()
            said.append("done")

        async def run(name: str) -> None:
            async with turns.turn():
                said.append(name)
                await asyncio.sleep(0)

        background = asyncio.create_task(turns.in_background(work, lambda: said.append("put back")))
        await begun.wait()
        begun.clear()
        await asyncio.gather(run("first"), run("second"))
        await begun.wait()
        go_on.set()
        await background

    with ThreadPoolExecutor(1) as thread:  # the browser of other tests has a loop in this one
        thread.submit(asyncio.run, everything()).result()
    assert said.count("put back") == 1
    assert [one for one in said if one != "put back"] == ["begun", "first", "second", "begun", "done"]
