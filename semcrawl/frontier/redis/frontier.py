"""The frontier on Redis."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.frontier import contract
from semcrawl.frontier.contract import (
    AT_ONCE,
    NONE_SKIPPED,
    Announce,
    Counts,
    Entry,
    FrontierOptions,
    Lease,
    Opened,
    SkippedHosts,
    micros,
)
from semcrawl.frontier.links import (
    bloom_size,
    changes,
    digest,
    pack_blob,
    pack_options,
    slowed,
    text,
)
from semcrawl.frontier.redis import packing
from semcrawl.frontier.redis._inspection import RedisInspector
from semcrawl.frontier.redis._leftout import RedisAside
from semcrawl.frontier.redis._pace import RedisPace
from semcrawl.frontier.redis._sharing import RedisShared
from semcrawl.frontier.redis.cluster import server_at
from semcrawl.frontier.redis.packing import FORMAT_VERSION, Keys
from semcrawl.frontier.workers import is_gone

logger = logging.getLogger(__name__)

#: seconds to wait for an absent server when closing
_CLOSING_PATIENCE = 2.0
#: keys changed per call, which takes a busy server a quarter of a second
_REKEYED_AT_ONCE = 500
#: arguments of a take that publishes nothing
_NO_LOG = (None, None, None)


class RedisFrontier(Opened):
    """The frontier of one worker, on a Redis server (6.2 or newer) shared by all workers.

    It meets the contract :class:`~semcrawl.frontier.contract.Frontier`.
    ``server`` is a URL or the path of a Unix socket, ``prefix`` the crawl's name
    (:class:`~semcrawl.frontier.redis.packing.Keys`). Opening with the ``worker_id`` of a crashed
    worker gives back that worker's leases at once, so no two living workers may share an id.

    The crawl's order and pace follow the ``options`` of the worker that opened it last. A
    ``considerate`` worker does not speed up the pace of other active workers. A ``guest`` changes
    no options. Times are those of the server's clock. Calls wait up to ``options.patience`` seconds
    for an absent server, except :meth:`open`.
    """

    def __init__(
        self,
        server: str | Path,
        *,
        prefix: str,
        worker_id: str,
        options: FrontierOptions | None = None,
        guest: bool = False,
        considerate: bool = False,
    ) -> None:
        self.options = options or FrontierOptions()
        self._considerate = considerate
        self.worker_id = worker_id
        self._guest = guest
        #: when the crawl began; unique together with its name
        self._created = ""
        self.keys = keys = Keys(prefix)
        self.name = prefix
        self._server = connection = server_at(
            server,
            meta_key=keys.meta,
            worker_id=worker_id,
            timeout=self.options.timeout,
            patience=self.options.patience,
        )
        lease_time = self.options.lease_time
        self.pace: contract.Pace = RedisPace(connection, keys.root, worker_id, self.options)
        self._shared = RedisShared(connection, keys, worker_id, lease_time)
        self.shared: contract.Shared = self._shared
        self.aside: contract.Aside = RedisAside(connection, keys)
        self.inspector: contract.Inspector = RedisInspector(connection, keys, self.counts)

    async def open(self, *, make: bool = True) -> None:
        """Connect, check the keys' format, give back this worker's former leases.

        Raises ``FrontierUnavailable`` when the server is away for more than two seconds or, without
        ``make``, has no such crawl, and ``FrontierCorrupt`` for keys of another format.
        """
        try:
            await self._open(make=make)
        except BaseException:
            await self._server.close()
            raise

    async def _open(self, *, make: bool) -> None:
        await self._server.check()
        meta = self.keys.meta
        if not make and not await self._server.through(lambda: self.client.exists(meta), meta):
            raise FrontierUnavailable(
                f"there is no crawl {self.keys.prefix!r} on the Redis at {self._server.address}"
            )
        options = pack_options(self.options)
        stamp = [str(FORMAT_VERSION), bloom_size(self.options), options, *self._stamp()]
        version, created, kept, shards = await self._server.run("open", stamp)
        if (found := text(version)) != str(FORMAT_VERSION):
            raise FrontierCorrupt(
                f"the frontier's key {self.keys.meta!r} has format {found}; this version of"
                f" semcrawl reads format {FORMAT_VERSION}"
            )
        self._check_shards(shards)
        self._created, self._server.crawl = text(created), created
        await self._server.through(self._server.join)
        if not self._guest and await self.heartbeat(self.options.lease_time) and self._considerate:
            self.options = slowed(kept, self.options)
            options = pack_options(self.options)
        if kept != options and not self._guest:
            await self._server.run("set_options", [options])
            logger.info("options of the crawl, for all workers: %s", changes(kept, options))
        for worker in map(text, await self._server.run("workers", [])):
            if worker == self.worker_id or is_gone(worker):
                await self._server.run("reclaim", [worker])

    def _stamp(self) -> list[Any]:
        """Return further fields of a new crawl's ``meta`` key."""
        return []

    def _check_shards(self, shards: bytes | None) -> None:
        """Raise ``UsageError`` if the name is that of another crawl's shard."""
        if shards is not None:
            raise UsageError(
                f"{self.keys.prefix!r} is a shard of a crawl of {text(shards)}, and no crawl's name"
            )

    async def close(self) -> None:
        """Give back this worker's leases and disconnect; without the server, they expire."""
        self.hurry()
        try:
            await self._server.run("reclaim", [self.worker_id])
        finally:
            await self._server.close()

    async def heartbeat(self, seconds: float) -> list[str]:
        """Count as active for ``seconds`` from now; return the names of other active workers."""
        others = await self._server.run("attend", [self.worker_id, micros(seconds)])
        return [name for name in map(text, others) if not is_gone(name)]

    def hurry(self) -> None:
        """Wait at most two seconds for an absent server from now on, as the crawl ends."""
        self._server.hurry(_CLOSING_PATIENCE)

    @property
    def losses(self) -> int:
        """How often another run of the server took over, which may lack the last writes."""
        return self._server.changes

    @property
    def client(self) -> Redis:
        """The Redis client, for inspecting the keys."""
        return self._server.redis

    # -- links
    def shard_of(self, host: str) -> int:
        """Return 0, as there are no shards."""
        return 0

    async def add(
        self, entries: Sequence[Entry], *, again: bool = False, over: Sequence[Lease] = ()
    ) -> list[bool]:
        """Add links and release the downloads ``over``; return for each whether it was added."""
        if not entries:
            await self.release(over)
            return []
        new, ended = [False] * len(entries), [lease.id for lease in over]
        links = packing.pack_links(enumerate(entries), self.options.dynamic_depth)
        for index in await self._server.run("add", [links, again, False, ended], once=True):
            new[index] = True
        return new

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
        announce: Announce | None = None,
    ) -> list[Lease] | None:
        """Lease up to ``limit`` links, best first, once the downloads ``over`` are released."""
        events, strict = self._shared, announce == "strict"
        log = events.publication(strict=strict) if announce else _NO_LOG
        args = self._take_args(limit, queues, over, skip, log)
        reply = await self._server.run("take", args, once=True)
        if not announce or reply is None:
            return None if reply is None else self._leases(reply)
        event, taken = reply
        if strict and event:
            events.position = event  # no event lies between
        return self._leases(taken)

    def _take_args(
        self,
        limit: int,
        queues: Sequence[str],
        over: Sequence[Lease],
        skip: SkippedHosts,
        log: Sequence[Any] = _NO_LOG,
    ) -> list[Any]:
        lease_time, ids = micros(self.options.lease_time), [lease.id for lease in over]
        skipped = skip and [skip.untried, list(skip.domains)]
        return [limit, lease_time, self.worker_id, list(queues), ids, *log, skipped or False]

    def _leases(self, found: Sequence[Sequence[Any]]) -> list[Lease]:
        return [packing.unpack_lease(fields, self.keys.root, self._created) for fields in found]

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a take may give a link; ``None`` if none waits."""
        reply = await self._server.run("next_ready", [list(queues), micros(self.options.poll)])
        return None if reply is None else int(reply) / 1e6

    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Note that these requests start now; return for each whether its lease still held."""
        asked = [lease.id for lease in leases if lease.held]
        if not asked:
            return [True] * len(leases)
        still = iter(await self._server.run("started", [asked]))
        return [bool(next(still)) if lease.held else True for lease in leases]

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Renew leases for the full lease time; return for each whether it still held."""
        if not leases:
            return []
        ids = [lease.id for lease in leases]
        args = [ids, micros(self.options.lease_time)]
        return [bool(held) for held in await self._server.run("renew", args)]

    async def end(self, leases: Sequence[Lease], *, failed: bool = False) -> None:
        """Acknowledge finished links; one whose lease expired is not fetched again."""
        if not leases:
            return
        if failed:
            ids = [lease.id for lease in leases]
            await self._server.run("fail", [ids, self.options.max_failed])
            return
        args: list[Any] = [[lease.id for lease in leases]]
        if self.options.exact_limit:
            args.append([digest(lease.entry.url) for lease in leases])
        void = [leases[position].entry for position in await self._server.run("done", args)]
        if links := [[one.queue, one.host, one.group, digest(one.url)] for one in void]:
            await self._server.run("withdraw", [links])

    async def requeue(self, queues: Sequence[str], limit: int = AT_ONCE) -> int:
        """Put up to ``limit`` failed links back into their groups; return how many."""
        return int(await self._server.run("requeue", [list(queues), limit]))

    async def release(self, leases: Sequence[Lease], *, sent: bool = True) -> None:
        """Note that the downloads are over, or that no request is sent for these links."""
        if ids := [lease.id for lease in leases if sent or lease.held]:
            await self._server.run("release", [ids, sent])

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Give back links with their present entries; they can be taken after ``delay`` seconds."""
        if not leases:
            return
        links = []
        for lease in leases:
            entry = lease.entry
            entry.check()
            where = [lease.id, entry.queue, entry.host, entry.group, entry.key]
            links.append([*where, entry.label, pack_blob(entry), digest(entry.url)])
        await self._server.run("give_back", [links, micros(delay)])

    # -- order
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Set values of groups."""
        if values:
            await self._server.run("set_values", [packing.pack_values(values)])

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Set keys of links that still wait."""
        links = packing.pack_keys(keys)
        # in portions, as other workers wait
        for first in range(0, len(links), _REKEYED_AT_ONCE):
            await self._server.run("rekey", [links[first : first + _REKEYED_AT_ONCE]])

    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count links, hosts and groups."""
        return (await self._counted(queues, seed_keys))[0]

    async def _counted(self, queues: Sequence[str], seeds: Sequence[str]) -> tuple[Counts, bytes]:
        """Return the counts, and a token that changes with every addition or take."""
        args = [list(queues), list(map(self._server.placed, seeds))]
        return packing.unpack_counts(await self._server.run("counts", args))
