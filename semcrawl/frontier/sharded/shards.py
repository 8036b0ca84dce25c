"""The shards of a frontier: their servers, founding, and changes that a failure may undo."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import uuid4
from zlib import crc32

from redis.exceptions import RedisError

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.frontier.contract import Counts, Entry, FrontierOptions, Lease, SkippedHosts, micros
from semcrawl.frontier.links import text
from semcrawl.frontier.redis.cluster import ClusterServer
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.packing import Keys, pack_links

#: seconds after which a server without replicas has a write on its disk
#: (``appendfsync everysec`` may hold back two seconds)
_ON_DISK = 3.0
#: most calls in a journal
_MOST = 2000


class Journal:
    """The last calls that changed a shard, to be repeated when its server lost writes.

    Repeating a call changes nothing if it was not lost. A call is *settled* when a replica has its
    writes.
    """

    def __init__(self) -> None:
        self._calls: deque[tuple[int, float, Callable[[], Awaitable[object]]]] = deque()
        #: numbers of the last call and of the last settled one
        self._last = self._settled = 0

    @property
    def last(self) -> int:
        """Number of the last call."""
        return self._last

    @property
    def is_settled(self) -> bool:
        """Whether all calls are settled."""
        return self._settled >= self._last

    def note(self, call: Callable[[], Awaitable[object]]) -> None:
        """Record a call before it is made."""
        self._last += 1
        self._calls.append((self._last, time.monotonic(), call))
        if len(self._calls) > _MOST:
            self._calls.popleft()

    def settle(self, number: int, *, forget: bool) -> None:
        """Mark the calls up to a number as settled.

        Without ``forget`` they stay until they are on the server's disk.
        """
        self._settled = max(self._settled, number)
        before = time.monotonic() - _ON_DISK
        while self._calls and (
            self._calls[0][0] <= number if forget else self._calls[0][1] < before
        ):
            self._calls.popleft()

    async def repeat(self) -> None:
        """Repeat the calls in order."""
        for _, _, call in list(self._calls):
            await call()


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
                await self._shared.go_on()
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
        log = (None, None, None) if strict is None else self._shared.publication(strict=strict)
        args = self._take_args(limit, queues[0], over, skip, log)
        args.append(True if bound is None else [repr(bound.score), bound.place, ahead])
        args += [list(map(list, queues)), self._poll]
        reply = await self._server.run("take", args, once=True)
        if reply is None:
            return None
        event, taken, left, views = reply
        if strict and event:
            self._shared.position = event  # no event lies between
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
        if time.monotonic() - self._shared.caught_up < seconds:
            return False
        return bool(await self._shared.unread())

    async def tell(self, entries: Sequence[Entry], *, strict: bool) -> None:
        """Publish taken links; with ``strict`` this worker does not read the event."""
        await self._shared.tell(entries, strict=strict)


T = TypeVar("T")
R = TypeVar("R")


def number_of(name: str, shards: int) -> int:
    """Return the number of the shard in charge of a host or another name."""
    return crc32(name.encode("utf-8", "surrogatepass")) % shards


class Shards(Sequence[Shard]):
    """All shards of a crawl, in order.

    ``written`` is called with a shard after changes to its links; ``freed`` after changes that may
    only make waiting links ready.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        written: Callable[[Shard], None],
        freed: Callable[[Shard], None],
    ) -> None:
        self._shards = shards
        self.written = written
        self.freed = freed

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self._shards)

    def __iter__(self) -> Iterator[Shard]:
        """Iterate over the shards."""
        return iter(self._shards)

    def __getitem__(self, index: Any) -> Any:
        """Return a shard by its number."""
        return self._shards[index]

    @property
    def home(self) -> Shard:
        """The shard of everything that belongs to no host: seeds, events, learned state."""
        return self._shards[0]

    def of(self, name: str) -> Shard:
        """Return the shard in charge of a host or another name."""
        return self._shards[number_of(name, len(self._shards))]

    async def change(self, name: str, call: Callable[[Shard], Awaitable[R]]) -> R:
        """Call the shard of a host, which may make links ready."""
        shard = self.of(name)
        try:
            return await call(shard)
        finally:
            self.freed(shard)

    def of_lease(self, lease: Lease) -> Shard:
        """Return the shard that gave a lease."""
        return self._shards[int(lease.id.split(":", 2)[1])]

    def parted(
        self, items: Iterable[T], shard: Callable[[T], Shard]
    ) -> list[tuple[Shard, list[T]]]:
        """Group items by shard, in order."""
        parts: defaultdict[int, list[T]] = defaultdict(list)
        found: dict[int, Shard] = {}
        for item in items:
            one = shard(item)
            found[id(one)] = one
            parts[id(one)].append(item)
        return [(found[name], part) for name, part in parts.items()]

    def by_lease(self, leases: Iterable[Lease]) -> list[tuple[Shard, list[Lease]]]:
        """Group leases by shard."""
        return self.parted(leases, self.of_lease)

    async def each(self, call: Callable[[Shard], Coroutine[Any, Any, R]]) -> list[R]:
        """Call all shards concurrently; return their answers in order."""
        return await together([call(shard) for shard in self._shards])


class ShardedPart:
    """A part of a frontier in shards."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards


async def together(calls: Sequence[Awaitable[R]]) -> list[R]:
    """Await all calls concurrently to their end; raise the first error."""
    if len(calls) == 1:
        return [await calls[0]]
    results = await asyncio.gather(*calls, return_exceptions=True)
    found: list[R] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found


async def found(shards: Shards, name: str, *, make: bool) -> None:
    """Check that the shards are those of one crawl; set the crawl's id in each.

    A crawl is *whole* once all its shards were opened. After that none may be missing. Raises
    ``UsageError`` for a crawl that began with another number of shards, ``FrontierCorrupt`` if a
    shard is missing or another crawl's, and ``FrontierUnavailable`` if a server is away or, without
    ``make``, there is no such crawl.
    """
    await shards.each(lambda shard: shard.check())
    number = len(shards)
    fields = await shards.each(
        lambda shard: shard.kept("format", "crawl", "shard", "shards", "whole")
    )
    for shard, (version, _, own, kept, _) in zip(shards, fields, strict=True):
        if version is not None and kept != str(number):
            raise UsageError(
                f"the crawl {name!r} on the Redis at {shard.address} began with"
                f" {_shards(kept)}, not {number}: name as many (SEMCRAWL_FRONTIER_SHARDS), or"
                " export and import it"
            )
        if version is not None and own != str(shard.number):
            raise FrontierCorrupt(f"the frontier's key {shard.keys.meta!r} is that of shard {own}")
    # in a cluster these keys are on other nodes
    alone = not shards.home.in_cluster
    if alone and await shards.home.holds(Keys(name).meta):
        raise UsageError(
            f"the crawl {name!r} on the Redis at {shards.home.address} began with one shard, not"
            f" {number}: give its server alone as REDIS_URL, or export and import it"
        )
    if alone:
        await _check_places(shards, name)
    crawl = _common([(s, crawl) for s, (_, crawl, *_) in zip(shards, fields, strict=True)], name)
    missing = [s for s, (version, *_) in zip(shards, fields, strict=True) if version is None]
    if missing and any(whole for *_, whole in fields):
        raise _lost(missing[0], name, number)
    if missing and not make:
        raise FrontierUnavailable(
            f"there is no crawl {name!r} on the Redis at {missing[0].address}"
        )
    crawl = crawl or uuid4().hex
    for shard in shards:
        shard.crawl = crawl


async def _check_places(shards: Shards, name: str) -> None:
    """Raise ``FrontierCorrupt`` if a server has a shard that REDIS_URL places elsewhere."""
    for shard in shards:
        elsewhere = [s.keys.meta for s in shards if s.address != shard.address]
        if elsewhere and await shard.holds(*elsewhere):
            raise FrontierCorrupt(
                f"the Redis at {shard.address} has another shard of the crawl {name!r} than its"
                " place in REDIS_URL says: the servers were named in another order"
            )


def _common(crawls: Sequence[tuple[Shard, str | None]], name: str) -> str:
    """Return the id of the shards' crawl; empty if none has one yet."""
    common = ""
    for shard, crawl in crawls:
        if crawl is not None and crawl != (common or crawl):
            raise FrontierCorrupt(
                f"the Redis at {shard.address} has a shard of another crawl that was called"
                f" {name!r}, too"
            )
        common = crawl or common
    return common


def _lost(shard: Shard, name: str, number: int) -> FrontierCorrupt:
    return FrontierCorrupt(
        f"shard {shard.number} of the {number} of the crawl {name!r} is not on the Redis at"
        f" {shard.address}: it was emptied, or REDIS_URL named the servers in another order"
    )


def _shards(kept: str | None) -> str:
    return "one shard" if kept in (None, "1") else f"{kept} shards"


async def warn(shards: Shards) -> None:
    """Warn once of each server setting with which links may be lost."""
    servers: dict[str, list[str]] = {}
    found = await shards.each(lambda shard: shard.cautions())
    for shard, cautions in zip(shards, found, strict=True):
        for caution in cautions:
            servers.setdefault(caution, []).append(shard.address)
    for caution, addresses in servers.items():
        where = ", ".join(dict.fromkeys(addresses))
        logger.warning("the frontier's Redis at %s: %s", where, caution)
