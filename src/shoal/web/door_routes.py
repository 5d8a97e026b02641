"""How one comes in: by the one-time link, or by name and password."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shoal.web.bench import Bench, bench_of, read_body
from shoal.web.guard import door_page
from shoal.web.sessions import LIFETIME

WAIT_AFTER_A_WRONG_PASSWORD = 1.0  # seconds
LONGEST_FORM = 4096
_FORM = (
    '<form method="post" action="/login"><label for="name">Name</label><input id="name" name="name" autocomplete='
    '"username" required><label for="password">Password</label><input id="password" name="password" type="password" '
    'autocomplete="current-password" required><button>Log in</button></form>'
)


async def open_link(request: Request) -> Response:
    """The one-time link: its token is exchanged for a cookie that no script can read."""
    bench = bench_of(request)
    secret = bench.sessions.redeem(request.query_params.get("token", ""))
    if secret is None:
        if request.scope["user"] is not None:
            return RedirectResponse("/", 303)
        text = "Each link opens one browser, once. <code>shoal serve</code> has printed a new one in its terminal."
        return door_page("This link has been used, or is none", text, 403)
    bench.on_entered()
    return _entered(bench, secret)


async def log_in(request: Request) -> Response:
    bench = bench_of(request)
    if bench.users is None:
        return door_page("Nobody logs in here", "Open the link that <code>shoal serve</code> printed.", 404)
    if request.method == "GET":
        return door_page("Log in", "This workbench knows its users.", 200, _FORM)
    form = parse_qs((await read_body(request, LONGEST_FORM)).decode("utf-8", "replace"))
    name, password = (form.get(field, [""])[0] for field in ("name", "password"))
    if not await asyncio.to_thread(bench.users.knows, name, password):
        await asyncio.sleep(WAIT_AFTER_A_WRONG_PASSWORD)
        return door_page("Log in", "That name and password do not go together.", 403, _FORM)
    return _entered(bench, bench.sessions.begin(name))


async def log_out(request: Request) -> Response:
    bench = bench_of(request)
    bench.sessions.end(request.cookies.get(bench.cookie, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(bench.cookie, path="/")
    return answer


def _entered(bench: Bench, secret: str) -> Response:
    answer = RedirectResponse("/", 303)
    answer.set_cookie(bench.cookie, secret, httponly=True, samesite="strict", path="/", max_age=int(LIFETIME))
    return answer


ROUTES = [
    Route("/open", open_link),
    Route("/login", log_in, methods=["GET", "POST"]),
    Route("/api/leave", log_out, methods=["POST"]),
]
