"""The frontier on Redis."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable
from semcrawl.frontier.contract import Counts, Entry, Lease
from semcrawl.frontier.keys import FORMAT_VERSION, Keys
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.packing import check, digest, pack_blob, text, unpack_lease
from semcrawl.frontier.redis.addresspace import AddressPace
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.moving import MovableFrontier
from semcrawl.frontier.redis.outages import Outages
from semcrawl.frontier.redis.sharedstate import EVENTS_KEPT
from semcrawl.frontier.redis.workers import is_gone
from semcrawl.frontier.slots import NOTHING, LeftOut

logger = logging.getLogger(__name__)

#: seconds that a server which is away gets at the end
_CLOSING_PATIENCE = 2.0
#: links that one call gives new keys: a busy server takes a quarter of a second for them
_REKEYED_AT_ONCE = 500


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


class RedisFrontier(MovableFrontier):
    """The frontier of one worker, on a Redis server (6.2 or newer) shared by all workers.

    ``server`` is a URL or the path of a Unix socket. All keys start with ``{prefix}:``, see
    :class:`~semcrawl.frontier.keys.Keys`. ``worker_id`` names the worker: one that opens under
    the id of a crashed one gets back at once what that one had leased, so no two living workers
    may share it. ``revive`` is called while the server is away, to start it again.

    The crawl has the ``options`` of the worker that opened it last, where they bear on its order
    and pace: for all its workers. One that is ``considerate`` makes the pace of others at work no
    quicker. A ``guest``, who only looks, takes the crawl's.

    Delays and leases are measured by the server's clock. Calls wait up to
    ``options.patience`` seconds for a server that went away, except :meth:`open`.
    """

    def __init__(
        self,
        server: str | Path,
        *,
        prefix: str,
        worker_id: str,
        options: FrontierOptions | None = None,
        revive: Callable[[], None] | None = None,
        guest: bool = False,
        considerate: bool = False,
    ) -> None:
        self.options = options or FrontierOptions()
        self._considerate = considerate
        self.worker_id = worker_id
        self._guest = guest
        #: when the crawl began: with its name, a name never used again
        self._created = ""
        keys = Keys(prefix)
        connection = Server(
            server,
            meta_key=keys.meta,
            worker_id=worker_id,
            timeout=self.options.timeout,
            patience=self.options.patience,
            revive=revive,
        )
        super().__init__(connection, keys)
        #: hosts that are down
        self.addresses = AddressPace(connection, self.options.lease_time)
        self.outages = Outages(connection, keys.root, self.options.max_failed)

    async def open(self, *, make: bool = True) -> None:
        """Connect, check the keys' version stamp, take back this worker's former leases.

        Raises ``FrontierUnavailable`` when the server is away for more than two seconds or, without
        ``make``, has no such crawl, and ``FrontierCorrupt`` when the keys were written in another
        format.
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
        options = self.options.script_options()
        stamp = [str(FORMAT_VERSION), self.options.bloom_size(), options]
        version, created, kept = await self._server.run("open", stamp)
        if (found := text(version)) != str(FORMAT_VERSION):
            raise FrontierCorrupt(
                f"the frontier's key {self.keys.meta!r} has format {found}; this version of"
                f" semcrawl reads format {FORMAT_VERSION}"
            )
        self._created, self._server.crawl = text(created), created
        if not self._guest and await self.attend(self.options.lease_time) and self._considerate:
            self.options = self.options.as_strict_as(kept)
            asked, options = options, self.options.script_options()
            if asked != options:
                logger.warning(
                    "others work on this crawl, and their slower pace holds: %s",
                    self.options.changes(asked),
                )
        if kept != options and not self._guest:
            await self._server.run("set_options", [options])
            logger.info("options of the crawl, for all workers: %s", self.options.changes(kept))
        for worker in map(text, await self._server.run("workers", [])):
            if worker == self.worker_id or is_gone(worker):
                await self._server.run("reclaim", [worker])

    async def close(self) -> None:
        """Give this worker's leases back and disconnect; a server that is away is not waited for.

        (Its leases then run out.)
        """
        self.hurry()
        try:
            await self._server.run("reclaim", [self.worker_id])
        finally:
            await self._server.close()

    def hurry(self) -> None:
        """Wait no longer than two seconds for a server that is away: the crawl ends."""
        self._server.hurry(_CLOSING_PATIENCE)

    @property
    def client(self) -> Redis:
        """The Redis client, for looking at the keys."""
        return self._server.redis

    async def reclaim_all(self) -> int:
        """Put all workers' leases back: only for who knows that no other worker lives."""
        return int(await self._server.run("reclaim", [False]))

    # -- links
    async def add(self, entries: Sequence[Entry]) -> list[bool]:
        """Put links in; for each, whether it was new."""
        return await self._add(entries, again=False)

    async def add_again(self, entries: Sequence[Entry]) -> list[bool]:
        """Put links in, seen or not (a re-visit); for each, whether it did not wait there yet."""
        return await self._add(entries, again=True)

    async def _add(self, entries: Sequence[Entry], *, again: bool) -> list[bool]:
        if not entries:
            return []
        parts: defaultdict[tuple[str, str, str], list[Any]] = defaultdict(list)
        limit = self.options.dynamic_depth
        urls: set[str] = set()
        for index, entry in enumerate(entries):
            check(entry)
            if (limit and entry.barren >= limit) or entry.url in urls:
                continue
            urls.add(entry.url)
            link = [index, entry.key, entry.label, digest(entry.url), pack_blob(entry)]
            parts[entry.queue, entry.host, entry.group] += link
        new = [False] * len(entries)
        args = [[[*part, links] for part, links in parts.items()], again]
        for index in await self._server.run("add", args, once=True):
            new[index] = True
        return new

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        over: Sequence[Lease] = (),
        left_out: LeftOut = NOTHING,
    ) -> list[Lease]:
        """Lease up to ``limit`` links, best first, once the downloads ``over`` are released.

        Hosts that are ``left_out`` are passed over.
        """
        args = self._take_args(limit, queues, over)
        if left_out:
            args += [None, None, None, left_out.pack()]
        reply = await self._server.run("take", args, once=True)
        return [self._lease(fields) for fields in reply]

    async def take_in_step(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        strict: bool = True,
        over: Sequence[Lease] = (),
        left_out: LeftOut = NOTHING,
    ) -> list[Lease] | None:
        """:meth:`take`, told to all workers as an event.

        ``None`` when there is news that this worker has not read: what it would take may not be
        the best any more. What is taken is no news to this worker then. With ``strict`` off it
        takes whatever news there is, and :meth:`news` brings it the event as well.
        """
        args = self._take_args(limit, queues, over)
        args += [self._incarnation, EVENTS_KEPT, strict and self._last_event]
        if left_out:
            args.append(left_out.pack())
        reply = await self._server.run("take", args, once=True)
        if reply is None:
            return None
        event, taken = reply
        if strict and event:
            # nothing came between what was read before and this
            self._last_event = event
        return [self._lease(fields) for fields in taken]

    def _take_args(self, limit: int, queues: Sequence[str], over: Sequence[Lease]) -> list[Any]:
        lease_time = _micros(self.options.lease_time)
        return [limit, lease_time, self.worker_id, list(queues), [lease.id for lease in over]]

    def _lease(self, fields: Sequence[Any]) -> Lease:
        return unpack_lease(fields, self.keys.root, self._created)

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Seconds until asking again may give a link; ``None`` if none waits."""
        reply = await self._server.run("next_ready", [list(queues), _micros(self.options.poll)])
        return None if reply is None else int(reply) / 1e6

    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Say that these requests leave now; for each, whether its lease still held."""
        asked = [lease.id for lease in leases if lease.held]
        if not asked:
            return [True] * len(leases)
        still = iter(await self._server.run("started", [asked]))
        return [bool(next(still)) if lease.held else True for lease in leases]

    async def spared(self, leases: Sequence[Lease]) -> None:
        """Say that nothing is sent for these links: their hosts may be asked at once."""
        if spared := [lease.id for lease in leases if lease.held]:
            await self._server.run("spared", [spared])

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Prolong leases by the full lease time; for each, whether it still held."""
        if not leases:
            return []
        ids = [lease.id for lease in leases]
        args = [ids, _micros(self.options.lease_time)]
        return [bool(held) for held in await self._server.run("renew", args)]

    async def done(self, leases: Sequence[Lease]) -> None:
        """Acknowledge finished links; one whose lease ran out is not fetched again."""
        if not leases:
            return
        args: list[Any] = [[lease.id for lease in leases]]
        if self.options.exact_limit:
            args.append([digest(lease.entry.url) for lease in leases])
        links = []
        for position in await self._server.run("done", args):
            entry = leases[position].entry
            links.append([entry.queue, entry.host, entry.group, digest(entry.url)])
        if links:
            await self._server.run("withdraw", [links])

    async def fail(self, leases: Sequence[Lease]) -> None:
        """Acknowledge links that could not be fetched; they are kept aside for a requeue."""
        if leases:
            ids = [lease.id for lease in leases]
            await self._server.run("fail", [ids, self.options.max_failed])

    async def requeue(self, queues: Sequence[str], limit: int = 1_000_000) -> int:
        """Put up to ``limit`` failed links back into their places; return how many."""
        total = 0
        while total < limit:
            # in portions, so that no other worker waits long
            portion = min(limit - total, 1000)
            moved = int(await self._server.run("requeue", [list(queues), portion]))
            total += moved
            if moved < portion:
                break
        return total

    async def release_host(self, leases: Sequence[Lease]) -> None:
        """Say that the downloads are over; the leases stay."""
        if leases:
            await self._server.run("release_host", [[lease.id for lease in leases]])

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Put links back in as their entries now are, to be taken after ``delay`` seconds."""
        if not leases:
            return
        links = []
        for lease in leases:
            entry = lease.entry
            check(entry)
            where = [lease.id, entry.queue, entry.host, entry.group, entry.key]
            links.append([*where, entry.label, pack_blob(entry), digest(entry.url)])
        await self._server.run("give_back", [links, _micros(delay)])

    # -- order and pace
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values."""
        for group, value in values.items():
            if not isfinite(value):
                raise ValueError(f"a group's value is a finite number: {group!r} has {value}")
        if values:
            await self._server.run("set_values", [{g: float(v) for g, v in values.items()}])

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Give waiting links new keys inside their group; others are passed over."""
        links = []
        for entry, key in keys:
            if not isfinite(key):
                raise ValueError(f"a key is a finite number, not {key}: {entry.url}")
            links.append([entry.queue, entry.host, entry.group, digest(entry.url), key])
        # in portions, so that no other worker waits long
        for first in range(0, len(links), _REKEYED_AT_ONCE):
            await self._server.run("rekey", [links[first : first + _REKEYED_AT_ONCE]])

    async def set_pace(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency, for all workers.

        ``at_least``: a longer delay stays.
        """
        if delay < 0 or not isfinite(delay) or concurrency < 1:
            raise ValueError(f"no pace for {host}: delay {delay} s, concurrency {concurrency}")
        await self._server.run("set_pace", [host, _micros(delay), concurrency, int(at_least)])

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest, for all workers."""
        if seconds < 0 or not isfinite(seconds):
            raise ValueError(f"no time to rest: {seconds} s")
        await self._server.run("rest", [host, _micros(seconds)])

    async def reward(self, host: str, *, target: bool) -> None:
        """Tell whether a fetch on the host gave a target."""
        await self._server.run("reward", [host, int(target)])

    # -- looking
    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count what is there."""
        reply = await self._server.run("counts", [list(queues), list(seed_keys)])
        waiting, leased, seeds, seen, hosts, dropped, flat = reply
        labels: dict[str, int] = {}
        for label, number in zip(flat[::2], flat[1::2], strict=True):
            labels[text(label)] = labels.get(text(label), 0) + number
        return Counts(
            waiting=waiting,
            leased=leased,
            seeds=seeds,
            seen=seen,
            hosts=hosts,
            waiting_by_label=labels,
            dropped=dropped,
        )
