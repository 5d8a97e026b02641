"""What happens in a project, told to every page that looks at it, as server-sent events.

A page that comes back tells the last number it heard and gets what it missed; one that was away too long is told the
whole state again.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

REMEMBERED = 400
HEARTBEAT = 15.0  # seconds of silence after which a comment is sent, so that a closed page is noticed


class Channel:
    """The events of one project."""

    def __init__(self) -> None:
        self._number = 0
        self._past: deque[tuple[int, str]] = deque(maxlen=REMEMBERED)
        self._listeners: set[asyncio.Queue[tuple[int, str]]] = set()

    def tell(self, event: dict[str, Any]) -> None:
        self._number += 1
        entry = (self._number, json.dumps(event))
        self._past.append(entry)
        for queue in self._listeners:
            queue.put_nowait(entry)

    async def listen(self, last: int | None, state: Callable[[], dict[str, Any]]) -> AsyncIterator[str]:
        """The stream of one page: what it missed (or the state), then what happens."""
        queue: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            missed = [entry for entry in self._past if last is not None and entry[0] > last]
            known = last is not None and (last == self._number or (missed and missed[0][0] == last + 1))
            if not known:
                missed = [(self._number, json.dumps({"kind": "state", **state()}))]
            for entry in missed:
                yield _written(entry)
            while True:
                try:
                    yield _written(await asyncio.wait_for(queue.get(), HEARTBEAT))
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listeners.discard(queue)


class Channels:
    """A channel per project."""

    def __init__(self) -> None:
        self._of: dict[str, Channel] = {}

    def of(self, project: str) -> Channel:
        return self._of.setdefault(project, Channel())


def _written(entry: tuple[int, str]) -> str:
    return f"id: {entry[0]}\ndata: {entry[1]}\n\n"
