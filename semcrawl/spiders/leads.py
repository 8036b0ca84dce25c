"""Follows what answers suggest besides links: catalogues, well-known places, RDF forms of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils.log import SpiderLoggerAdapter

from semcrawl.config.revisit import IMMUTABLE
from semcrawl.crawl.attempt import Attempt, content_type, header, header_values
from semcrawl.crawl.leadmemory import PutIn
from semcrawl.crawl.leadrules import Form, LeadRules, shows_rdf
from semcrawl.crawl.lists import put_last
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Link, Page, Reason, header_text
from semcrawl.rdf import Reading
from semcrawl.rdf.detection import format_of_type
from semcrawl.sources.catalogues import next_pages
from semcrawl.sources.listing import PLACES
from semcrawl.sources.negotiation import (
    Wish,
    as_rdf,
    gave_nothing,
    is_as_rdf,
    names_itself,
    other_form,
    shape_of,
    varies_by_type,
)
from semcrawl.spiders.linking import LinkFeed
from semcrawl.web.bodies import body_file
from semcrawl.web.hosts import origin_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, Kind

#: most log lines about endless catalogues
_MOST_LINES = 10


@dataclass
class Leads:
    """Carries out, for one spider, what the rules of leads decide.

    Shapes of addresses and hosts that are asked for RDF in vain are left alone.
    Stats: ``semcrawl/negotiation/asked_again`` and ``semcrawl/negotiation/answered``.
    """

    logger: SpiderLoggerAdapter
    session: CrawlSession
    feed: LinkFeed
    rules: LeadRules
    #: the spider's queue, in which well-known places wait
    queue: str
    stats: StatsCollector | None = None
    #: shapes of the catalogues that the log has named
    _logged: set[str] = field(default_factory=set)

    # -- documents
    def note_immutable(self, attempt: Attempt, response: Response) -> None:
        """Note that a document never changes, as pages of event streams declare in a header."""
        if "immutable" in header(response, b"Cache-Control").lower():
            state = attempt.link_state
            attempt.link_state = replace(state, rules=(*state.rules, IMMUTABLE))

    async def bounded(self, url: str, links: Sequence[Link]) -> list[Link]:
        """Leave out further pages of a catalogue of which enough pages were followed."""
        left_out: set[str] = set()
        most = self.rules.options.most_pages
        for link in next_pages(url, links):
            if not await self.session.lead_memory.may_follow(link.url, most):
                left_out.add(link.url)
                self.session.intake.left_out.add(link.url, Reason.CATALOGUE_PAGES)
                self._log_bound(shape_of(link.url), url)
        return [link for link in links if link.url not in left_out] if left_out else list(links)

    def _log_bound(self, shape: str, url: str) -> None:
        if shape not in self._logged and len(self._logged) < _MOST_LINES:
            self._logged.add(shape)
            self.logger.info(
                "%s: %d pages of its catalogue were followed; further ones are not "
                "(SEMCRAWL_MAX_CATALOGUE_PAGES)",
                url,
                self.rules.options.most_pages,
            )

    # -- hosts
    async def _add_well_known(self, url: str) -> None:
        """Add the well-known places of a target's origin, or move them forward."""
        frontier, may_fetch = self.session.frontier, self.feed.policy.may_fetch
        places = self.rules.after_target(url)
        if places is None:
            return
        links = [(place, state) for place, state in places.links if may_fetch(place)]
        if links:
            key = self.session.intake.host_key
            await put_last(frontier, links, self.queue, origin_of(url), key, PLACES)
            self.session.intake.wake()
        elif not places.links:
            await frontier.set_values({places.group: places.value})

    # -- negotiation
    async def after_redirect(self, attempt: Attempt, response: Response) -> None:
        """Add the RDF form of an address that redirects, if it may have one."""
        attempt.link_state, form = self.rules.after_redirect(
            attempt.url,
            attempt.link_state,
            varies=_varies(response),
            rdf=attempt.expects_rdf(self.queue),
        )
        await self._ask_for(attempt, form)

    async def note_dead_end(self, attempt: Attempt, target: str = "") -> None:
        """Ask for RDF in another way where a redirect that depends on the type led to nothing."""
        form = self.rules.after_dead_end(attempt.url, attempt.link_state, target)
        await self._ask_for(attempt, form)

    async def note_known_target(self, attempt: Attempt, record: FetchRecord) -> None:
        """After a redirect to a known address, ask for RDF in another way; the first led there."""
        target = record.final_url
        if not is_as_rdf(attempt.link_url):
            await self.note_dead_end(attempt, target)
        elif extension_of(path_of(target)) not in RDF_EXTENSIONS:
            await self.ask_again(attempt, record)

    def shows_rdf(self, attempt: Attempt, links: Sequence[Link]) -> bool:
        """Whether a page links to RDF that is new; ask before its links are followed."""
        asks = self.rules.options.asks_as_rdf
        return asks and shows_rdf(attempt.url, links, self.session.intake.seen_check())

    async def note_page(
        self,
        attempt: Attempt,
        response: Response,
        data: Reading | None,
        links: Sequence[Link],
        *,
        shows_rdf: bool,
        target: bool,
    ) -> None:
        """After reading a page, add its RDF form and, if it is a target, well-known places."""
        if not shows_rdf:
            form = self.rules.form_of_page(
                attempt.url,
                attempt.link_state,
                varies=_varies(response),
                rdf=attempt.expects_rdf(self.queue),
                links=links,
                names_itself=lambda url: data is not None and names_itself(data.nquads, url),
            )
            await self._ask_for(attempt, form)
        if attempt.wish is Wish.PAGE:
            await self._note_answered(attempt)
        if target:
            await self._add_well_known(attempt.url)

    async def note_rdf(self, attempt: Attempt, *, whole: bool, target: bool) -> None:
        """After reading RDF, add well-known places and RDF forms of pages of the same shape."""
        if target:
            await self._add_well_known(attempt.url)
        if whole and is_as_rdf(attempt.link_url):
            tries, put_in = self.rules.options.tries, self._put_in_of(attempt)
            await self.session.lead_memory.note_found(attempt.link_url, tries, put_in)
        if whole:
            await self._note_answered(attempt)

    async def note_same_page(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Record that a request for RDF got the page again; ask once more in another way."""
        record = attempt.record(FetchOutcome.DUPLICATE, response)
        record.errors = "the address gives only a page"
        if await self.ask_again(attempt, record):
            return record
        outcome = attempt.outcome(Kind.HTML, response, duplicate=True)
        self.session.learn(outcome, self.queue)
        return record

    def gave_nothing(self, attempt: Attempt, response: Response) -> bool:
        """Whether a response says, or suggests, that other types may give more."""
        empty = not response.body and body_file(attempt.meta) is None
        return gave_nothing(
            response.status,
            varies=_varies(response),
            expects_rdf=attempt.expects_rdf(self.queue),
            empty=empty and format_of_type(content_type(response)) is None,
        )

    async def ask_again(self, attempt: Attempt, record: FetchRecord) -> bool:
        """Put a link back with its next wish, and note that in its record; return whether it went.

        The RDF form of a page begins again at its own address.
        """
        rdf = attempt.expects_rdf(self.queue)
        again = self.rules.again(attempt.url, attempt.link_state, rdf=rdf)
        memory, tries = self.session.lead_memory, self.rules.options.tries
        if again is None:
            return False
        if again.counts and not await memory.may_ask_again(attempt.link_url, tries):
            return False
        if again.instead is not None:
            await self.session.intake.put_again(attempt.lease, again.instead.url, again.state)
        else:
            await self.session.retry(attempt.lease, again.state, 0.0)
        what = "a page" if again.wish is Wish.PAGE else "Turtle alone"
        record.errors = "; ".join(filter(None, [record.errors, f"asked again for {what}"]))
        self._count("asked_again")
        return True

    async def _note_answered(self, attempt: Attempt) -> None:
        """Note that a link gave what it was asked for; it counts if it had been asked again."""
        if attempt.link_state.wish:
            await self.session.lead_memory.note_answered(attempt.link_url)
            self._count("answered")

    async def _ask_for(self, attempt: Attempt, form: Form | None) -> None:
        """Add an RDF form that there is evidence for, or let it wait for the answers of others."""
        memory = self.session.lead_memory
        if form is None or not (form.is_likely or await memory.gives_forms(form.url)):
            return
        put_in = self._put_in_of(attempt, form.wish)
        await memory.ask(form.url, self.rules.options.tries, put_in)

    def _put_in_of(self, attempt: Attempt, wish: str = Wish.ONLY_RDF) -> PutIn:
        """Return a function that adds the RDF form of an address, as a link of its page."""

        async def put_in(url: str) -> None:
            if not self.session.intake.has_seen(as_rdf(url)):
                page = Page(url, attempt.link_state.depth)
                await self.feed.discover(page, [other_form(url, wish)], votes=False)

        return put_in

    def _count(self, name: str) -> None:
        if self.stats is not None:
            self.stats.inc_value(f"semcrawl/negotiation/{name}")


def _varies(response: Response) -> bool:
    """Whether the headers of a response say that its type depends on the request."""
    return varies_by_type(map(header_text, header_values(response, b"Vary")))
