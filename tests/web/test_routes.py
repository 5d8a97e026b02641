"""Every route there is, asked by those who may not: without a session, from another page, for another's project."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the workbench needs starlette: pip install 'shoal[web]'")

from shoal.web import door_routes, project_routes, run_routes
from shoal.web.guard import PUBLIC
from shoal.web.users import add_user


def every_route(**values: str) -> Iterator[tuple[str, str]]:
    """Method and path of each route, with something in place of its parameters."""
    given = {"number": "0", "project": "0" * 12, "run": "0" * 12, "kind": "earlier", "name": "release", **values}
    for route in (*door_routes.ROUTES, *project_routes.ROUTES, *run_routes.ROUTES):
        path = route.path.replace(":int", "")
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, path.format(**given)
    for path in ("/", "/static/app.js", "/static/vendor/htm-preact.js", "/nothing"):
        yield "GET", path


def test_nothing_is_answered_without_a_session(serve: Callable[..., Any], people: Path) -> None:
    server = serve(people)
    routes = list(every_route())
    assert len(routes) > 30
    for method, path in routes:
        body = {} if method in ("POST", "PUT") else None
        if path not in PUBLIC:
            assert server.ask(method, path, body)[0] == 401, path
            assert server.ask(method, path, body, cookie="shoal-000000000000=guess")[0] == 401, path
        for headers, refused in (
            ({"Host": "evil.example"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
        ):
            assert server.ask(method, path, body, headers=headers)[0] == refused, (path, headers)
    server.enter()
    for method, path in every_route():
        if method != "GET" and path not in PUBLIC:
            assert server.ask(method, path, {}, own_header=False)[0] == 403, path


def test_no_route_tells_of_another_users_project(serve: Callable[..., Any], tmp_path: Path, people: Path) -> None:
    passwords, cookies = tmp_path / "passwords", {}
    for name in ("ann", "bob"):
        add_user(passwords, name, f"the word of {name}")
    server = serve("--workspace", tmp_path / "workspace", "--password-file", passwords)
    for name in ("ann", "bob"):
        _, headers, _ = server.ask("POST", "/login", f"name={name}&password=the+word+of+{name}")
        cookies[name] = headers["set-cookie"].partition(";")[0]
    server.cookie = cookies["ann"]
    made = json.loads(server.ask("PUT", "/api/upload?name=people.csv", people.read_bytes())[2])
    roles = {"age": "quasi-identifying", "zip": "quasi-identifying", "name": "identifying", "sex": "insensitive"}
    settings = {**made["settings"], "roles": {**roles, "disease": "sensitive"}, "algorithm": "mondrian"}
    place = f"/api/projects/{made['number']}"
    server.json("PUT", f"{place}/frontier", {"on": False})
    run = server.json("POST", f"{place}/runs", {"settings": settings})["number"]
    while server.json("GET", f"{place}/runs/{run}")["state"] in ("waiting", "running"):
        pass
    asked = [(method, path) for method, path in every_route(project=made["number"], run=run) if made["number"] in path]
    assert len(asked) > 20
    for method, path in asked:
        body = {"ask": "rows", "at": "rows", "settings": settings} if method in ("POST", "PUT") else None
        status, _, content = server.ask(method, path, body, cookie=cookies["bob"])
        assert status == 404, (method, path)
        assert b"SECRET" not in content
    assert server.json("GET", f"{place}/runs/{run}")["state"] == "done"  # and nothing was changed or deleted
    assert server.ask("GET", f"{place}/runs/{run}/files/release")[0] == 200
    server.end()
    assert "SECRET" not in "".join(server.said)
