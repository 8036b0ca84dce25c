"""Turns of errands: requests that are no link's, for a robots.txt or a JSON-LD context.

They count in the same clock as links. As long as an errand waits for its turn nothing else is held
for it, and no link of its host is taken.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Frontier, Lease


@dataclass(slots=True)
class Turn:
    """A host's turn that an errand has got: the host is held until it is sent, or ended."""

    host: str
    #: name of the errand; empty where nothing is counted, as the host has no crawl delay
    errand: str
    _frontier: Frontier = field(repr=False)
    _sent: bool = False
    _ended: bool = False

    @property
    def ended(self) -> bool:
        """Whether it can be used no more."""
        return self._ended

    async def starts(self) -> bool:
        """Note that the request leaves now; whether the turn still held."""
        self._sent = True
        return not self.errand or await self._frontier.errands.starts(self.host, self.errand)

    async def end(self) -> None:
        """Note that the request is over, or will not be sent; a second call does nothing."""
        if self._ended:
            return
        self._ended = True
        if self.errand:
            with contextlib.suppress(FrontierError):  # (a turn that is not ended runs out)
                await self._frontier.errands.end(self.host, self.errand, sent=self._sent)


class Turns:
    """Gets the turns of a process's errands."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._ending: set[asyncio.Task[None]] = set()

    async def next(self, host: str, *, instead_of: Lease | None = None) -> Turn:
        """Wait for the next turn of a host.

        ``instead_of``: a link that has its host's turn, and gives it up.
        """
        errand = uuid4().hex
        turn = Turn(host, errand, self._frontier)
        try:
            wait = await self._frontier.errands.next(host, errand, instead_of=instead_of)
            while wait:
                await asyncio.sleep(wait)
                wait = await self._frontier.errands.next(host, errand)
        except BaseException:
            self.soon(turn.end())
            raise
        if wait is None:
            turn.errand = ""
        return turn

    def soon(self, call: Coroutine[Any, Any, None]) -> None:
        """Make a call to the frontier without waiting for it."""

        async def run() -> None:
            with contextlib.suppress(FrontierError):
                await call

        task = asyncio.get_running_loop().create_task(run())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
