"""Who may come in: one-time links, and the cookies that they are exchanged for.

Only hashes are kept. With a file, sessions outlive the server, so that a reload after a restart finds its work again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from pathlib import Path
from typing import Any

from shoal.web.files import write_private
from shoal.web.users import OWNER

LIFETIME = 30 * 24 * 3600.0  # seconds


class Sessions:
    """One-time tokens and the sessions that came of them."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._tokens: dict[str, str] = {}  # hash -> user
        self._sessions: dict[str, dict[str, Any]] = self._load()

    def new_token(self, user: str = OWNER) -> str:
        """A token that opens one session."""
        token = secrets.token_urlsafe(32)
        self._tokens[_hash(token)] = user
        return token

    def redeem(self, token: str) -> str | None:
        """The secret of a new session for a token that was not used yet; None for any other text."""
        user = self._tokens.pop(_hash(token), None)
        return None if user is None else self.begin(user)

    def begin(self, user: str) -> str:
        secret = secrets.token_urlsafe(32)
        self._sessions[_hash(secret)] = {"user": user, "until": time.time() + LIFETIME}
        self._store()
        return secret

    def end(self, secret: str) -> None:
        if self._sessions.pop(_hash(secret), None) is not None:
            self._store()

    def user_of(self, secret: str | None) -> str | None:
        """Whose session this is; None if there is none, or it is over."""
        session = self._sessions.get(_hash(secret)) if secret else None
        return str(session["user"]) if session is not None and session["until"] > time.time() else None

    def _load(self) -> dict[str, dict[str, Any]]:
        if self._file is None or not self._file.is_file():
            return {}
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # nobody is let in by a file that cannot be read
        return {key: entry for key, entry in stored.items() if entry.get("until", 0) > time.time()}

    def _store(self) -> None:
        if self._file is not None:
            write_private(self._file, json.dumps(self._sessions))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
