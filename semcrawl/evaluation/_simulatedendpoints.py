"""SPARQL endpoints in the simulator: as the spiders read them, query by query."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.queries import QueryAnswer, Taken, take_answer
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label
from semcrawl.sources.endpointpaging import first_steps
from semcrawl.sources.endpointsteps import QUERIES, QUERIES_VALUE, Step, names_endpoint
from semcrawl.sources.endpointwalk import EndpointWalk
from semcrawl.web.vocabulary import FoundBy


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
