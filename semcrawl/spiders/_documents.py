"""What a spider does with the bodies of responses: documents, pages, lists and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.http import Response
from scrapy.utils.log import SpiderLoggerAdapter

from semcrawl.config.targets import Targets
from semcrawl.crawl.attempt import Attempt, content_type, header_values
from semcrawl.crawl.houseparts import CrawlPart, Found
from semcrawl.crawl.lists import hosts_of
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError
from semcrawl.items import DocumentError, FetchOutcome, FetchRecord
from semcrawl.links import Link, Page, Reason, cut_off, folders_above, merge_links
from semcrawl.metadata.records import LINKS, MAX_TEXT, links_text
from semcrawl.metadata.summary import RENDERED
from semcrawl.rdf import Reading
from semcrawl.reading.answer import Answer, AnswerReader, Form, Received
from semcrawl.reading.pool import ReadingLost
from semcrawl.reading.reader import Reader, discard
from semcrawl.relevance import Outcome, Ranked
from semcrawl.spiders.contexts import ContextFetcher
from semcrawl.spiders.endpoints import EndpointReader
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.leads import Leads
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.results import (
    NOT_KEPT,
    document_of,
    errors_of,
    file_of,
    missing_part,
    note_unread,
    record_of,
    saved_name_of,
    topic_page_of,
)
from semcrawl.spiders.sitemaps import Sitemaps
from semcrawl.web.bodies import BODY_FILE, BodyFile, body_file
from semcrawl.web.robots import NOFOLLOW
from semcrawl.web.vocabulary import Kind

if TYPE_CHECKING:
    from semcrawl.crawl.rendering import PageRenderer


@dataclass
class OtherBodies:
    """Keeps bodies that are targets, for one spider, and follows links in headers."""

    session: CrawlSession
    policy: LinkPolicy
    feed: LinkFeed
    targets: Targets
    judge: TopicJudge
    leads: Leads
    #: the spider's queue
    queue: str
    #: the part of a house whose targets the crawl looks for, if there is one
    part: CrawlPart | None = None

    async def take(self, attempt: Attempt, response: Response, answer: Answer) -> list[Any]:
        """Return the items of a body: its record, and its content if it is a target.

        The record says so if it is RDF in a format that is not read.
        """
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = str(Kind.OTHER)
        note_unread(record, answer.detection.unread if answer.detection is not None else None)
        new = await self.follow_headers(attempt, answer)
        found = await self.part.of_body(attempt, response) if self.part is not None else None
        item = found.item if found is not None else None
        is_file = self.targets.include(
            Kind.OTHER, record.content_type, url=attempt.url, name=saved_name_of(response)
        )
        verdict, is_kept = Verdict(is_file), False
        if found is not None:
            record.real_type, record.errors = found.real_type, found.fault
            if found.may_pass:  # a re-visit needs it to judge the body
                record.relevance = attempt.link_state.near_text
            if found.outcome is not None:
                record.outcome, is_kept = found.outcome, True
                verdict = self.judge.near(attempt.link_state.near_text)
                verdict.note_in(record)
                if not verdict.kept:
                    record.outcome, item = FetchOutcome.OFF_TOPIC, None
        duplicate = verdict.target and self.is_duplicate(attempt)
        outcome = verdict.outcome(attempt, Kind.OTHER, response, new, duplicate=duplicate)
        self.session.learn(outcome, self.queue)
        kept = self.policy.robots_tags.keeps(answer.rules)
        if (is_kept or is_file) and not kept:
            record.outcome, record.errors = FetchOutcome.NOT_KEPT, NOT_KEPT
            return [record]
        is_file = is_file and verdict.kept
        items: list[Any] = [file_of(attempt, response), record] if is_file else [record]
        return items if item is None else [item, *items]

    def redirected(self, attempt: Attempt, record: FetchRecord) -> list[Any]:
        """Return the item that a house makes of a redirect; empty if there is none."""
        if self.part is None or record.outcome is not FetchOutcome.REDIRECTED:
            return []
        item = self.part.redirected(attempt, record.final_url)
        return [] if item is None else [item]

    async def follow_headers(self, attempt: Attempt, answer: Answer) -> tuple[Ranked, ...]:
        """Follow the links in the headers of a file; return the new ones."""
        page = Page(attempt.url, attempt.link_state.depth)
        if not answer.is_followed:
            self.feed.leave_out(page, answer.links, Reason.NOFOLLOW)
            return ()
        links = await self.leads.bounded(attempt.url, answer.links)
        return await self.feed.discover(page, links) if links else ()

    def is_duplicate(self, attempt: Attempt) -> bool:
        """Whether this run has read the same body before."""
        short = bytes.fromhex(attempt.digest[:24])
        if short in self.session.digests:
            return True
        self.session.digests[short] = True
        return False


@dataclass
class BodyReader:
    """Reads bodies for a spider: makes items, feeds links to the frontier, reports outcomes."""

    logger: SpiderLoggerAdapter
    session: CrawlSession
    policy: LinkPolicy
    feed: LinkFeed
    answers: AnswerReader
    targets: Targets
    endpoints: EndpointReader
    judge: TopicJudge
    leads: Leads
    contexts: ContextFetcher
    #: the spider's own queue
    queue: str
    #: queue of the links that the spider does not follow
    other: str
    #: whether the links of a page, or of an RDF document, go to the spider's own queue
    follows: Callable[[Page], bool]
    sitemaps: Sitemaps
    others: OtherBodies
    #: whether records keep the links of their pages
    keeps_links: bool = False
    #: gives pages to a browser, if the crawl has one
    renderer: PageRenderer | None = None

    @property
    def reader(self) -> Reader:
        """The reader of pages and RDF."""
        return self.answers.reader

    @property
    def _judges_data(self) -> bool:
        """Whether what follows from a page depends on the data embedded in it."""
        judged = bool(self.judge.about) or self.targets.embedded
        return judged or self.others.part is not None

    async def read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Detect the type of a body and read it (T.5, step 3).

        An exception while reading becomes the outcome of this attempt.
        """
        try:
            if attempt.link_state.query:
                return await self.endpoints.read(attempt, response)
            return await self._read_by_type(attempt, response)
        except FrontierError:
            raise
        except Exception as error:
            if isinstance(error, ReadingLost) and error.ours:
                attempt.failed = True  # nothing is known of the document: it can be had again
                return attempt.interrupted(str(error), response)
            self.logger.debug("%s cannot be read", attempt.url, exc_info=True)
            text = (
                str(error) if isinstance(error, ReadingLost) else f"{type(error).__name__}: {error}"
            )
            record = attempt.record(FetchOutcome.PARSE_ERROR, response)
            record.errors = text.splitlines()[0][:MAX_TEXT]
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]

    async def _read_by_type(self, attempt: Attempt, response: Response) -> list[Any]:
        got = self.received(attempt, response)
        attempt.digest = await self.reader.digest(got.body)
        answer = await self.answers.read(got, whole=self._judges_data)
        if isinstance(answer.body, BodyFile) and answer.body is not got.body:  # decoded
            attempt.meta[BODY_FILE] = answer.body
            attempt.digest = await self.reader.digest(answer.body)
            got = replace(got, body=answer.body)
        if (rendered := await self._rendered(attempt, response, answer)) is not None:
            if answer.data is not None:
                discard(answer.data)
            response, got = rendered, self.received(attempt, rendered)
            attempt.digest = await self.reader.digest(got.body)
            answer = await self.answers.read(got, whole=self._judges_data)
        if answer.sitemap is not None:
            return list(await self.sitemaps.take(attempt, response, answer.sitemap))
        if answer.form is Form.LIST:
            return await self._take_list(attempt, response, answer)
        if answer.form is Form.CONTEXT:
            return await self._take_context(attempt, response, answer)
        if answer.form is Form.RDF:
            return await self._take_rdf(attempt, response, got, answer)
        if answer.form is Form.PAGE_AGAIN:
            return [await self.leads.note_same_page(attempt, response)]
        if answer.form is Form.PAGE and isinstance(answer.body, bytes):
            if answer.body is not response.body:  # the beginning of a very large page
                response = response.replace(body=answer.body)
            return await self._take_page(attempt, response, got, answer)
        return await self.others.take(attempt, response, answer)

    async def _rendered(
        self, attempt: Attempt, response: Response, answer: Answer
    ) -> Response | None:
        """Return a page as its scripts leave it; ``None`` if it is read as it was fetched."""
        if self.renderer is None or answer.form is not Form.PAGE or not response.body:
            return None
        media = content_type(response)
        if not await self.renderer.wants(self.reader, attempt.url, response.body, media):
            return None
        self.session.waits(attempt.lease)  # the document does not hold up others meanwhile
        return await self.renderer.render(attempt.url, response)

    def received(self, attempt: Attempt, response: Response) -> Received:
        """Return a response with what is known of its link."""
        state, intake = attempt.link_state, self.session.intake
        return Received(
            attempt.url,
            body_file(attempt.meta) or response.body,
            partial(header_values, response),
            response.status,
            link_url=attempt.link_url,
            is_sitemap=state.is_sitemap,
            is_guess=state.is_guess,
            is_seed=attempt.link_state.is_seed,
            hosts=hosts_of(state),
            # links to known pages are votes, if the strategy counts them
            known=None if intake.counts_votes or self.keeps_links else intake.seen_check(),
            software=self.leads.rules.seeks_software(attempt.url),
        )

    def names_choices(self, attempt: Attempt, response: Response) -> bool:
        """Whether the headers of a response name links that the crawl follows."""
        return bool(self.answers.signposts(self.received(attempt, response)))

    async def follow_headers(self, attempt: Attempt, response: Response) -> tuple[Ranked, ...]:
        """Follow the links in the headers of a body that is not read; return the new ones."""
        answer = self.answers.of_headers(self.received(attempt, response))
        return await self.others.follow_headers(attempt, answer)

    async def _take_page(
        self, attempt: Attempt, response: Response, got: Received, answer: Answer
    ) -> list[Any]:
        """Pass on a page: its links, its text, and the data embedded in it."""
        duplicate = self.others.is_duplicate(attempt)
        rules, data = answer.rules, answer.data
        kept = self.policy.robots_tags.keeps(rules)
        media = content_type(response)

        async def judge(data: Reading | None) -> Verdict:
            quads = data.quads if data is not None else 0
            # the content, not the file name, tells that it is a page
            counts = self.targets.include(Kind.HTML, media, quads)
            return await self.judge.page(
                attempt.url, answer.text, data, response.body, counts=kept and counts
            )

        async def follow(links: Sequence[Link]) -> tuple[Ranked, ...]:
            reason = _not_followed(rules, verdict, attempt)
            guesses = self._guesses(attempt, links, reason)
            if reason:
                self.feed.leave_out(page, links, reason)
                return ()
            await self._widen(attempt, links)
            links = [*links, *guesses]
            barren = 0 if verdict.target else attempt.lease.entry.barren + 1
            return await self._follow(attempt, page, links, barren)

        if answer.places:
            self.leads.rules.note_software(attempt.url)
        page = Page(attempt.url, attempt.link_state.depth)
        links = self.leads.rules.without_more_forms(answer.links)
        if self.session.intake.ascends:
            above, known = folders_above(attempt.url), got.known
            links = [*links, *(one for one in above if known is None or not known(one.url))]
        found: Found | None = None
        if kept and self.others.part is not None:
            found = await self.others.part.of_page(attempt, response, data)
            links = self._merged(page, links, found.links)
        verdict = await judge(data)
        page = replace(page, relevance=verdict.relevance)
        own = [*answer.own, *answer.places]
        shows_rdf = self.leads.shows_rdf(attempt, own)
        new = await follow(links)
        self.feed.leave_out(page, answer.beyond, Reason.LINKS_PER_PAGE)
        if answer.data_waits:
            early = verdict.outcome(attempt, Kind.HTML, response, new, duplicate=duplicate)
            self._learn(early, page)
            data, new = await self.answers.again(got, answer), ()
        needy = data is not None and bool(data.contexts_needed)
        if data is not None and needy:
            data = await self.contexts.read_again(
                data, partial(self.answers.again, got, answer), attempt, len(response.body)
            )
        if data is not None and (needy or answer.data_waits):
            verdict = await judge(data)
            links = self.answers.with_data(got, answer, data).links
            if found is not None:
                links = self._merged(page, links, found.more(data))
            new += await follow(links)
        await self.leads.note_page(
            attempt, response, data, own, shows_rdf=shows_rdf, target=verdict.target
        )
        record = attempt.record(FetchOutcome.FETCHED_HTML, response)
        record.real_type = RENDERED if RENDERED in response.flags else str(Kind.HTML)
        verdict.note_in(record)
        items: list[Any] = [found.item] if found is not None else []
        if data is not None:
            record.errors = errors_of(data)
            if data.quads and verdict.kept:
                record.quads = data.quads
                items.append(document_of(attempt, response, data))
            else:
                discard(data)
        if not kept:
            record.errors = NOT_KEPT
        faults = [missing_part(response), *answer.faults, record.errors]
        record.errors = "; ".join(filter(None, faults))
        if kept and verdict.kept:
            if self.targets.has_type(record.content_type):
                items.append(file_of(attempt, response))
            if self.targets.html:
                content = await self.reader.content(response.body, attempt.url, media)
                items.append(topic_page_of(attempt, response, content, record, self.judge.about))
        if self.keeps_links:
            record.extra[LINKS] = links_text((link.url, link.anchor) for link in answer.own)
        if not answer.data_waits:
            outcome = verdict.outcome(attempt, Kind.HTML, response, new, duplicate=duplicate)
            self._learn(outcome, page)
        elif new:  # to the strategy, links of a page that it knows
            outcome = verdict.outcome(attempt, Kind.HTML, response, new, duplicate=True)
            self.session.intake.learning.learn(outcome, self._links_in(page))
        return [*items, record]

    def _merged(self, page: Page, links: Sequence[Link], more: Iterable[Link]) -> list[Link]:
        """Merge links of a document; count those after the most."""
        found, limit = [*links, *more], self.reader.extraction.max_links
        kept = merge_links(found, limit)
        self.feed.leave_out(page, cut_off(found, kept, limit), Reason.LINKS_PER_PAGE)
        return kept

    async def _widen(self, attempt: Attempt, links: Sequence[Link]) -> None:
        """Take the place where a seed keeps its own data into the scope."""
        if attempt.link_state.is_seed:
            place = self.policy.scope.place_of_own_data(links)
            if place:  # not as named: the user did not write this host, so it must not be private
                await self.session.intake.add_roots({place})

    async def _follow(
        self, attempt: Attempt, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Put links into the spider's own queue or hand them over; return the new ones.

        A document with very many is no longer in flight meanwhile, as others must not wait for it.
        """
        if self.session.intake.share.is_large(links):
            self.session.waits(attempt.lease)
        links = await self.endpoints.take_found(page, links)
        put_in = self.feed.discover if self.follows(page) else self.feed.hand_over
        return await put_in(page, links, barren)

    def _guesses(
        self, attempt: Attempt, links: Sequence[Link], reason: Reason | None, led_by: str = ""
    ) -> list[Link]:
        """Return the guesses that a document suggests, if the strategy wants some.

        ``reason``: why its links are not followed. ``led_by``: the page that led to it, if it is a
        whole RDF document.
        """
        if not self.session.intake.guesses or reason not in (None, Reason.NOFOLLOW):
            return []
        return self.session.twins.suggested_by(
            links, attempt.link_url, attempt.url, led_by, followed=reason is None
        )

    def _learn(self, outcome: Outcome, page: Page) -> None:
        """Report the outcome of a document with links."""
        self.session.learn(outcome, self.queue, links_in=self._links_in(page))

    def _links_in(self, page: Page) -> str:
        """Return the queue of the links of a document."""
        return self.queue if self.follows(page) else self.other

    async def _take_rdf(
        self, attempt: Attempt, response: Response, got: Received, answer: Answer
    ) -> list[Any]:
        """Pass on the quads and links of an RDF document, and the links of its catalogue."""
        duplicate = self.others.is_duplicate(attempt)
        if answer.data is not None and answer.data.contexts_needed:
            again = partial(self.answers.again, got, answer)
            data = await self.contexts.read_again(answer.data, again, attempt, got.size)
            answer = self.answers.with_data(got, answer, data)
        reading, rules = answer.data, answer.rules
        if reading is None:
            raise ValueError(f"{attempt.url} is not RDF")
        if fault := missing_part(response):
            reading.errors.insert(0, DocumentError(fault))
            reading.error_count += 1
        self.leads.note_immutable(attempt, response)
        record = record_of(attempt, response, reading)
        if not self.policy.robots_tags.keeps(rules):
            record.outcome, record.quads, record.errors = FetchOutcome.NOT_KEPT, 0, NOT_KEPT
        whole = record.outcome is FetchOutcome.FETCHED_RDF
        page = Page(attempt.url, attempt.link_state.depth, rdf=True)
        links = await self.leads.bounded(attempt.url, answer.links)
        found: Found | None = None
        if self.others.part is not None and whole and NOFOLLOW not in rules:
            found = self.others.part.of_rdf(attempt, response, reading)
            links = self._merged(page, links, found.links)
        name = saved_name_of(response)
        # JSON-LD whose context is missing is still RDF
        kept = record.outcome is not FetchOutcome.NOT_KEPT
        counts = (
            kept
            and (whole or bool(reading.contexts_needed))
            and self.targets.include(Kind.RDF, record.content_type, url=attempt.url, name=name)
        )
        verdict = await self.judge.rdf(attempt.url, reading, counts=counts, may_keep=whole)
        verdict.note_in(record)
        if whole and not verdict.kept:
            record.outcome, record.quads = FetchOutcome.OFF_TOPIC, 0
        page = replace(page, relevance=verdict.relevance)
        new: tuple[Ranked, ...] = ()
        for why, others in self.reader.left_out_links(reading).items():
            self.feed.leave_out(page, others, why)
        reason = _not_followed(rules, verdict, attempt)
        led_by = attempt.link_state.parent if whole else None
        guesses = self._guesses(attempt, links, reason, led_by or "")
        if reason:
            self.feed.leave_out(page, links, reason)
        else:
            new = await self._follow(attempt, page, [*links, *guesses])
        await self.leads.note_rdf(attempt, whole=whole, target=verdict.target)
        outcome = verdict.outcome(attempt, Kind.RDF, response, new, duplicate=duplicate)
        self._learn(outcome, page)
        items: list[Any] = [record]
        if found is not None:
            items.insert(0, found.item)
        if kept and verdict.kept and self.targets.has_type(record.content_type, attempt.url, name):
            items.insert(0, file_of(attempt, response))
        if whole and verdict.kept:
            items.insert(0, document_of(attempt, response, reading))
        else:
            discard(reading)
        return items

    async def _take_context(
        self, attempt: Attempt, response: Response, answer: Answer
    ) -> list[Any]:
        """Record a JSON-LD context, which is no target, and keep it for documents that name it."""
        if answer.data is not None:
            discard(answer.data)
        for url in {attempt.link_url, *attempt.link_state.redirects, attempt.url}:
            await self.contexts.keep(url, response.body)
        record = attempt.record(FetchOutcome.FETCHED_CONTEXT, response)
        record.real_type = "context"
        self.session.learn(attempt.outcome(Kind.OTHER, response), self.queue)
        return [record]

    async def _take_list(self, attempt: Attempt, response: Response, answer: Answer) -> list[Any]:
        """Follow the links of a catalogue or linkset that is not RDF."""
        record = attempt.record(FetchOutcome.FETCHED_LIST, response)
        form = answer.listed.form if answer.listed is not None else ""
        record.real_type = f"list:{form}"
        record.errors = "; ".join(answer.faults)
        page = Page(attempt.url, attempt.link_state.depth)
        new: tuple[Ranked, ...] = ()
        links = await self.leads.bounded(attempt.url, answer.links)
        if answer.is_followed:
            new = await self._follow(attempt, page, links)
        else:
            self.feed.leave_out(page, links, Reason.NOFOLLOW)
        # to the strategy, a list is a page with links
        kind = Kind.HTML if links else Kind.OTHER
        self._learn(attempt.outcome(kind, response, new_links=new), page)
        wanted = self.targets.has_type(record.content_type, attempt.url, saved_name_of(response))
        return [file_of(attempt, response), record] if wanted else [record]


def _not_followed(rules: frozenset[str], verdict: Verdict, attempt: Attempt) -> Reason | None:
    """Return why the links of a document are not followed; ``None`` if they are."""
    if NOFOLLOW in rules:
        return Reason.NOFOLLOW
    return None if verdict.leads_on or attempt.link_state.is_seed else Reason.HARD_FOCUS
