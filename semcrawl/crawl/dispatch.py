"""A process's dispatcher: it reads the other workers' events and takes links while it has room.

Turns for errands: requests that fetch no link, but a robots.txt or a JSON-LD context.
The crawl delay of a host counts errands and links alike. A waiting errand comes before the links
of its host, and holds nothing else meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any
from uuid import uuid4

from semcrawl.crawl.attempt import LeaseBook
from semcrawl.crawl.channels import SpiderChannels
from semcrawl.crawl.failures import CrawlEnds
from semcrawl.crawl.hosthealth import HostHealth
from semcrawl.crawl.intake import Intake
from semcrawl.crawl.learning import original_url
from semcrawl.crawl.options import SessionOptions
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import (
    NONE_SKIPPED,
    QUEUES,
    Announce,
    Frontier,
    Lease,
    LeftOutLinks,
    SkippedHosts,
)
from semcrawl.recent import Recent
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Estimating, Forecasting, Restrained
from semcrawl.relevance.learned.expecting import Patience
from semcrawl.sources.listing import is_judged
from semcrawl.web.hosts import name_of, pay_level_domain

#: requests for a link of an untried host: its own and the one for robots.txt, both in Scrapy's
#: limit
_REQUESTS_OF_UNTRIED = 2
#: more links than there ever is room for
_ANY = 1_000_000
#: expected yield (targets per request) of each queue before the first fetch: links out of RDF lead
#: to terms and things more often than to documents
_PRIOR = {"html": 0.3, "rdf": 0.1}
#: weight of the latest fetch
_WEIGHT = 0.1
#: requests after which the memory of past ones is halved, where queues have shares
_REMEMBERED = 200


@dataclass
class QueueTurns:
    """Which queue comes first: by its share, or by its recent yield.

    The yield of a queue is an exponentially weighted mean (targets per request). The dispatcher
    takes links from the queue with the best yield first; the others fill the room that it leaves.
    So the RDF crawler's links take no room from the focused HTML crawler (sources.md T.6: each its
    own share) unless they yield more. With ``shares`` (weights by queue, others 1) each queue gets
    its part of the requests as long as links wait in it.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    _yields: dict[str, float] = field(default_factory=dict)
    _given: Counter[str] = field(default_factory=Counter)

    def note(self, queue: str, *, target: bool) -> None:
        """Note whether a fetch gave a target."""
        before = self.expected(queue)
        self._yields[queue] = before + _WEIGHT * (float(target) - before)

    def expected(self, queue: str) -> float:
        """Return the expected targets per request of a queue, 0 to 1."""
        return self._yields.get(queue, _PRIOR.get(queue, 0.1))

    def order(self, queues: Iterable[str]) -> list[str]:
        """Return the queues, best yield first, equal ones by name."""
        return sorted(queues, key=lambda queue: (-self.expected(queue), queue))

    def give(self, queue: str) -> None:
        """Note that a request was given to a queue."""
        self._given[queue] += 1
        if self._given.total() >= _REMEMBERED:
            self._given = Counter({each: n // 2 for each, n in self._given.items()})

    def turns(self, queues: Iterable[str], room: int) -> list[tuple[str, int]]:
        """Return the queues in their order, each with the most links to take of it in its turn.

        Where there are shares, what they leave free is given away in a second round.
        """
        order = self.order(queues)
        free = [(queue, room) for queue in order]
        if not self.shares:
            return free
        weights = {queue: self.shares.get(queue, 1.0) for queue in order}
        after = sum(self._given[queue] for queue in order) + room
        whole = sum(weights.values()) or 1.0
        owed = {q: after * weights[q] / whole - self._given[q] for q in order}
        order.sort(key=lambda queue: -owed[queue])
        return [(queue, ceil(owed[queue])) for queue in order if owed[queue] > 0] + free


class Slots:
    """Decides which links may have the free slots.

    Two kinds of links get at most ``share`` of the ``concurrency``: those of one pay-level domain,
    as soon as there are two; and those of untried hosts (by ``gave_something``), once some hosts
    were found dead.
    """

    def __init__(
        self, concurrency: int, share: float, gave_something: Callable[[str], bool]
    ) -> None:
        #: slots of that share
        self.most = max(1, int(concurrency * share))
        self._bounded = self.most < concurrency
        self._gave_something = gave_something
        self._domains: set[str] = set()

    def skipped(
        self, in_flight: Collection[Lease], late: Collection[str] = (), *, some_are_dead: bool
    ) -> tuple[SkippedHosts, int]:
        """Return the hosts that have their share, and how many links may be taken of others.

        Leases that are ``late`` (by id) let others go to untried hosts in their place.
        """
        if not self._bounded:
            return NONE_SKIPPED, _ANY
        domains = Counter(pay_level_domain(name_of(lease.entry.host)) for lease in in_flight)
        if len(self._domains) < 2:
            self._domains |= domains.keys()
        held = domains if len(self._domains) > 1 else Counter[str]()
        new = [
            lease
            for lease in in_flight
            if lease.id not in late and not self._gave_something(lease.entry.host)
        ]
        untried = len(new) * _REQUESTS_OF_UNTRIED
        full = [domain for domain, number in held.items() if number >= self.most]
        untried_full = some_are_dead and untried >= self.most
        left = [self.most - number for number in held.values() if number < self.most]
        if some_are_dead and not untried_full:
            left.append(max(1, (self.most - untried) // _REQUESTS_OF_UNTRIED))
        most = self.most if held or some_are_dead else _ANY
        return SkippedHosts(untried_full, full), min(left, default=most)


logger = logging.getLogger(__name__)

#: tries of a synchronised take; each new event makes it start again, and the last goes ahead
_ATTEMPTS = 4
#: seconds after which the dispatcher no longer waits for a link's outcome
_OVERDUE = 2.0
#: the same for a host that gave nothing yet, where it holds back the requests of others
_OVERDUE_UNTRIED = 1.0
#: seconds after which a response that is still being read no longer holds back other links at the
#: start: any; those of other sites, where the seeds name several
_LONG, _LONG_BESIDE = 4.0, 0.3
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
            await self._frontier.release(over)
            return 0
        await self._note_slow()
        # all queues were empty: one call of ``next_ready`` is cheaper than a take from each
        if not (over or self.skipped_some or self._channels.keys() - self._starved.keys()):
            if await self._ready_in() != 0:
                return 0
            self._next_ready = None
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
        if self.restrained and (read := self._read_beside()):
            own = {pay_level_domain(name_of(lease.entry.host)) for lease in read}
            skip = SkippedHosts(skip.untried, [*skip.domains, *own])
        self.skipped_some = bool(skip)
        return skip, max(1, min(room, most))

    async def _take(self, room: int, over: Sequence[Lease]) -> int:
        """Take links, where workers learn in step once all events are read; return how many."""
        taken = 0
        in_step = self._learning.synchronised
        for attempt in range(_ATTEMPTS):
            strict = in_step and attempt < _ATTEMPTS - 1 and self.restrained
            announce: Announce | None = ("strict" if strict else "eager") if in_step else None
            outdated = False
            for queue, share in self.turns.turns(self._channels, room):
                most = share
                while min(most, room) > 0 and not outdated and await self._may_give(queue, over):
                    skip, portion = self._portion(min(most, room))
                    found = await self._frontier.take(
                        portion, [queue], over=over, skip=skip, announce=announce
                    )
                    over = ()
                    outdated = found is None
                    leases = found or []
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
                        if not in_step and is_judged(lease.entry.group):
                            self._strategy.taken([original_url(lease.entry)])
                        self._hand_out(lease)
                    if not full:
                        break
            if not outdated:
                break
            await self._learning.read_events()
            room = self.room()
            if room <= 0:
                break
        await self._frontier.release(over)
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
        late = self._leases.overdue(_OVERDUE, reading=_LONG)
        return self._late_untried() | self._ids(late) | self._ids(self._read_beside())

    def _read_beside(self) -> list[Lease]:
        """Return the links of what is being read that hold back no site but their own."""
        read = self._leases.overdue(inf, reading=_LONG_BESIDE)
        if not read:
            return []
        sites = (pay_level_domain(name_of(r.partition("/")[0])) for r in self._intake.roots)
        first = next(sites, "")
        if all(site == first for site in sites):
            return []
        long = self._ids(self._leases.overdue(inf, reading=_LONG))
        return [lease for lease in read if lease.id not in long]

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


class CompletionCheck:
    """Checks whether the crawl is over, by the frontier's own counts.

    ``some_wait`` tells whether links wait, which costs less than counting them.
    """

    def __init__(
        self,
        frontier: Frontier,
        channels: SpiderChannels,
        options: SessionOptions,
        some_wait: Callable[[], Awaitable[bool]],
    ) -> None:
        self._frontier = frontier
        self._channels = channels
        self._options = options
        self._some_wait = some_wait
        self._last_work = time.monotonic()

    def worked(self) -> None:
        """Note that there was work to do."""
        self._last_work = time.monotonic()

    async def is_over(self, *, spent: bool) -> bool:
        """Whether nothing is left to do, neither here nor, by the frontier's counts, elsewhere.

        Call it while this worker holds no links. ``spent``: its budget of requests is spent.
        """
        if self._channels.opened < self._options.spiders or not self._channels.all_planted:
            return False
        if spent:
            return True
        if any(channel.busy() for channel in self._channels.values()):
            self.worked()
            return False
        if self._channels.any_waits:
            return self._idle_for(self._options.idle_time) and self._options.idle_time > 0
        if await self._some_wait():
            self.worked()
            return False
        counts = await self._frontier.counts(list(self._channels), self._channels.seed_keys)
        if not counts.finished:
            self.worked()
            return False
        if self._options.shared:
            others = await self._frontier.counts(QUEUES, [])
            if others.leased:
                return False
        return self._idle_for(self._options.idle_time)

    def _idle_for(self, seconds: float) -> bool:
        return time.monotonic() - self._last_work >= seconds


class Outlook:
    """The worth of the waiting links, where the strategy can estimate it.

    With ``patience``, a number of requests, :meth:`note` says when to give up.
    """

    def __init__(self, strategy: Relevance | None, patience: int) -> None:
        #: the crawl ended early, as too few targets are expected among the links left
        self.gave_up = False
        #: targets that the strategy expects among the links left at the end; ``None`` if unknown
        self.expected_left: float | None = None
        #: links that waited at the end; ``None`` if they were not counted
        self.waiting_left: int | None = None
        #: entries of lists that have not become links yet, by list
        self.listed: dict[str, int] = {}
        #: links dropped because the frontier was full
        self.dropped = 0
        #: links that were not added, or are withheld
        self.left_out = LeftOutLinks()
        #: fetches of this run, and the targets among them
        self.fetches = self.targets = 0
        self._requests = patience
        self._patience = Patience(patience) if patience else None
        self._strategy = strategy

    def note(self, *, target: bool) -> bool:
        """Note a fetch; return whether the crawl gives up now."""
        self.fetches += 1
        self.targets += target
        if self._patience is None or self.gave_up:
            return False
        self._patience.note(target=target)
        if self._patience.is_over():
            # ask the strategy only now: its expectation reads all waiting links
            self.gave_up = not isinstance(self._strategy, Forecasting) or self._patience.is_over(
                self._strategy.expected_next(self._requests)
            )
        return self.gave_up

    async def look_back(self, frontier: Frontier) -> None:
        """Note which links are left at the end."""
        counts = await frontier.counts(QUEUES, [])
        # links leased now will wait again
        self.waiting_left = counts.waiting + counts.leased
        self.dropped = counts.dropped
        self.left_out = await frontier.aside.left_out()
        if isinstance(self._strategy, Estimating):
            # no strategy sees the entries of lists: they are as good as what was fetched
            share = self.targets / max(1, self.fetches)
            of_lists = share * self.listed_left
            self.expected_left = float(self._strategy.expected_remaining()) + of_lists

    @property
    def listed_left(self) -> int:
        """Entries of this process's lists that have not become links yet."""
        return sum(self.listed.values())


#: share of the concurrency that may wait the full time for servers that were silent once
_PATIENT = 1 / 8
#: weight of the latest first answer or silence; least share of the limit that a server has
_WEIGHT_OF_ANSWER, _LEAST = 0.1, 0.2
#: most silent servers that are remembered
_MOST_SERVERS = 10_000


class FirstAnswers:
    """Bounds the time that a server has for its first answer.

    A server that never answered has ``limit`` seconds (0 = no bound), and as little as a fifth of
    them while most such servers are silent. Its second request has the full time of downloads,
    ``full``, but only a few such servers at a time. So ten thousand silent servers do not hold all
    slots, and a server that is merely slow can answer.
    """

    def __init__(
        self,
        limit: float,
        full: float,
        concurrency: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit if 0 < limit < (full or inf) else 0.0
        self._full = full or inf
        self._most = max(1, int(concurrency * _PATIENT))
        self._clock = clock
        #: recent share of servers that gave their first answer in time
        self._answering = 1.0
        #: servers that were silent, and whether they have had the full time
        self._silent: Recent[str, bool] = Recent(_MOST_SERVERS)
        #: servers that have the full time now, and until when
        self._patient: dict[str, float] = {}

    def limit(self, server: str) -> float:
        """Return the seconds for the answer of a server that never answered; 0 = no bound."""
        limit = self._limit * max(_LEAST, self._answering)
        if not limit or self._silent.get(server, True):
            return limit
        now = self._clock()
        if server not in self._patient:
            self._patient = {each: end for each, end in self._patient.items() if end > now}
            if len(self._patient) >= self._most:
                return limit
            self._patient[server] = now + self._full
        return 0.0

    def silent(self, server: str) -> None:
        """Note that a server which never answered did not answer in time."""
        had = self._patient.pop(server, None) is not None
        self._silent[server] = had or self._silent.get(server, False)
        self._answering *= 1 - _WEIGHT_OF_ANSWER

    def answered(self, server: str) -> None:
        """Note a server's first answer."""
        self._patient.pop(server, None)
        self._silent.pop(server, None)
        self._answering += _WEIGHT_OF_ANSWER * (1 - self._answering)


@dataclass(slots=True)
class Turn:
    """A host's turn of an errand: no other request goes to the host until it is sent or ended."""

    host: str
    #: name of the errand; empty if the host has no crawl delay, so that nothing is counted
    errand: str
    _frontier: Frontier = field(repr=False)
    _sent: bool = False
    _ended: bool = False

    @property
    def ended(self) -> bool:
        """Whether the turn is over."""
        return self._ended

    async def starts(self) -> bool:
        """Note that the request leaves now; return whether the turn still holds."""
        self._sent = True
        return not self.errand or await self._frontier.pace.errand_starts(self.host, self.errand)

    async def end(self) -> None:
        """Note that the request is over, or will not be sent; later calls do nothing."""
        if self._ended:
            return
        self._ended = True
        if self.errand:
            with contextlib.suppress(FrontierError):  # a turn that is not ended expires
                await self._frontier.pace.errand_over(self.host, self.errand, sent=self._sent)


class Turns:
    """Gets the turns of a process's errands."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = asyncio.Event()

    def close(self) -> None:
        """End all that wait for a turn, now and later, as the crawl is stopped."""
        self._closed.set()

    async def next(self, host: str, *, instead_of: Lease | None = None) -> Turn:
        """Wait for the next turn of a host; raise ``CrawlEnds`` if the crawl is stopped before.

        ``instead_of``: a link that has the host's turn and gives it up.
        """
        errand = uuid4().hex
        turn = Turn(host, errand, self._frontier)
        try:
            wait = await self._frontier.pace.errand(host, errand, instead_of=instead_of)
            while wait:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closed.wait(), wait)
                if self._closed.is_set():
                    raise CrawlEnds
                wait = await self._frontier.pace.errand(host, errand)
        except BaseException:
            self.run_in_background(turn.end())
            raise
        if wait is None:
            turn.errand = ""
        return turn

    def run_in_background(self, call: Coroutine[Any, Any, None]) -> None:
        """Make a call to the frontier without waiting for it."""

        async def run() -> None:
            with contextlib.suppress(FrontierError):
                await call

        task = asyncio.get_running_loop().create_task(run())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
