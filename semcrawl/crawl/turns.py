"""Turns for errands: requests that fetch no link, but a robots.txt or a JSON-LD context.

The crawl delay of a host counts errands and links alike. A waiting errand comes before the links
of its host, and holds nothing else meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from semcrawl.crawl.failures import CrawlEnds
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Frontier, Lease


@dataclass(slots=True)
class Turn:
    """A host's turn of an errand: no other request goes to the host until it is sent or ended."""

    host: str
    #: name of the errand; empty if the host has no crawl delay, so that nothing is counted
    errand: str
    _frontier: Frontier = field(repr=False)
    _sent: bool = False
    _ended: bool = False

    @property
    def ended(self) -> bool:
        """Whether the turn is over."""
        return self._ended

    async def starts(self) -> bool:
        """Note that the request leaves now; return whether the turn still holds."""
        self._sent = True
        return not self.errand or await self._frontier.pace.errand_starts(self.host, self.errand)

    async def end(self) -> None:
        """Note that the request is over, or will not be sent; later calls do nothing."""
        if self._ended:
            return
        self._ended = True
        if self.errand:
            with contextlib.suppress(FrontierError):  # a turn that is not ended expires
                await self._frontier.pace.errand_over(self.host, self.errand, sent=self._sent)


class Turns:
    """Gets the turns of a process's errands."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = asyncio.Event()

    def close(self) -> None:
        """End all that wait for a turn, now and later, as the crawl is stopped."""
        self._closed.set()

    async def next(self, host: str, *, instead_of: Lease | None = None) -> Turn:
        """Wait for the next turn of a host; raise ``CrawlEnds`` if the crawl is stopped before.

        ``instead_of``: a link that has the host's turn and gives it up.
        """
        errand = uuid4().hex
        turn = Turn(host, errand, self._frontier)
        try:
            wait = await self._frontier.pace.errand(host, errand, instead_of=instead_of)
            while wait:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closed.wait(), wait)
                if self._closed.is_set():
                    raise CrawlEnds
                wait = await self._frontier.pace.errand(host, errand)
        except BaseException:
            self.run_in_background(turn.end())
            raise
        if wait is None:
            turn.errand = ""
        return turn

    def run_in_background(self, call: Coroutine[Any, Any, None]) -> None:
        """Make a call to the frontier without waiting for it."""

        async def run() -> None:
            with contextlib.suppress(FrontierError):
                await call

        task = asyncio.get_running_loop().create_task(run())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
