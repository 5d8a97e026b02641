"""Attacks on the workbench, by hand: each must be turned away, and say nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.web.files import safe_name
from shoal.web.users import add_user


def test_only_the_token_opens_and_only_once(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve("--workspace", tmp_path / "workspace")
    assert server.ask("GET", "/")[0] == 401
    assert server.ask("GET", "/api/projects")[0] == 401
    assert server.ask("GET", "/static/app.js")[0] == 401
    assert server.ask("GET", "/api/databases/0")[0] == 401
    assert server.ask("GET", f"/api/projects/{'0' * 12}/events")[0] == 401
    handshake = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    handshake["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    assert server.ask("GET", "/api/projects", headers=handshake)[0] in (400, 401, 403)
    for token in ("", "wrong", server.token[:-1], server.token + "x"):
        assert server.ask("GET", f"/open?token={token}")[0] == 403
    cookie = server.enter()
    for word in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert word in cookie
    assert server.ask("GET", "/api/projects")[0] == 200
    assert server.ask("GET", f"/open?token={server.token}", cookie="")[0] == 403
    assert server.ask("GET", "/api/projects", cookie=server.cookie[:-1])[0] == 401
    second = server.next_link().rpartition("=")[2]
    assert server.ask("GET", f"/open?token={second}", cookie="")[0] == 303
    stored = (tmp_path / "workspace" / "sessions.json").read_text()
    assert server.cookie.partition("=")[2] not in stored


def test_foreign_names_and_pages(serve: Callable[..., Any]) -> None:
    server = serve()
    server.enter()
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", ""):
        assert server.ask("GET", "/api/projects", headers={"Host": host})[0] == 421
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        assert server.ask("GET", "/api/projects", headers={"Origin": origin})[0] == 403
        assert server.ask("POST", "/api/projects", {"kind": "sample"}, headers={"Origin": origin})[0] == 403
    assert server.ask("GET", "/api/projects", headers={"Sec-Fetch-Site": "same-site"})[0] == 403
    assert server.ask("POST", "/api/projects", {"kind": "sample"}, own_header=False)[0] == 403
    assert server.json("GET", "/api/projects") == {"projects": []}


def test_every_answer_forbids_what_it_can(serve: Callable[..., Any]) -> None:
    server = serve()
    server.enter()
    for path in ("/", "/static/app.js", "/api/projects", "/nothing", "/api/projects/nothing"):
        headers = server.ask("GET", path)[1]
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_no_path_leads_out(serve: Callable[..., Any], tmp_path: Path, people: Path) -> None:
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (people.parent / "link.csv").symlink_to(tmp_path / "outside.csv")
    (people.parent / "linked").symlink_to(tmp_path)
    server = serve("--folder", people.parent, "--workspace", tmp_path / "workspace")
    server.enter()
    names = [entry["name"] for entry in server.json("GET", "/api/folders/0")["entries"]]
    assert "people.csv" in names
    for below in (
        "../outside.csv",
        "..",
        "/etc/passwd",
        "link.csv",
        "linked",
        "linked/outside.csv",
        str(tmp_path / "outside.csv"),
        "people.csv/../../outside.csv",
    ):
        assert server.ask("POST", "/api/projects", {"kind": "file", "number": 0, "below": below})[0] == 422
        assert server.ask("GET", f"/api/folders/0?below={below}")[0] == 422
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fapi.py", "/../../etc/passwd"):
        assert server.ask("GET", path)[0] in (404, 405)
    project = server.json("POST", "/api/projects", {"kind": "file", "number": 0, "below": "people.csv"})
    assert "path" not in project["source"]
    place = f"/api/projects/{project['number']}"
    for name in ("..%2frun.json", "run.json", "../project.json", "release"):
        assert server.ask("GET", f"{place}/runs/{'0' * 12}/files/{name}")[0] == 404
    assert server.ask("GET", f"{place}/table")[0] == 404  # it lies elsewhere, and is not handed out
    for spec in ("/etc/passwd", "../outside.csv"):
        assert server.ask("POST", f"{place}/ask", {"ask": "hierarchy", "column": "zip", "spec": spec})[0] == 400
        settings = {**project["settings"], "hierarchies": {"zip": spec}}
        assert server.ask("POST", f"{place}/runs", {"settings": settings})[0] == 400
        assert server.ask("PUT", place, {"settings": settings})[0] == 400
    assert server.ask("POST", f"{place}/ask", {"ask": "verify", "release": "/etc/passwd"})[0] == 400
    assert server.ask("PUT", f"{place}/beside/runs?name=x.csv", b"a\n1\n")[0] == 404
    assert server.ask("PUT", f"{place}/beside/earlier?name=../../x.csv", b"a\n1\n")[0] == 201
    (kept,) = (tmp_path / "workspace").rglob("x.csv")
    assert kept.parent.name == "earlier"
    for which in ("../project.json", "x.csv/../../project.json", "project.json"):
        assert server.ask("DELETE", f"{place}/beside/earlier?name={which}")[0] == 200
    assert server.ask("GET", place)[0] == 200
    for kind in ("file", "database", "nothing"):
        wanted = {"kind": kind, "number": 7, "table": "a", "below": "people.csv"}
        assert server.ask("POST", "/api/projects", wanted)[0] == 422


def test_uploads_are_limited_and_named_safely(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve("--workspace", tmp_path / "workspace", "--upload-limit", "1")
    server.enter()
    status, _, content = server.ask("PUT", "/api/upload?name=big.csv", b"a\n" + b"1\n" * (1 << 20))
    assert status == 422
    assert json.loads(content)["problems"][0]["reason"] == "too-large"
    assert server.ask("PUT", "/api/upload?name=a.exe", b"a\n1\n")[0] == 422
    assert list((tmp_path / "workspace").glob("projects/*/*")) == []
    made = json.loads(server.ask("PUT", "/api/upload?name=../../x%3Cscript%3E.csv", b"a\n1\n2\n")[2])
    assert made["source"]["name"] == "x_script_.csv"
    (kept,) = (tmp_path / "workspace").glob("projects/owner/*/table/*")
    assert kept.stat().st_mode & 0o077 == 0
    server.ask("DELETE", f"/api/projects/{made['number']}")
    assert not kept.exists()
    announced = {"Content-Length": str(1 << 40)}  # nothing that is no upload is held either
    assert server.ask("POST", "/api/projects", b"{}", headers=announced)[0] == 413
    assert server.ask("PUT", f"/api/projects/{made['number']}", b"{}", headers=announced)[0] == 404


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("a/b.csv", "b.csv"),
        ("..\\..\\b.csv", "b.csv"),
        (".csv", "csv"),
        ("..", "table"),
        ("é.csv", "é.csv"),
        ("a\0b.csv", "a_b.csv"),
    ],
)
def test_safe_names(given: str, safe: str) -> None:
    assert safe_name(given) == safe


def test_users_never_see_each_others_tables(serve: Callable[..., Any], tmp_path: Path, people: Path) -> None:
    passwords = tmp_path / "passwords"
    for name in ("ann", "bob"):
        add_user(passwords, name, f"the word of {name}")
    server = serve("--workspace", tmp_path / "workspace", "--password-file", passwords)
    cookies = {}
    assert server.ask("POST", "/login", "name=ann&password=" + "x" * 10_000)[0] == 413
    for name in ("ann", "bob"):
        assert server.ask("POST", "/login", f"name={name}&password=wrong")[0] == 403
        status, headers, _ = server.ask("POST", "/login", f"name={name}&password=the+word+of+{name}")
        assert status == 303
        cookies[name] = headers["set-cookie"].partition(";")[0]
    made = json.loads(server.ask("PUT", "/api/upload?name=people.csv", people.read_bytes(), cookie=cookies["ann"])[2])
    place = f"/api/projects/{made['number']}"
    assert server.ask("GET", place, cookie=cookies["ann"])[0] == 200
    for method, path in (
        ("GET", place),
        ("PUT", place),
        ("DELETE", place),
        ("GET", f"{place}/table"),
        ("GET", f"{place}/events"),
        ("PUT", f"{place}/beside/earlier?name=a.csv"),
        ("POST", f"{place}/sweep"),
        ("POST", f"{place}/frontier"),
        ("POST", f"{place}/ask"),
        ("POST", f"{place}/check"),
        ("POST", f"{place}/runs"),
    ):
        assert server.ask(method, path, {"ask": "rows"} if method == "POST" else None, cookie=cookies["bob"])[0] == 404
    assert json.loads(server.ask("GET", "/api/projects", cookie=cookies["bob"])[2]) == {"projects": []}
    assert server.ask("POST", "/api/leave", cookie=cookies["ann"])[0] == 303
    assert server.ask("GET", place, cookie=cookies["ann"])[0] == 401


def refused(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "shoal.cli.main", "serve", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 2
    return done.stderr


def test_what_cannot_be_started(tmp_path: Path) -> None:
    assert "needs passwords" in refused("--host", "0.0.0.0")
    assert "cannot be read" in refused("--host", "0.0.0.0", "--password-file", tmp_path / "none")
    open_file = tmp_path / "open"
    open_file.write_text("ann:00:00\n")
    open_file.chmod(0o644)
    assert "others may read" in refused("--password-file", open_file)
    assert "there is no file" in refused(tmp_path / "none.csv")
    assert "--port must be a whole number" in refused("--port", "x")
