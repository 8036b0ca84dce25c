"""Group commit: one write serves many waiting coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class GroupCommit(Generic[T, R]):
    """Collects elements from coroutines and writes them in batches, in a worker thread.

    ``write`` gets one batch at a time and returns one result per element. :meth:`submit` returns
    when the batch with its element is written.
    """

    def __init__(
        self,
        write: Callable[[Sequence[T]], Sequence[R]],
        *,
        delay: float = 0.1,
        limit: int = 200,
    ) -> None:
        """Write after ``delay`` seconds or as soon as ``limit`` elements wait."""
        self._write = write
        self._delay = delay
        self._limit = limit
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def submit(self, element: T) -> R:
        """Wait until an element is written; return its result, or raise what ``write`` raises."""
        written: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((element, written))
        if len(self._waiting) >= self._limit:
            self._full.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await written

    async def flush(self) -> None:
        """Write the waiting elements without further delay."""
        self._full.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._waiting:
            if not self._full.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._delay)
            self._full.clear()
            batch, self._waiting = self._waiting[: self._limit], self._waiting[self._limit :]
            if len(self._waiting) >= self._limit:
                self._full.set()
            try:
                results = await asyncio.to_thread(self._write, [element for element, _ in batch])
            except Exception as error:  # each waiting coroutine raises it
                for _, written in batch:
                    if not written.done():
                        written.set_exception(error)
            else:
                for (_, written), result in zip(batch, results, strict=True):
                    if not written.done():
                        written.set_result(result)
