"""The focused HTML crawler (sources.md T.5)."""

from __future__ import annotations

from scrapy.http import Response

from semcrawl.links import Page
from semcrawl.relevance import Ranked
from semcrawl.spiders.attempt import Attempt
from semcrawl.spiders.documents import DocumentSpider


class HtmlSpider(DocumentSpider):
    """Fetches pages that lead to RDF, and the RDF that they lead to.

    Links inside RDF documents go to the spider ``rdf``, unless ``follow_rdf=1``.
    """

    name = "html"
    queue = "html"
    other = "rdf"

    async def follow_page(
        self, attempt: Attempt, response: Response, page: Page
    ) -> tuple[Ranked, ...]:
        """Rank the page's links and put them into the frontier."""
        links = await self.page_links(response, attempt.url)
        return await self.discover(page, links, attempt.lease.entry.barren + 1)
