"""State that the workers of a crawl share and keep on Redis: events, errands, blobs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Frontier, Lease
from semcrawl.frontier.keys import Keys
from semcrawl.frontier.leftout import LeftOutLinks, Reason
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.packing import News, digest, readable, text, unpack_taken
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.workers import is_gone
from semcrawl.frontier.withheld import Withheld
from semcrawl.relevance.families import Family, Verdict
from semcrawl.web.hosts import netloc_of

logger = logging.getLogger(__name__)

#: events that are kept, about
EVENTS_KEPT = 100_000
#: parts of the table of links left out that one call looks through
_LEFT_AT_ONCE = 512


class SharedState(Frontier):
    """The part of a frontier that has to do with its workers and not with links."""

    worker_id: str
    options: FrontierOptions

    def __init__(self, server: Server, keys: Keys) -> None:
        self.keys = keys
        self._server = server
        # events are told apart by incarnation, so that a restarted worker hears its former self
        self._incarnation = uuid4().bytes
        self._last_event = b"-"

    async def attend(self, seconds: float) -> list[str]:
        """Count as at work for so long from now; return the names of the others that are."""
        others = await self._server.run("attend", [self.worker_id, round(seconds * 1e6)])
        return [name for name in map(text, others) if not is_gone(name)]

    async def next_turn(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn for an errand; return after how many seconds to ask again."""
        giver = instead_of.id if instead_of is not None else False
        patience, poll = self._patience, round(self.options.poll * 1e6)
        args = [*self._errand(host, errand), patience, poll, giver]
        wait = int(await self._server.run("next_turn", args))
        return None if wait < 0 else wait / 1e6

    async def turn_starts(self, host: str, errand: str) -> bool:
        """Say that an errand's request leaves now; whether its turn still held."""
        args = [*self._errand(host, errand), self._patience]
        return bool(await self._server.run("turn_starts", args))

    async def end_turn(self, host: str, errand: str, *, spared: bool = False) -> None:
        """Say that an errand is over."""
        await self._server.run("end_turn", [*self._errand(host, errand), int(spared)])

    def _errand(self, host: str, errand: str) -> list[Any]:
        """Return the name that the scripts know an errand by: this worker's own."""
        return [host, f"{self._incarnation.hex()} {errand}", self.worker_id]

    @property
    def _patience(self) -> int:
        """Microseconds for which an errand is waited for."""
        return round(self.options.lease_time * 1e6)

    async def publish(self, *events: bytes, queue: str = "") -> None:
        """Append events for the other workers; the last 100,000 or so are kept.

        ``queue`` is that of the links they speak of.
        """
        args = [self._incarnation, events, EVENTS_KEPT, queue, False]
        await self._server.run("publish", args, once=True)

    async def publish_and_hear(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[News]:
        """:meth:`publish`, and the :meth:`news` since the last call, these events included."""
        args = [self._incarnation, events, EVENTS_KEPT, queue, self._last_event, limit]
        reply = await self._server.run("publish", args, once=True)
        if isinstance(reply, bytes):
            # of a call that was repeated, only the events' own place is known
            return await self.news(limit)
        before, own = reply
        news = self._read([(name, _pairs(fields)) for name, fields in before])
        # this worker's own events need not come back to it: it has them
        room = limit - len(news)
        for number, (name, event) in enumerate(zip(own[:room], events, strict=False), start=1):
            self._last_event = name
            news.append(News(True, event, queue, (), more=number < len(events)))
        return news

    async def events(self, limit: int = 1000) -> list[bytes]:
        """Events of other workers since the last call (or since the loaded state was saved)."""
        return [n.event for n in await self.news(limit) if not n.mine and n.event is not None]

    async def news(self, limit: int = 1000) -> list[News]:
        """Return the events since the last call, this worker's own among them."""
        redis, name = self._server.redis, self.keys["events"]
        start = self._last_event if self._last_event == b"-" else b"(" + self._last_event
        reply: Any = await self._server.through(lambda: redis.xrange(name, start, "+", limit), name)
        return self._read(reply or [])

    def _read(self, found: Sequence[tuple[bytes, Mapping[bytes, bytes]]]) -> list[News]:
        if found:
            self._last_event = found[-1][0]
        return [news for _, fields in found if (news := self._news(fields)) is not None]

    def _news(self, fields: Mapping[bytes, bytes]) -> News | None:
        """Read an event; one that cannot be read is passed over: each worker sees it so."""
        try:
            return News(
                mine=fields.get(b"w") == self._incarnation,
                event=fields.get(b"e"),
                queue=text(fields.get(b"q", b"")),
                taken=unpack_taken(fields[b"t"], self.keys.root) if b"t" in fields else [],
                more=bool(fields.get(b"m")),
            )
        except (ValueError, FrontierCorrupt) as error:
            logger.warning("an event of the crawl is passed over: %s", error)
            return None

    async def save(self, name: str, state: bytes) -> None:
        """Keep a blob, and up to which event this worker had read when it was made."""
        redis, key = self._server.redis, self.keys["state"]
        fields: Any = {name: state, name + ":event": self._last_event}
        await self._server.through(lambda: redis.hset(key, mapping=fields), key)

    async def load(self, name: str) -> bytes | None:
        """Return the blob, or ``None``; :meth:`events` goes on from where it was made."""
        redis, key = self._server.redis, self.keys["state"]
        names = [name, name + ":event"]
        reply: list[bytes | None] = await self._server.through(lambda: redis.hmget(key, names), key)
        state, event = reply
        if state is not None and event is not None:
            self._last_event = event
        return state

    async def remember(self, name: str, content: bytes) -> None:
        """Keep a blob that has nothing to do with the events, for all workers."""
        redis, key = self._server.redis, self.keys["state"]
        await self._server.through(lambda: redis.hset(key, name, content), key)

    async def recall(self, name: str) -> bytes | None:
        """Return a blob that :meth:`remember` kept, or ``None``."""
        redis, key = self._server.redis, self.keys["state"]
        found: bytes | None = await self._server.through(lambda: redis.hget(key, name), key)
        return found

    async def keep(self, name: str, content: bytes, seconds: float) -> None:
        """Keep a blob for some time, for all workers."""
        redis, key, life = self._server.redis, self.keys[name], max(round(seconds * 1000), 1)
        await self._server.through(lambda: redis.set(key, content, px=life), key)

    async def kept(self, name: str) -> bytes | None:
        """Return a blob that :meth:`keep` kept, or ``None``."""
        redis, key = self._server.redis, self.keys[name]
        found: bytes | None = await self._server.through(lambda: redis.get(key), key)
        return found

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or prolong this worker's claim; whether it has it now."""
        args = [name, self._incarnation, max(round(seconds * 1000), 1)]
        return bool(await self._server.run("claim", args))

    async def unclaim(self, name: str) -> None:
        """Let go of a name."""
        await self._server.run("unclaim", [name, self._incarnation])

    async def leave_out(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links that do not go in, and why: each once, for all workers and runs.

        ``limit``: how many are told apart.
        """
        noted = [[digest(url), f"{reason} {netloc_of(url)}", url] for url, reason in links]
        if noted:
            await self._server.run("leave_out", [noted, limit])

    async def left_out(self) -> LeftOutLinks:
        """Return what was left out so far and did not go in after all."""
        bucket: int | None = 0
        while bucket is not None:  # in portions, so that no other worker waits long
            bucket = await self._server.run("left_out", [bucket, _LEFT_AT_ONCE])
        redis, keys = self._server.redis, self.keys
        names = keys["lefthosts"], keys["leftfirst"]
        hosts, first = [await self._server.through(partial(redis.hgetall, n), n) for n in names]
        full = await self._server.through(lambda: redis.hexists(keys.meta, "leftfull"), keys.meta)
        with readable(f"the frontier's keys {names}"):
            return LeftOutLinks.read(hosts, first, more=bool(full))

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Note families of links, by name, before links of them go in."""
        if families:
            named = [[name, found.document, found.pattern] for name, found in families.items()]
            await self._server.run("know_families", [named])

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Note what answers say of the families of their links.

        With each comes where its redirect led, if that was known. Return whether
        :meth:`unwithhold` has anything to do now.
        """
        told = [
            [name, str(what), led_to and digest(led_to).hex()] for name, what, led_to in answers
        ]
        return bool(await self._server.run("judge_families", [told], once=True))

    async def unwithhold(self, limit: int) -> int:
        """Put up to ``limit`` links back that are not to be withheld any more; return how many."""
        return int(await self._server.run("unwithhold", [limit]))

    async def note_bodies(
        self,
        bodies: Sequence[tuple[str, str, str, str]],
        in_vain: Sequence[tuple[str, str]],
        known: int,
    ) -> tuple[bool, int, list[tuple[str, str]] | None]:
        """Note what paths gave (names of origin, its URL, names of path and body), or did not.

        Return whether :meth:`unwithhold` has anything to do now, the number of the mirrors that
        are known, and, if it is another than ``known``, the mirrors: pairs of origins.
        """
        args = [[list(b) for b in bodies], [list(v) for v in in_vain], known]
        restore, number, *found = await self._server.run("note_bodies", args, once=True)
        pairs = [(text(a), text(b)) for a, b in found[0]] if found else None
        return bool(restore), int(number), pairs

    async def withhold_copies(self, links: Sequence[tuple[str, str, str]]) -> set[int]:
        """Withhold leased links that a mirror gave, or is being asked for; return which.

        With each lease's id come the names of its origin and its path.
        """
        args = [[list(link) for link in links]]
        return set(await self._server.run("withhold_copies", args, once=True))

    async def release_copies(self, limit: int) -> int:
        """Put links back that a mirror was to give and did not; return how many."""
        return int(await self._server.run("release_copies", [limit]))

    async def withheld(self) -> list[Withheld]:
        """Return the families of which links are withheld, those with most first."""
        redis, keys = self._server.redis, self.keys
        name = keys["withholding"]
        found = []
        for family in await self._server.through(lambda: redis.smembers(name), name):
            key, links = keys["family:" + text(family)], keys["withheld:" + text(family)]
            facts = await self._server.through(partial(redis.hgetall, key), key)
            number = await self._server.through(partial(redis.hlen, links), links)
            with readable(f"the frontier's key {key!r}"):
                found.append(Withheld.read(facts, number))
        return sorted((f for f in found if f.links), key=lambda f: (-f.links, f.document))

    # -- seeds
    async def push_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds to the Redis list ``key``."""
        if seeds:
            data = [seed.encode("utf-8", "surrogateescape") for seed in seeds]
            await self._server.through(lambda: self._server.redis.rpush(key, *data), key)

    async def take_seeds(self, key: str, limit: int) -> list[str]:
        """Take seeds from the head of the list (or set, or highest of a sorted set) ``key``."""
        args = [limit, round(self.options.lease_time * 1e6), self.worker_id]
        reply = await self._server.run("take_seeds", args, key, once=True)
        return [seed.decode("utf-8", "surrogateescape") for seed in reply]

    async def done_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are safely in the frontier."""
        if seeds:
            data = [seed.encode("utf-8", "surrogateescape") for seed in seeds]
            await self._server.run("done_seeds", [data, self.worker_id], key)


def _pairs(fields: Sequence[bytes]) -> dict[bytes, bytes]:
    """An event's fields, as a script returns them: names and values in turn."""
    return dict(zip(fields[::2], fields[1::2], strict=True))
