"""Simulates how the spiders read sitemaps and SPARQL endpoints, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queries import QueryAnswer, Taken, take_answer
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.frontier.linkstate import LinkState
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.sources import GUESSED_AFTER, NAMED_AFTER, NEXT, Shelf, UntriedShapes, turn
from semcrawl.sources.endpointpaging import first_steps
from semcrawl.sources.endpointsteps import QUERIES, QUERIES_VALUE, Step, names_endpoint
from semcrawl.sources.endpointwalk import EndpointWalk
from semcrawl.sources.listing import LAST, LISTS, SITEMAPS, SOON
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import FoundBy


def is_listed(waiting: Waiting) -> bool:
    """Whether a link is a sitemap in a group that no strategy ranks."""
    return waiting.group == LISTS or waiting.group.startswith(SITEMAPS)


class SimulatedLists:
    """Simulates :class:`semcrawl.spiders.sitemaps.Sitemaps`."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        enter: Callable[[Page, Sequence[Link]], tuple[Ranked, ...]],
        learn: Callable[[Outcome], None],
        begin: Callable[[Page, Sequence[Link]], Sequence[Link]],
    ) -> None:
        """Add links to the frontier by ``enter``, and report them to the strategy by ``learn``.

        ``begin`` starts the endpoints among links, and returns the other links.
        """
        self._graph = graph
        self._frontier = frontier
        self._frontier.set_values({LISTS: LAST})
        self._enter = enter
        self._learn = learn
        self._begin = begin
        #: host → number of answers after which its sitemaps move to the front; 0 if they need not
        self._sought: dict[str, int] = {}
        #: sitemap → its shelves, and its page
        self._lists: dict[str, tuple[Sequence[Shelf], Page]] = {}
        self._untried = UntriedShapes()
        #: link → sitemap, index of its shelf, and the offset there to continue from
        self._more: dict[str, tuple[str, int, int]] = {}
        #: such positions already continued from
        self._passed: set[tuple[str, int, int]] = set()

    def fetched(self, waiting: Waiting, *, paid: bool) -> None:
        """Note that a link was fetched, and whether it was a target."""
        untried = self._untried.note(waiting.url)
        self._look_up(waiting.url)
        if untried:
            self._put_in(*untried, 0, 1)
        if paid and waiting.asked in self._more:
            self._go_on(*self._more.pop(waiting.asked))

    def keep(self, waiting: Waiting, node: Node) -> None:
        """Keep the links of a sitemap, and let it wait for its first turn."""
        if node.shelves:
            self._lists[waiting.url] = node.shelves, Page(waiting.url, waiting.state.depth)
            self._untried.add(waiting.url, waiting.url, node.shelves)
            self._wait_again(waiting, 1)

    def take_turn(self, waiting: Waiting) -> None:
        """Add some links of each shelf of a sitemap; each turn takes more than the one before."""
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
        """Let a sitemap wait for its next turn, behind those with fewer turns."""
        self._frontier.add_again(replace(waiting, group=LISTS, turn=number), float(number - 1))

    def _look_up(self, url: str) -> None:
        """Add a host's sitemaps at the end; move them to the front after enough answers."""
        host = netloc_of(url)
        if host not in self._sought:
            found, guessed = self._graph.sitemaps_of(url)
            parent = f"{url.partition(host)[0]}{host}/robots.txt"
            rules = ("sitemap", "guess") if guessed else ("sitemap",)
            after = GUESSED_AFTER if guessed else NAMED_AFTER
            self._sought[host] = after if found else 0
            self._frontier.set_values({SITEMAPS + host: LAST})
            for number, each in enumerate(found):
                state = LinkState(parent, 1, rules=rules, found_by=FoundBy.SITEMAP)
                self._frontier.add(Waiting(each, state, SITEMAPS + host), float(number))
        if 0 < self._sought[host] <= self._untried.answers(url):
            self._sought[host] = 0
            self._frontier.set_values({SITEMAPS + host: SOON})

    def _put_in(self, name: str, number: int, start: int, end: int) -> int:
        """Add links of a shelf; return how many are new."""
        shelves, page = self._lists[name]
        links = shelves[number].links[start:end]
        for link in links:
            self._more[link.url] = name, number, end
        links = self._begin(page, links)
        entered = self._enter(page, links) if links else ()
        if entered:
            self._learn(
                Outcome(
                    url=page.url,
                    kind=None,
                    target=False,
                    final_url=page.url,
                    parent=page.url,
                    depth=page.depth,
                    duplicate=True,
                    new_links=entered,
                )
            )
        return len(entered)

    def _go_on(self, name: str, number: int, place: int) -> None:
        """Add more links of a shelf, until one is new or none is left."""
        links = self._lists[name][0][number].links
        while place < len(links) and (name, number, place) not in self._passed:
            self._passed.add((name, number, place))
            if self._put_in(name, number, place, place + NEXT):
                return
            place += NEXT


class SimulatedEndpoints:
    """Simulates :class:`semcrawl.spiders.endpoints.EndpointReader` without requests."""

    def __init__(self, graph: LinkGraph, frontier: SimulatedFrontier) -> None:
        """Add queries to ``frontier``."""
        self._graph = graph
        self._options = graph.endpoints
        self._frontier = frontier
        self._frontier.set_values({QUERIES: QUERIES_VALUE})
        self._walk = EndpointWalk(self._options.skipped)

    def first(self, endpoint: str) -> list[Step]:
        """Return the first two steps of an endpoint: its description, and its list of graphs."""
        return first_steps(endpoint, self._options.page, self._options.most)

    def take_found(self, page: Page, links: Sequence[Link]) -> Sequence[Link]:
        """Start the endpoints among the links of a document; return the other links."""
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
        """Add a query; return whether it is new."""
        state = LinkState(parent, depth, Label.R, found_by=found_by, query=step.pack())
        return self._frontier.add(Waiting(step.url, state, QUERIES), 0.0)

    def answer_to(self, waiting: Waiting) -> QueryAnswer | None:
        """Return the answer to a waiting query; ``None`` if it is not a query."""
        step = waiting.query
        if step is None:
            return None
        rdf_first = waiting.state.label is Label.R
        return self._graph.ask(step, waiting.url, rdf_first=rdf_first)

    def take(self, waiting: Waiting, answer: QueryAnswer) -> Taken:
        """Process the answer to a query."""
        step = waiting.query
        if step is None:
            raise ValueError(f"{waiting.url} is not a query")
        return take_answer(self._walk, step, answer)

    def follow(self, waiting: Waiting, taken: Taken) -> None:
        """Add the queries that follow."""
        for step in taken.following.steps:
            self.put_in(step, waiting.url, waiting.state.depth + 1)
