"""The data embedded in pages, into ``embedded.nq`` of the job folder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import StatsCollector

from semcrawl.errors import StoreError
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.batching import GroupCommit
from semcrawl.pipelines.jobdir import job_path
from semcrawl.pipelines.lost import ItemLost
from semcrawl.pipelines.quads import QuadsFilePipeline
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QuadsFile


class EmbeddedQuadsPipeline(QuadsFilePipeline):
    """Writes the data embedded in pages as its base class does with RDF documents.

    ``quads.nq`` so holds RDF documents only. File and ledger are made with the first page that
    has data. Stats begin with ``semcrawl/embedded/`` in place of ``semcrawl/quads/``.
    """

    stats_prefix = "semcrawl/embedded"

    def __init__(self, folder: Path, stats: StatsCollector | None = None) -> None:
        """Write to ``folder``."""
        super().__init__(folder, stats)
        self._opening = asyncio.Lock()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off without ``SEMCRAWL_EMBEDDED``."""
        if not crawler.settings.getlist("SEMCRAWL_EMBEDDED"):
            raise NotConfigured
        return cls(job_path(crawler.settings), crawler.stats)

    def open_spider(self) -> None:
        """Open the file if an earlier run has left one."""
        if (self._folder / EMBEDDED_FILE).exists():
            super().open_spider()

    async def process_item(self, item: Any) -> Any:
        """Write the data of a page; pass everything on.

        Raises ``ItemLost`` when they cannot be written.
        """
        if isinstance(item, RdfDocument) and item.is_embedded:
            async with self._opening:
                if self._file is None:
                    try:
                        self._file = await asyncio.to_thread(self._open_file)
                    except StoreError as error:
                        raise ItemLost(str(error)) from None
                    self._commits = GroupCommit(self._file.append)
        return await super().process_item(item)

    def _open_file(self) -> QuadsFile:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make {self._folder}: {error.strerror}") from None
        return QuadsFile(self._folder, EMBEDDED_FILE, EMBEDDED_LEDGER)

    def _is_ours(self, item: Any) -> bool:
        """Whether an item says something of the data in a page."""
        if isinstance(item, RdfDocument):
            return item.is_embedded
        if not isinstance(item, FetchRecord) or not item.revisit:
            return False
        # a page with data is a document of its own, which comes beside the record
        return item.outcome is not FetchOutcome.FETCHED_HTML or item.quads == 0
