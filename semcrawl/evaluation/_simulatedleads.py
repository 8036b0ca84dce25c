"""Simulates how the spiders find data other than by links, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Ranked
from semcrawl.relevance.rules import relevancy_r
from semcrawl.sources.cataloguepages import CataloguePages, next_pages
from semcrawl.sources.negotiation import NegotiationBook, as_rdf, is_as_rdf, other_form
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import FoundBy

#: prefix of the group of an origin's well-known places, and the group's values: after everything
#: else, and before all pages but the starts
_PLACES = "places "
_LAST, _SOON = -1e12, 5e8
#: number of targets from which on a host's places are fetched first
_MANY_TARGETS = 200
#: rule of guessed addresses
_GUESS = "guess"


def is_place(waiting: Waiting) -> bool:
    """Whether a link is a well-known place, which no strategy judges."""
    return waiting.group.startswith(_PLACES)


def is_guess(waiting: Waiting) -> bool:
    """Whether the address is a guess that no document names."""
    return _GUESS in waiting.rules


class SimulatedLeads:
    """Simulates :class:`semcrawl.spiders.leads.Leads` without requests."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        enter: Callable[[Page, Sequence[Link]], tuple[Ranked, ...]],
    ) -> None:
        """Add links to the frontier by ``enter``."""
        self._graph = graph
        self._frontier = frontier
        self._enter = enter
        options = graph.leads
        self._book = NegotiationBook(options.tries if options.negotiation else 0)
        self._pages = CataloguePages(options.most_pages)
        self._targets: Counter[str] = Counter()
        #: hosts whose software is known
        self._signed: set[str] = set()

    def links_of(self, waiting: Waiting, node: Node) -> Sequence[Link]:
        """Return the links of a document to follow."""
        if node.with_catalogue and netloc_of(waiting.url) not in self._signed:
            self._signed.add(netloc_of(waiting.url))
            return node.with_catalogue
        further = {link.url for link in next_pages(waiting.url, node.links)}
        if node.own_links or not further:  # the next pages of an HTML page are usual links
            return node.links
        left = {url for url in further if not self._pages.may_follow(url)}
        return [link for link in node.links if link.url not in left]

    def shows_rdf(self, waiting: Waiting, node: Node) -> bool:
        """Whether a fetched page leads to new RDF, judged by type or extension."""
        signs = node.signs if netloc_of(waiting.url) not in self._signed else ()
        own = (*node.own_links, *signs)
        new = (link for link in own if not self._frontier.knows(link.url))
        return self._graph.leads.negotiation and any(
            relevancy_r(link)[0] is Label.R for link in new
        )

    def note_page(self, waiting: Waiting, node: Node, *, shows_rdf: bool, target: bool) -> None:
        """Add the RDF form of a page, and the well-known places of its host if it is a target."""
        self.ask_as_rdf(waiting, node, shows_rdf=shows_rdf)
        if target:
            self.look_at_host(waiting.url)

    def note_rdf(self, waiting: Waiting, *, whole: bool, target: bool) -> None:
        """Add the well-known places of a target's host, and RDF forms of URLs of its shape."""
        if target:
            self.look_at_host(waiting.url)
        if whole and is_as_rdf(waiting.asked):
            for url in self._book.note_found(waiting.asked):
                self._put_in(waiting, url)

    def ask_as_rdf(self, waiting: Waiting, node: Node, *, shows_rdf: bool = False) -> None:
        """Add the RDF form of a page, or of a redirect to it, if there may be one."""
        asked_as_rdf = waiting.label is Label.R or is_as_rdf(waiting.asked)
        if asked_as_rdf or not self._graph.leads.negotiation:
            return
        if node.answer.redirect and not node.varies:
            return
        url = waiting.url
        if not self._book.is_candidate(url, varies=node.varies, names_itself=node.names_itself):
            return
        if not shows_rdf and self._book.ask(url):
            self._put_in(waiting, url)

    def look_at_host(self, url: str) -> None:
        """Add the well-known places of a target's host, once; many targets move them forward."""
        places = self._graph.well_known(url)
        if not places:
            return
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        group = _PLACES + origin
        self._targets[origin] += 1
        if self._targets[origin] == _MANY_TARGETS:
            self._frontier.set_values({group: _SOON})
        if self._targets[origin] > 1:
            return
        self._frontier.set_values({group: _LAST})
        rules = (_GUESS, "well-known")
        for number, place in enumerate(places):
            waiting = Waiting(
                *(place, place, Label.R, rules, url, 1, group), found_by=FoundBy.WELL_KNOWN
            )
            self._frontier.add(waiting, float(number))

    def _put_in(self, waiting: Waiting, url: str) -> None:
        if not self._frontier.knows(as_rdf(url)):
            self._enter(Page(url, waiting.depth), [other_form(url)])
