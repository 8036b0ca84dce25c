"""Sitemaps and SPARQL endpoints in the simulator: as the spiders read them, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queries import QueryAnswer, Taken, take_answer
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.sources import GUESSED_AFTER, NAMED_AFTER, NEXT, Shelf, UntriedShapes, turn
from semcrawl.sources.endpointpaging import first_steps
from semcrawl.sources.endpointsteps import QUERIES, QUERIES_VALUE, Step, names_endpoint
from semcrawl.sources.endpointwalk import EndpointWalk
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import FoundBy

#: group of sitemaps before all pages but the starts, and of what waits until nothing else does
_FRONT, _REST = "sitemaps", "lists"
_VALUES = {_FRONT: 5e8, _REST: -1e12}


def is_listed(waiting: Waiting) -> bool:
    """Whether a link is a sitemap that waits where no strategy put it."""
    return waiting.group in _VALUES


class SimulatedLists:
    """The lists of sitemaps, as :class:`semcrawl.spiders.sitemaps.Sitemaps` treats them."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        enter: Callable[[Page, Sequence[Link]], tuple[Ranked, ...]],
        learn: Callable[[Outcome], None],
        begin: Callable[[Page, Sequence[Link]], Sequence[Link]],
    ) -> None:
        """Put links in by ``enter``, and have the strategy ``learn`` of them.

        ``begin`` takes the endpoints out that are begun with.
        """
        self._graph = graph
        self._frontier = frontier
        self._frontier.set_values(_VALUES)
        self._enter = enter
        self._learn = learn
        self._begin = begin
        #: by host: its sitemaps, and how many answers they wait for
        self._sought: dict[str, tuple[list[str], int]] = {}
        #: place in which a sitemap arrived
        self._arrived: dict[str, int] = {}
        #: by sitemap
        self._lists: dict[str, tuple[Sequence[Shelf], Page]] = {}
        self._untried = UntriedShapes()
        #: link → list, number of its shelf, and the place in that to go on from
        self._more: dict[str, tuple[str, int, int]] = {}
        #: places of lists that were gone on from
        self._passed: set[tuple[str, int, int]] = set()

    def fetched(self, waiting: Waiting, *, paid: bool) -> None:
        """Take in that a link was fetched, and whether it was a target."""
        untried = self._untried.note(waiting.url)
        self._look_up(waiting.url)
        if untried:
            self._put_in(*untried, 0, 1)
        if paid and waiting.asked in self._more:
            self._go_on(*self._more.pop(waiting.asked))

    def keep(self, waiting: Waiting, node: Node) -> None:
        """Keep the links of a sitemap until the host has nothing else to ask for."""
        if node.shelves:
            self._lists[waiting.url] = node.shelves, Page(waiting.url, waiting.depth)
            self._untried.add(waiting.url, waiting.url, node.shelves)
            self._wait_again(waiting, 1)

    def take_turn(self, waiting: Waiting) -> None:
        """Put some links of each shape of a list in; twice as many the next time."""
        shelves, _ = self._lists[waiting.url]
        new, number = 0, waiting.turn
        while not new:
            start, end = turn(number - 1)
            if all(start >= len(shelf.links) for shelf in shelves):
                return
            new = sum(self._put_in(waiting.url, i, start, end) for i in range(len(shelves)))
            number += 1
        self._wait_again(waiting, number)

    def _wait_again(self, waiting: Waiting, number: int) -> None:
        """Have a sitemap wait for its next turn, behind those that had fewer."""
        waiting, arrived = replace(waiting, group=_REST, turn=number), self._arrived
        self._frontier.add_again(waiting, float(number - 1), arrived.get(waiting.url, 0))

    def _look_up(self, url: str) -> None:
        """Look for the sitemaps of a host, when it has nothing else to ask for or later."""
        host = netloc_of(url)
        if host not in self._sought:
            found, guessed = self._graph.sitemaps_of(url)
            parent = f"{url.partition(host)[0]}{host}/robots.txt"
            rules = ("sitemap", "guess") if guessed else ("sitemap",)
            self._sought[host] = found, GUESSED_AFTER if guessed else NAMED_AFTER
            for number, each in enumerate(found):
                self._arrived.setdefault(each, self._frontier.arrived + 1)
                self._frontier.add(
                    Waiting(
                        *(each, each, Label.H, rules, parent, 1, _REST),
                        found_by=FoundBy.SITEMAP,
                    ),
                    float(number),
                )
        found, after = self._sought[host]
        if found and self._untried.answers(url) >= after:
            self._sought[host] = [], 0
            for number, each in enumerate(found):
                if self._frontier.waits(each):
                    self._frontier.move(each, _FRONT, float(number))

    def _put_in(self, name: str, number: int, start: int, end: int) -> int:
        """Put links of a shelf in; return how many were new."""
        shelves, page = self._lists[name]
        links = shelves[number].links[start:end]
        for link in links:
            self._more[link.url] = name, number, end
        links = self._begin(page, links)
        entered = self._enter(page, links) if links else ()
        if entered:
            self._learn(
                Outcome(
                    *(page.url, None, False, page.url, page.url, page.depth),
                    duplicate=True,
                    new_links=entered,
                )
            )
        return len(entered)

    def _go_on(self, name: str, number: int, place: int) -> None:
        """Put more of a shelf in, some that are new if there are any left."""
        links = self._lists[name][0][number].links
        while place < len(links) and (name, number, place) not in self._passed:
            self._passed.add((name, number, place))
            if self._put_in(name, number, place, place + NEXT):
                return
            place += NEXT


class SimulatedEndpoints:
    """The queries of :class:`semcrawl.spiders.endpoints.EndpointReader`, without requests."""

    def __init__(self, graph: LinkGraph, frontier: SimulatedFrontier) -> None:
        """Put queries into ``frontier``."""
        self._graph = graph
        self._options = graph.endpoints
        self._frontier = frontier
        self._frontier.set_values({QUERIES: QUERIES_VALUE})
        self._walk = EndpointWalk(self._options.skipped)

    def first(self, endpoint: str) -> list[Step]:
        """Return the step that begins with an endpoint, and the next one."""
        return first_steps(endpoint, self._options.page, self._options.most)

    def take_found(self, page: Page, links: Sequence[Link]) -> Sequence[Link]:
        """Begin with the endpoints among the links of a document; return the other links."""
        found = self._graph.endpoints_among(links)
        for link in found:
            description, graphs = self.first(link.url)
            where = page.url, page.depth + 1
            if not self.put_in(description, *where, found_by=link.found_by):
                self.put_in(graphs, *where)
        return [link for link in links if not names_endpoint(link)] if found else links

    def put_in(
        self, step: Step, parent: str | None, depth: int, found_by: FoundBy = FoundBy.ENDPOINT
    ) -> bool:
        """Put a query in; whether it is new."""
        url = step.url
        waiting = Waiting(
            *(url, url, Label.R, (), parent, depth, QUERIES), found_by=found_by, query=step
        )
        return self._frontier.add(waiting, 0.0)

    def answer_to(self, waiting: Waiting) -> QueryAnswer | None:
        """Return the answer to a query that waited; ``None`` for what is no query."""
        if waiting.query is None:
            return None
        rdf_first = waiting.label is Label.R
        return self._graph.ask(waiting.query, waiting.url, rdf_first=rdf_first)

    def take(self, waiting: Waiting, answer: QueryAnswer) -> Taken:
        """Say what becomes of the answer to a query."""
        if waiting.query is None:
            raise ValueError(f"{waiting.url} is no query")
        return take_answer(self._walk, waiting.query, answer)

    def follow(self, waiting: Waiting, taken: Taken) -> None:
        """Put in what follows."""
        for step in taken.following.steps:
            self.put_in(step, waiting.url, waiting.depth + 1)
