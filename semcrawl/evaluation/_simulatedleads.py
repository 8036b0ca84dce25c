"""Carries out, for the simulator, what the rules of leads decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from semcrawl.crawl.leadrules import Form, LeadRules, shows_rdf
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.links import Link, Page
from semcrawl.rdf.detection import format_of_type
from semcrawl.relevance.contract import Ranked
from semcrawl.sources.cataloguepages import CataloguePages, next_pages
from semcrawl.sources.listing import PLACES
from semcrawl.sources.negotiation import (
    NegotiationBook,
    Wish,
    as_rdf,
    gave_nothing,
    is_as_rdf,
    other_form,
)
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, Kind


def is_place(waiting: Waiting) -> bool:
    """Whether a link is a well-known place, which no strategy judges."""
    return waiting.group.startswith(PLACES)


class SimulatedLeads:
    """Does in memory what :class:`semcrawl.spiders.leads.Leads` does."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        policy: LinkPolicy,
        enter: Callable[[Page, Sequence[Link]], tuple[Ranked, ...]],
    ) -> None:
        """Add links to the frontier by ``enter``."""
        self._graph = graph
        self._frontier = frontier
        self._policy = policy
        self._enter = enter
        options = graph.leads
        self._rules = LeadRules(options)
        self._book = NegotiationBook(options.tries if options.negotiation else 0)
        self._pages = CataloguePages(options.most_pages)

    def links_of(self, waiting: Waiting, node: Node) -> Sequence[Link]:
        """Return the links of a document to follow."""
        if node.answer.kind is Kind.HTML:  # its next pages are usual links
            if node.signs and self._rules.seeks_software(waiting.url):
                self._rules.note_software(waiting.url)
                return node.with_catalogue
            return node.links
        return self.bounded(waiting.url, node.links)

    def bounded(self, url: str, links: Sequence[Link]) -> Sequence[Link]:
        """Leave out further pages of a catalogue of which enough pages were followed."""
        further = next_pages(url, links)
        left = {link.url for link in further if not self._pages.may_follow(link.url)}
        return [link for link in links if link.url not in left] if left else links

    def shows_rdf(self, waiting: Waiting, node: Node) -> bool:
        """Whether a page links to RDF that is new; ask before its links are followed."""
        own = node.own_links
        if self._rules.seeks_software(waiting.url):
            own = (*own, *node.signs)
        asks = self._graph.leads.asks_as_rdf
        return asks and shows_rdf(waiting.url, own, self._frontier.knows)

    def note_page(self, waiting: Waiting, node: Node, *, shows_rdf: bool, target: bool) -> None:
        """After reading a page, add its RDF form and, if it is a target, well-known places."""
        if not shows_rdf:
            form = self._rules.form_of_page(
                waiting.url,
                waiting.state,
                varies=node.varies,
                rdf=waiting.expects_rdf,
                links=node.own_links,
                names_itself=lambda url: node.names_itself,
            )
            self._ask_for(waiting, form)
        if waiting.asks_for is Wish.PAGE:
            self._note_answered(waiting)
        if target:
            self.look_at_host(waiting.url)

    def note_rdf(self, waiting: Waiting, *, whole: bool, target: bool) -> None:
        """After reading RDF, add well-known places and RDF forms of pages of the same shape."""
        if target:
            self.look_at_host(waiting.url)
        if whole and is_as_rdf(waiting.asked):
            for url in self._book.note_found(waiting.asked):
                self._put_in(waiting, url)
        if whole:
            self._note_answered(waiting)

    def after_redirect(self, waiting: Waiting, node: Node) -> Waiting:
        """Add the RDF form of an address that redirects; return the link as it goes on."""
        state, form = self._rules.after_redirect(
            waiting.url, waiting.state, varies=node.varies, rdf=waiting.expects_rdf
        )
        self._ask_for(waiting, form)
        return replace(waiting, state=state)

    def note_dead_end(self, waiting: Waiting, target: str = "") -> None:
        """Ask for RDF in another way where a redirect that depends on the type led to nothing."""
        self._ask_for(waiting, self._rules.after_dead_end(waiting.url, waiting.state, target))

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
        """Put the link that was taken last back with its next wish; return whether it went."""
        again = self._rules.again(waiting.url, waiting.state, rdf=waiting.expects_rdf)
        if again is None or (again.counts and not self._book.may_ask_again(waiting.asked)):
            return False
        if again.instead is not None:
            first = Waiting(again.instead.url, again.state, waiting.group)
            self._frontier.add_again(first, -math.inf)
        else:
            self._frontier.give_back(replace(waiting, state=again.state))
        return True

    def look_at_host(self, url: str) -> None:
        """Add the well-known places of a target's origin, or move them forward."""
        places = self._rules.after_target(url)
        if places is None:
            return
        links = [each for each in places.links if self._policy.may_fetch(each[0])]
        if links or not places.links:
            self._frontier.set_values({places.group: places.value})
        for number, (place, state) in enumerate(links):
            self._frontier.add(Waiting(place, state, places.group), float(number))

    def _note_answered(self, waiting: Waiting) -> None:
        """Note that a link gave what it was asked for; it counts if it had been asked again."""
        if waiting.state.wish:
            self._book.note_answered(waiting.asked)

    def _ask_for(self, waiting: Waiting, form: Form | None) -> None:
        """Add an RDF form that there is evidence for, or let it wait for the answers of others."""
        if form is None or not (form.is_likely or self._book.gives_forms(form.url)):
            return
        if self._book.ask(form.url):
            self._put_in(waiting, form.url, form.wish)

    def _put_in(self, waiting: Waiting, url: str, wish: str = Wish.ONLY_RDF) -> None:
        if not self._frontier.knows(as_rdf(url)):
            self._enter(Page(url, waiting.state.depth), [other_form(url, wish)])
