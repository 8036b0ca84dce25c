"""What one worker does at a time: changes, and requests whose answer the others wait for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import Any, Generic, TypeVar

from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Shared

T = TypeVar("T")

#: seconds after which a claim expires unless its holder renews it
CLAIM = 10.0
#: seconds between two looks for another worker's answer: the first pause and the longest
_LOOK, _LONGEST_LOOK = 0.02, 0.25


async def asked_once(
    shared: Shared,
    name: str,
    look: Callable[[], Awaitable[T | None]],
    ask: Callable[[], Awaitable[T]],
    waits: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Return what ``look`` finds, or else the result of ``ask``, which stores it for ``look``.

    The first worker claims the name and asks. The others look again and again, and await ``waits``
    before each pause. If the holder of a claim dies, the claim expires and the next worker asks.
    """
    pause = _LOOK
    while (found := await look()) is None:
        async with claimed(shared, name, 0) as has:
            if has:
                # the last holder may have stored it between our look and our claim
                found = await look()
                return await ask() if found is None else found
        if waits is not None:
            await waits()
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_LOOK)
    return found


class SharedTasks(Generic[T]):
    """One task per name, shared by all callers in this process that want its result."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[T]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._tasks

    def get(self, name: str, make: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Return the running task for ``name``, or start one from ``make``."""
        task = self._tasks.get(name)
        if task is None:
            task = self._tasks[name] = asyncio.create_task(make())
            task.add_done_callback(partial(self._over, name))
        return task

    async def close(self) -> None:
        """Cancel all tasks."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _over(self, name: str, task: asyncio.Task[T]) -> None:
        del self._tasks[name]
        if not task.cancelled():
            task.exception()  # asyncio logs an exception that nobody has retrieved


@asynccontextmanager
async def claimed(shared: Shared, name: str, patience: float = inf) -> AsyncIterator[bool]:
    """Have a name for this worker alone while the block runs; yield whether it has it.

    It has not if others had it for ``patience`` seconds. Tasks of one worker share its claim.
    """
    last = time.monotonic() + patience
    has = await shared.claim(name, CLAIM)
    while not has and time.monotonic() < last:
        await asyncio.sleep(_LOOK)
        has = await shared.claim(name, CLAIM)
    holding = asyncio.create_task(_hold(shared, name)) if has else None
    try:
        yield has
    finally:
        if holding is not None:
            holding.cancel()
            with contextlib.suppress(FrontierError):  # the claim expires
                await shared.claim(name, 0)


async def _hold(shared: Shared, name: str) -> None:
    while True:
        await asyncio.sleep(CLAIM / 3)
        with contextlib.suppress(FrontierError):
            await shared.claim(name, CLAIM)
