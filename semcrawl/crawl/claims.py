"""Requests that one worker makes and all others wait for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Generic, TypeVar

from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import SharedCache

T = TypeVar("T")

#: seconds for which a name stays claimed without a word of who asks
CLAIM = 10.0
#: seconds between two looks whether another worker has the answer, at first and at most
_LOOK, _LONGEST_LOOK = 0.02, 0.25


async def asked_once(
    cache: SharedCache,
    name: str,
    look: Callable[[], Awaitable[T | None]],
    ask: Callable[[], Awaitable[T]],
    waits: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Return what ``look`` finds; where it finds nothing, what ``ask`` gives, and keeps.

    Who asks first claims the name, the other workers look again and again, and ``waits`` is awaited
    before each pause. A claim ends some seconds after its holder has died, and then the next one
    asks.
    """
    pause = _LOOK
    while (found := await look()) is None:
        if await cache.claim(name, CLAIM):
            async with _held(cache, name):
                # between our look and our claim the last holder may have found it
                found = await look()
                return await ask() if found is None else found
        if waits is not None:
            await waits()
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_LOOK)
    return found


class SharedTasks(Generic[T]):
    """One task for all in this process who want the same thing."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[T]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._tasks

    def get(self, name: str, make: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Return the task that finds ``name``; it is made where there is none."""
        task = self._tasks.get(name)
        if task is None:
            task = self._tasks[name] = asyncio.create_task(make())
            task.add_done_callback(partial(self._over, name))
        return task

    async def close(self) -> None:
        """Find nothing any more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _over(self, name: str, task: asyncio.Task[T]) -> None:
        del self._tasks[name]
        if not task.cancelled():
            task.exception()  # for the tasks that still wait for it, if any


@asynccontextmanager
async def _held(cache: SharedCache, name: str) -> AsyncIterator[None]:
    """Prolong a claim as long as it is needed, and let go of it."""
    holding = asyncio.create_task(_hold(cache, name))
    try:
        yield
    finally:
        holding.cancel()
        with contextlib.suppress(FrontierError):
            await cache.release(name)


async def _hold(cache: SharedCache, name: str) -> None:
    while True:
        await asyncio.sleep(CLAIM / 3)
        with contextlib.suppress(FrontierError):
            await cache.claim(name, CLAIM)
