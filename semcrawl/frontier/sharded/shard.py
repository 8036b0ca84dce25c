"""One shard of a frontier, which is itself a frontier on Redis."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redis.exceptions import RedisError

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Counts, Entry, Lease, SkippedHosts
from semcrawl.frontier.contract.pace import micros
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.redis.cluster import ClusterServer
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.packing import pack_links
from semcrawl.frontier.sharded._journal import Journal

logger = logging.getLogger(__name__)

#: seconds of one wait for replicas, and number of waits
_WAIT, _PATIENCE = 1.0, 5
#: seconds for which the check for replicas is trusted
_TRUSTED = 5.0


@dataclass(frozen=True, order=True, slots=True)
class Standing:
    """The rank of a link in the order over all shards; the smallest comes first."""

    #: minus its group's value
    score: float
    #: turn, key and sequence number, as sortable bytes
    place: bytes

    @classmethod
    def of(cls, reply: Sequence[bytes] | None) -> Standing | None:
        """Decode a script's reply."""
        return None if not reply else cls(float(reply[0]), bytes(reply[1]))


@dataclass(frozen=True, slots=True)
class View:
    """A shard's best link for some queues."""

    #: its rank; ``None`` if no link is ready
    standing: Standing | None
    #: without a ready link, seconds until one may be; ``None`` if none waits
    wait: float | None

    @classmethod
    def of(cls, reply: Sequence[Any]) -> View:
        """Decode a script's reply."""
        standing, wait = reply
        return cls(Standing.of(standing), None if wait is None else int(wait) / 1e6)


class Shard(RedisFrontier):
    """A shard of a crawl (:class:`~semcrawl.frontier.sharded.frontier.ShardedFrontier`)."""

    _warned = False
    #: unique id of the crawl; set before opening
    crawl = ""

    def __init__(self, server: str, *, number: int, shards: int, **options: Any) -> None:
        #: number of this shard, from 0
        self.number = number
        #: number of all shards
        self.shards = shards
        super().__init__(server, **options)
        #: this worker's last changes
        self.journal = Journal()
        self._repeated = asyncio.Event()
        self._repeated.set()
        self._server.changed = self._go_on
        #: whether the server has replicas, and until when that is trusted
        self._has_replicas, self._trusted_until = False, 0.0

    async def _go_on(self) -> None:
        """Continue with another run of the server: repeat the changes that it may lack."""
        self._repeated.clear()
        self._trusted_until = 0.0
        try:
            await self.journal.repeat()
            if self.number == 0:
                await self._log.go_on()
        finally:
            self._repeated.set()

    async def settle(self) -> None:
        """Wait until this worker's changes would survive the loss of the server.

        That is when a replica has them. Without replicas they are on the server's disk soon, and
        there is no wait. A replica that does not keep up is awaited for some seconds; then one
        warning follows.
        """
        for _ in range(_PATIENCE):
            await self._repeated.wait()
            number, changes = self.journal.last, self._server.changes
            if self.journal.is_settled:
                return
            now = time.monotonic()
            if now >= self._trusted_until:
                self._has_replicas = await self._server.has_replicas()
                self._trusted_until = now + _TRUSTED
            if not self._has_replicas:
                self.journal.settle(number, forget=False)
                return
            if await self._server.is_replicated(_WAIT):
                if changes == self._server.changes:
                    self.journal.settle(number, forget=True)
                    return
            else:
                self._trusted_until = 0.0
        if not self._warned:
            self._warned = True
            logger.warning(
                "no replica of the frontier's Redis at %s keeps up: what it lacks may be lost"
                " if that server fails",
                self.address,
            )

    def _stamp(self) -> list[Any]:
        shard, shards = str(self.number), str(self.shards)
        return [["crawl", self.crawl, "shard", shard, "shards", shards]]

    def _check_shards(self, shards: bytes | None) -> None:
        if shards is None or text(shards) != str(self.shards):
            raise FrontierCorrupt(
                f"the frontier's key {self.keys.meta!r} is not of a crawl of {self.shards} shards"
            )

    async def check(self) -> None:
        """Connect; raise ``FrontierUnavailable`` unless its server can be used."""
        await self._server.check()

    async def kept(self, *fields: str) -> list[str | None]:
        """Return fields of its key ``meta``; ``None`` for missing ones."""
        found = await self._server.ask("hmget", self.keys.meta, list(fields))
        return [None if value is None else text(value) for value in found]

    async def keep(self, field: str, value: str) -> None:
        """Set a field of its key ``meta``."""
        await self._server.ask("hset", self.keys.meta, field, value)

    async def holds(self, *keys: str) -> bool:
        """Whether its server has one of these keys."""
        return bool(await self._server.ask("exists", *keys))

    @property
    def in_cluster(self) -> bool:
        """Whether its server is a cluster's node."""
        return isinstance(self._server, ClusterServer)

    @property
    def address(self) -> str:
        """Address of its server, for messages."""
        return self._server.address

    async def cautions(self) -> list[str]:
        """Return warnings about the server's settings that may lose links, where it shows them."""
        ask = self._server.ask
        found = []
        disk = await ask("info", "persistence")
        if str(disk.get("aof_enabled", 1)) == "0":
            found.append("appendonly is no: a server that starts again has lost its links")
        if await self._server.has_replicas():
            try:
                least = await self.client.config_get("min-replicas-to-write")
            except RedisError:
                return found  # CONFIG may be forbidden
            if next(iter(least.values()), "1") in ("0", b"0"):
                found.append(
                    "min-replicas-to-write is 0: a primary that is cut off takes links that are"
                    " lost"
                )
        return found

    def adopt_pace(self, options: FrontierOptions) -> None:
        """Adopt the crawl's pace."""
        self._considerate = False
        self.options = replace(self.options, delay=options.delay, concurrency=options.concurrency)

    # -- links
    async def put(
        self,
        entries: Sequence[tuple[int, Entry]],
        total: int,
        clock: int,
        *,
        again: bool,
        queues: Sequence[Sequence[str]] = (),
        over: Sequence[Lease] = (),
    ) -> tuple[list[int], int, list[View]]:
        """Add numbered links, a part of ``total`` that are added together.

        The downloads ``over`` are released first. The links get sequence numbers from ``clock`` on.
        Return the numbers of the new links, the next sequence number, and the views of
        :meth:`peek`.
        """
        parts = pack_links(entries, self.options.dynamic_depth)
        args = [parts, again, False, [lease.id for lease in over]]
        args += [total, clock, list(map(list, queues)), self._poll]

        async def put() -> tuple[list[int], int, list[View]]:
            fresh, following, views = await self._server.run("add", args, once=True)
            return fresh, int(following), list(map(View.of, views))

        self.journal.note(put)
        return await put()

    async def set_values(self, values: Mapping[str, float]) -> None:
        """Set values of groups."""
        self.journal.note(lambda: super(Shard, self).set_values(values))
        await super().set_values(values)

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Set keys of links that still wait."""
        self.journal.note(lambda: super(Shard, self).rekey(keys))
        await super().rekey(keys)

    @property
    def _poll(self) -> int:
        return micros(self.options.poll)

    async def peek(self, queues: Sequence[Sequence[str]], over: Sequence[Lease] = ()) -> list[View]:
        """Return a view of the best link for each list of queues.

        The downloads ``over`` are released first.
        """
        args = [list(map(list, queues)), self._poll, [lease.id for lease in over]]
        return list(map(View.of, await self._server.run("peek", args)))

    async def draw(
        self,
        limit: int,
        queues: Sequence[Sequence[str]],
        bound: Standing | None,
        skip: SkippedHosts,
        ahead: int = 0,
        over: Sequence[Lease] = (),
        *,
        strict: bool | None = None,
    ) -> tuple[list[Lease], View, list[View]] | None:
        """Take links of the first list of queues that come before ``bound``.

        Up to ``ahead`` links beyond it may follow if they differ from it only in number. Hosts to
        ``skip`` are skipped even if no links wait on others. The downloads ``over`` are released
        first. Return the leases, a view without the hosts to ``skip`` (and without its wait), and
        the views of :meth:`peek`. Unless ``strict`` is ``None``, the links are published as an
        event in the same step. If it is true and there are unread events, nothing is taken, and
        the result is ``None``.
        """
        log = (None, None, None) if strict is None else self._log.publication(strict=strict)
        args = self._take_args(limit, queues[0], over, skip, log)
        args.append(True if bound is None else [repr(bound.score), bound.place, ahead])
        args += [list(map(list, queues)), self._poll]
        reply = await self._server.run("take", args, once=True)
        if reply is None:
            return None
        event, taken, left, views = reply
        if strict and event:
            self._log.position = event  # no event lies between
        found = list(map(View.of, views))
        return self._leases(taken), View(Standing.of(left), None) if skip else found[0], found

    async def others_wait(self, domains: Sequence[str]) -> bool:
        """Whether links wait on hosts of other pay-level domains than these."""
        return bool(await self._server.run("others_wait", [list(domains)]))

    async def shed(self, surplus: int, worst: float | None) -> tuple[int, float | None]:
        """Drop ``surplus`` links of the worst groups, with values up to ``worst`` if given.

        Return how many, and the value of the worst remaining group.
        """
        bound = False if worst is None else repr(worst)
        dropped, *left = await self._server.run("shed", [surplus, bound], once=True)
        return int(dropped), float(left[0]) if left else None

    async def counted(
        self, queues: Sequence[str], seed_keys: Sequence[str] = ()
    ) -> tuple[Counts, bytes]:
        """Return the counts, and a token that changes with every addition or take."""
        return await self._counted(queues, seed_keys)

    # -- events
    async def has_unread(self, seconds: float) -> bool:
        """Whether there are events that this worker has not read.

        False without asking if none was unread in the last ``seconds``.
        """
        if time.monotonic() - self._log.caught_up < seconds:
            return False
        return bool(await self._log.unread())

    async def tell(self, entries: Sequence[Entry], *, strict: bool) -> None:
        """Publish taken links; with ``strict`` this worker does not read the event."""
        await self._log.tell(entries, strict=strict)

    # -- mirrors
    async def note_asked(self, paths: Sequence[Sequence[str]]) -> None:
        """Record origins and paths that links of other shards are fetching."""
        await self._server.run("note_asked", [list(map(list, paths))])
