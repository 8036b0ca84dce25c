"""A crawl of a world with several requests in flight and several workers, in one process.

What the offline simulator leaves out: answers come late, other links are taken meanwhile, and
each worker hears of the others' takes and fetches, these through encoded events.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from semcrawl.crawl.learning import decode_event, encode_event
from semcrawl.lab.graph import LinkGraph, Node, map_site
from semcrawl.lab.metrics import area_budget, auc_relative
from semcrawl.lab.study import omniscient
from semcrawl.links import Page
from semcrawl.relevance.contract import Label, Outcome, Relevance, Restrained
from semcrawl.web.vocabulary import Kind


@dataclass
class Trial:
    """A world with its bound."""

    graph: LinkGraph
    #: requests; 0: as many as there are documents, at most 2000
    budget: int = 0
    #: what the bound is taken of, where the world itself has no end
    finite: LinkGraph | None = None
    bound: list[int] = field(default_factory=list)
    pages: int = 0
    targets: int = 0

    def __post_init__(self) -> None:
        site = map_site(self.finite or self.graph)
        self.pages, self.targets = len(site.pages), len(site.target_depth)
        self.budget = self.budget or area_budget(site, 2000)
        self.bound = omniscient(site, self.budget)

    @property
    def name(self) -> str:
        """Name of the world."""
        return self.graph.world.name


@dataclass
class Result:
    """The figures of a crawl."""

    #: area under targets(requests) as a share of the bound's
    area: float
    found: int
    requests: list[str]
    #: seconds spent in the strategies, and links they judged
    seconds: float
    links: int


class Frontier:
    """Links of one host or several, best value first, smallest key first, first in first out."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.keys: dict[str, tuple[float, float]] = {}
        self.groups: dict[str, str] = {}
        self.values: dict[str, float] = {}
        self._heap: list[tuple[float, float, int, str]] = []
        self._order: dict[str, int] = {}

    def add(self, url: str, group: str, key: float) -> bool:
        """Put a link in; whether it was new."""
        if url in self.seen:
            return False
        self.seen.add(url)
        self.groups[url] = group
        self._order[url] = len(self._order)
        self._put(url, key)
        return True

    def rekey(self, keys: dict[str, float]) -> None:
        """Give waiting links new keys."""
        for url, key in keys.items():
            if url in self.keys:
                self._put(url, key)

    def set_values(self, values: dict[str, float]) -> None:
        """Give groups new values."""
        changed = {g for g, v in values.items() if self.values.get(g) != v}
        self.values.update(values)
        if changed:
            for url, (_, key) in list(self.keys.items()):
                if self.groups[url] in changed:
                    self._put(url, key)

    def take(self) -> str | None:
        """Take the first link out."""
        while self._heap:
            value, key, _, url = heapq.heappop(self._heap)
            if self.keys.get(url) == (value, key):
                del self.keys[url]
                return url
        return None

    def _put(self, url: str, key: float) -> None:
        value = -self.values.get(self.groups[url], 0.0)
        self.keys[url] = (value, key)
        heapq.heappush(self._heap, (value, key, self._order[url], url))


def crawl(
    trial: Trial,
    workers: Sequence[Relevance],
    in_flight: int = 1,
    enough: Callable[[Outcome], bool] = lambda outcome: False,
) -> Result:
    """Crawl with so many requests in flight over all workers.

    The workers take turns and keep in step: each hears of all takes and fetches before it takes
    a link itself, and only who fetched a page gives new keys. Redirects are followed at once and
    count as requests. ``enough`` hears of each fetch when the workers have learned of it; once it
    says so no more links are taken, and what is in flight goes on.
    """
    graph, frontier = trial.graph, Frontier()
    about: dict[str, tuple[str | None, int]] = {}
    flight: deque[tuple[str, int]] = deque()
    requests: list[str] = []
    curve: list[int] = []
    targets: set[str] = set()
    documents: set[bytes] = set()
    seconds, links, turn, ending = 0.0, 0, 0, False

    for start in graph.world.starts:
        frontier.add(start, "", float("-inf"))
        about[start] = (None, 0)

    def request(url: str) -> Node:
        node = graph.look(url)
        requests.append(url)
        if node.answer.status == 200 and node.answer.kind is Kind.RDF:
            targets.add(node.answer.document or url)
        curve.append(len(targets))
        return node

    while len(requests) < trial.budget:
        while len(flight) < in_flight and not ending:
            worker = workers[turn % len(workers)]
            if flight and isinstance(worker, Restrained) and worker.room(len(flight)) < 1:
                break
            url = frontier.take()
            if url is None:
                break
            began = time.perf_counter()
            for each in workers:
                each.taken([url])
            frontier.rekey(dict(worker.rekeyed()))
            seconds += time.perf_counter() - began
            flight.append((url, turn % len(workers)))
            turn += 1
        if not flight:
            break
        url, who = flight.popleft()
        worker, (parent, depth) = workers[who], about[url]
        final, node = url, request(url)
        gone = False
        while node.answer.redirect and not gone:
            gone = node.answer.location in frontier.seen or not graph.inside(node.answer.location)
            if not gone:
                final = node.answer.location
                frontier.seen.add(final)
                node = request(final)
        kind = node.answer.kind if node.answer.status == 200 else None
        copy = bool(node.digest) and node.digest in documents
        documents.add(node.digest)
        began = time.perf_counter()
        new = []
        if kind is Kind.HTML and not copy:
            ranked = worker.rank(Page(final, depth), node.links)
            links += len(ranked)
            for r in ranked:
                if r.group is not None and frontier.add(r.link.url, r.group, r.key):
                    about[r.link.url] = (url, depth + 1)
                    new.append(r)
        outcome = Outcome(
            url, kind if kind is not Kind.OTHER else None, kind is Kind.RDF, final, parent, depth,
            node.answer.status, Label.H, duplicate=copy or gone, new_links=tuple(new),
        )  # fmt: skip
        if len(workers) > 1:
            outcome = decode_event(encode_event(outcome))
        for each in workers:
            each.learn(outcome)
            if each is not worker:
                each.rekeyed()
        frontier.set_values(dict(worker.values()))
        frontier.rekey(dict(worker.rekeyed()))
        seconds += time.perf_counter() - began
        ending = enough(outcome) or ending
    area = auc_relative(curve, trial.bound, trial.budget)
    return Result(area, len(targets), requests, seconds, links)
