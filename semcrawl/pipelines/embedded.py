"""Writes the data embedded in pages to ``embedded.nq`` of the job folder."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.config.jobdir import ResultOptions, job_path
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quads import QuadsFilePipeline, shared_ledger
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER
from semcrawl.settings.reader import fill


class EmbeddedQuadsPipeline(QuadsFilePipeline):
    """Writes the data embedded in pages, as its base class writes RDF documents.

    So ``quads.nq`` holds only RDF documents. The first page with data makes file and ledger. Stats
    begin with ``semcrawl/embedded/`` instead of ``semcrawl/quads/``.
    """

    stats_prefix = "semcrawl/embedded"
    file_name = EMBEDDED_FILE
    ledger_name = EMBEDDED_LEDGER
    may_be_empty = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off without ``SEMCRAWL_EMBEDDED``."""
        if not crawler.settings.getlist("SEMCRAWL_EMBEDDED"):
            raise NotConfigured
        terms = fill(ResultOptions, crawler.settings).terms
        folder = job_path(crawler.settings)
        shared = shared_ledger(crawler.settings, folder)
        interval = fill(ResultOptions, crawler.settings).sync_interval
        pipeline = cls(folder, crawler.stats, terms=terms, shared=shared, sync_interval=interval)
        pipeline._crawler = crawler
        return pipeline

    def _to_write(self, item: Any) -> RdfDocument | FetchRecord | None:
        """Return the item if it says something about the data in a page; otherwise ``None``."""
        if isinstance(item, RdfDocument):
            return item if item.is_embedded else None
        if not isinstance(item, FetchRecord) or not item.revisit:
            return None
        # a page with data has an item of its own besides the record
        has_no_data = item.outcome is not FetchOutcome.FETCHED_HTML or item.quads == 0
        return item if has_no_data else None
