"""Adds the links of several pages to the frontier with one call."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Entry, Frontier, Lease

#: links that one call adds at most, unless a single page has more: the server does nothing else
#: during the call
_TOGETHER = 1000
#: links that are worth a call of their own
_WORTH = 32

#: links of a page, and the future that tells which of them were new
_Part = tuple[Sequence[Entry], "asyncio.Future[list[bool]]"]


class BatchedAdds:
    """Collects the links that arrive during one call, and adds them with the next.

    Each shard of the frontier has calls of its own. While the crawl ``is_busy``, a page's few links
    to hosts of another shard wait for those of other pages, for a glance's time at most.

    ``released`` returns the leases whose downloads ended since its last call: the same call to the
    frontier releases their hosts.
    """

    def __init__(
        self,
        frontier: Frontier,
        released: Callable[[], Sequence[Lease]] = lambda: (),
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._frontier = frontier
        self._is_busy = is_busy
        # in the exact order over all shards, links of one page are numbered together
        self._is_exact = not frontier.options.ahead
        self._lanes: defaultdict[int, _Lane] = defaultdict(lambda: _Lane(frontier, released))

    async def add(self, entries: Sequence[Entry], host: str = "") -> list[bool]:
        """Add the links of a page on ``host``; return for each whether it was new.

        Without a host, no link waits for others. Raises as :meth:`Frontier.add` does.
        """
        if not entries:
            return []
        frontier = self._frontier
        parts: defaultdict[int, list[int]] = defaultdict(list)
        for index, entry in enumerate(entries):
            parts[0 if self._is_exact else frontier.shard_of(entry.host)].append(index)
        waits = host and not self._is_exact and self._is_busy()
        own = frontier.shard_of(host) if waits else None
        patience = frontier.options.glance if waits else 0.0

        def put(shard: int, links: Sequence[Entry]) -> asyncio.Future[list[bool]]:
            return self._lanes[shard].add(links, 0.0 if shard == own else patience)

        if len(parts) == 1:
            return await put(next(iter(parts)), entries)
        answers = [put(shard, [entries[n] for n in part]) for shard, part in parts.items()]
        new = [False] * len(entries)
        found = await asyncio.gather(*answers, return_exceptions=True)
        for part, answer in zip(parts.values(), found, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            for index, is_new in zip(part, answer, strict=True):
                new[index] = is_new
        return new


class _Lane:
    """The additions to one shard: one call at a time."""

    def __init__(self, frontier: Frontier, released: Callable[[], Sequence[Lease]]) -> None:
        self._frontier = frontier
        self._released = released
        self._waiting: list[_Part] = []
        #: when the next call must go (``time.monotonic``), and the event that it must go sooner
        self._due = 0.0
        self._sooner = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def add(self, entries: Sequence[Entry], patience: float) -> asyncio.Future[list[bool]]:
        """Add links within ``patience`` seconds; return the future answer."""
        answer: asyncio.Future[list[bool]] = asyncio.get_running_loop().create_future()
        due = time.monotonic() + patience
        if not self._waiting or due < self._due:
            self._due = due
        self._waiting.append((entries, answer))
        if patience == 0 or sum(len(links) for links, _ in self._waiting) >= _WORTH:
            self._due = 0.0
            self._sooner.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return answer

    async def _run(self) -> None:
        while self._waiting:
            await self._until_due()
            parts, links = [self._waiting.pop(0)], 0
            while self._waiting:
                links += len(parts[-1][0])
                if links + len(self._waiting[0][0]) > _TOGETHER:
                    break
                parts.append(self._waiting.pop(0))
            over = self._released()
            try:
                await self._add(parts, over)
            except FrontierError as error:
                _refuse(parts, error)
            except Exception:
                # one page's links are at fault: add page by page, so that only these fail
                for part in parts:
                    try:
                        await self._add([part], over)
                    except Exception as error:
                        _refuse([part], error)

    async def _until_due(self) -> None:
        while (left := self._due - time.monotonic()) > 0:
            self._sooner.clear()
            try:
                async with asyncio.timeout(left):
                    await self._sooner.wait()
            except TimeoutError:
                return

    async def _add(self, parts: Sequence[_Part], over: Sequence[Lease]) -> None:
        links = [entry for entries, _ in parts for entry in entries]
        new = await self._frontier.add(links, over=over)
        begin = 0
        for entries, answer in parts:
            if not answer.done():
                answer.set_result(new[begin : begin + len(entries)])
            begin += len(entries)


def _refuse(parts: Sequence[_Part], error: Exception) -> None:
    for _, answer in parts:
        if not answer.done():
            answer.set_exception(error)
