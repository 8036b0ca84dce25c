"""robots.txt files, asked for once for all workers of a crawl."""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt, FrontierError
from semcrawl.frontier.redis_frontier import RedisFrontier

#: bytes of a robots.txt that are read; RFC 9309, section 2.5 asks for 500 KiB at least
LONGEST = 512 * 1024
#: shorter ones are not worth packing (bytes)
_WORTH_PACKING = 200
#: origins whose rules a process keeps at hand
_AT_HAND = 10_000
#: seconds for which an origin stays claimed without a word of who asks it
_CLAIM = 10.0
#: seconds between two looks whether another worker has the answer, at first and at most
_LOOK, _LONGEST_LOOK = 0.02, 0.25


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What a server said when it was asked for its robots.txt."""

    status: int
    body: bytes
    #: seconds since the epoch until which it holds
    until: float

    @property
    def available(self) -> bool:
        """Whether it tells the rules.

        All but the server's own errors (5xx) do (RFC 9309, 2.3.1), and but a refusal to be asked
        now (429).
        """
        return self.status < 500 and self.status != HTTPStatus.TOO_MANY_REQUESTS

    @property
    def rules(self) -> bytes:
        """The text of the rules; none where there is no robots.txt."""
        return self.body if 200 <= self.status < 300 else b""

    def pack(self) -> bytes:
        """Return it as bytes."""
        body = self.rules[:LONGEST]
        is_long = len(body) > _WORTH_PACKING
        fields = [self.status, self.until, is_long, zlib.compress(body) if is_long else body]
        packed: bytes = msgpack.packb(fields)
        return packed

    @classmethod
    def unpack(cls, data: bytes) -> RobotsAnswer:
        """Read it back; raise ``ValueError`` for anything else."""
        try:
            status, until, is_long, body = msgpack.unpackb(data)
            text = zlib.decompressobj().decompress(body, LONGEST) if is_long else bytes(body)
            return cls(int(status), text, float(until))
        except (ValueError, TypeError, zlib.error, msgpack.UnpackException) as error:
            raise ValueError(f"no robots.txt: {error}") from error


def first_lines(body: bytes, *, whole: bool = True) -> bytes:
    """Return what is read of a robots.txt; of one that is longer, or not ``whole``, whole lines.

    The end of a line may mean the contrary of the line: ``Disallow: /`` of ``Disallow: /private``.
    """
    if whole and len(body) <= LONGEST:
        return body
    head = body[:LONGEST]
    return head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]


@dataclass(slots=True)
class _Known:
    answer: RobotsAnswer
    #: the answer as the crawler reads it
    parsed: Any = None


class SharedRobots:
    """The robots.txt of each origin (scheme, host and port), fetched by one worker for all.

    Who asks first claims the origin; the others wait for the answer, which the frontier keeps for
    as long as it holds. A claim ends some seconds after its holder has died, and then the next
    one asks.
    """

    def __init__(self, frontier: RedisFrontier) -> None:
        self._frontier = frontier
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(
        self,
        origin: str,
        ask: Callable[[], Awaitable[RobotsAnswer]],
        parse: Callable[[bytes], Any],
    ) -> tuple[RobotsAnswer, Any, bool]:
        """Return the answer, its rules as ``parse`` gives them, and whether it was asked just now.

        ``ask`` sends the request; what it raises is raised, and nothing is kept.
        """
        known = self._at_hand(origin)
        asked = False
        if known is None:
            async with self._turn(origin):
                known = self._at_hand(origin)
                if known is None:
                    answer, asked = await self._find(origin, ask)
                    known = _Known(answer, parse(answer.rules) if answer.available else None)
                    self._known[origin] = known
                    if len(self._known) > _AT_HAND:
                        self._known.popitem(last=False)
        return known.answer, known.parsed, asked

    def _at_hand(self, origin: str) -> _Known | None:
        known = self._known.get(origin)
        if known is not None and known.answer.until <= time.time():
            del self._known[origin]
            known = None
        return known

    @asynccontextmanager
    async def _turn(self, origin: str) -> AsyncIterator[None]:
        """Let the spiders of this process look one after the other."""
        lock = self._locks.setdefault(origin, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._locks.pop(origin, None)

    async def _find(
        self, origin: str, ask: Callable[[], Awaitable[RobotsAnswer]]
    ) -> tuple[RobotsAnswer, bool]:
        """Return the kept answer, or ask; tell which."""
        name, pause = "robots:" + origin, _LOOK
        while True:
            if (kept := await self._kept(name)) is not None:
                return kept, False
            if await self._frontier.claim(name, _CLAIM):
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)
        holding = asyncio.create_task(self._hold(name))
        try:
            # between our look and our claim the last holder may have found it
            if (kept := await self._kept(name)) is not None:
                return kept, False
            answer = await ask()
            await self._frontier.keep(name, answer.pack(), answer.until - time.time())
            return answer, True
        finally:
            holding.cancel()
            with contextlib.suppress(FrontierError):
                await self._frontier.unclaim(name)

    async def _kept(self, name: str) -> RobotsAnswer | None:
        data = await self._frontier.kept(name)
        if data is None:
            return None
        try:
            answer = RobotsAnswer.unpack(data)
        except ValueError as error:
            key = self._frontier.keys[name]
            raise FrontierCorrupt(f"the frontier's key {key!r} holds {error}") from error
        return answer if answer.until > time.time() else None

    async def _hold(self, name: str) -> None:
        while True:
            await asyncio.sleep(_CLAIM / 3)
            with contextlib.suppress(FrontierError):
                await self._frontier.claim(name, _CLAIM)
