"""A frontier in several shards, each on a Redis: every call goes to the shards in charge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf

from semcrawl.errors import FrontierError
from semcrawl.frontier import contract
from semcrawl.frontier.contract import (
    AT_ONCE,
    NONE_SKIPPED,
    AddressLimits,
    Announce,
    Counts,
    Entry,
    FrontierOptions,
    HostFacts,
    Lease,
    LeftOutLinks,
    Opened,
    Rank,
    Rest,
    SkippedHosts,
    WaitingLink,
    Withheld,
    most_first,
)
from semcrawl.frontier.sharded._inspection import ShardedInspector
from semcrawl.frontier.sharded.order import Drawing, counted, settled, share_of, shed
from semcrawl.frontier.sharded.shards import (
    Shard,
    ShardedPart,
    Shards,
    found,
    number_of,
    together,
    warn,
)
from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict
from semcrawl.web.hosts import address_block, netloc_of


class ShardedPace(ShardedPart):
    """The pace of hosts and addresses (:class:`~semcrawl.frontier.contract.Pace`).

    Each host is in its shard, each address in the shard of its hash, as its hosts may be in any.
    """

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency."""
        await self._shards.change(
            host,
            lambda shard: shard.pace.set(
                host, delay=delay, concurrency=concurrency, at_least=at_least
            ),
        )

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest."""
        await self._shards.change(host, lambda shard: shard.pace.rest(host, seconds))

    async def rank(self, host: str, rank: Rank) -> None:
        """Put a host before others, after them, or among them."""
        await self._shards.change(host, lambda shard: shard.pace.rank(host, rank))

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target."""
        await self._shards.change(host, lambda shard: shard.pace.reward(host, target=target))

    async def errand(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again."""
        return await self._shards.change(
            host, lambda shard: shard.pace.errand(host, errand, instead_of=instead_of)
        )

    async def errand_starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""
        return await self._shards.of(host).pace.errand_starts(host, errand)

    async def errand_over(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over."""
        await self._shards.change(
            host, lambda shard: shard.pace.errand_over(host, errand, sent=sent)
        )

    async def address(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn."""
        owner = self._shards.of(address_block(address))
        wait = await owner.pace.address(host, address, name, limits, rests=False)
        if wait and rests:
            await self._shards.change(host, lambda shard: shard.pace.rest(host, wait))
        return wait

    async def address_over(self, address: str, name: str) -> None:
        """Note that a request is over."""
        await self._shards.of(address_block(address)).pace.address_over(address, name)

    async def down(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed."""
        return await self._shards.change(
            host,
            lambda shard: shard.pace.down(
                host, why, step=step, patience=patience, untried_patience=untried_patience
            ),
        )

    async def up(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the remaining rest and the time it was down."""
        return await self._shards.change(
            host, lambda shard: shard.pace.up(host, step=step, good=good)
        )

    async def note_dead(self) -> None:
        """Count a host as dead in all shards."""
        await self._shards.each(lambda shard: shard.pace.note_dead())

    async def known(self, host: str) -> HostFacts:
        """Return what is known of a host."""
        return await self._shards.of(host).pace.known(host)

    async def set_aside(self, host: str, limit: int = AT_ONCE) -> list[WaitingLink]:
        """Move up to ``limit`` waiting links of a host to the failed ones; return them."""
        return await self._shards.change(host, lambda shard: shard.pace.set_aside(host, limit))


class ShardedAside:
    """Links that are not fetched (:class:`~semcrawl.frontier.contract.Aside`).

    Each is left out in the shard that would have it; limits are those of each shard. Every shard
    knows all families, and withholds its own links. ``host_key`` maps a URL to the key that
    politeness groups by.
    """

    def __init__(self, shards: Shards, host_key: Callable[[str], str]) -> None:
        self._shards = shards
        self._host_key = host_key

    async def leave_out(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out."""
        shards = self._shards
        for shard, part in shards.parted(links, lambda link: shards.of(self._host_key(link[0]))):
            await shard.aside.leave_out(part, limit)

    async def left_out(self) -> LeftOutLinks:
        """Return the links left out so far, and the families with withheld links."""
        found = await self._shards.each(lambda shard: shard.aside.left_out())
        hosts: dict[Reason, Counter[str]] = {}
        first: dict[tuple[Reason, str], str] = {}
        for one in found:
            for reason, numbers in one.hosts.items():
                hosts.setdefault(reason, Counter()).update(numbers)
            first = {**one.first, **first}
        families: dict[tuple[str, str], Withheld] = {}
        for family in (family for one in found for family in one.withheld):
            name = (family.document, family.pattern)
            links = family.links + (families[name].links if name in families else 0)
            families[name] = replace(family, links=links)
        more = any(one.more for one in found)
        return LeftOutLinks(hosts, first, more, most_first(families.values()))

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out."""
        return await self._shards.of(self._host_key(url)).aside.reason(url)

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""
        if families:
            await self._shards.each(lambda shard: shard.aside.know_families(families))

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families."""
        return any(await self._shards.each(lambda shard: shard.aside.judge_families(answers)))

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""
        restored = 0
        for shard in self._shards:
            if restored < limit:
                restored += await shard.aside.restore(limit - restored)
        self._written()
        return restored

    def _written(self) -> None:
        for shard in self._shards:
            self._shards.written(shard)


class ShardedShared(ShardedPart):
    """What all workers share (:class:`~semcrawl.frontier.contract.Shared`).

    What is kept by name is in the shard of its name, each statement in the shard of its hash, and
    the log with the lists of seeds in the first shard.
    """

    def __init__(self, shards: Shards) -> None:
        super().__init__(shards)
        home = shards.home.shared
        self.place = home.place
        self.exchange = home.exchange
        self.save_state = home.save_state
        self.load_state = home.load_state
        self.push_seeds = home.push_seeds
        self.take_seeds = home.take_seeds
        self.done_seeds = home.done_seeds

    async def get(self, name: str) -> bytes | None:
        """Return what is kept under a name, or ``None``."""
        own = self._shards.of(name)
        found = await own.shared.get(name)
        if found is None and own is not self._shards.home:
            return await self._shards.home.shared.get(
                name
            )  # kept by version 0.2.0, or as a learned state
        return found

    async def put(self, name: str, content: bytes, *, seconds: float = inf) -> None:
        """Keep something under a name."""
        await self._shards.of(name).shared.put(name, content, seconds=seconds)

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it."""
        return await self._shards.of(name).shared.claim(name, seconds)

    async def add_statements(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add a document's statements or look them up; return for each whether no other made it."""
        shards = self._shards
        new = [False] * len(statements)
        own = 1 << max((limit // len(shards)).bit_length() - 1, 0)  # tables have powers of two
        # not by the bits that choose a bucket inside the shard
        parts = shards.parted(
            enumerate(statements), lambda s: shards[number_of(f"{s[1]:x}", len(shards))]
        )
        for shard, part in parts:
            added = [one for _, one in part]
            found = await shard.shared.add_statements(document, added, own, remember=remember)
            for (index, _), is_new in zip(part, found, strict=True):
                new[index] = is_new
        return new


class ShardedFrontier(Opened):
    """The frontier of one worker in shards, each on a Redis.

    It meets the contract :class:`~semcrawl.frontier.contract.Frontier`. The hash of
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
        self.pace: contract.Pace = ShardedPace(shards)
        self.shared: contract.Shared = ShardedShared(shards)
        self.aside: contract.Aside = ShardedAside(shards, host_key)
        self.inspector: contract.Inspector = ShardedInspector(shards)

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

    async def add(
        self, entries: Sequence[Entry], *, again: bool = False, over: Sequence[Lease] = ()
    ) -> list[bool]:
        """Add links; return for each whether it was added. Atomic in each shard.

        The downloads ``over`` are released at once in shards that get links, elsewhere with the
        next take.
        """
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
        announce: Announce | None = None,
    ) -> list[Lease] | None:
        """Lease up to ``limit`` links, best first, once the downloads ``over`` are released.

        Publishing takes several steps; events that other workers publish meanwhile are read
        afterwards.
        """
        self._released.update(lease.id for lease in over)
        return await self._drawing.take(limit, queues, skip, over, announce)

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

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Renew leases for the full lease time; return for each whether it still held."""
        held: dict[str, bool] = {}
        for shard, part in self._shards.by_lease(leases):
            still = await shard.renew(part)
            held.update(zip((lease.id for lease in part), still, strict=True))
        return [held[lease.id] for lease in leases]

    async def release(self, leases: Sequence[Lease], *, sent: bool = True) -> None:
        """Note that the downloads are over, or that no request is sent for these links."""
        if not sent:
            for shard, part in self._shards.by_lease(leases):
                await shard.release(part, sent=False)
                self._freed(shard)
            return
        late = self._drawing.pop_unreleased()
        self._released.update(lease.id for lease in leases)
        parts = self._shards.by_lease([*late, *leases])
        if parts:
            await together([shard.release(part) for shard, part in parts])
        for shard, _ in parts:
            self._freed(shard)

    async def end(self, leases: Sequence[Lease], *, failed: bool = False) -> None:
        """Acknowledge finished links; one whose lease expired is not fetched again.

        It first waits until their pages' links in other shards would survive a failure there.
        """
        parts = self._shards.by_lease(leases)
        await settled(self._shards, [shard for shard, _ in parts])
        await together([shard.end(part, failed=failed) for shard, part in parts])
        for shard, part in parts:
            names = {lease.id for lease in part}
            if not names <= self._released:  # their hosts are free now, unless they were before
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
                await self.add([lease.entry for lease in moving], again=True)
                await shard.end(moving)
            self._released -= {lease.id for lease in part}

    async def requeue(self, queues: Sequence[str], limit: int = AT_ONCE) -> int:
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
