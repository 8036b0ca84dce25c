"""The RDF crawler (sources.md T.6)."""

from __future__ import annotations

from scrapy.http import Response

from semcrawl.links import Page
from semcrawl.relevance import Ranked
from semcrawl.spiders.attempt import Attempt
from semcrawl.spiders.documents import DocumentSpider


class RdfSpider(DocumentSpider):
    """Fetches RDF documents only, and follows the links inside them.

    The links of an HTML page that it meets go to the spider ``html``.
    """

    name = "rdf"
    queue = "rdf"
    other = "html"

    async def follow_page(
        self, attempt: Attempt, response: Response, page: Page
    ) -> tuple[Ranked, ...]:
        """Hand the page's links over."""
        links = await self.page_links(response, attempt.url)
        await self.hand_over(page, links, attempt.lease.entry.barren + 1)
        return ()

    def follows_rdf(self) -> bool:
        """Follow links inside RDF: that is what this spider is for."""
        return True
