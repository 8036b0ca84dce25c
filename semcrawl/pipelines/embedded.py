"""The data embedded in pages, into ``embedded.nq`` of the job folder."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.config.jobdir import job_path
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quads import QuadsFilePipeline
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER
from semcrawl.settings import SEMCRAWL_INDEXED_TERMS as INDEXED_TERMS


class EmbeddedQuadsPipeline(QuadsFilePipeline):
    """Writes the data embedded in pages as its base class does with RDF documents.

    ``quads.nq`` so holds RDF documents only. File and ledger are made with the first page that
    has data. Stats begin with ``semcrawl/embedded/`` in place of ``semcrawl/quads/``.
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
        terms = crawler.settings.getint("SEMCRAWL_INDEXED_TERMS", INDEXED_TERMS)
        pipeline = cls(job_path(crawler.settings), crawler.stats, terms=terms)
        pipeline._crawler = crawler
        return pipeline

    def _taken_from(self, item: Any) -> RdfDocument | FetchRecord | None:
        """Return what an item says of the data in a page; ``None`` if it says nothing."""
        if isinstance(item, RdfDocument):
            return item if item.is_embedded else None
        if not isinstance(item, FetchRecord) or not item.revisit:
            return None
        # a page with data is a document of its own, which comes beside the record
        says = item.outcome is not FetchOutcome.FETCHED_HTML or item.quads == 0
        return item if says else None
