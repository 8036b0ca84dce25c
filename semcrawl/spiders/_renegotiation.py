"""Asks for a link again with another ``Accept`` header, where the server gave nothing."""

from __future__ import annotations

from dataclasses import replace

from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from semcrawl.config.leadoptions import LeadOptions
from semcrawl.crawl.attempt import Attempt, content_type, header_values
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchRecord
from semcrawl.links import header_text
from semcrawl.rdf.detection import format_of_type
from semcrawl.sources.negotiation import (
    Wish,
    gave_nothing,
    is_as_rdf,
    next_wish,
    varies_by_type,
)
from semcrawl.web.bodies import body_file


class Renegotiation:
    """Puts links back, to be asked for in another way.

    Shapes of addresses and hosts where that is in vain are left alone
    (``LeadOptions.tries``). Stats: ``semcrawl/negotiation/asked_again`` and
    ``semcrawl/negotiation/answered``.
    """

    def __init__(
        self,
        session: CrawlSession,
        options: LeadOptions,
        queue: str,
        stats: StatsCollector | None = None,
    ) -> None:
        """``queue`` is the spider's."""
        self._session = session
        self._options = options
        self._queue = queue
        self._stats = stats

    def gave_nothing(self, attempt: Attempt, response: Response) -> bool:
        """Whether a response says, or suggests, that other types may give more."""
        varies = varies_by_type(map(header_text, header_values(response, b"Vary")))
        empty = not response.body and body_file(attempt.meta) is None
        return gave_nothing(
            response.status,
            varies=varies,
            expects_rdf=attempt.expects_rdf(self._queue),
            empty=empty and format_of_type(content_type(response)) is None,
        )

    async def ask(self, attempt: Attempt, record: FetchRecord) -> bool:
        """Put a link back with its next wish, and note that in its record; return whether it went.

        The RDF form of a page begins again at its own address.
        """
        state = attempt.link_state
        if not self._options.asks_as_rdf or state.query or state.is_sitemap or state.is_guess:
            return False
        expected = attempt.expects_rdf(self._queue)
        wish = next_wish(attempt.wish, attempt.link_url, rdf=expected, first=not state.wish)
        if wish is None:
            return False
        memory, tries = self._session.lead_memory, self._options.tries
        # a link counts once, with its first such request
        if wish is Wish.TURTLE and not await memory.may_ask_again(attempt.link_url, tries):
            return False
        state = replace(state, wish=str(wish), retries=0)
        if state.redirects and is_as_rdf(attempt.link_url):
            state = replace(state, redirects=())
            await self._session.intake.put_again(attempt.lease, attempt.link_url, state)
        else:
            await self._session.retry(attempt.lease, state, 0.0)
        what = "a page" if wish is Wish.PAGE else "Turtle alone"
        record.errors = "; ".join(filter(None, [record.errors, f"asked again for {what}"]))
        self._count("asked_again")
        return True

    async def note_document(self, attempt: Attempt) -> None:
        """Note that a link gave what it was asked for; it counts if it had been asked again."""
        if attempt.link_state.wish:
            await self._session.lead_memory.note_answered(attempt.link_url)
            self._count("answered")

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/negotiation/{name}")
