"""How the slots for requests are shared: which queue comes first, which hosts have enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil

from semcrawl.frontier.contract import NONE_SKIPPED, Lease, SkippedHosts
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
