"""robots.txt files, each fetched by one worker for all workers of a crawl."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import msgpack

from semcrawl.config.typedfields import check_fields
from semcrawl.crawl.claims import SharedTasks, asked_once
from semcrawl.crawl.dispatch import Turn, Turns
from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Frontier, Lease
from semcrawl.sources import named_sitemaps

#: bytes of a robots.txt that are read; RFC 9309, section 2.5 asks for 500 KiB at least
LONGEST = 512 * 1024
#: bytes from which on compressing a robots.txt pays
_WORTH_PACKING = 200
#: bytes of memory that a parsed robots.txt takes (measured with Protego 0.7): per line; in addition
#: per line that names an agent, and per line with a wildcard; per file
_LINE, _AGENT, _WILD, _FILE = 280, 200, 1_200, 2_000


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """A server's answer to the request for its robots.txt."""

    status: int
    body: bytes
    #: when it expires (seconds since the epoch)
    until: float

    @property
    def available(self) -> bool:
        """Whether it tells the rules: all but server errors (5xx; RFC 9309, 2.3.1) and 429 do."""
        return self.status < 500 and self.status != HTTPStatus.TOO_MANY_REQUESTS

    @property
    def rules(self) -> bytes:
        """The text of the rules; empty if there is no robots.txt."""
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
        """Read the bytes of :meth:`pack`; raise ``ValueError`` for anything else."""
        try:
            status, until, is_long, body = msgpack.unpackb(data)
            text = zlib.decompressobj().decompress(body, LONGEST) if is_long else body
            answer = cls(status, text, until)
            check_fields(answer)
            return answer
        except (ValueError, TypeError, zlib.error, msgpack.UnpackException) as error:
            raise ValueError(f"no robots.txt: {error}") from error


def first_lines(body: bytes, *, whole: bool = True) -> bytes:
    """Return the part of a robots.txt that is read, cut at the end of a line.

    Half a line may forbid more than the line: ``Disallow: /`` instead of ``Disallow: /private``.
    """
    if whole and len(body) <= LONGEST:
        return body
    head = body[:LONGEST]
    return head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]


def parsed_size(rules: bytes) -> int:
    """Estimate the bytes of memory that the parsed rules of a robots.txt take."""
    lines = rules.splitlines()
    agents = sum(1 for line in lines if line[:10].lower() == b"user-agent")
    wild = sum(1 for line in lines if b"*" in line or b"$" in line)
    return _FILE + len(rules) + _LINE * len(lines) + _AGENT * agents + _WILD * wild


@dataclass(slots=True)
class KnownRobots:
    """A robots.txt with its parsed rules."""

    answer: RobotsAnswer
    #: the parsed rules; ``None`` if they are unavailable
    rules: Any = None
    #: bytes of memory that they take, about
    size: int = _FILE
    #: addresses of the sitemaps that it names, unresolved
    sitemaps: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        """Read the names of sitemaps while the text is there."""
        self.sitemaps = named_sitemaps(self.answer.rules) if self.answer.available else ()


#: fetches a robots.txt; it ends the turn that it is given
Ask = Callable[[Turn | None], Awaitable[KnownRobots]]


class SharedRobots:
    """The robots.txt of each origin (scheme, host and port), fetched by one worker for all.

    A link that has its host's turn gives that turn up for the robots.txt and goes back. The
    frontier keeps the answer until it expires.
    """

    def __init__(
        self, frontier: Frontier, turns: Turns, *, memory: int = 128 * 1024 * 1024
    ) -> None:
        """``memory``: bytes of parsed rules to keep here; the frontier has the others."""
        self._frontier = frontier
        self._turns = turns
        self._memory = memory
        self._known: OrderedDict[str, KnownRobots] = OrderedDict()
        #: bytes of the rules in memory
        self._size = 0
        #: requests under way
        self._asking: SharedTasks[KnownRobots] = SharedTasks()
        #: by origin, why a request failed that no link waited for: the next link raises it
        self._failures: dict[str, Exception] = {}

    async def get(
        self,
        origin: str,
        ask: Ask,
        parse: Callable[[RobotsAnswer], Awaitable[KnownRobots]],
        lease: Lease | None = None,
    ) -> KnownRobots | None:
        """Return the robots.txt of an origin; ask for it if no worker has.

        ``None``: the link (``lease``) has its host's turn, so it cannot wait and must go back.
        Raises what ``ask`` raises; nothing is kept then.
        """
        if (known := self._in_memory(origin)) is not None:
            return known
        waits = lease is None or not lease.held
        if not waits and (failure := self._failures.pop(origin, None)) is not None:
            raise failure
        if origin not in self._asking and (shared := await self._shared("robots:" + origin)):
            return self._keep_in_memory(origin, await parse(shared))
        if lease is not None and lease.held:
            await self._pass_turn(origin, ask, parse, lease)
            return None
        self._failures.pop(origin, None)
        return await asyncio.shield(self._task(origin, ask, parse, None))

    async def sitemaps(self, origin: str) -> Sequence[str]:
        """Return the sitemaps that the robots.txt of an origin names; none if it is not known."""
        if (known := self._in_memory(origin)) is not None:
            return known.sitemaps
        shared = await self._shared("robots:" + origin)
        return () if shared is None else KnownRobots(shared).sitemaps

    async def close(self) -> None:
        """Cancel the requests under way."""
        await self._asking.close()

    async def _pass_turn(
        self,
        origin: str,
        ask: Ask,
        parse: Callable[[RobotsAnswer], Awaitable[KnownRobots]],
        lease: Lease,
    ) -> None:
        """Ask for the robots.txt in a link's turn."""
        if origin not in self._asking:
            turn = await self._turns.next(lease.entry.host, instead_of=lease)
            if origin not in self._asking:
                task = self._task(origin, ask, parse, turn)
                task.add_done_callback(lambda done: self._note_failure(origin, done))
                return
            await turn.end()
        await self._frontier.release([lease], sent=False)

    def _task(
        self,
        origin: str,
        ask: Ask,
        parse: Callable[[RobotsAnswer], Awaitable[KnownRobots]],
        turn: Turn | None,
    ) -> asyncio.Task[KnownRobots]:
        """Return the one task that fetches a robots.txt for all who wait for it."""
        return self._asking.get(origin, lambda: self._find(origin, ask, parse, turn))

    def _note_failure(self, origin: str, task: asyncio.Task[KnownRobots]) -> None:
        """Keep the failure for the next link that wants this robots.txt."""
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._failures[origin] = error

    def _in_memory(self, origin: str) -> KnownRobots | None:
        known = self._known.get(origin)
        if known is None:
            return None
        if known.answer.until <= time.time():
            self._size -= self._known.pop(origin).size
            return None
        self._known.move_to_end(origin)
        return known

    def _keep_in_memory(self, origin: str, known: KnownRobots) -> KnownRobots:
        if (old := self._known.pop(origin, None)) is not None:
            self._size -= old.size
        known.answer = replace(known.answer, body=b"")  # the parsed rules are enough
        self._known[origin] = known
        self._size += known.size
        while self._size > self._memory and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._size -= oldest.size
        return known

    async def _find(
        self,
        origin: str,
        ask: Ask,
        parse: Callable[[RobotsAnswer], Awaitable[KnownRobots]],
        turn: Turn | None,
    ) -> KnownRobots:
        """Return the shared answer, or ask for it."""
        name = "robots:" + origin

        async def look() -> KnownRobots | None:
            shared = await self._shared(name)
            return None if shared is None else await parse(shared)

        async def fetch() -> KnownRobots:
            known = await ask(turn if turn is not None and not turn.ended else None)
            answer = known.answer
            await self._frontier.shared.put(name, answer.pack(), seconds=answer.until - time.time())
            return known

        try:
            # while another worker asks, it needs the host's turn: give ours up
            waits = turn.end if turn is not None else None
            known = await asked_once(self._frontier.shared, name, look, fetch, waits)
            return self._keep_in_memory(origin, known)
        finally:
            if turn is not None:
                await turn.end()

    async def _shared(self, name: str) -> RobotsAnswer | None:
        data = await self._frontier.shared.get(name)
        if data is None:
            return None
        try:
            answer = RobotsAnswer.unpack(data)
        except ValueError as error:
            where = self._frontier.shared.place
            raise FrontierCorrupt(f"{where}, {name!r} holds {error}") from error
        return answer if answer.until > time.time() else None
