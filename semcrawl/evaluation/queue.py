"""The frontier of the offline simulator: groups with values, links with keys, in memory."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from semcrawl.relevance.contract import Label
from semcrawl.sources.endpointsteps import Step
from semcrawl.web.vocabulary import FoundBy


@dataclass(frozen=True, slots=True)
class Waiting:
    """A link that waits."""

    url: str
    #: the link's URL before any redirect
    asked: str
    label: Label
    rules: tuple[str, ...]
    parent: str | None
    depth: int
    group: str
    #: redirects that led here
    redirects: int = 0
    #: it stands for a list of links, of which some go in; 0: it does not
    turn: int = 0
    #: what led to it
    found_by: FoundBy = FoundBy.LINK
    #: what the topic makes of the texts near an image, 0 to 1
    near_text: float | None = None
    #: the query to a SPARQL endpoint that it is
    query: Step | None = None

    def redirected(self, url: str) -> Waiting:
        """The same link, to be fetched where it was redirected to."""
        return replace(self, url=url, redirects=self.redirects + 1)


class SimulatedFrontier:
    """Hands out the best group's first link: largest value; smallest key; first in, first out.

    Groups that got no value have value 0. Among groups of equal value the one whose first
    link has the smaller key, then came earlier, is served. Every operation costs O(log n).
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._values: dict[str, float] = {}
        #: per group a heap of (key, order of arrival, URL); stale ones are skipped
        self._links: dict[str, list[tuple[float, int, str]]] = {}
        #: (minus value, key and arrival of the first link, group); stale ones are skipped
        self._heads: list[tuple[float, float, int, str]] = []
        #: what waits: URL → (key, order of arrival, link)
        self._waiting: dict[str, tuple[float, int, Waiting]] = {}
        self._arrived = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def knows(self, url: str) -> bool:
        """Whether the URL was ever added."""
        return url in self._seen

    def add(self, link: Waiting, key: float) -> bool:
        """Put a link in; ``False`` when its URL was added before."""
        if link.url in self._seen:
            return False
        self._seen.add(link.url)
        self._arrived += 1
        self._put(key, self._arrived, link)
        return True

    def waits(self, url: str) -> bool:
        """Whether a link to the URL waits, and stands for no list."""
        return url in self._waiting and not self._waiting[url][2].turn

    @property
    def arrived(self) -> int:
        """The place of the link that came last."""
        return self._arrived

    def add_again(self, link: Waiting, key: float, arrived: int = 0) -> None:
        """Put a link in that was added before; where it waits, it moves.

        It keeps the place in which it ``arrived``, if that is given.
        """
        self._seen.add(link.url)
        self._arrived += 1
        self._put(key, arrived or self._arrived, link)
        self._file(link.group)

    def move(self, url: str, group: str, key: float) -> None:
        """Put a link that waits into another group."""
        self.add_again(replace(self._waiting[url][2], group=group), key)

    def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values."""
        for group, value in values.items():
            if self._values.get(group, 0.0) != value:
                self._values[group] = value
                self._file(group)

    def rekey(self, keys: Mapping[str, float]) -> None:
        """Give waiting links new keys; those in front stay there, others are left alone."""
        for url, key in keys.items():
            entry = self._waiting.get(url)
            if entry is not None and entry[0] not in (key, -math.inf):
                self._put(key, entry[1], entry[2])
                self._file(entry[2].group)

    def take(self) -> Waiting | None:
        """Take the first link out; ``None`` when nothing waits."""
        while self._heads:
            head = heapq.heappop(self._heads)
            group = head[3]
            if head != self._head(group):
                continue
            url = heapq.heappop(self._links[group])[2]
            link = self._waiting.pop(url)[2]
            self._file(group)
            return link
        return None

    def _put(self, key: float, arrived: int, link: Waiting) -> None:
        self._waiting[link.url] = (key, arrived, link)
        heap = self._links.setdefault(link.group, [])
        heapq.heappush(heap, (key, arrived, link.url))
        if heap[0][1] == arrived:
            self._file(link.group)

    def _head(self, group: str) -> tuple[float, float, int, str] | None:
        """Place of a group among the groups; ``None`` when nothing of it waits."""
        heap = self._links.get(group, [])
        while heap:
            key, arrived, url = heap[0]
            entry = self._waiting.get(url)
            if entry is not None and entry[:2] == (key, arrived):
                return -self._values.get(group, 0.0), key, arrived, group
            heapq.heappop(heap)
        return None

    def _file(self, group: str) -> None:
        """Note a group's place; earlier notes become stale."""
        head = self._head(group)
        if head is not None:
            heapq.heappush(self._heads, head)
