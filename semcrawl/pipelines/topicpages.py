"""The topic page store: pages that are targets, described in ``pages.nq`` of the job folder."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.config.jobdir import job_path
from semcrawl.config.targets import Targets
from semcrawl.items import FetchRecord, RdfDocument, TopicPage
from semcrawl.pipelines.pagestore import PAGES_FILE, PAGES_LEDGER, document_of_page
from semcrawl.pipelines.quads import QuadsFilePipeline


class PagesPipeline(QuadsFilePipeline):
    """Writes what is kept of each :class:`~semcrawl.items.TopicPage` once, as quads about it.

    It works as its base class does with RDF documents: a graph has its page's name, and a re-visit
    replaces its lines. ``semcrawl pages`` shows them as a table, or writes JSON Lines. Stats begin
    with ``semcrawl/pages/``.
    """

    stats_prefix = "semcrawl/pages"
    file_name = PAGES_FILE
    ledger_name = PAGES_LEDGER
    may_be_empty = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off unless ``SEMCRAWL_TARGETS`` has ``html``."""
        if not Targets.parse(crawler.settings.getlist("SEMCRAWL_TARGETS")).html:
            raise NotConfigured
        pipeline = cls(job_path(crawler.settings), crawler.stats)
        pipeline._crawler = crawler
        return pipeline

    def _taken_from(self, item: Any) -> RdfDocument | FetchRecord | None:
        """Return what an item says of a page that is kept; ``None`` if it says nothing."""
        if isinstance(item, TopicPage):
            return document_of_page(item)
        # (the page itself comes before the record of its re-visit, which then says nothing more)
        return item if isinstance(item, FetchRecord) and item.revisit else None
