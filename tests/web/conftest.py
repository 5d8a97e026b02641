"""The workbench as a real server process, and a real browser in front of it."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
]
LONG = 240_000  # milliseconds: the first run on a busy machine compiles; nothing waits longer, so nothing can hang


class Server:
    """`shoal serve` in a process of its own."""

    def __init__(self, *options: str | Path) -> None:
        pytest.importorskip("starlette", reason="the workbench needs starlette: pip install 'shoal[web]'")
        pytest.importorskip("uvicorn", reason="the workbench needs uvicorn: pip install 'shoal[web]'")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "shoal.cli.main", "serve", "--port", "0", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.said: list[str] = []
        self.link = self.next_link()
        self.port = int(re.findall(r":(\d+)/", self.link)[0])
        self.cookie = ""

    def next_link(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                return found.group()
        raise AssertionError("".join(self.said))

    @property
    def token(self) -> str:
        return self.link.rpartition("=")[2]

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        cookie: str | None = None,
        own_header: bool = True,
    ) -> tuple[int, dict[str, str], bytes]:
        """A request by hand, as no browser would make it."""
        sent: dict[str, str] = {"Host": f"127.0.0.1:{self.port}"}
        if own_header:
            sent["X-Shoal"] = "1"
        given = self.cookie if cookie is None else cookie
        if given:
            sent["Cookie"] = given
        content = body if isinstance(body, bytes | str) or body is None else json.dumps(body)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG / 1000)
        try:
            connection.request(method, path, body=content, headers={**sent, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def enter(self) -> str:
        """Redeem the link, and keep the cookie."""
        status, headers, _ = self.ask("GET", f"/open?token={self.token}")
        assert status == 303
        self.cookie = headers["set-cookie"].partition(";")[0]
        return headers["set-cookie"]

    def json(self, method: str, path: str, body: Any = None) -> Any:
        status, _, content = self.ask(method, path, body)
        assert status < 300, content
        return json.loads(content)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=LONG / 1000)

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            rest = self.process.communicate(timeout=LONG / 1000)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.said.append(rest or "")
        return self.process.returncode


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers; all of them are ended after the test."""
    started: list[Server] = []

    def start(*options: str | Path) -> Server:
        started.append(Server(*options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.end()
        elif server.process.stdout is not None:
            server.process.stdout.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium was found: install it or name it in CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


class Visit:
    """A page of the workbench, with everything it said and asked for."""

    def __init__(self, browser: Any, server: Server, link: str | None = None, **context: Any) -> None:
        self.server = server
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True, **context)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.foreign: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.set_default_timeout(LONG)
        self.page.goto(server.link if link is None else link)

    def _asked(self, url: str) -> None:
        if not url.startswith((f"http://127.0.0.1:{self.server.port}/", "blob:", "data:")):
            self.foreign.append(url)

    def step(self, name: str) -> None:
        self.page.get_by_role("navigation").get_by_text(name, exact=True).click()

    def see(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def save(self, heading: str, folder: Path) -> Path:
        """Download what stands under a heading of Publish."""
        box = self.page.locator(".download").filter(has=self.page.get_by_role("heading", name=heading, exact=True))
        with self.page.expect_download() as waiting:
            box.get_by_role("link", name="Download").click()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    def is_clean(self) -> None:
        """No error in the console, and nothing asked of anybody else."""
        assert self.said == []
        assert self.foreign == []


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    opened: list[Visit] = []

    def open_page(server: Server, link: str | None = None, **context: Any) -> Visit:
        opened.append(Visit(chromium, server, link, **context))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table whose values are words that must never be seen in a log."""
    rows = [f"SECRETname{n},{20 + n % 40},SECRETzip{n % 8},{'mf'[n % 2]},SECRETill{n % 5}" for n in range(240)]
    path = tmp_path / "data" / "people.csv"
    path.parent.mkdir()
    path.write_text("name,age,zip,sex,disease\n" + "\n".join(rows) + "\n")
    return path
