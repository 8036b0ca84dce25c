"""The offline simulator's frontier in memory: groups have values, links have keys."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass

from semcrawl.frontier.links import LinkState
from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.families import FamilyLedger, verdict
from semcrawl.sources.endpointsteps import Step
from semcrawl.sources.negotiation import Wish


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting link."""

    url: str
    state: LinkState
    group: str

    @property
    def asked(self) -> str:
        """The URL before any redirect."""
        return self.state.link_url(self.url)

    @property
    def expects_rdf(self) -> bool:
        """Whether it is expected to lead to RDF."""
        return self.state.expects_rdf(self.url)

    @property
    def asks_for(self) -> Wish:
        """What its request asks for."""
        return self.state.asks_for(self.url, rdf=self.expects_rdf)

    @property
    def query(self) -> Step | None:
        """The step that it is, if it is a query to a SPARQL endpoint."""
        return Step.unpack(self.state.query) if self.state.query else None


class SimulatedFrontier:
    """Returns the best group's first link: largest value, then smallest key, then first in.

    The default value is 0. Of groups with equal values, the one whose first link has the smaller
    key, or else came earlier, is first. Every operation costs O(log n).
    """

    def __init__(self, family_tries: int = 0) -> None:
        """Withhold the links of a family after so many were barren; 0 = never."""
        self.families = FamilyLedger(family_tries)
        #: family → withheld links, each with its key and order of arrival
        self._withheld: dict[str, list[tuple[float, int, Waiting]]] = {}
        #: URL → order of its arrival
        self._seen: dict[str, int] = {}
        self._values: dict[str, float] = {}
        #: group → heap of (key, order of arrival, URL); stale entries are skipped
        self._links: dict[str, list[tuple[float, int, str]]] = {}
        #: (minus value, key and arrival of the first link, group); stale entries are skipped
        self._heads: list[tuple[float, float, int, str]] = []
        #: waiting URL → (key, order of arrival, link)
        self._waiting: dict[str, tuple[float, int, Waiting]] = {}
        self._arrived = 0
        #: key of the link that was taken last
        self.taken = 0.0

    def __len__(self) -> int:
        return len(self._waiting)

    def knows(self, url: str) -> bool:
        """Whether the URL was ever added."""
        return url in self._seen

    def add(self, link: Waiting, key: float) -> bool:
        """Add a link; return ``False`` if its URL was added before."""
        if link.url in self._seen:
            return False
        self._arrived += 1
        self._seen[link.url] = self._arrived
        self._put(key, self._arrived, link)
        return True

    def add_again(self, link: Waiting, key: float) -> None:
        """Add a link again, in the order in which it arrived first; if it still waits, it moves."""
        if not self.add(link, key):
            self._put(key, self._seen[link.url], link)
            self._file(link.group)

    def give_back(self, link: Waiting) -> None:
        """Add the link that was taken last again, in its place."""
        self.add_again(link, self.taken)

    def judge_family(self, outcome: Outcome) -> None:
        """Note the outcome of a link of a family; restore what need not be withheld."""
        name = outcome.family
        if name:
            self.families.judge(name, verdict(outcome), outcome.led_to)
        if name in self._withheld and not self.families.is_barren(name):
            self.families.restored(name)
            for key, arrived, link in self._withheld.pop(name):
                self._put(key, arrived, link)
                self._file(link.group)

    def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values."""
        for group, value in values.items():
            if self._values.get(group, 0.0) != value:
                self._values[group] = value
                self._file(group)

    def rekey(self, keys: Mapping[str, float]) -> None:
        """Give new keys to waiting links; redirects in front and unknown URLs stay as they are."""
        for url, key in keys.items():
            entry = self._waiting.get(url)
            if entry is not None and entry[0] not in (key, -math.inf):
                self._put(key, entry[1], entry[2])
                self._file(entry[2].group)

    def take(self) -> Waiting | None:
        """Remove and return the first link; ``None`` if nothing waits."""
        while self._heads:
            head = heapq.heappop(self._heads)
            group = head[3]
            if head != self._head(group):
                continue
            url = heapq.heappop(self._links[group])[2]
            key, arrived, link = self._waiting.pop(url)
            self.taken = key
            self._file(group)
            state = link.state
            unasked = state.family and not (state.redirects or state.retries or state.wish)
            if unasked and self.families.withholds(state.family):
                self._withheld.setdefault(state.family, []).append((key, arrived, link))
                continue
            return link
        return None

    def _put(self, key: float, arrived: int, link: Waiting) -> None:
        self._waiting[link.url] = (key, arrived, link)
        heap = self._links.setdefault(link.group, [])
        heapq.heappush(heap, (key, arrived, link.url))
        if heap[0][1] == arrived:
            self._file(link.group)

    def _head(self, group: str) -> tuple[float, float, int, str] | None:
        """Return a group's position among the groups; ``None`` if the group is empty."""
        heap = self._links.get(group, [])
        while heap:
            key, arrived, url = heap[0]
            entry = self._waiting.get(url)
            if entry is not None and entry[:2] == (key, arrived):
                return -self._values.get(group, 0.0), key, arrived, group
            heapq.heappop(heap)
        return None

    def _file(self, group: str) -> None:
        """Record a group's position; earlier entries become stale."""
        head = self._head(group)
        if head is not None:
            heapq.heappush(self._heads, head)
