"""The frontier of the offline simulator: groups with values, links with keys, in memory."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace

from semcrawl.relevance.contract import Label


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

    def redirected(self, url: str) -> Waiting:
        """The same link, to be fetched where it was redirected to."""
        return replace(self, url=url)


class SimulatedFrontier:
    """Hands out the best group's first link: largest value; smallest key; first in, first out.

    Groups whose value was never told have value 0. Of groups with equal values the one whose name
    sorts first is served. Adding, taking and changing cost O(log n).
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._values: dict[str, float] = {}
        #: per group a heap of (key, order of arrival, URL); stale ones are skipped
        self._links: dict[str, list[tuple[float, int, str]]] = {}
        #: (minus value, group); stale ones are skipped
        self._groups: list[tuple[float, str]] = []
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
        self._waiting[link.url] = (key, self._arrived, link)
        heap = self._links.get(link.group)
        if not heap:
            heap = self._links[link.group] = []
            heapq.heappush(self._groups, (-self._values.get(link.group, 0.0), link.group))
        heapq.heappush(heap, (key, self._arrived, link.url))
        return True

    def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values."""
        for group, value in values.items():
            if self._values.get(group, 0.0) != value:
                self._values[group] = value
                if self._links.get(group):
                    heapq.heappush(self._groups, (-value, group))

    def rekey(self, keys: Mapping[str, float]) -> None:
        """Give waiting links new keys; others are left alone."""
        for url, key in keys.items():
            entry = self._waiting.get(url)
            if entry is not None and entry[0] != key:
                _, arrived, link = entry
                self._waiting[url] = (key, arrived, link)
                heapq.heappush(self._links[link.group], (key, arrived, url))

    def take(self) -> Waiting | None:
        """Take the first link out; ``None`` when nothing waits."""
        while self._groups:
            value, group = self._groups[0]
            heap = self._links.get(group)
            if not heap or -value != self._values.get(group, 0.0):
                heapq.heappop(self._groups)
                continue
            while heap:
                key, arrived, url = heapq.heappop(heap)
                entry = self._waiting.get(url)
                if entry is not None and entry[:2] == (key, arrived):
                    del self._waiting[url]
                    return entry[2]
        return None
