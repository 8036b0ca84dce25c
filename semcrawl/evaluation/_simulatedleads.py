"""Simulates how the spiders find data other than by links, in the same order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.frontier.linkstate import LinkState
from semcrawl.links import Link, Page
from semcrawl.rdf.detection import format_of_type
from semcrawl.relevance.contract import Label, Ranked
from semcrawl.relevance.rules import relevancy_r
from semcrawl.sources.cataloguepages import CataloguePages, next_pages
from semcrawl.sources.listing import LAST, MANY_TARGETS, PLACES, SOON
from semcrawl.sources.negotiation import (
    NegotiationBook,
    Wish,
    as_rdf,
    gave_nothing,
    is_as_rdf,
    next_wish,
    other_form,
    own_type,
)
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, FoundBy

#: rule of guessed addresses
_GUESS = "guess"
#: rule of sitemaps, and of links whose type is RDF
_SITEMAP, _BY_TYPE = "sitemap", "ty1"


def is_place(waiting: Waiting) -> bool:
    """Whether a link is a well-known place, which no strategy judges."""
    return waiting.group.startswith(PLACES)


def is_guess(waiting: Waiting) -> bool:
    """Whether the address is a guess that no document names."""
    return waiting.state.is_guess


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
        if node.signs and netloc_of(waiting.url) not in self._signed:
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
        return self._graph.leads.asks_as_rdf and any(
            relevancy_r(link)[0] is Label.R for link in new
        )

    def note_page(self, waiting: Waiting, node: Node, *, shows_rdf: bool, target: bool) -> None:
        """Add the RDF form of a page, and the well-known places of its host if it is a target."""
        self.ask_as_rdf(waiting, node, shows_rdf=shows_rdf)
        if waiting.asks_for is Wish.PAGE:
            self._note_answered(waiting)
        if target:
            self.look_at_host(waiting.url)

    def note_rdf(self, waiting: Waiting, *, whole: bool, target: bool) -> None:
        """Add the well-known places of a target's host, and RDF forms of URLs of its shape."""
        if target:
            self.look_at_host(waiting.url)
        if whole and is_as_rdf(waiting.asked):
            for url in self._book.note_found(waiting.asked):
                self._put_in(waiting, url)
        if whole:
            self._note_answered(waiting)

    def ask_as_rdf(self, waiting: Waiting, node: Node, *, shows_rdf: bool = False) -> Waiting:
        """Add the RDF form of a page, or of a redirect to it, if there may be one.

        If RDF was asked for, another header asks for it, but not before the redirects have led to a
        page. Return the link, with the redirect that it depends on.
        """
        if not self._graph.leads.asks_as_rdf or is_as_rdf(waiting.asked) or waiting.state.wish:
            return waiting
        url, varies, asked_as_rdf = waiting.url, node.varies, waiting.expects_rdf
        if node.answer.redirect:
            if not varies:
                return waiting
            if asked_as_rdf:
                if waiting.state.varied:
                    return waiting
                varied = len(waiting.state.redirects) + 1
                return replace(waiting, state=replace(waiting.state, varied=varied))
        elif waiting.state.varied:
            url, varies = waiting.state.redirects[waiting.state.varied - 1], True
        named = own_type(waiting.url, node.own_links)
        if named:
            url, varies = waiting.url, True
        itself = node.names_itself or (asked_as_rdf and _BY_TYPE in waiting.state.rules)
        if self._book.is_candidate(url, varies=varies, names_itself=itself) and not shows_rdf:
            self._ask(waiting, url, named or (Wish.TURTLE if asked_as_rdf else Wish.ONLY_RDF))
        return waiting

    def note_dead_end(self, waiting: Waiting, target: str = "") -> None:
        """Ask for RDF in another way where a redirect that depends on the type led to nothing."""
        state = waiting.state
        possible = state.varied and not waiting.state.wish and self._graph.leads.asks_as_rdf
        if possible and extension_of(path_of(target)) not in RDF_EXTENSIONS:
            # the redirect at hand has not joined those before it
            self._ask(waiting, (*state.redirects, waiting.url)[state.varied - 1], Wish.TURTLE)

    def note_known_target(self, waiting: Waiting, target: str) -> None:
        """After a redirect to a known address, ask for RDF in another way."""
        if not is_as_rdf(waiting.asked):
            self.note_dead_end(waiting, target)
        elif extension_of(path_of(target)) not in RDF_EXTENSIONS:
            self.ask_again(waiting)

    def gave_nothing(self, waiting: Waiting, node: Node) -> bool:
        """Whether an answer says, or suggests, that other types may give more."""
        return gave_nothing(
            node.answer.status,
            varies=node.varies,
            expects_rdf=waiting.expects_rdf,
            empty=node.empty and format_of_type(node.answer.content_type) is None,
        )

    def ask_again(self, waiting: Waiting) -> bool:
        """Put the link that was taken last back with its next wish; return whether it went.

        The RDF form of a page begins again at its own address.
        """
        fixed = waiting.state.query or is_guess(waiting) or _SITEMAP in waiting.state.rules
        if fixed or not self._graph.leads.asks_as_rdf:
            return False
        wish = next_wish(
            waiting.asks_for, waiting.asked, rdf=waiting.expects_rdf, first=not waiting.state.wish
        )
        if wish is None:
            return False
        # a link counts once, with its first such request
        if wish is Wish.TURTLE and not self._book.may_ask_again(waiting.asked):
            return False
        state = replace(waiting.state, wish=str(wish))
        if state.redirects and is_as_rdf(waiting.asked):
            again = Waiting(waiting.asked, replace(state, redirects=()), waiting.group)
            self._frontier.add_again(again, -math.inf)
        else:
            self._frontier.give_back(replace(waiting, state=state))
        return True

    def _note_answered(self, waiting: Waiting) -> None:
        """Note that a link gave what it was asked for; it counts if it had been asked again."""
        if waiting.state.wish:
            self._book.note_answered(waiting.asked)

    def _ask(self, waiting: Waiting, url: str, wish: str) -> None:
        """Add the RDF form of an address, or let it wait for the answers of others."""
        if self._book.ask(url):
            self._put_in(waiting, url, wish)

    def look_at_host(self, url: str) -> None:
        """Add the well-known places of a target's host, once; many targets move them forward."""
        places = self._graph.well_known(url)
        if not places:
            return
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        group = PLACES + origin
        self._targets[origin] += 1
        if self._targets[origin] == MANY_TARGETS:
            self._frontier.set_values({group: SOON})
        if self._targets[origin] > 1:
            return
        self._frontier.set_values({group: LAST})
        rules = (_GUESS, "well-known")
        for number, place in enumerate(places):
            state = LinkState(url, 1, Label.R, rules=rules, found_by=FoundBy.WELL_KNOWN)
            self._frontier.add(Waiting(place, state, group), float(number))

    def _put_in(self, waiting: Waiting, url: str, wish: str = Wish.ONLY_RDF) -> None:
        if not self._frontier.knows(as_rdf(url)):
            self._enter(Page(url, waiting.state.depth), [other_form(url, wish)])
