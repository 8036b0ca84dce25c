"""The event log of a crawl, a Redis stream."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import CrawlEvent, Entry
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.keys import Keys
from semcrawl.frontier.redis.packing import pack_taken, unpack_taken

logger = logging.getLogger(__name__)

#: approximate number of kept events
EVENTS_KEPT = 100_000


class RedisEvents:
    """The events of all workers, in order (:class:`~semcrawl.frontier.contract.EventLog`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys
        #: id of this worker's own events; a restarted worker has another
        self.incarnation = uuid4().bytes
        #: the last event read
        self.position = b"-"
        #: when no event was unread (``time.monotonic``)
        self.caught_up = float("-inf")
        #: ids of later events that need not be read
        self.known: set[bytes] = set()

    async def publish(self, *events: bytes, queue: str = "") -> None:
        """Append outcomes for the other workers."""
        args = [self.incarnation, events, EVENTS_KEPT, queue, False]
        await self._server.run("publish", args, once=True)

    async def publish_and_read(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[CrawlEvent]:
        """Publish, then read the events since the last call, including these."""
        args = [self.incarnation, events, EVENTS_KEPT, queue, self.position, limit]
        now = time.monotonic()
        reply = await self._server.run("publish", args, once=True)
        if isinstance(reply, bytes):
            # a repeated call only gets the position of its own events
            return await self.read(limit)
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

    async def read(self, limit: int = 1000) -> list[CrawlEvent]:
        """Read the events since the last call, including this worker's own."""
        return self._read(await self.unread(limit))

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
        """Return the saved state, or ``None``; :meth:`read` continues from its position."""
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


def _pairs(fields: Sequence[bytes]) -> dict[bytes, bytes]:
    """Make a mapping of a script's flat list of names and values."""
    return dict(zip(fields[::2], fields[1::2], strict=True))


def _order(event: bytes) -> tuple[int, ...]:
    """Return the sort key of an event's id."""
    return tuple(map(int, event.split(b"-")))
