"""Which other requests an answer suggests: RDF forms of pages, other wishes, well-known places.

Nothing here waits or requests. What all workers know, such as which hosts gave RDF forms, is asked
by those who carry it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlsplit

from semcrawl.config.options import LeadOptions
from semcrawl.crawl.redirects import Instead
from semcrawl.frontier.links import GUESS, LinkState
from semcrawl.links import Link
from semcrawl.recent import Recent
from semcrawl.relevance.contract import Label
from semcrawl.relevance.rules import may_be_r, relevancy_r
from semcrawl.sources.listing import LAST, MANY_TARGETS, PLACES, SOON
from semcrawl.sources.negotiation import (
    Wish,
    is_as_rdf,
    may_be_candidate,
    next_wish,
    own_type,
)
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, FoundBy

#: origins whose number of targets is remembered, those that gave one last
_MOST_ORIGINS = 10_000
#: the rule of links whose type is RDF (:mod:`semcrawl.relevance.rules`)
_BY_TYPE = "ty1"


class Form(NamedTuple):
    """The RDF form that an address may have, and what its first request asks for."""

    url: str
    wish: str = Wish.ONLY_RDF
    #: its page speaks for it; otherwise another address of the host must have given RDF
    is_likely: bool = True


class Again(NamedTuple):
    """A link that is asked for in another way."""

    #: it takes the link's place; ``None`` if the link goes back as ``state``
    instead: Instead | None
    state: LinkState
    wish: Wish
    #: whether it counts as a further request of its shape of addresses, of which few may be in vain
    counts: bool


class Places(NamedTuple):
    """What a target says of the well-known places of its origin."""

    group: str
    #: new value of their group
    value: float
    #: the places, if they are not in the frontier yet
    links: Sequence[tuple[str, LinkState]] = ()


@dataclass
class LeadRules:
    """Decides which ways to data the answers of a crawl open; remembers targets by origin."""

    options: LeadOptions

    def __post_init__(self) -> None:
        """Begin without any targets."""
        self._targets: Recent[str, int] = Recent(_MOST_ORIGINS, int)
        #: hosts whose catalogue was found by their software
        self._signed: Recent[str, bool] = Recent(_MOST_ORIGINS)
        #: addresses of filled forms by host
        self._filled: Recent[str, set[str]] = Recent(_MOST_ORIGINS, set)

    # -- hosts
    def seeks_software(self, url: str) -> bool:
        """Whether no page has shown which software runs on the host of an address."""
        return netloc_of(url) not in self._signed

    def note_software(self, url: str) -> None:
        """Note that a page showed the software of its host, whose catalogue is followed once."""
        self._signed[netloc_of(url)] = True

    def after_target(self, url: str) -> Places | None:
        """Return what to do with the well-known places of a target's origin.

        They come when nothing else of the host waits, or after many targets: so on a small site
        they delay no target.
        """
        if not self.options.well_known:
            return None
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        self._targets[origin] += 1
        if self._targets[origin] == MANY_TARGETS:
            return Places(PLACES + origin, SOON)
        if self._targets[origin] > 1:
            return None
        state = LinkState(url, 1, Label.R, rules=(GUESS, "well-known"), found_by=FoundBy.WELL_KNOWN)
        places = [f"{origin}/.well-known/{name}" for name in self.options.well_known]
        return Places(PLACES + origin, LAST, [(place, state) for place in places])

    def without_more_forms(self, links: Sequence[Link]) -> list[Link]:
        """Leave out filled forms of a host of which enough were followed."""
        beyond: set[str] = set()
        for link in links:
            if link.found_by is FoundBy.FORM:
                asked = self._filled[netloc_of(link.url)]
                if len(asked) < self.options.forms.most:
                    asked.add(link.url)
                elif link.url not in asked:
                    beyond.add(link.url)
        return [link for link in links if link.url not in beyond] if beyond else list(links)

    # -- negotiation
    def after_redirect(
        self, url: str, state: LinkState, *, varies: bool, rdf: bool
    ) -> tuple[LinkState, Form | None]:
        """Return the state of a link after a redirect, and the RDF form that its address may have.

        If RDF was asked for, another header asks for it, but not before the redirects have led to a
        page.
        """
        asked = is_as_rdf(state.link_url(url)) or bool(state.wish)
        if asked or not varies or not self.options.asks_as_rdf:
            return state, None
        if not rdf:
            return state, Form(url)
        varied = state.varied or len(state.redirects) + 1
        return replace(state, varied=varied), None

    def form_of_page(
        self,
        url: str,
        state: LinkState,
        *,
        varies: bool,
        rdf: bool,
        links: Sequence[Link],
        names_itself: Callable[[str], bool],
    ) -> Form | None:
        """Return the RDF form that a page may have; ``None`` if it has none, or needs none.

        ``links``: those of the page. A page that names itself as RDF of some type is asked for that
        type. ``names_itself``: whether its data type an address.
        """
        if not self.options.asks_as_rdf or is_as_rdf(state.link_url(url)) or state.wish:
            return None
        at = url
        if state.varied:
            varies, at = True, state.redirects[state.varied - 1]
        named = own_type(url, links)
        if named:
            varies, at = True, url
        if not may_be_candidate(at, varies=varies):
            return None
        likely = varies or (rdf and _BY_TYPE in state.rules) or names_itself(at)
        return Form(at, named or (Wish.TURTLE if rdf else Wish.ONLY_RDF), likely)

    def after_dead_end(self, url: str, state: LinkState, target: str = "") -> Form | None:
        """Return another way to ask for RDF where a redirect that depends on the type is in vain.

        ``target``: a known address, which is not fetched once more. RDF by its name is no dead end.
        """
        possible = state.varied and not state.wish and self.options.asks_as_rdf
        if not possible or extension_of(path_of(target)) in RDF_EXTENSIONS:
            return None
        # the redirect at hand has not joined those before it
        return Form((*state.redirects, url)[state.varied - 1], Wish.TURTLE)

    def again(self, url: str, state: LinkState, *, rdf: bool) -> Again | None:
        """Return how to ask for a link that gave nothing; ``None`` if there is no other way.

        The RDF form of a page begins again at its own address.
        """
        if not self.options.asks_as_rdf or state.query or state.is_sitemap or state.is_guess:
            return None
        link, asked = state.link_url(url), state.asks_for(url, rdf=rdf)
        wish = next_wish(asked, link, rdf=rdf, first=not state.wish)
        if wish is None:
            return None
        # a link counts once, with its first such request
        counts, again = wish is Wish.TURTLE, replace(state, wish=str(wish), retries=0)
        if not (again.redirects and is_as_rdf(link)):
            return Again(None, again, wish, counts)
        again = replace(again, redirects=())
        return Again(Instead(link, again, seen=True), again, wish, counts)


def shows_rdf(url: str, links: Sequence[Link], known: Callable[[str], bool]) -> bool:
    """Whether a page at ``url`` links to new RDF, judged by type or extension."""
    new = [link for link in links if link.url != url and not known(link.url)]
    return may_be_r(new) and any(relevancy_r(link)[0] is Label.R for link in new)
