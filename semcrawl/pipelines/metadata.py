"""One row per attempt in the metadata database."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector
from sqlalchemy import Engine, insert
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.items import FetchRecord
from semcrawl.metadata.database import connect, crawl_db_url, one_line
from semcrawl.metadata.models import Fetch
from semcrawl.metadata.rows import fetch_row
from semcrawl.pipelines.batching import GroupCommit
from semcrawl.pipelines.jobdir import job_folder
from semcrawl.pipelines.lost import ItemLost


class MetadataPipeline:
    """Writes every :class:`~semcrawl.items.FetchRecord` to the table ``fetch``.

    ``process_item`` returns when the row is committed. Stats: ``semcrawl/metadata/rows``,
    ``/commits``, ``/failed``.
    """

    def __init__(self, url: str, spider: str = "", stats: StatsCollector | None = None) -> None:
        """Write to the database at ``url`` (SQLAlchemy's form)."""
        self._url = url
        self._spider = spider
        self._worker = os.environ.get("SCRAPY_JOB") or f"{socket.gethostname()}:{os.getpid()}"
        self._stats = stats
        self._engine: Engine | None = None
        self._commits: GroupCommit[FetchRecord, None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline from the crawler's settings."""
        url = crawler.settings.get("SEMCRAWL_METADATA_URL") or crawl_db_url(
            job_folder(crawler.settings)
        )
        return cls(url, getattr(crawler.spider, "name", ""), crawler.stats)

    def open_spider(self) -> None:
        """Connect, and make the tables where they are missing."""
        self._engine = connect(self._url)
        self._commits = GroupCommit(self._write)

    async def process_item(self, item: Any) -> Any:
        """Write a record; pass everything on. Raises ``ItemLost`` when it cannot be written."""
        if not isinstance(item, FetchRecord) or self._commits is None:
            return item
        try:
            await self._commits.submit(item)
        except StoreError as error:
            self._count("failed")
            raise ItemLost(str(error)) from None
        self._count("rows")
        return item

    async def close_spider(self) -> None:
        """Write what waits and disconnect."""
        if self._commits is not None:
            await self._commits.flush()
        if self._engine is not None:
            self._engine.dispose()

    def _write(self, records: Sequence[FetchRecord]) -> Sequence[None]:
        if self._engine is None:
            raise StoreError("the metadata database is closed")
        rows = []
        for record in records:
            row = fetch_row(record)
            row["spider"] = row["spider"] or self._spider
            row["worker"] = row["worker"] or self._worker
            rows.append(row)
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(Fetch), rows)
        except SQLAlchemyError as error:
            raise StoreError(f"cannot write the crawl metadata: {one_line(error)}") from None
        return [None] * len(rows)

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/metadata/{name}")
