"""JSON-LD contexts that were fetched, shared by all workers of a crawl."""

from __future__ import annotations

import asyncio

from semcrawl.frontier.redis_frontier import RedisFrontier

_NAME = "context:"
#: stands for a context that cannot be had
_NONE = b""


class ContextCache:
    """Contexts by URL, kept in the frontier; what cannot be had is remembered as well."""

    def __init__(self, frontier: RedisFrontier) -> None:
        self._frontier = frontier
        self._known: dict[str, bytes] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        #: contexts that this process asked for in this run
        self.asked = 0

    def lock(self, url: str) -> asyncio.Lock:
        """Return the lock under which one spider fetches a context while others wait."""
        return self._locks.setdefault(url, asyncio.Lock())

    async def get(self, url: str) -> bytes | None:
        """Return a context, empty when it cannot be had; ``None`` when nobody has asked yet."""
        if url not in self._known:
            found = await self._frontier.recall(_NAME + url)
            if found is None:
                return None
            self._known[url] = found
        return self._known[url]

    async def put(self, url: str, context: bytes | None, *, lasting: bool = True) -> None:
        """Keep a context, or that it cannot be had (``None``).

        What is not ``lasting``, as the network may be better tomorrow, holds for this run only.
        """
        self._known[url] = context or _NONE
        if lasting:
            await self._frontier.remember(_NAME + url, context or _NONE)
