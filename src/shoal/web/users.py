"""Who may log in, where more than one person uses a workbench: names and salted hashes of passwords in a file."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from shoal.errors import InputError, Problem
from shoal.web.files import PRIVATE_FILE, write_private

OWNER = "owner"  # who started the server: whoever opens a link from its terminal
SHORTEST_PASSWORD = 10
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")
_LINE = re.compile(rf"{NAME.pattern}:(?:[0-9a-f]{{2}})+:(?:[0-9a-f]{{2}})+")
_OTHERS_MAY_READ = 0o077


class Users:
    """The users of a password file: a line `name:salt:hash` each."""

    def __init__(self, file: Path) -> None:
        problems: list[Problem] = []
        lines = _lines(file, problems)
        wrong = [number for number, line in enumerate(lines, start=1) if not _LINE.fullmatch(line)]
        problems += [Problem("bad-password-file", f"line {number} of '{file}' is no user") for number in wrong]
        if not lines:
            problems.append(Problem("bad-password-file", f"'{file}' has no users", hint="--add-user NAME"))
        if problems:
            raise InputError(problems)
        users = (line.split(":") for line in lines)
        self._known = {name: (bytes.fromhex(salt), bytes.fromhex(digest)) for name, salt, digest in users}

    def knows(self, name: str, password: str) -> bool:
        """Whether this is the password of this user; as slow for an unknown name as for a known one."""
        salt, digest = self._known.get(name, (b"nobody", b""))
        return hmac.compare_digest(_digest(password, salt), digest)


def _lines(file: Path, problems: list[Problem]) -> list[str]:
    """The lines of a password file, which only its owner may read."""
    try:
        if file.stat().st_mode & _OTHERS_MAY_READ:
            hint = f"chmod {PRIVATE_FILE:o} {file}"
            problems.append(Problem("open-file", f"others may read the password file '{file}'", hint=hint))
        return file.read_text(encoding="utf-8").split()
    except OSError:
        message = f"the password file '{file}' cannot be read"
        raise InputError(Problem("no-such-file", message, hint="make one with --add-user NAME")) from None


def add_user(file: Path, name: str, password: str) -> None:
    """Add a user to a password file, or give one a new password."""
    problems = []
    if not NAME.fullmatch(name) or name == OWNER:
        problems.append(
            Problem("bad-user", f"a user name has small letters, digits, '_', '.' and '-', and is not '{OWNER}'")
        )
    if len(password) < SHORTEST_PASSWORD:
        problems.append(Problem("short-password", f"a password needs at least {SHORTEST_PASSWORD} characters"))
    if problems:
        raise InputError(problems)
    kept = file.read_text(encoding="utf-8").split() if file.exists() else []
    salt = secrets.token_bytes(16)
    lines = [line for line in kept if not line.startswith(f"{name}:")]
    lines.append(f"{name}:{salt.hex()}:{_digest(password, salt).hex()}")
    write_private(file, "\n".join(lines) + "\n")


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
