"""A cache of JSON-LD contexts for all workers of a crawl."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial

from semcrawl.crawl.claims import SharedTasks, asked_once
from semcrawl.frontier.contract import Frontier

_NAME = "context:"
#: stands for a context that cannot be fetched
_NONE = b""
#: bytes of contexts that a process keeps in memory; the frontier has the others
_IN_MEMORY = 32 * 1024 * 1024
#: seconds for which other workers do not repeat a request that failed
_FAILURE_TIME = 60.0

#: fetches a context; returns its bytes (empty if it failed), and whether to keep that result for
#: later runs
Ask = Callable[[], Awaitable[tuple[bytes, bool]]]


async def _never() -> bytes:
    raise AssertionError


class ContextCache:
    """Contexts by URL, each fetched by one worker for all; it remembers failures as well.

    ``shared``: there may be other workers. ``memory``: bytes of contexts to keep in this process.
    """

    def __init__(
        self, frontier: Frontier, *, shared: bool = False, memory: int = _IN_MEMORY
    ) -> None:
        self._frontier = frontier
        self._shared = shared
        self._most = memory
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        #: URLs that failed in this run
        self._lost: set[str] = set()
        #: contexts for which links of the same address wait
        self.awaited: set[str] = set()
        #: contexts that are being fetched
        self._asking: SharedTasks[bytes] = SharedTasks()

    async def get(self, url: str, ask: Ask) -> bytes:
        """Return a context, empty if it failed; ``ask`` fetches it if no worker has.

        A passing failure, such as one of the network, holds for this run only.
        """
        if url in self._lost:
            return _NONE
        if (known := self._known.get(url)) is not None:
            self._known.move_to_end(url)
            return known
        return await asyncio.shield(self._asking.get(url, lambda: self._find(url, ask)))

    def known(self, url: str) -> bytes:
        """Return a context that this process has at hand; empty if it has not."""
        return self._known.get(url, _NONE)

    def asking(self, url: str) -> asyncio.Task[bytes] | None:
        """Return the task of this process that fetches a context now, if there is one."""
        return self._asking.get(url, _never) if url in self._asking else None

    async def keep(self, url: str, context: bytes) -> None:
        """Keep a context that was fetched as a link, or led to by a redirect, for all workers."""
        if self._known.get(url) != context:
            await self._frontier.shared.put(_NAME + url, context)
            self._lost.discard(url)
            self._keep_in_memory(url, context)

    async def close(self) -> None:
        """Cancel the fetches under way."""
        await self._asking.close()

    async def _find(self, url: str, ask: Ask) -> bytes:
        name = _NAME + url

        async def fetch() -> bytes:
            context, lasting = await ask()
            if lasting:
                await self._frontier.shared.put(name, context)
            else:
                self._lost.add(url)
                if self._shared:
                    await self._frontier.shared.put(name, _NONE, seconds=_FAILURE_TIME)
            return context

        context = await asked_once(
            self._frontier.shared, name, partial(self._frontier.shared.get, name), fetch
        )
        if url not in self._lost:
            self._keep_in_memory(url, context)
        return context

    def _keep_in_memory(self, url: str, context: bytes) -> None:
        self._size += len(context) - len(self._known.get(url, _NONE))
        self._known[url] = context
        while self._size > self._most and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._size -= len(oldest)
