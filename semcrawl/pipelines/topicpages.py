"""The topic page store: describes pages that are targets in ``pages.nq`` of the job folder."""

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
    """Writes each :class:`~semcrawl.items.TopicPage` once, as quads about it.

    It works as its base class does with RDF documents: a graph has its page's address, and a
    re-visit replaces its lines. ``semcrawl pages`` shows them as a table, or writes JSON Lines.
    Stats begin with ``semcrawl/pages/``.
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

    def _to_write(self, item: Any) -> RdfDocument | FetchRecord | None:
        """Return the quads of a page, or the record of a re-visit; otherwise ``None``."""
        if isinstance(item, TopicPage):
            return document_of_page(item)
        # if a re-visit gave the page, it comes before this record, which then changes nothing
        return item if isinstance(item, FetchRecord) and item.revisit else None
