"""Whose turn it is: runs of the user one after the other, and one piece of background work while there are none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


class Turns:
    """Runs of the user wait for each other only; what goes on in the background makes room for them at once."""

    def __init__(self, at_once: int) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._background = asyncio.Lock()
        self._unfinished = 0
        self._quiet, self._busy = asyncio.Event(), asyncio.Event()
        self._quiet.set()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The turn of a run of the user; the background is quiet from the moment that it waits."""
        self._unfinished += 1
        self._quiet.clear()
        self._busy.set()
        try:
            async with self._places:
                yield
        finally:
            self._unfinished -= 1
            if self._unfinished == 0:
                self._busy.clear()
                self._quiet.set()

    async def in_background(self, work: Callable[[], Coroutine[Any, Any, None]], put_back: Callable[[], None]) -> None:
        """Do the work while no run of the user waits or goes on. It is ended when one comes, and begun anew after it:
        the work itself must know what it has done already."""
        async with self._background:
            while True:
                await self._quiet.wait()
                going, came = asyncio.create_task(work()), asyncio.create_task(self._busy.wait())
                try:
                    await asyncio.wait({going, came}, return_when=asyncio.FIRST_COMPLETED)
                    if going.done():
                        return going.result()
                finally:
                    came.cancel()
                    going.cancel()
                    with suppress(asyncio.CancelledError):
                        await going
                put_back()
