"""What the workers of a crawl share, on Redis."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import CrawlEvent, Entry, micros
from semcrawl.frontier.links import text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.packing import Keys, pack_taken, unpack_taken

logger = logging.getLogger(__name__)

#: approximate number of kept events
EVENTS_KEPT = 100_000
#: statements added per call
_AT_ONCE = 2000
#: entries per bucket, bytes per entry, and its leading bytes that are the statement's
_WAYS, _PLACE, _TAG = 4, 8, 5
#: most buckets: 256 MB, half of the largest string in Redis
_MOST_BUCKETS = 1 << 23


class RedisShared:
    """What all workers share (:class:`~semcrawl.frontier.contract.Shared`).

    Statements have a table of fixed size, of buckets of four entries of 8 bytes, each a part of a
    statement's hash and a part of its document's hash. A full bucket forgets its oldest entry. A
    new statement counts as known with a probability of 4 in 10¹². Changing ``limit`` forgets most
    statements.
    """

    def __init__(self, server: Server, keys: Keys, worker_id: str, lease_time: float) -> None:
        self.place = f"the frontier {keys.prefix!r}"
        self._server = server
        self._keys = keys
        self._worker_id = worker_id
        self._lease_time = micros(lease_time)
        #: id under which this worker claims
        self._holder = uuid4().bytes
        #: id of this worker's own events; a restarted worker has another
        self.incarnation = uuid4().bytes
        #: the last event read
        self.position = b"-"
        #: when no event was unread (``time.monotonic``)
        self.caught_up = float("-inf")
        #: ids of later events that need not be read
        self.known: set[bytes] = set()

    # -- kept by name
    async def get(self, name: str) -> bytes | None:
        """Return what is kept under a name, or ``None``."""
        found: bytes | None = await self._server.run("get", [name])
        return found

    async def put(self, name: str, content: bytes, *, seconds: float = inf) -> None:
        """Keep something under a name."""
        time = _millis(seconds) if isfinite(seconds) else 0
        await self._server.run("put", [name, content, time])

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it."""
        time = seconds and _millis(seconds)
        return bool(await self._server.run("claim", [name, self._holder, time]))

    # -- events
    async def exchange(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[CrawlEvent]:
        """Publish, then return the events since the last call."""
        if not events:
            return self._read(await self.unread(limit))
        args = [self.incarnation, events, EVENTS_KEPT, queue, limit > 0 and self.position, limit]
        now = time.monotonic()
        reply = await self._server.run("publish", args, once=True)
        if isinstance(reply, bytes):
            # a repeated call only gets the position of its own events
            return await self.exchange(limit=limit) if limit else []
        before, own = reply
        if len(before) < limit:
            self.caught_up = now
        found = self._read([(name, _pairs(fields)) for name, fields in before])
        # the script does not return this worker's own events, which it has
        room = limit - len(found)
        for number, (name, event) in enumerate(zip(own[:room], events, strict=False), start=1):
            self.position = name
            found.append(CrawlEvent(True, event, queue, (), more=number < len(events)))
        return found

    async def unread(self, limit: int = 1) -> list[tuple[bytes, Mapping[bytes, bytes]]]:
        """Return the unread events, without marking them as read."""
        start = self.position if self.position == b"-" else b"(" + self.position
        now = time.monotonic()
        reply = await self._server.ask("xrange", self._keys["events"], start, "+", limit)
        if not reply:
            self.caught_up = now
        return reply or []

    async def go_on(self) -> None:
        """Continue at the end of the log, if its last events were lost."""
        last = await self._server.ask("xrevrange", self._keys["events"], "+", "-", 1)
        end = last[0][0] if last else b"0-0"
        if self.position != b"-" and _order(end) < _order(self.position):
            self.position = end

    def publication(self, *, strict: bool) -> Sequence[Any]:
        """Return the arguments that make a take publish itself; ``strict``: if none is unread."""
        return self.incarnation, EVENTS_KEPT, strict and self.position

    async def tell(self, entries: Sequence[Entry], *, strict: bool) -> None:
        """Publish a take of another shard; with ``strict`` this worker does not read the event."""
        args = [self.incarnation, EVENTS_KEPT, self.position, pack_taken(entries)]
        event, between = await self._server.run("tell", args, once=True)
        if strict and between:
            self.known.add(event)
        elif strict:
            self.position = event

    async def save_state(self, name: str, state: bytes) -> None:
        """Save the learned state together with this worker's position in the log."""
        fields = {name: state, name + ":event": self.position}
        await self._server.ask("hset", self._keys["state"], mapping=fields)

    async def load_state(self, name: str) -> bytes | None:
        """Return the saved state, or ``None``; :meth:`exchange` continues from its position."""
        names = [name, name + ":event"]
        reply: list[bytes | None] = await self._server.ask("hmget", self._keys["state"], names)
        state, event = reply
        if state is not None and event is not None:
            self.position = event
        return state

    def _read(self, found: Sequence[tuple[bytes, Mapping[bytes, bytes]]]) -> list[CrawlEvent]:
        if found:
            self.position = found[-1][0]
        events = []
        for name, fields in found:
            if name in self.known:
                self.known.discard(name)
            elif (event := self._event(fields)) is not None:
                events.append(event)
        return events

    def _event(self, fields: Mapping[bytes, bytes]) -> CrawlEvent | None:
        """Decode an event; skip an unreadable one, as every worker does."""
        try:
            return CrawlEvent(
                own=fields.get(b"w") == self.incarnation,
                outcome=fields.get(b"e"),
                queue=text(fields.get(b"q", b"")),
                taken=unpack_taken(fields[b"t"], self._keys.root) if b"t" in fields else [],
                more=bool(fields.get(b"m")),
            )
        except (ValueError, FrontierCorrupt) as error:
            logger.warning("an event of the crawl is passed over: %s", error)
            return None

    # -- seeds
    async def push_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds to the Redis list ``key``."""
        if seeds:
            await self._server.ask("rpush", self._server.placed(key), *map(_bytes, seeds))

    async def take_seeds(self, key: str, limit: int) -> list[str]:
        """Take seeds from the head of the list ``key``; also from a set, or a sorted set's top."""
        args = [limit, self._lease_time, self._worker_id]
        place = self._server.placed(key)
        reply = await self._server.run("take_seeds", args, place, once=True)
        return [seed.decode("utf-8", "surrogateescape") for seed in reply]

    async def done_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are in the frontier now."""
        if seeds:
            args = [list(map(_bytes, seeds)), self._worker_id]
            await self._server.run("done_seeds", args, self._server.placed(key))

    # -- statements
    async def add_statements(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add a document's statements or look them up; return for each whether no other made it."""
        buckets = min(_MOST_BUCKETS, 1 << max(0, (limit - 1) // _WAYS).bit_length())
        marks = _PLACE - _TAG
        mark = (document % ((1 << 8 * marks) - 1) + 1).to_bytes(marks, "big")
        new: list[bool] = []
        for first in range(0, len(statements), _AT_ONCE):  # in portions, as other workers wait
            places = [
                [one % buckets * _WAYS * _PLACE, one.to_bytes(8, "big")[:_TAG]]
                for one in statements[first : first + _AT_ONCE]
            ]
            new += map(bool, await self._server.run("say", [mark, places, int(remember)]))
        return new


def _pairs(fields: Sequence[bytes]) -> dict[bytes, bytes]:
    """Make a mapping of a script's flat list of names and values."""
    return dict(zip(fields[::2], fields[1::2], strict=True))


def _order(event: bytes) -> tuple[int, ...]:
    """Return the sort key of an event's id."""
    return tuple(map(int, event.split(b"-")))


def _bytes(seed: str) -> bytes:
    return seed.encode("utf-8", "surrogateescape")


def _millis(seconds: float) -> int:
    return max(round(seconds * 1000), 1)
