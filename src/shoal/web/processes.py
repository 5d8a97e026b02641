"""Child processes of the server, each in a group of its own, spoken to by JSON lines."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.errors import InternalError, Problem

LONGEST_LINE = 64 << 20
IDLE_SECONDS = 900.0


class Child:
    """A process that ends with the server, or when it is killed, with everything that it started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, kind: str) -> Child:
        errors = None if os.environ.get("SHOAL_DEBUG") else asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "shoal.web.worker", kind),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        return cls(process)

    async def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with suppress(ConnectionError):  # it has ended: whoever reads is told
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            await self.process.stdin.drain()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """All that it says, until it ends."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            yield json.loads(line)
        await self.process.wait()

    async def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()


class TableProcess:
    """A process that keeps one table in memory and answers one question after the other."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.used = time.monotonic()
        self._child: Child | None = None
        self._lock = asyncio.Lock()
        self._number = 0

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer: `value`, or `problems`."""
        self.used = time.monotonic()
        async with self._lock:
            if self._child is None or self._child.process.returncode is not None:
                self._child = await Child.start("table")
                opened = await self._asked({"ask": "open", "table": self.table})
                if "problems" in opened:
                    return opened
            return await self._asked(question)

    async def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._child is not None
        assert self._child.process.stdout is not None
        self._number += 1
        number = self._number
        await self._child.send({**question, "number": number})
        while line := await self._child.process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer["number"] == number:  # an earlier one was given up by who asked
                return answer
        await self.close()
        raise InternalError(Problem("process-ended", "the process that reads the table ended", hint="try again"))

    async def close(self) -> None:
        if self._child is not None:
            await self._child.kill()
            self._child = None


class TableProcesses:
    """The table processes of all open projects; those that nobody asks are ended."""

    def __init__(self) -> None:
        self._open: dict[Path, TableProcess] = {}

    async def ask(self, project: Path, table: str, question: dict[str, Any]) -> dict[str, Any]:
        await self._close_idle()
        found = self._open.setdefault(project, TableProcess(table))
        return await found.ask(question)

    async def close(self, project: Path) -> None:
        found = self._open.pop(project, None)
        if found is not None:
            await found.close()

    async def close_all(self) -> None:
        for project in list(self._open):
            await self.close(project)

    async def _close_idle(self) -> None:
        for project, process in list(self._open.items()):
            if time.monotonic() - process.used > IDLE_SECONDS:
                await self.close(project)
