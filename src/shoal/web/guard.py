"""The door of the workbench: which requests are answered at all.

- Host must be a name of this server: a foreign name that points here (DNS rebinding) is turned away.
- A page of another origin is turned away, whatever it asks for, and so is every change without our own header.
- Everybody needs a session, but for the link with the token, the login, and the style of these two pages.
- Every answer forbids scripts from elsewhere, scripts in the page, frames, sniffing and caching.
"""

from __future__ import annotations

import json
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.web.sessions import Sessions
from shoal.web.worker import problems_of

HEADER = "x-shoal"  # on every change; a foreign page cannot send it without being asked first, and is refused then
PUBLIC = frozenset({"/open", "/login", "/static/door.css"})
SAFE_METHODS = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, browsers send no origin with the form of the login
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Guard:
    """Turns away what must not come in; `scope["user"]` is set for what may."""

    def __init__(
        self, app: ASGIApp, *, hosts: frozenset[str], cookie: str, sessions: Sessions, door: str | None
    ) -> None:
        self.app, self.hosts, self.cookie, self.sessions = app, hosts, cookie, sessions
        self.door = door  # where one logs in; None: by the link only
        self.origins = {f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websocket is served
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused is None:
            scope["user"] = self.sessions.user_of(_cookie(headers, self.cookie))
            if scope["user"] is None and scope["path"] not in PUBLIC:
                refused = self._no_session(scope["path"])
        answer: ASGIApp = self.app if refused is None else refused
        sending = _Sending(send)
        try:
            await answer(scope, receive, sending)
        except Exception as error:  # not passed on: the server would log its text, which may quote the data
            if not sending.begun:
                content = json.dumps({"problems": problems_of(error)})
                await Response(content, 500, media_type="application/json")(scope, receive, sending)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        if headers.get("host", "") not in self.hosts:
            return _refusal(421, "foreign-host", "this server does not answer to that name")
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            return _refusal(403, "foreign-origin", "another page must not ask for this")
        entering = scope["path"] in ("/", *PUBLIC) and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not entering:
            return _refusal(403, "foreign-origin", "another page must not ask for this")
        if scope["method"] not in SAFE_METHODS and scope["path"] not in PUBLIC and HEADER not in headers:
            return _refusal(403, "no-header", "changes need the header of the workbench")
        return None

    def _no_session(self, path: str) -> Response:
        if path.startswith(("/api/", "/static/")):
            return _refusal(401, "no-session", "open the link that 'shoal serve' prints, or log in")
        if self.door is not None:
            return RedirectResponse(self.door, 303)
        return door_page("This is a private workbench", "Open the link that <code>shoal serve</code> printed.", 401)


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found is not None else None


def _refusal(status: int, reason: str, message: str) -> Response:
    body = json.dumps({"problems": [{"reason": reason, "message": message, "column": None, "hint": None}]})
    return Response(body, status, media_type="application/json")


def door_page(title: str, text: str, status: int, more: str = "") -> HTMLResponse:
    """A page for who is not in yet; the texts are our own."""
    return HTMLResponse(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Shoal</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="/static/door.css"></head><body><main><h1>{title}</h1><p>{text}</p>{more}'
        "</main></body></html>",
        status,
    )


class _Sending:
    """Sends an answer, with our headers."""

    def __init__(self, send: Send) -> None:
        self._send, self.begun = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(raw=message["headers"])
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("content-security-policy", POLICY)
            message["headers"] = headers.raw
        await self._send(message)
