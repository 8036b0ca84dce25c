"""The queue of links: where they wait, are leased, and end; and the lists of seeds."""

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

    A link is *added* once (the seen set decides), waits in a group of its host, is *taken* under a
    lease, and is *done*; or it goes back in when the lease runs out. The session and its intake
    call it.

    Each method is atomic, unless it says otherwise: no other worker sees half of it. Each may be
    repeated after a lost connection, which the backend does by itself: ``add`` and the takes give
    the reply of the first call then, the others change nothing the second time. All raise
    ``FrontierUnavailable`` when the backend is away for too long, ``FrontierCorrupt`` when it holds
    what no frontier wrote, and ``ValueError`` for values that :meth:`Entry.check` refuses.
    """

    # -- in and out
    async def add(self, entries: Sequence[Entry], *, over: Sequence[Lease] = ()) -> list[bool]:
        """Put links in; for each, whether it was new (not in the seen set).

        The downloads ``over`` are released, too: at once, or with the next take.
        """

    async def add_again(self, entries: Sequence[Entry]) -> list[bool]:
        """Put links in, seen or not (a re-visit); for each, whether it did not wait there yet."""

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
    ) -> list[Lease]:
        """Lease up to ``limit`` links of these queues from hosts that may be asked now.

        Largest group value first (a group without one counts 0), then smallest key, then first
        in, over all given queues and all hosts that may be asked, except those to ``skip``. Before
        that, the downloads that are ``over`` are released, as by :meth:`release_host`; those in a
        part of the frontier that gives none of the links may be released by the next take.
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
        """Take as :meth:`take` does, and publish the links taken as one event in the same step.

        ``None`` when the event log holds events that this worker has not read: the best links may
        be others by now. The event of a take is not read again by its own worker. With ``strict``
        off the take goes ahead whatever was not read, and its event is read as others are.
        """

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Seconds until asking again may give a link; ``None`` if none waits.

        0 when a link can be taken now. An upper bound: where hosts wait only for downloads to
        end (perhaps another worker's), it is a short time after which to look again.
        """

    # -- the life of a lease
    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Note that these requests leave now; for each, whether its lease still held.

        A request whose lease ran out must not be sent: another worker may have the link. The
        host's crawl delay counts from here (or from the end of the download where that comes soon
        after); without this call, from :meth:`release_host`. Between ``take`` and this call a host
        with a crawl delay is held. Where there is no delay the backend is not asked.
        """

    async def not_sent(self, leases: Sequence[Lease]) -> None:
        """Note that no request is sent for these links: their hosts may be asked at once.

        The leases stay until :meth:`done`. Not needed where the delay is 0.
        """

    async def release_host(self, leases: Sequence[Lease]) -> None:
        """Note that the downloads are over: their hosts' concurrency is free again.

        The leases stay until :meth:`done`.
        """

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Prolong leases of slow downloads by the full lease time; for each, whether it held."""

    async def done(self, leases: Sequence[Lease]) -> None:
        """Acknowledge: these links are finished, their results written.

        Two steps where a lease ran out before: its link waits again, and a second call withdraws
        it. Between the two another worker may take it.
        """

    async def fail(self, leases: Sequence[Lease]) -> None:
        """Acknowledge links that could not be fetched; they are kept for :meth:`requeue`."""

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Put links back as their entries now are, to be taken after ``delay`` seconds."""

    async def requeue(self, queues: Sequence[str], limit: int = 1_000_000) -> int:
        """Put up to ``limit`` failed links back into their places; return how many.

        In portions, each of which is atomic.
        """

    # -- order
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values; larger first; they hold from the next ``take`` on."""

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Give links new keys inside their group, where they still wait.

        In portions, each of which is atomic.
        """

    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count links of these queues, and seeds on these lists, at one time."""


class SeedLists(Protocol):
    """Named lists of raw seeds, which other programs may append to. Spiders' channels read them.

    Each method is atomic and may be repeated. A seed that was taken is pending until it is done;
    the pending seeds of a worker that ends come back.
    """

    async def push(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds (bare URLs or JSON) to a list.

        Repeated after a lost connection it may append twice; the seen set refuses the second.
        """

    async def take(self, key: str, limit: int) -> list[str]:
        """Move seeds from the head of a list to this worker's pending ones and return them."""

    async def done(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are safely in the frontier; unforgotten ones come back."""
