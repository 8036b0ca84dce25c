"""The focused HTML crawler (sources.md T.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scrapy.http import Response

from semcrawl.items import FetchOutcome
from semcrawl.links import Page
from semcrawl.spiders.attempt import Attempt
from semcrawl.spiders.documents import DocumentSpider
from semcrawl.vocabulary import Kind


class HtmlSpider(DocumentSpider):
    """Fetches pages that lead to RDF, and the RDF that they lead to.

    Links inside RDF documents go to the spider ``rdf``, unless ``follow_rdf=1``.
    """

    name = "html"
    queue = "html"
    other = "rdf"

    async def read_html(self, attempt: Attempt, response: Response) -> list[Any]:
        """Rank the page's links and put them into the frontier."""
        record = attempt.record(FetchOutcome.FETCHED_HTML, response)
        record.real_type = str(Kind.HTML)
        duplicate = self.is_duplicate(response.body)
        page = Page(attempt.url, attempt.memo.depth)
        links = self.page_links(response, attempt.url)
        new = await self.discover(page, links, attempt.lease.entry.barren + 1)
        outcome = attempt.outcome(Kind.HTML, response, duplicate=duplicate)
        await self.session.learn(replace(outcome, new_links=new), self.queue)
        return [record]
