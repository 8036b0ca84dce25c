"""The frontier in one SQLite file."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

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
from semcrawl.frontier.links import changes, digest, pack_options, slowed
from semcrawl.frontier.sqlite import adding, taking
from semcrawl.frontier.sqlite._inspection import SqliteInspector, count
from semcrawl.frontier.sqlite._pace import SqlitePace
from semcrawl.frontier.sqlite._sharing import SqliteShared, append_event
from semcrawl.frontier.sqlite.file import Store, Transaction
from semcrawl.frontier.sqlite.leftout import SqliteAside
from semcrawl.frontier.sqlite.ordering import file_availability, set_value, site_of
from semcrawl.frontier.sqlite.taking import lease_of, pack_taken, reclaim, release_all, workers
from semcrawl.frontier.workers import is_gone

logger = logging.getLogger(__name__)

#: seconds to wait for an unusable file when closing
_CLOSING_PATIENCE = 2.0
#: number of other workers from which on a warning suggests a Redis
_FEW = 8
#: keys changed per call
_REKEYED_AT_ONCE = 2000


class SqliteFrontier(Opened):
    """The frontier of one worker, in a file shared by all workers of the crawl on this machine.

    It meets the contract :class:`~semcrawl.frontier.contract.Frontier`. ``path`` is the
    file, ``name`` the crawl's name. Opening with the ``worker_id`` of a crashed worker gives back
    that worker's leases at once, so no two living workers may share an id.

    The crawl's order and pace follow the ``options`` of the worker that opened it last. A
    ``considerate`` worker does not speed up the pace of other active workers. A ``guest`` changes
    no options. Time counts from the start of the machine, so setting its clock moves nothing. The
    seen set is on disk and always exact; ``options.exact_limit`` has no effect.
    """

    #: committed writes are not lost
    losses = 0

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        worker_id: str,
        options: FrontierOptions | None = None,
        guest: bool = False,
        considerate: bool = False,
    ) -> None:
        self.options = options or FrontierOptions()
        self.name = name
        self.worker_id = worker_id
        self._guest = guest
        self._considerate = considerate
        self._store = store = Store(path, self.options)
        lease_time = self.options.lease_time
        self.pace: contract.Pace = SqlitePace(store, worker_id, self.options)
        self._shared = SqliteShared(store, worker_id, lease_time)
        self.shared: contract.Shared = self._shared
        self.aside: contract.Aside = SqliteAside(store)
        self.inspector: contract.Inspector = SqliteInspector(store)

    async def open(self, *, make: bool = True) -> None:
        """Open the file, check its format, give back leases of workers that have ended.

        Raises ``FrontierUnavailable`` if the file cannot be used or, without ``make``, is missing,
        and ``FrontierCorrupt`` if it is no frontier or has another format.
        """
        try:
            await self._store.open(self.name, make=make)
            await self._join()
        except BaseException:
            await self._store.close()
            raise

    async def _join(self) -> None:
        kept = (await self._store.row("SELECT options FROM crawl"))[0]
        others = [] if self._guest else await self.heartbeat(self.options.lease_time)
        if len(others) >= _FEW:
            logger.warning(
                "%d workers share the frontier %s: for more than a few, set REDIS_URL",
                len(others) + 1,
                self._store.path,
            )
        if others and self._considerate:
            self.options = slowed(kept, self.options)
        options = pack_options(self.options)
        if kept != options and not self._guest:
            await self._store.write("UPDATE crawl SET options = ?", options)
            # hosts with downloads were filed by the old options
            await self._store.run(_refile_busy)
            logger.info("options of the crawl, for all workers: %s", changes(kept, options))
        for worker in await self._store.run(workers):
            if worker == self.worker_id or is_gone(worker):
                await self._store.run(lambda t, worker=worker: reclaim(t, worker))  # type: ignore[misc]

    async def close(self) -> None:
        """Give back this worker's leases and close the file."""
        if not self._store.is_open:
            return
        self.hurry()
        try:
            await self._store.run(lambda t: reclaim(t, self.worker_id))
        finally:
            await self._store.close()

    async def heartbeat(self, seconds: float) -> list[str]:
        """Count as active for ``seconds`` from now; return the names of other active workers."""

        def attend(t: Transaction) -> list[str]:
            t.execute("DELETE FROM member WHERE till < ?", (t.now,))
            values = (self.worker_id, t.now + micros(seconds))
            t.execute("INSERT OR REPLACE INTO member VALUES (?, ?)", values)
            return [row[0] for row in t.execute("SELECT worker FROM member")]

        others = await self._store.run(attend)
        return [name for name in others if name != self.worker_id and not is_gone(name)]

    def hurry(self) -> None:
        """Wait at most two seconds for an unusable file from now on, as the crawl ends."""
        self._store.hurry(_CLOSING_PATIENCE)

    # -- links
    def shard_of(self, host: str) -> int:
        """Return 0, as there are no shards."""
        return 0

    async def add(
        self, entries: Sequence[Entry], *, again: bool = False, over: Sequence[Lease] = ()
    ) -> list[bool]:
        """Add links and release the downloads ``over``; return for each whether it was added."""

        def add(t: Transaction) -> list[int]:
            release_all(t, ended)
            return adding.add(t, links, again=again)

        ended = [lease.id for lease in over]
        links: list[adding.NewLink] = []
        limit = self.options.dynamic_depth
        urls: set[str] = set()
        for index, entry in enumerate(entries):
            entry.check()
            if (limit and entry.barren >= limit) or entry.url in urls:
                continue
            urls.add(entry.url)
            links.append(adding.NewLink(index, entry))
        new = [False] * len(entries)
        if links or ended:
            for index in await self._store.run(add):
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
        events = self._shared

        def take(t: Transaction) -> tuple[list[Lease], int | None] | None:
            release_all(t, ended)
            if strict and t.row("SELECT 1 FROM event WHERE id > ? LIMIT 1", events.position):
                return None
            taken = taking.take(t, limit, queues, lease_time, worker, skip)
            number = None
            if taken and announce:
                number = append_event(t, events.incarnation, None, "", pack_taken(taken))
            return [lease_of(t, link) for link in taken], number

        strict = announce == "strict"
        ended = [lease.id for lease in over]
        lease_time, worker = micros(self.options.lease_time), self.worker_id
        reply = await self._store.run(take)
        if reply is None:
            return None
        found, number = reply
        if strict and number is not None:
            events.position = number  # no event lies between
        return found

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a take may give a link; ``None`` if none waits."""
        poll = micros(self.options.poll)
        reply = await self._store.run(lambda t: taking.next_ready(t, queues, poll))
        return None if reply is None else reply / 1e6

    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Note that these requests start now; return for each whether its lease still held."""
        asked = [lease.id for lease in leases if lease.held]
        if not asked:
            return [True] * len(leases)
        still = iter(await self._store.run(lambda t: taking.started(t, asked)))
        return [next(still) if lease.held else True for lease in leases]

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Renew leases for the full lease time; return for each whether it still held."""
        ids, lease_time = [lease.id for lease in leases], micros(self.options.lease_time)
        return await self._store.run(lambda t: taking.renew(t, ids, lease_time)) if ids else []

    async def end(self, leases: Sequence[Lease], *, failed: bool = False) -> None:
        """Acknowledge finished links; one whose lease expired is not fetched again."""
        links, most = [(lease.id, lease.entry) for lease in leases], self.options.max_failed
        if links and failed:
            await self._store.run(lambda t: taking.fail(t, [name for name, _ in links], most))
        elif links:
            await self._store.run(lambda t: taking.done(t, links))

    async def requeue(self, queues: Sequence[str], limit: int = AT_ONCE) -> int:
        """Put up to ``limit`` failed links back into their groups; return how many."""
        return await self._store.run(lambda t: taking.requeue(t, queues, limit))

    async def release(self, leases: Sequence[Lease], *, sent: bool = True) -> None:
        """Note that the downloads are over, or that no request is sent for these links."""
        if ids := [lease.id for lease in leases if sent or lease.held]:
            release = release_all if sent else taking.not_sent
            await self._store.run(lambda t: release(t, ids))

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Give back links with their present entries; they can be taken after ``delay`` seconds."""
        for lease in leases:
            lease.entry.check()
        if leases:
            links = [(lease.id, lease.entry) for lease in leases]
            await self._store.run(lambda t: taking.give_back(t, links, micros(delay)))

    # -- order
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Set values of groups."""
        for group, value in values.items():
            if not isfinite(value):
                raise ValueError(f"a group's value is a finite number: {group!r} has {value}")

        def set_values(t: Transaction) -> None:
            for group, value in values.items():
                set_value(t, group, float(value))

        if values:
            await self._store.run(set_values)

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Set keys of links that still wait."""
        rows = []
        for entry, key in keys:
            if not isfinite(key):
                raise ValueError(f"a key is a finite number, not {key}: {entry.url}")
            rows.append((entry, site_of(entry.url), digest(entry.url), float(key)))
        for first in range(0, len(rows), _REKEYED_AT_ONCE):
            portion = rows[first : first + _REKEYED_AT_ONCE]
            await self._store.run(lambda t, rows=portion: taking.rekey(t, rows))  # type: ignore[misc]

    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count links, hosts and groups."""
        return await self._store.run(lambda t: count(t, queues, seed_keys))


def _refile_busy(t: Transaction) -> None:
    for (host,) in t.execute("SELECT DISTINCT host FROM lease").fetchall():
        file_availability(t, host)
