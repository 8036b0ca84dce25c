"""The leases that a process holds, from being handed out to being acknowledged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from semcrawl.frontier.contract import Frontier, Lease


class LeaseBook:
    """Which links are in flight, which are only held for their results, which have ended.

    A link is *in flight* from its hand-out until it is read and learned from; it is *held* until
    its results are written.
    """

    def __init__(self) -> None:
        #: with the time since when (``time.monotonic``)
        self._in_flight: dict[str, tuple[Lease, float]] = {}
        self._held: dict[str, Lease] = {}
        #: probes in flight, by host
        self.probes: Counter[str] = Counter()
        self._sent: set[str] = set()
        self._ended: list[Lease] = []
        self._failed: list[Lease] = []
        self._released: list[Lease] = []

    @property
    def in_flight(self) -> Sequence[Lease]:
        """Leases whose links are being fetched now."""
        return [lease for lease, _ in self._in_flight.values()]

    @property
    def held(self) -> Sequence[Lease]:
        """Leases that are not acknowledged yet."""
        return list(self._held.values())

    @property
    def flying(self) -> int:
        """How many links are in flight."""
        return len(self._in_flight)

    def is_in_flight(self, lease: Lease) -> bool:
        """Whether a link was handed out and is not read yet."""
        return lease.id in self._in_flight

    def slow(self, seconds: float) -> int:
        """How many links have been in flight for longer than so many seconds."""
        return len(self.overdue(seconds))

    def overdue(self, seconds: float) -> list[Lease]:
        """Links that have been in flight for longer than so many seconds."""
        before = time.monotonic() - seconds
        return [lease for lease, since in self._in_flight.values() if since < before]

    @property
    def unsent(self) -> int:
        """How many of them have sent no request yet."""
        return sum(1 for name in self._in_flight if name not in self._sent)

    def __len__(self) -> int:
        """How many links are in flight or held."""
        return len(self._held)

    def hand_out(self, lease: Lease) -> None:
        """Note that a link goes to its spider."""
        self._in_flight[lease.id] = (lease, time.monotonic())
        self._held[lease.id] = lease
        if lease.probe:
            self.probes[lease.entry.host] += 1

    def send(self, lease: Lease) -> None:
        """Note that its request leaves."""
        self._sent.add(lease.id)

    def release(self, lease: Lease) -> None:
        """Note that its download is over."""
        self._released.append(lease)

    def land(self, lease: Lease) -> None:
        """Note that it is read and learned from."""
        landed = self._in_flight.pop(lease.id, None)
        if landed is not None and lease.probe:
            self.probes -= Counter((lease.entry.host,))
        self._sent.discard(lease.id)

    def drop(self, lease: Lease) -> None:
        """Note that it goes back into the frontier."""
        self.land(lease)
        self._held.pop(lease.id, None)

    def end(self, lease: Lease, *, failed: bool = False) -> None:
        """Note that its results are written; nothing happens when it was dropped before."""
        self.land(lease)
        if self._held.pop(lease.id, None) is not None:
            (self._failed if failed else self._ended).append(lease)

    async def flush(self, frontier: Frontier) -> list[Lease]:
        """Tell the frontier what has ended since the last call.

        Return the leases that go on and whose downloads are over: these are still to be told.
        """
        released, self._released = self._released, []
        ended, self._ended = self._ended, []
        failed, self._failed = self._failed, []
        if ended:
            await frontier.done(ended)
        if failed:
            await frontier.fail(failed)
        over = {lease.id for lease in (*ended, *failed)}
        return [lease for lease in released if lease.id not in over]
