"""The RDF crawler (sources.md T.6)."""

from __future__ import annotations

from typing import Any

from scrapy.http import Response

from semcrawl.items import FetchOutcome
from semcrawl.links import Page
from semcrawl.spiders.attempt import Attempt
from semcrawl.spiders.documents import DocumentSpider
from semcrawl.vocabulary import Kind


class RdfSpider(DocumentSpider):
    """Fetches RDF documents only, and follows the links inside them.

    The links of an HTML page that it meets go to the spider ``html``.
    """

    name = "rdf"
    queue = "rdf"
    other = "html"

    async def read_html(self, attempt: Attempt, response: Response) -> list[Any]:
        """Hand the page's links over."""
        record = attempt.record(FetchOutcome.FETCHED_HTML, response)
        record.real_type = str(Kind.HTML)
        duplicate = self.is_duplicate(response.body)
        links = self.page_links(response, attempt.url)
        page = Page(attempt.url, attempt.memo.depth)
        await self.hand_over(page, links, attempt.lease.entry.barren + 1)
        await self.session.learn(
            attempt.outcome(Kind.HTML, response, duplicate=duplicate), self.queue
        )
        return [record]

    def follows_rdf(self) -> bool:
        """Follow links inside RDF: that is what this spider is for."""
        return True
