"""A process's dispatcher: it reads the other workers' events and takes links while it has room."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence, Set

from semcrawl.crawl.channels import SpiderChannels
from semcrawl.crawl.hosthealth import HostHealth
from semcrawl.crawl.intake import Intake
from semcrawl.crawl.learning import original_url
from semcrawl.crawl.leasebook import LeaseBook
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.slots import QueueTurns, Slots
from semcrawl.frontier.contract import NONE_SKIPPED, Frontier, Lease, SkippedHosts
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Restrained
from semcrawl.sources.listing import is_judged

logger = logging.getLogger(__name__)

#: tries of a synchronised take; each new event makes it start again, and the last goes ahead
_ATTEMPTS = 4
#: seconds after which the dispatcher no longer waits for a link's outcome
_OVERDUE = 2.0
#: the same for a host that gave nothing yet, where it holds back the requests of others
_OVERDUE_UNTRIED = 1.0
#: seconds after which a response that is still being read holds back no other link at the start
_LONG = 2.0
#: most requests in flight beyond the concurrency, as a multiple of it
_BEYOND = 32
#: seconds between reads of events while this worker waits only for other workers' outcomes
_NEWS_INTERVAL = 0.05
#: most seconds for which a busy crawl reads arrived data before it calls the frontier
_GATHERING = 0.01
#: a round of the event loop shorter than this (seconds) has found nothing to read
_IDLE_ROUND = 0.0003
#: least seconds until the next take after one that skipped hosts
_SKIPPED = 0.05


class Dispatcher:
    """Takes links while there is room, from the queue with the best yield first.

    ``remaining`` returns how many more links this run may take.
    """

    def __init__(
        self,
        frontier: Frontier,
        strategy: Relevance,
        options: SessionOptions,
        intake: Intake,
        leases: LeaseBook,
        health: HostHealth,
        channels: SpiderChannels,
        remaining: Callable[[], int],
    ) -> None:
        self.turns = QueueTurns(options.queue_shares)
        #: the strategy wants fewer requests in flight than the concurrency allows
        self.restrained = True
        #: the last take skipped some hosts
        self.skipped_some = False
        #: the last take of a pause looked for a probe among the hosts that gave no reason for it
        self._probes_others = False
        #: queues whose last take found nothing, each with whether links were known to wait there
        self._starved: dict[str, bool] = {}
        #: the frontier's answer to ``next_ready``; ``None`` if it was not asked in this turn
        self._next_ready: tuple[float | None] | None = None
        #: requests that may be in flight beyond the concurrency, as others are overdue
        self.beyond = 0
        #: links that may be in flight, as of the last call of :meth:`room`
        self.limit = options.concurrency
        self._frontier = frontier
        self._strategy = strategy
        self._options = options
        self._intake = intake
        self._learning = intake.learning
        self._leases = leases
        self._health = health
        self._slots = Slots(options.concurrency, options.share_of_slots, health.gave_something)
        #: most requests in flight, lowered when the process lacks files
        self._most = options.concurrency
        self._channels = channels
        self._remaining = remaining

    def room(self) -> int:
        """Return how many links may be taken now; zero or less means none."""
        left = self._remaining()
        if left <= 0:
            return 0
        flying = self._leases.in_flight_count
        self.beyond = self._beyond(self._late_untried())
        held = len(self._leases) - self.beyond
        room = min(left, self._concurrency() - flying, self._options.leases - held)
        if isinstance(self._strategy, Restrained):
            slow = self._leases.overdue_count(_OVERDUE)
            # synchronised workers also count the links in flight at other workers
            waited_for = max(flying - slow, self._learning.awaited(_OVERDUE))
            # each overdue link lets others be tried: a few silent hosts in front would hold all
            fresh, free = max(0, waited_for - slow), 2 * len(self._unlearned())
            allowed = self._strategy.room(max(0, fresh - free)) + max(0, free - fresh)
            self.restrained = allowed < self._options.concurrency
            most = self._options.concurrency + self.beyond
            self.limit = min(most, slow + waited_for + max(0, allowed))
            room = min(room, allowed)
        return room

    def lower_limit(self, reason: str) -> None:
        """Allow fewer requests in flight than there are now; log the first time and why."""
        first = self._most == self._options.concurrency
        self._most = max(1, min(self._most, self._leases.in_flight_count) - 1)
        if first:
            logger.warning(
                "%s: fewer requests are sent at a time (now %d at most)", reason, self._most
            )

    async def _note_slow(self) -> None:
        """Mark hosts as dead that have given nothing yet and have not answered in time."""
        if not self._health.some_are_dead:
            for lease in self._leases.overdue(_OVERDUE):
                if not self._health.gave_something(lease.entry.host):
                    await self._health.note_dead(lease.entry.host)

    async def take(self, room: int, over: Sequence[Lease] = ()) -> int:
        """Release the downloads ``over``, then take up to ``room`` links; return how many."""
        self._next_ready = None
        if room <= 0 or not self._channels:
            await self._frontier.release_host(over)
            return 0
        await self._note_slow()
        # all queues were empty: one call of ``next_ready`` is cheaper than a take from each
        if not (over or self.skipped_some or self._channels.keys() - self._starved.keys()):
            if await self._ready_in() != 0:
                return 0
            self._next_ready = None
        if self._learning.synchronised:
            return await self._take_synchronised(room, over)
        return await self._take(room, over)

    async def _may_give(self, queue: str, over: Sequence[Lease]) -> bool:
        """Whether a take from a queue may find links.

        On a sharded frontier, ``next_ready`` costs less than a take that finds nothing.
        """
        # waiting links may become ready when the downloads ``over`` are released
        may_be_freed = bool(over) or self.skipped_some
        if queue not in self._starved or (may_be_freed and self._starved[queue]):
            return True
        ready = await self._frontier.next_ready([queue])
        self._starved[queue] = ready is not None
        return ready == 0 or (may_be_freed and ready is not None)

    def _note_found(self, queue: str, found: int) -> None:
        if found:
            self._starved.pop(queue, None)
        else:
            self._starved.setdefault(queue, False)

    async def _take(self, room: int, over: Sequence[Lease]) -> int:
        """Take links without reading other workers' events first; return how many."""
        left = room
        for queue, share in self.turns.turns(self._channels, room):
            most = share
            while min(most, left) > 0 and await self._may_give(queue, over):
                skip, portion = self._portion(min(most, left))
                taken = await self._frontier.take(portion, [queue], over=over, skip=skip)
                over = ()
                self._note_found(queue, len(taken))
                leases = taken
                await self._intake.load_seeds_for(leases)
                left -= len(leases)
                most -= len(leases)
                for lease in leases:
                    if is_judged(lease.entry.group):
                        self._strategy.taken([original_url(lease.entry)])
                    self._hand_out(lease)
                if len(taken) < portion:
                    break
        await self._frontier.release_host(over)
        return room - left

    def _portion(self, room: int) -> tuple[SkippedHosts, int]:
        """Return the hosts that the next take skips, and how many links it may take."""
        if suspects := self._health.suspects():
            # where nothing else is left, one of them is the probe
            self._probes_others = not self._probes_others
            self.skipped_some = True
            return SkippedHosts(True, sorted(suspects)) if self._probes_others else NONE_SKIPPED, 1
        # without a host that gave something, there is none to keep slots for
        some_are_dead = self._health.some_are_dead and self._health.gave_something()
        late = self._late_untried() if self.beyond else ()
        skip, most = self._slots.skipped(self._leases.in_flight, late, some_are_dead=some_are_dead)
        self.skipped_some = bool(skip)
        return skip, max(1, min(room, most))

    async def _take_synchronised(self, room: int, over: Sequence[Lease]) -> int:
        """Take links once all events are read; return how many were taken."""
        taken = 0
        for attempt in range(_ATTEMPTS):
            strict = attempt < _ATTEMPTS - 1 and self.restrained
            outdated = False
            for queue, share in self.turns.turns(self._channels, room):
                most = share
                while min(most, room) > 0 and not outdated and await self._may_give(queue, over):
                    skip, portion = self._portion(min(most, room))
                    leases = await self._frontier.take_synchronised(
                        portion, [queue], strict=strict, over=over, skip=skip
                    )
                    over = ()
                    outdated = leases is None
                    leases = leases or []
                    if not outdated:
                        self._note_found(queue, len(leases))
                    if strict:
                        self._learning.note_taken([lease.entry for lease in leases])
                    full = len(leases) >= portion
                    await self._intake.load_seeds_for(leases)
                    room -= len(leases)
                    most -= len(leases)
                    taken += len(leases)
                    for lease in leases:
                        self._hand_out(lease)
                    if not full:
                        break
            if not outdated:
                break
            await self._learning.read_events()
            room = self.room()
            if room <= 0:
                break
        await self._frontier.release_host(over)
        return taken

    def _hand_out(self, lease: Lease) -> None:
        self._leases.hand_out(lease)
        self.turns.give(lease.entry.queue)
        if not self._channels.deliver(lease):
            # its spider has just left: the link returns when the lease or the session ends
            self._leases.drop(lease)

    async def _ready_in(self) -> float | None:
        """Return the frontier's ``next_ready``, which is called once a turn."""
        if self._next_ready is None:
            self._next_ready = (await self._frontier.next_ready(list(self._channels)),)
        return self._next_ready[0]

    async def some_wait(self) -> bool:
        """Whether links wait."""
        return await self._ready_in() is not None

    async def next_look(self) -> float:
        """Return the seconds until a link may be ready, at most the seed interval."""
        interval = self._options.seed_interval
        ready = await self._ready_in()
        if ready is None:
            return interval
        # links that are ready may belong to skipped hosts
        return min(max(ready, _SKIPPED if self.skipped_some else 0.001), interval)

    def _concurrency(self) -> int:
        """Return how many requests may be in flight: few while little is learned."""
        options = self._options
        most = self._most + self.beyond
        if not options.slow_start:
            return most
        learned = self._learning.outcomes // options.slow_start
        # overdue links, and those that take long to read, teach nothing for now: they do not use up
        # the allowance, and each lets one more be tried
        return min(most, 1 + learned + 2 * len(self._unlearned()))

    def _late_untried(self) -> set[str]:
        """Return the leases (by id) for which hosts that gave nothing yet let us wait."""
        tried = self._health.gave_something
        late = self._leases.overdue(_OVERDUE_UNTRIED)
        return self._ids(lease for lease in late if not tried(lease.entry.host))

    def _unlearned(self) -> set[str]:
        """Return the leases (by id) that teach nothing for now: overdue, or read for long."""
        return self._late_untried() | self._ids(self._leases.overdue(_OVERDUE, reading=_LONG))

    def _beyond(self, untried: Set[str]) -> int:
        """Return how many requests may be in flight beyond the concurrency.

        Those that a host does not answer for long do not count, or a few hosts would hold all
        slots. Each lets two others go, so that a thousand such hosts are soon told from the rest.
        """
        if self._most < self._options.concurrency:  # files are scarce
            return 0
        late = untried | self._ids(self._leases.overdue(_OVERDUE))
        return min(2 * len(late), _BEYOND * self._options.concurrency)

    @staticmethod
    def _ids(leases: Iterable[Lease]) -> set[str]:
        return {lease.id for lease in leases}


class EventReader:
    """Reads the events and the seeds of other workers when they are due."""

    def __init__(
        self, intake: Intake, dispatcher: Dispatcher, leases: LeaseBook, options: SessionOptions
    ) -> None:
        self._intake = intake
        self._learning = intake.learning
        self._dispatcher = dispatcher
        self._leases = leases
        self._options = options
        self._read_at = 0.0
        self._seeds_read_at = 0.0

    async def read_if_due(self, *, caught_up: bool) -> None:
        """Read if that is due; ``caught_up``: publishing has just read all events."""
        if not self._options.shared:
            return
        now = time.monotonic()
        interval = self.patience if self._others_decide else self._options.event_interval
        if caught_up or now - self._read_at >= interval:
            self._read_at = now
            if not caught_up:
                await self._learning.read_events()
        if now - self._seeds_read_at >= self._options.seed_interval:
            self._seeds_read_at = now
            await self._intake.load_seeds()

    @property
    def patience(self) -> float:
        """Seconds to wait for outcomes, this worker's or another's, before reading again."""
        if not self._learning.synchronised:
            return self._options.seed_interval
        return self._options.event_interval if self._leases.in_flight_count else _NEWS_INTERVAL

    @property
    def _others_decide(self) -> bool:
        """Whether this worker waits only for other workers' outcomes."""
        is_idle = self._dispatcher.restrained and not self._leases.in_flight_count
        return self._learning.synchronised and is_idle


async def read_arrivals() -> None:
    """Let the event loop read what has arrived, for some 10 ms at most.

    Then one call to the frontier serves many links, at little more than the cost of one.
    """
    began = last = time.monotonic()
    idle_rounds = 0
    while idle_rounds < 2 and last - began < _GATHERING:
        await asyncio.sleep(0)
        now = time.monotonic()
        idle_rounds = idle_rounds + 1 if now - last < _IDLE_ROUND else 0
        last = now
