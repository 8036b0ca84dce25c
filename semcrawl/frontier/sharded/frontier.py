"""The frontier in shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self

from semcrawl.errors import FrontierError
from semcrawl.frontier import contract
from semcrawl.frontier.contract import NONE_SKIPPED, Counts, Entry, Lease, SkippedHosts
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.sharded._bestfirst import Drawing
from semcrawl.frontier.sharded._byhost import (
    ShardedAddressPace,
    ShardedCache,
    ShardedErrandTurns,
    ShardedHostPace,
    ShardedOutages,
    ShardedStatements,
)
from semcrawl.frontier.sharded._founding import found, warn
from semcrawl.frontier.sharded._inspection import ShardedImporter, ShardedInspector
from semcrawl.frontier.sharded._leftout import ShardedLeftOut, ShardedWithheld
from semcrawl.frontier.sharded.allshards import counted, settled, share_of, shed
from semcrawl.frontier.sharded.shard import Shard
from semcrawl.frontier.sharded.shards import Shards, together
from semcrawl.web.hosts import netloc_of


class ShardedFrontier:
    """The frontier of one worker in shards, each on a Redis.

    It meets the contract :class:`~semcrawl.frontier.contract.ManagedFrontier`. The hash of
    a link's host chooses its shard. So politeness, the order within a host and the seen set are
    exact; the order over all hosts is that of :class:`Drawing`. Seeds, events and learned state are
    in the first shard, the values of groups in all.

    ``servers`` has a URL or socket for each shard. ``host_key`` maps a URL to the key that
    politeness groups by, by default host and port. For the other parameters see
    :class:`~semcrawl.frontier.redis.frontier.RedisFrontier`.
    """

    def __init__(
        self,
        servers: Sequence[str],
        *,
        prefix: str,
        worker_id: str,
        options: FrontierOptions | None = None,
        guest: bool = False,
        considerate: bool = False,
        host_key: Callable[[str], str] = netloc_of,
    ) -> None:
        self.options = options = options or FrontierOptions()
        self.name = prefix
        self._guest = guest
        self.worker_id = worker_id
        self._shards = shards = Shards(
            [
                Shard(
                    server,
                    number=number,
                    shards=len(servers),
                    prefix=f"{prefix}.{number}",
                    worker_id=worker_id,
                    options=share_of(options, len(servers)),
                    guest=guest,
                    considerate=considerate,
                )
                for number, server in enumerate(servers)
            ],
            self._written,
            self._freed,
        )
        self._drawing = Drawing(shards, options.ahead, options.glance)
        #: ids of unacknowledged leases whose downloads are released
        self._released: set[str] = set()
        #: least sequence number of this worker's next link, over all shards
        self._clock = 0
        #: links added since the waiting ones were counted, for ``max_waiting``
        self._uncounted = 0
        self.pace: contract.HostPace = ShardedHostPace(shards)
        self.errands: contract.ErrandTurns = ShardedErrandTurns(shards)
        self.addresses: contract.AddressPace = ShardedAddressPace(shards)
        self.outages: contract.Outages = ShardedOutages(shards)
        self.seeds: contract.SeedLists = shards.home.seeds
        self.events: contract.EventLog = shards.home.events
        self.blobs: contract.Blobs = shards.home.blobs
        self.cache: contract.SharedCache = ShardedCache(shards)
        self.statements: contract.Statements = ShardedStatements(shards)
        self.left_out: contract.LeftOutLog = ShardedLeftOut(shards, host_key)
        self.withheld: contract.WithheldLinks = ShardedWithheld(shards)
        self.inspector: contract.Inspector = ShardedInspector(shards)
        self.importer: contract.Importer = ShardedImporter(shards)

    async def __aenter__(self) -> Self:
        """Open."""
        await self.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close."""
        await self.close()

    async def open(self, *, make: bool = True) -> None:
        """Connect to all servers, check that their shards are one crawl's, and open them.

        Raises as :func:`found` and :meth:`RedisFrontier.open` do.
        """
        await found(self._shards, self.name, make=make)
        home, *others = self._shards
        opened: list[Shard] = []
        try:
            await home.open(make=make)
            opened.append(home)
            # if several workers begin a crawl at once, the first one's id counts
            (crawl,) = await home.kept("crawl")
            for shard in others:
                shard.crawl = crawl or shard.crawl
                shard.adopt_pace(home.options)
                await shard.open(make=make)
                opened.append(shard)
        except BaseException:
            for shard in opened:
                with suppress(FrontierError):  # the first error is the cause
                    await shard.close()
            raise
        pace = home.options
        self.options = replace(self.options, delay=pace.delay, concurrency=pace.concurrency)
        await self._shards.each(lambda shard: shard.keep("whole", "1"))
        if not self._guest:
            await warn(self._shards)

    async def close(self) -> None:
        """Give back this worker's leases and disconnect; without a server, they expire there."""
        self.hurry()
        await self._shards.each(lambda shard: shard.close())

    def hurry(self) -> None:
        """Wait at most two seconds for an absent server from now on, as the crawl ends."""
        for shard in self._shards:
            shard.hurry()

    async def heartbeat(self, seconds: float) -> list[str]:
        """Count as active for ``seconds`` from now; return the names of other active workers."""
        return await self._shards.home.heartbeat(seconds)

    @property
    def losses(self) -> int:
        """How often another run of a shard's server took over, which may lack the last writes."""
        return sum(shard.losses for shard in self._shards)

    def _written(self, shard: Shard) -> None:
        self._drawing.forget(shard)

    def _freed(self, shard: Shard) -> None:
        self._drawing.forget(shard, added=False)

    def _reordered(self, shard: Shard) -> None:
        self._drawing.forget(shard, freed=False)

    # -- links
    def shard_of(self, host: str) -> int:
        """Return the number of the shard that has a host's links."""
        return self._shards.of(host).number

    async def add(self, entries: Sequence[Entry], *, over: Sequence[Lease] = ()) -> list[bool]:
        """Add links; return for each whether it was new. Atomic in each shard.

        The downloads ``over`` are released at once in shards that get links, elsewhere with the
        next take.
        """
        return await self._add(entries, again=False, over=over)

    async def add_again(self, entries: Sequence[Entry]) -> list[bool]:
        """Add links, seen or not, for re-visits; return for each whether it did not wait yet."""
        return await self._add(entries, again=True)

    async def _add(
        self, entries: Sequence[Entry], *, again: bool, over: Sequence[Lease] = ()
    ) -> list[bool]:
        shards, total, clock = self._shards, len(entries), self._clock
        for entry in entries:
            entry.check()
        new = [False] * total
        parts = shards.parted(enumerate(entries), lambda item: shards.of(item[1].host))
        queues = self._drawing.queues
        late = self._drawing.pop_unreleased()
        ended = {shard.number: leases for shard, leases in shards.by_lease([*late, *over])}
        self._released.update(lease.id for lease in over)
        calls = []
        for shard, part in parts:
            released = ended.pop(shard.number, ())
            calls.append(shard.put(part, total, clock, again=again, queues=queues, over=released))
        kept = [lease for leases in ended.values() for lease in leases]
        self._drawing.keep_unreleased(kept, anew=not late)
        found = await together(calls)
        for (shard, _), (fresh, following, heads) in zip(parts, found, strict=True):
            if fresh:
                self._written(shard)
            elif late or over:
                self._freed(shard)
            self._drawing.note_views(shard, queues, heads)
            self._clock = max(self._clock, following)
            for index in fresh:
                new[index] = True
        if self.options.max_waiting and any(new):
            self._uncounted += sum(new)
            # other workers' additions since then are small compared with the limit
            if self._uncounted > self.options.max_waiting // 100:
                self._uncounted = 0
                await shed(shards, self.options.max_waiting)
        return new

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
    ) -> list[Lease]:
        """Lease up to ``limit`` links, best first, once the downloads ``over`` are released."""
        self._released.update(lease.id for lease in over)
        return await self._drawing.take(limit, queues, skip, over) or []

    async def take_synchronised(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        strict: bool = True,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
    ) -> list[Lease] | None:
        """Take links and publish that as an event; ``None`` if there are events to read first.

        It takes several steps; events that other workers publish meanwhile are read afterwards.
        """
        self._released.update(lease.id for lease in over)
        return await self._drawing.take(limit, queues, skip, over, publishes=True, strict=strict)

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a take may give a link; ``None`` if none waits."""
        return await self._drawing.ready(queues)

    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Note that these requests start now; return for each whether its lease still held."""
        held: dict[str, bool] = {}
        for shard, part in self._shards.by_lease(leases):
            still = await shard.started(part)
            held.update(zip((lease.id for lease in part), still, strict=True))
        return [held[lease.id] for lease in leases]

    async def not_sent(self, leases: Sequence[Lease]) -> None:
        """Note that no request is sent for these links, so their hosts may be asked at once."""
        for shard, part in self._shards.by_lease(leases):
            await shard.not_sent(part)
            self._freed(shard)

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Renew leases for the full lease time; return for each whether it still held."""
        held: dict[str, bool] = {}
        for shard, part in self._shards.by_lease(leases):
            still = await shard.renew(part)
            held.update(zip((lease.id for lease in part), still, strict=True))
        return [held[lease.id] for lease in leases]

    async def release_host(self, leases: Sequence[Lease]) -> None:
        """Note that the downloads are over, which frees their hosts' concurrency."""
        late = self._drawing.pop_unreleased()
        self._released.update(lease.id for lease in leases)
        parts = self._shards.by_lease([*late, *leases])
        if parts:
            await together([shard.release_host(part) for shard, part in parts])
        for shard, _ in parts:
            self._freed(shard)

    async def done(self, leases: Sequence[Lease]) -> None:
        """Acknowledge finished links; one whose lease expired is not fetched again.

        It first waits until their pages' links in other shards would survive a failure there.
        """
        parts = self._shards.by_lease(leases)
        await settled(self._shards, [shard for shard, _ in parts])
        await together([shard.done(part) for shard, part in parts])
        self._over(parts)

    async def fail(self, leases: Sequence[Lease]) -> None:
        """Acknowledge links that could not be fetched, and keep them for a requeue."""
        parts = self._shards.by_lease(leases)
        await settled(self._shards, [shard for shard, _ in parts])
        await together([shard.fail(part) for shard, part in parts])
        self._over(parts)

    def _over(self, parts: Sequence[tuple[Shard, Sequence[Lease]]]) -> None:
        """Note that leases ended, which frees their hosts unless they were released before."""
        for shard, part in parts:
            names = {lease.id for lease in part}
            if not names <= self._released:
                self._freed(shard)
            self._released -= names

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Give back links with their present entries; they can be taken after ``delay`` seconds.

        A link with another host now moves to that host's shard, as if it was never taken.
        """
        shards = self._shards
        for shard, part in shards.by_lease(leases):
            staying = [lease for lease in part if shards.of(lease.entry.host) is shard]
            await shard.give_back(staying, delay=delay)
            self._written(shard)
            moving = [lease for lease in part if shards.of(lease.entry.host) is not shard]
            if moving:
                await self.add_again([lease.entry for lease in moving])
                await shard.done(moving)
            self._released -= {lease.id for lease in part}

    async def requeue(self, queues: Sequence[str], limit: int = 1_000_000) -> int:
        """Put up to ``limit`` failed links back into their groups; return how many."""
        moved = 0
        for shard in self._shards:
            if moved < limit:
                moved += await shard.requeue(queues, limit - moved)
                self._written(shard)
        return moved

    # -- order
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Set values of groups in all shards."""
        await self._shards.each(lambda shard: shard.set_values(values))
        if values:
            for shard in self._shards:
                self._reordered(shard)

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Set keys of links that still wait."""
        shards = self._shards
        parts = shards.parted(keys, lambda item: shards.of(item[0].host))
        await together([shard.rekey(part) for shard, part in parts])
        for shard, _ in parts:
            self._reordered(shard)

    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count links, hosts and groups; finished only if all shards were so at the same time."""
        return await counted(self._shards, queues, seed_keys)
