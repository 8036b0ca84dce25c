"""The two frameworks of the thesis (sources.md T.6) on worlds whose RDF links on.

The thesis leaves their evaluation open (§4.4). Here one crawler with one queue, one with two
queues, and two spiders that hand links to each other crawl the same worlds. The figures show what
is found per request, in half an hour at a given pace, and what the order of each queue brings.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.worlds import World
from semcrawl.links import Link
from semcrawl.relevance.contract import Label
from semcrawl.relevance.rules import (
    body_wanted,
    is_non_semantic,
    is_plain,
    relevancy_inside_rdf,
    relevancy_r,
)
from semcrawl.relevance.thesis import KnownParents
from semcrawl.web.vocabulary import Kind

#: requests after which finds per request are told, as in the thesis's other tables
REQUESTS = 2000
#: requests to a host in half an hour, at one a second: the usual pace
HALF_HOUR = 1800
_PRIORITY: Mapping[Label, int] = {Label.R: 1, Label.HR: 2, Label.H: 3}


@dataclass(frozen=True)
class Framework:
    """One way to crawl pages and RDF together."""

    title: str
    #: whether links inside RDF are followed
    follow_rdf: bool = True
    #: which links wait in the RDF queue: "none", "R" (all labelled R), "inside" (found in RDF)
    rdf_queue: str = "none"
    #: two spiders at a time, each with a pace of its own
    own_pace: bool = False
    #: the order of the RDF queue: most cited by RDF first, or first in first out
    cited_first: bool = False
    #: the order of the HTML queue: by label, or first in first out
    by_label: bool = True


FRAMEWORKS: tuple[Framework, ...] = (
    Framework("HTML crawler alone (FC-R+HR)", follow_rdf=False),
    Framework("one crawler, one queue (framework 2)"),
    Framework("one crawler, two queues", rdf_queue="R"),
    Framework("two queues, RDF most cited first", rdf_queue="R", cited_first=True),
    Framework("two queues, HTML first in first out", rdf_queue="R", by_label=False),
    Framework("two spiders, one pace (framework 1)", rdf_queue="inside"),
    Framework("two spiders, RDF most cited first", rdf_queue="inside", cited_first=True),
    Framework("two spiders, HTML first in first out", rdf_queue="inside", by_label=False),
    Framework("two spiders, each at its own pace", rdf_queue="inside", own_pace=True),
)


@dataclass
class _Queue:
    """Waiting links: the smallest key first, then first in."""

    heap: list[tuple[float, int, str]] = field(default_factory=list)
    keys: dict[str, float] = field(default_factory=dict)

    def put(self, url: str, key: float, arrived: int) -> None:
        self.keys[url] = key
        heapq.heappush(self.heap, (key, arrived, url))

    def take(self) -> str | None:
        while self.heap:
            key, _, url = heapq.heappop(self.heap)
            if self.keys.get(url) == key:
                del self.keys[url]
                return url
        return None


class FrameworkCrawl:
    """One crawl by T.5 and T.6: what each request found."""

    def __init__(self, graph: LinkGraph, framework: Framework) -> None:
        self.graph = graph
        self.framework = framework
        #: RDF documents found after each request
        self.curve: list[int] = []
        self._found: set[str] = set()
        self._parents = KnownParents()
        #: URL → (label, parent), for all that ever waited
        self._known: dict[str, tuple[Label, str | None]] = {}
        self._cited: dict[str, int] = {}
        self._html, self._rdf = _Queue(), _Queue()
        self._arrived = 0
        for start in graph.world.starts:
            self._add(start, Label.H, None, inside=False)

    def run(self, turns: int) -> list[int]:
        """Crawl for so many turns; return the finds after each.

        A turn is one request; with a pace for each of two spiders it is one of each, and a spider
        whose queue is empty waits.
        """
        after = []
        for number in range(turns):
            if self.framework.own_pace:
                urls = [self._rdf.take(), self._html.take()]
            elif self.framework.rdf_queue != "none" and number % 2:
                urls = [self._rdf.take() or self._html.take()]
            else:
                urls = [self._html.take() or self._rdf.take()]
            for url in urls:
                if url is not None:
                    self._fetch(url)
                    self.curve.append(len(self._found))
            after.append(len(self._found))
        return after

    def _fetch(self, url: str) -> None:
        label, parent = self._known[url]
        node = self.graph.look(url)
        answer = node.answer
        target = self.graph.redirect(url, answer)
        if target is not None and target not in self._known:
            self._add(target, label, parent, inside=False, front=True)
        if answer.status != 200 or not body_wanted(answer.content_type, label, ()):
            return
        if answer.kind is Kind.RDF:
            self._found.add(answer.document or url)
            if parent is not None:
                self._parents.add(parent)
            if self.framework.follow_rdf:
                for link in node.links:
                    self._add(link.url, relevancy_inside_rdf(link), url, inside=True)
        elif answer.kind is Kind.HTML:
            for link in node.links:
                if (mine := self._label(link)) is not None:
                    self._add(link.url, mine, url, inside=False)

    def _label(self, link: Link) -> Label | None:
        """Label a link of a page by T.4; ``None`` for what link filter 1 drops."""
        if is_non_semantic(link) or is_plain(link.url):
            return None
        label, _ = relevancy_r(link)
        return Label.HR if label is Label.H and self._parents.rules(link.url) else label

    def _add(
        self, url: str, label: Label, parent: str | None, *, inside: bool, front: bool = False
    ) -> None:
        """Add a link to its queue; count another citation of one that waits in the RDF queue."""
        if label is Label.N:
            return
        framework = self.framework
        if inside:
            self._cited[url] = self._cited.get(url, 0) + 1
        cited = -float(self._cited.get(url, 0)) if framework.cited_first else 0.0
        if url in self._known:
            if url in self._rdf.keys and self._rdf.keys[url] != cited:
                self._arrived += 1
                self._rdf.put(url, cited, self._arrived)
            return
        self._known[url] = (label, parent)
        self._arrived += 1
        wanted = inside if framework.rdf_queue == "inside" else label is Label.R
        if framework.rdf_queue != "none" and wanted and label is not Label.H:
            self._rdf.put(url, -1e9 if front else cited, self._arrived)
            return
        key = float(_PRIORITY[label]) if framework.by_label else 0.0
        self._html.put(url, -1e9 if front else key, self._arrived)


def framework_figures(
    worlds: Sequence[World], report: Callable[[int], None] = lambda requests: None
) -> dict[str, list[float]]:
    """Crawl worlds with all frameworks; return framework → RDF documents found in all worlds.

    They are those after 1,000 and after 2,000 requests to each world, and in half an hour at one
    request a second to a host.
    """
    sums = {framework.title: [0.0, 0.0, 0.0] for framework in FRAMEWORKS}
    requests = 0
    for world in worlds:
        graph = LinkGraph(world, max_links=500, follow_rdf=True)
        for framework in FRAMEWORKS:
            crawl = FrameworkCrawl(graph, framework)
            turns = crawl.run(max(REQUESTS, HALF_HOUR))
            requests += len(crawl.curve)
            report(requests)
            row = sums[framework.title]
            row[0] += _at(crawl.curve, REQUESTS // 2)
            row[1] += _at(crawl.curve, REQUESTS)
            row[2] += _at(turns, HALF_HOUR)
    return sums


def _at(curve: Sequence[int], requests: int) -> int:
    return curve[min(requests, len(curve)) - 1] if curve else 0
