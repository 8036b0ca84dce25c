"""The queue where links wait, are leased and end, and the lists of seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from semcrawl.frontier.contract.entries import (
    NONE_SKIPPED,
    Counts,
    Entry,
    Lease,
    SkippedHosts,
)


class LinkQueue(Protocol):
    """The links of a crawl, in the strategy's order, at the pace of their hosts.

    A link is *added* once, as the seen set decides. It waits in its group, is *taken* under a
    lease, and is *done*; if the lease expires it waits again. The session and its intake call this.

    Each method is atomic unless it says otherwise: no other worker sees half of it. The backend
    repeats a call after a lost connection: ``add`` and the takes then return the first reply, and
    the others change nothing. All raise ``FrontierUnavailable`` when the backend is away for too
    long, ``FrontierCorrupt`` for data that no frontier wrote, and ``ValueError`` for values that
    :meth:`Entry.check` refuses.
    """

    def shard_of(self, host: str) -> int:
        """Return the number of the shard that has a host's links; 0 without shards.

        One call for links of several shards takes as many calls of servers.
        """
        ...

    # -- in and out
    async def add(self, entries: Sequence[Entry], *, over: Sequence[Lease] = ()) -> list[bool]:
        """Add links; return for each whether it was new, that is, not in the seen set.

        The finished downloads ``over`` are released too, at once or with the next take.
        """

    async def add_again(self, entries: Sequence[Entry]) -> list[bool]:
        """Add links, seen or not, for re-visits; return for each whether it did not wait yet."""

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
    ) -> list[Lease]:
        """Lease up to ``limit`` links of these queues from hosts that may be asked now.

        Over all given queues and all such hosts, except those to ``skip``, the order is largest
        group value (0 for a group without one), then smallest key, then first in. Before that, the
        downloads ``over`` are released as by :meth:`release_host`. A shard that gives no link may
        release its downloads with the next take.
        """

    async def take_synchronised(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        strict: bool = True,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
    ) -> list[Lease] | None:
        """Take as :meth:`take` does, and publish the taken links as one event in the same step.

        ``None`` when the log has events that this worker has not read, as they may change the best
        links. A worker does not read the event of its own take. Without ``strict`` the take ignores
        unread events, and its own event is read like others.
        """

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a take may give a link; ``None`` if none waits.

        0 if a link can be taken now. If hosts only wait for downloads to end, perhaps another
        worker's, it is a short time after which to ask again.
        """

    # -- the life of a lease
    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Note that these requests start now; return for each whether its lease still held.

        A request whose lease expired must not be sent, as another worker may have the link. The
        host's crawl delay counts from here, or from the end of a download that ends soon after;
        without this call it counts from :meth:`release_host`. A host with a crawl delay is held
        between ``take`` and this call. Without a delay the backend is not called.
        """

    async def not_sent(self, leases: Sequence[Lease]) -> None:
        """Note that no request is sent for these links, so their hosts may be asked at once.

        The leases stay until :meth:`done`. Not needed without a delay.
        """

    async def release_host(self, leases: Sequence[Lease]) -> None:
        """Note that the downloads are over, which frees their hosts' concurrency.

        The leases stay until :meth:`done`.
        """

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Renew leases for the full lease time; return for each whether it still held."""

    async def done(self, leases: Sequence[Lease]) -> None:
        """Acknowledge links that are finished and whose results are written.

        If a lease expired, its link waits again, and a second call to the backend withdraws it.
        Another worker may take it in between.
        """

    async def fail(self, leases: Sequence[Lease]) -> None:
        """Acknowledge links that could not be fetched, and keep them for :meth:`requeue`."""

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Give back links with their present entries; they can be taken after ``delay`` seconds."""

    async def requeue(self, queues: Sequence[str], limit: int = 1_000_000) -> int:
        """Put up to ``limit`` failed links back into their groups; return how many.

        In portions, each of which is atomic.
        """

    # -- order
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Set values of groups, larger first; they hold from the next ``take`` on."""

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Set keys of links that still wait.

        In portions, each of which is atomic.
        """

    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count the links of these queues and the seeds on these lists, atomically."""


class SeedLists(Protocol):
    """Named lists of raw seeds, to which other programs may append; spiders' channels read them.

    Each method is atomic and may be repeated. A taken seed is pending until it is done. The pending
    seeds of a worker that ends return to the list.
    """

    async def push(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds (bare URLs or JSON) to a list.

        If it is repeated after a lost connection, it may append twice; the seen set then refuses
        the second.
        """

    async def take(self, key: str, limit: int) -> list[str]:
        """Move seeds from the head of a list to this worker's pending ones; return them."""

    async def done(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are in the frontier now."""
