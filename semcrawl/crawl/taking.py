"""How many links a process takes now, and from which queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from semcrawl.crawl.hosthealth import HostHealth
from semcrawl.crawl.learning import SharedLearning, first_asked
from semcrawl.crawl.leasebook import LeaseBook
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.slots import QueueYields, Slots
from semcrawl.frontier.contract import Frontier, Lease, SkippedHosts
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Restrained

#: how often a take is tried again as there was news meanwhile, before it goes ahead
_ATTEMPTS = 4
#: seconds after which nobody waits any longer for an answer before going on
_OVERDUE = 2.0


class Taker:
    """Takes links as long as there is room, from the queue that pays best first.

    ``left`` tells how many requests may still be sent at all; ``prepare`` is awaited with the links
    taken, and ``deliver`` gets each of those that it returns.
    """

    def __init__(
        self,
        frontier: Frontier,
        strategy: Relevance,
        options: SessionOptions,
        learning: SharedLearning,
        leases: LeaseBook,
        health: HostHealth,
        *,
        left: Callable[[], int],
        prepare: Callable[[Sequence[Lease]], Awaitable[list[Lease]]],
        deliver: Callable[[Lease], None],
    ) -> None:
        self.shares = QueueYields()
        #: the strategy would rather wait for answers than use all of the concurrency
        self.restrained = True
        #: the last take skipped some hosts
        self.bounded = False
        #: how many links were to be in flight when that was last asked
        self.limit = options.concurrency
        self._frontier = frontier
        self._strategy = strategy
        self._options = options
        self._learning = learning
        self._leases = leases
        self._health = health
        self._slots = Slots(options.concurrency, options.share_of_slots, health.gave_something)
        #: how many requests may be in flight at most, whatever the options allow
        self._most = options.concurrency
        self._left = left
        self._prepare = prepare
        self._deliver = deliver

    def room(self) -> int:
        """Return how many links may be taken now (none if not positive)."""
        left = self._left()
        if left <= 0:
            return 0
        flying = self._leases.flying
        room = min(left, self._concurrency() - flying, self._options.leases - len(self._leases))
        if isinstance(self._strategy, Restrained):
            slow = self._leases.slow(_OVERDUE)
            # in step, what others have in flight counts as well
            waited_for = max(flying - slow, self._learning.awaited(_OVERDUE))
            allowed = self._strategy.room(waited_for)
            self.restrained = allowed < self._options.concurrency
            self.limit = min(self._options.concurrency, slow + waited_for + max(0, allowed))
            room = min(room, allowed)
        return room

    def lessen(self) -> int:
        """Have fewer requests in flight from now on than there are; return how many at most."""
        self._most = max(1, min(self._most, self._leases.flying) - 1)
        return self._most

    async def _note_slow(self) -> None:
        """Note which hosts that gave nothing yet keep us waiting."""
        if not self._health.some_are_dead:
            for lease in self._leases.overdue(_OVERDUE):
                if not self._health.gave_something(lease.entry.host):
                    await self._health.note_dead(lease.entry.host)

    async def take(self, room: int, queues: Collection[str], over: Sequence[Lease] = ()) -> int:
        """Take up to so many links, once the downloads ``over`` are released; return how many."""
        if room <= 0 or not queues:
            await self._frontier.release_host(over)
            return 0
        await self._note_slow()
        if self._learning.in_step:
            return await self._take_in_step(room, queues, over)
        left = room
        for queue in self.shares.order(queues):
            while left > 0:
                skip, portion = self._portion(left)
                taken = await self._frontier.take(portion, [queue], over=over, skip=skip)
                over = ()
                leases = await self._prepare(taken)
                left -= len(leases)
                for lease in leases:
                    self._leases.hand_out(lease)
                    self._strategy.taken([first_asked(lease.entry)])
                    self._deliver(lease)
                if len(taken) < portion:
                    break
        return room - left

    def _portion(self, room: int) -> tuple[SkippedHosts, int]:
        """Return what the next take skips, and how many links it may bring."""
        skip, most = self._slots.skipped(
            self._leases.in_flight, some_are_dead=self._health.some_are_dead
        )
        self.bounded = bool(skip)
        return skip, max(1, min(room, most))

    async def _take_in_step(self, room: int, queues: Collection[str], over: Sequence[Lease]) -> int:
        """Take links with all that any worker knows of in mind; return how many."""
        taken = 0
        for attempt in range(_ATTEMPTS):
            strict = attempt < _ATTEMPTS - 1 and self.restrained
            news = False
            for queue in self.shares.order(queues):
                while room > 0 and not news:
                    skip, portion = self._portion(room)
                    leases = await self._frontier.take_synchronised(
                        portion, [queue], strict=strict, over=over, skip=skip
                    )
                    over = ()
                    news = leases is None
                    leases = leases or []
                    if strict:
                        self._learning.hear_taken([lease.entry for lease in leases])
                    full = len(leases) >= portion
                    leases = await self._prepare(leases)
                    room -= len(leases)
                    taken += len(leases)
                    for lease in leases:
                        self._leases.hand_out(lease)
                        self._deliver(lease)
                    if not full:
                        break
            if not news:
                break
            await self._learning.hear()
            room = self.room()
            if room <= 0:
                break
        return taken

    def _concurrency(self) -> int:
        """Return how many requests may be in flight: few as long as little is learned."""
        options = self._options
        if not options.slow_start:
            return self._most
        learned = self._learning.outcomes // options.slow_start
        # (hosts that answer slowly, or not at all, have nothing to learn from)
        return min(self._most, 1 + learned + self._leases.slow(_OVERDUE))
