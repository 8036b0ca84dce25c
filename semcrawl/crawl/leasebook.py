"""The attempts of a process, and the leases that it holds for them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from semcrawl.crawl.attempt import Attempt, Stage
from semcrawl.frontier.contract import Frontier, Lease

#: attempts that one call acknowledges, as it costs little more than a call for a single one;
#: seconds after which a call acknowledges fewer
_TOGETHER, _LATEST = 32, 0.3
#: seconds in flight after which no other link waits for the reading of a response
_READING = 10.0
#: ended attempts that may wait, in all shards, as a multiple of those that one call acknowledges
_WAITING = 2


class LeaseBook:
    """Attempts from the lease to the acknowledgement, and leases that ended since the last flush.

    A link is *in flight* until its response is read and learned from. It is *held* until its
    results are written.
    """

    def __init__(self, most: int | None = None) -> None:
        """``most``: leases that the process may have; ``None`` = any number."""
        #: attempts that one call acknowledges
        self._together = _TOGETHER if most is None else min(_TOGETHER, most // 4)
        self._held: dict[str, Attempt] = {}
        self._in_flight: dict[str, Attempt] = {}
        #: probes in flight, by host
        self.probes: Counter[str] = Counter()
        self._ended: list[Lease] = []
        self._failed: list[Lease] = []
        self._released: list[Lease] = []
        #: when attempts were last acknowledged (``time.monotonic``)
        self._acknowledged = 0.0

    @property
    def in_flight(self) -> Sequence[Lease]:
        """Leases whose links are being fetched now."""
        return [attempt.lease for attempt in self._in_flight.values()]

    @property
    def held(self) -> Sequence[Lease]:
        """Leases that are not acknowledged yet."""
        return [attempt.lease for attempt in self._held.values()]

    @property
    def in_flight_count(self) -> int:
        """How many links are in flight."""
        return len(self._in_flight)

    def is_in_flight(self, lease: Lease) -> bool:
        """Whether its spider has the link and has not read it yet."""
        return lease.id in self._in_flight

    def overdue_count(self, seconds: float) -> int:
        """How many links are overdue."""
        return len(self.overdue(seconds))

    def overdue(self, seconds: float, reading: float = _READING) -> list[Lease]:
        """Return the links whose hosts let us wait for longer than ``seconds``.

        That this program takes longer to read a response, up to ``reading`` seconds, is no fault of
        its host.
        """
        now = time.monotonic()
        return [
            each.lease
            for each in self._in_flight.values()
            if now - each.handed_out_at > (reading if each.downloaded else seconds)
        ]

    @property
    def unsent(self) -> int:
        """How many links in flight have sent no request yet."""
        return sum(1 for each in self._in_flight.values() if each.stage is Stage.WAITING)

    def __len__(self) -> int:
        """How many leases the process has: links held, or not acknowledged at the frontier yet."""
        return len(self._held) + len(self._ended) + len(self._failed)

    def attempt(self, lease: Lease) -> Attempt:
        """Return the attempt of a link; a new one if the link is not held."""
        return self._held.get(lease.id) or Attempt(lease)

    def hand_out(self, lease: Lease) -> None:
        """Begin the attempt of a link that goes to its spider."""
        self._held[lease.id] = self._in_flight[lease.id] = Attempt(lease)
        if lease.probe:
            self.probes[lease.entry.host] += 1

    def note_sent(self, lease: Lease) -> None:
        """Note that a link's request is sent."""
        if (attempt := self._in_flight.get(lease.id)) is not None:
            attempt.stage = Stage.SENT

    def note_downloaded(self, lease: Lease) -> None:
        """Note that a link's download is over."""
        if (attempt := self._in_flight.get(lease.id)) is not None:
            attempt.downloaded = True
        self._released.append(lease)

    def pop_released(self) -> list[Lease]:
        """Return the leases whose downloads are over since the last call, or flush."""
        released, self._released = self._released, []
        return released

    def note_read(self, lease: Lease) -> None:
        """Note that a link's response is read and learned from."""
        attempt = self._in_flight.pop(lease.id, None)
        if attempt is not None:
            attempt.stage = Stage.READ
            if lease.probe:
                self.probes -= Counter((lease.entry.host,))

    def end(self, lease: Lease, *, failed: bool = False) -> None:
        """Note that a link's results are written; does nothing if the link was dropped."""
        if self.drop(lease):
            (self._failed if failed else self._ended).append(lease)

    def drop(self, lease: Lease) -> bool:
        """Forget a link that goes back into the frontier; return whether it was held."""
        self.note_read(lease)
        attempt = self._held.pop(lease.id, None)
        if attempt is not None:
            attempt.stage = Stage.OVER
        return attempt is not None

    async def flush(self, frontier: Frontier, *, final: bool = False) -> list[Lease]:
        """Acknowledge ended attempts at the frontier, once there are many or some time has passed.

        Without ``final``, and while leases are held, a call acknowledges the attempts of one shard.
        Return the leases whose downloads are over but which were not acknowledged: release their
        hosts next.
        """
        released = self.pop_released()
        shards = None if final or not self._held else self._due(frontier)
        ended, self._ended = _parted(self._ended, frontier, shards)
        failed, self._failed = _parted(self._failed, frontier, shards)
        if ended or failed:
            self._acknowledged = time.monotonic()
        if ended:
            await frontier.done(ended)
        if failed:
            await frontier.fail(failed)
        over = {lease.id for lease in (*ended, *failed)}
        return [lease for lease in released if lease.id not in over]

    def _due(self, frontier: Frontier) -> set[int]:
        """Return the shard whose attempts are acknowledged now, if any.

        It is one that has many, or the shard of the first attempt once it is late.
        """
        over = [frontier.shard_of(lease.entry.host) for lease in (*self._ended, *self._failed)]
        if not over:
            return set()
        ((shard, number),) = Counter(over).most_common(1)
        if number >= self._together:
            return {shard}
        is_late = time.monotonic() - self._acknowledged >= _LATEST
        return {over[0]} if is_late or len(over) >= _WAITING * self._together else set()


def _parted(
    leases: Sequence[Lease], frontier: Frontier, shards: set[int] | None
) -> tuple[list[Lease], list[Lease]]:
    """Return the leases of these shards (``None`` = all), and the others."""
    if shards is None:
        return list(leases), []
    parts: tuple[list[Lease], list[Lease]] = [], []
    for lease in leases:
        parts[frontier.shard_of(lease.entry.host) not in shards].append(lease)
    return parts
