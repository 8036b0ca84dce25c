"""Simulates how the spiders read sitemaps and SPARQL endpoints, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from semcrawl.crawl.lists import ListRules, Portion, first_turn, outcome_of_list
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.querylinks import endpoints_among, links_after
from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queries import QueryAnswer, Taken, take_answer
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.sources import Shelf
from semcrawl.sources.endpointsteps import QUERIES, QUERIES_VALUE
from semcrawl.sources.endpointwalk import EndpointWalk
from semcrawl.sources.listing import LAST, LISTS, SITEMAPS, SOON
from semcrawl.web.hosts import netloc_of

T = TypeVar("T")


class Enter(Protocol):
    """Judges links and adds the new ones; ``more``: where a list goes on if they pay."""

    def __call__(
        self, page: Page, links: Sequence[Link], *, more: str = ""
    ) -> tuple[Ranked, ...]: ...


def is_listed(waiting: Waiting) -> bool:
    """Whether a link is a sitemap in a group that no strategy ranks."""
    return waiting.group == LISTS or waiting.group.startswith(SITEMAPS)


class SimulatedLists:
    """Does in memory what :class:`semcrawl.spiders.sitemaps.Sitemaps` does."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        rules: ListRules,
        enter: Enter,
        learn: Callable[[Outcome], None],
        begin: Callable[[Page, Sequence[Link]], Sequence[Link]],
    ) -> None:
        """Add links to the frontier by ``enter``, and report them to the strategy by ``learn``.

        ``begin`` starts the endpoints among links, and returns the other links.
        """
        self._graph = graph
        self._frontier = frontier
        self._frontier.set_values({LISTS: LAST})
        self._rules = rules
        self._enter = enter
        self._learn = learn
        self._begin = begin
        #: name of a list → its shelves, and its page
        self._lists: dict[str, tuple[Sequence[Shelf], Page]] = {}

    def fetched(self, waiting: Waiting, *, paid: bool) -> None:
        """Note that a link was fetched, and whether it was a target."""
        url, more = waiting.url, waiting.state.more
        if origin := self._rules.seeks(url):
            links = self._rules.found(origin, self._graph.robots_name(origin))
            group = SITEMAPS + netloc_of(url)
            if links:
                self._frontier.set_values({group: LAST})
            for number, (sitemap, state) in enumerate(links):
                self._frontier.add(Waiting(sitemap, state, group), float(number))
        if (untried := self._rules.note_answer(url)) is not None:
            self._put_in(untried)
        if group := self._rules.due(url):
            self._frontier.set_values({group: SOON})
        if paid and more:
            self._add(self._rules.go_on(more, self._lengths(more)))

    def keep(self, waiting: Waiting, node: Node) -> None:
        """Keep the links of a sitemap, and let it wait for its first turn."""
        if self._rules.why_enough(waiting.url) or not node.is_sitemap:
            return
        name = str(len(self._lists)) if node.shelves else ""
        self._rules.note_read(waiting.url, name, node.shelves)
        if node.shelves:
            self._lists[name] = node.shelves, Page(waiting.url, waiting.state.depth)
            self._wait_again(waiting, first_turn(name))

    def is_enough(self, waiting: Waiting) -> bool:
        """Whether it is a sitemap that is not fetched, as enough of its host were read."""
        return waiting.state.is_sitemap and bool(self._rules.why_enough(waiting.url))

    def take_turn(self, waiting: Waiting) -> None:
        """Add some links of each shelf of a sitemap; each turn takes more than the one before."""
        turn = waiting.state.turn
        if turn := self._add(self._rules.take_turn(turn, self._lengths(turn))):
            self._wait_again(waiting, turn)

    def _lengths(self, place: str) -> list[int]:
        return [len(shelf.links) for shelf in self._lists[place.partition(".")[0]][0]]

    def _wait_again(self, waiting: Waiting, turn: str) -> None:
        """Let a sitemap wait for its next turn, behind those that went back less often."""
        key = self._frontier.taken + 1 if waiting.group == LISTS else 0.0
        state = replace(waiting.state, turn=turn, retries=0)
        self._frontier.add_again(Waiting(waiting.url, state, LISTS), key)

    def _add(self, portions: Generator[Portion, int, T]) -> T:
        """Add portions of lists, as long as the rules ask for more; return what they conclude."""
        try:
            portion = next(portions)
            while True:
                portion = portions.send(self._put_in(portion))
        except StopIteration as end:
            concluded: T = end.value
            return concluded

    def _put_in(self, portion: Portion) -> int:
        """Add the links of a portion; return how many were new."""
        place = portion.place
        shelves, page = self._lists[place.name]
        links = shelves[place.shelf].links[place.number : portion.end]
        rest = str(place._replace(number=portion.end))
        links = self._begin(page, links)
        new = self._enter(page, links, more=rest) if links else ()
        if new:
            self._learn(outcome_of_list(page, new))
        return len(new)


class SimulatedEndpoints:
    """Simulates :class:`semcrawl.spiders.endpoints.EndpointReader` without requests."""

    def __init__(self, graph: LinkGraph, frontier: SimulatedFrontier, policy: LinkPolicy) -> None:
        """Add queries to ``frontier``."""
        self._graph = graph
        self._options = graph.endpoints
        self._frontier = frontier
        self._policy = policy
        self._frontier.set_values({QUERIES: QUERIES_VALUE})
        self._walk = EndpointWalk(self._options.skipped)

    def take_found(self, page: Page, links: Sequence[Link]) -> Sequence[Link]:
        """Begin to query the endpoints among a document's links; return the other links."""
        found, others = endpoints_among(self._options, self._policy, page, links)
        for first, then in found:
            if not self.put_in(*first):
                self.put_in(*then)
        return others

    def put_in(self, url: str, state: LinkState) -> bool:
        """Add a query; return whether it is new."""
        return self._frontier.add(Waiting(url, state, QUERIES), 0.0)

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
        for url, state in links_after(waiting.url, waiting.state, taken.following):
            self.put_in(url, state)
