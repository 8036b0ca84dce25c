"""Adds the links of several pages to the frontier with one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Entry, Frontier, Lease

#: links that one call adds at most, unless a single page has more: the server does nothing else
#: during the call
_TOGETHER = 1000

#: links of a page, and the future that tells which of them were new
_Part = tuple[Sequence[Entry], "asyncio.Future[list[bool]]"]


class BatchedAdds:
    """Collects the links that arrive during one call, and adds them with the next.

    ``released`` returns the leases whose downloads ended since its last call: the same call to the
    frontier releases their hosts.
    """

    def __init__(
        self, frontier: Frontier, released: Callable[[], Sequence[Lease]] = lambda: ()
    ) -> None:
        self._frontier = frontier
        self._released = released
        self._waiting: list[_Part] = []
        self._task: asyncio.Task[None] | None = None

    async def add(self, entries: Sequence[Entry]) -> list[bool]:
        """Add links; return for each whether it was new. Raises as :meth:`Frontier.add` does."""
        if not entries:
            return []
        answer: asyncio.Future[list[bool]] = asyncio.get_running_loop().create_future()
        self._waiting.append((entries, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
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
