"""Writes one row per attempt to the metadata database."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector
from sqlalchemy import Engine, Table, bindparam, delete
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from semcrawl.config.jobdir import ResultOptions, job_path, writes_at_once
from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.errors import ResultsGone, StoreError
from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url, one_line
from semcrawl.metadata.history import DocumentHistory, forget_attempts
from semcrawl.metadata.records import Fetch, PageLinks, fetch_row, insert_rows, links_row
from semcrawl.pipelines.quads import GroupCommit
from semcrawl.pipelines.quadsfile import FileIdentities
from semcrawl.rdf.shortnames import INDEXED_TERMS, TermCounter
from semcrawl.rdf.sink import whole_lines
from semcrawl.settings.reader import fill

logger = logging.getLogger(__name__)

_FETCH = cast("Table", Fetch.__table__)
#: most seconds between two tries while the database is down
_LONGEST_PAUSE = 2.0
_LINKS = cast("Table", PageLinks.__table__)
_DELETE_LINKS = delete(_LINKS).where(_LINKS.c.url_key == bindparam("name"))
_DELETE = delete(_FETCH).where(_FETCH.c.attempt == bindparam("name"))


class MetadataPipeline:
    """Writes every :class:`~semcrawl.items.FetchRecord` to the table ``fetch``.

    ``process_item`` returns when the row is committed. If a worker is killed before it acknowledges
    an attempt, the attempt is repeated, and its new row replaces the first. A database outside the
    job folder also gets the table ``document``, which ``QuadsFilePipeline`` writes in the job
    folder. If the database is down, the pipeline waits for it; after ``SEMCRAWL_METADATA_PATIENCE``
    seconds the record counts as lost. Stats: ``semcrawl/metadata/rows``, ``/failed``.
    """

    def __init__(
        self,
        url: str,
        spider: str = "",
        stats: StatsCollector | None = None,
        *,
        worker: str = "",
        documents: bool = False,
        patience: float = 60.0,
        at_once: bool = True,
        folder: Path | None = None,
        terms: int = INDEXED_TERMS,
        keep_days: float = 0.0,
    ) -> None:
        """Write to the database at ``url`` (in SQLAlchemy's form), with or without ``documents``.

        Connect ``at_once``, or with the first item; make ``folder`` before. ``terms``: most terms
        to index of each document. ``keep_days``: days that rows are kept; 0 = for ever.
        """
        self._keep_days = keep_days
        self._terms = terms
        self._folder = folder
        self._at_once = at_once
        self._opening = asyncio.Lock()
        self._url = url
        self._documents = documents
        self._patience = patience
        self._spider = spider
        self._worker = worker or f"{socket.gethostname()}:{os.getpid()}"
        self._stats = stats
        self._engine: Engine | None = None
        self._identities = FileIdentities()
        #: the log has reported an outage, but not yet its end
        self._is_down = False
        self._commits: GroupCommit[FetchRecord | RdfDocument, None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline from the crawler's settings."""
        settings = crawler.settings
        folder = job_path(settings)
        own = crawl_db_url(folder)
        options = fill(ResultOptions, settings)
        url = options.metadata_url or own
        return cls(
            url,
            getattr(crawler.spider, "name", ""),
            crawler.stats,
            # scrapyd gives every job a name and passes it as an argument of the spider
            worker=getattr(crawler.spider, "_job", ""),
            documents=url != own,
            patience=options.metadata_patience,
            at_once=url != own or writes_at_once(crawler),
            folder=folder,
            keep_days=options.keep_attempts,
        )

    def open_spider(self) -> None:
        """Connect if the settings say so; otherwise the first item does."""
        if self._at_once:
            self._open()

    def _open(self) -> None:
        """Connect, and make missing tables."""
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        self._engine = connect(self._url)
        if self._folder is not None and self._url == crawl_db_url(self._folder):
            self._identities.remember(self._folder / CRAWL_DB)
        self._commits = GroupCommit(self._write)

    async def process_item(self, item: Any) -> Any:
        """Write a record; pass everything on. Raises ``ItemNotWritten`` if it cannot be written."""
        is_ours = isinstance(item, FetchRecord) or (
            self._documents and isinstance(item, RdfDocument) and not item.is_embedded
        )
        if not is_ours:
            return item
        try:
            if self._commits is None:
                async with self._opening:
                    if self._commits is None:
                        await asyncio.to_thread(self._open)
        except (StoreError, OSError) as error:
            self._count("failed")
            raise ItemNotWritten(error if isinstance(error, StoreError) else str(error)) from None
        if self._commits is None:
            return item
        try:
            await self._commits.submit(item)
        except ResultsGone as error:
            raise ItemNotWritten(error) from None
        except StoreError as error:
            self._count("failed")
            raise ItemNotWritten(error) from None
        if isinstance(item, FetchRecord):
            self._count("rows")
        return item

    async def close_spider(self) -> None:
        """Write the waiting rows, delete those that are too old, and disconnect."""
        if self._commits is not None:
            await self._commits.flush()
        if self._engine is not None:
            if self._keep_days:
                await asyncio.to_thread(self._forget, self._engine)
            self._engine.dispose()

    def _forget(self, engine: Engine) -> None:
        try:
            self._identities.check()
            count = forget_attempts(engine, time.time() - self._keep_days * 86400)
        except (SQLAlchemyError, ResultsGone) as error:
            logger.warning("old records of attempts stay: %s", one_line(error))
            return
        if count:
            logger.info(
                "%d records of attempts are deleted, as they are older than %g days",
                count,
                self._keep_days,
            )

    def _write(self, items: Sequence[FetchRecord | RdfDocument]) -> Sequence[None]:
        """Write a batch in one transaction; try again while the database is down."""
        deadline = time.monotonic() + self._patience
        pause = 0.5
        afresh = False
        while True:
            self._identities.check()
            try:
                self._try_to_write(items, afresh=afresh)
                self._identities.check()
            except IntegrityError as error:
                # there is a row of the same attempt, from a worker that outlived its lease
                if afresh:
                    message = f"cannot write the crawl metadata: {one_line(error)}"
                    raise StoreError(message) from None
                afresh = True
            except SQLAlchemyError as error:
                is_passing = _is_passing(error)
                left = deadline - time.monotonic()
                if not is_passing or left <= 0:
                    if is_passing:
                        logger.warning(
                            "the metadata database is still down: %d results could not be written",
                            len(items),
                        )
                    message = f"cannot write the crawl metadata: {one_line(error)}"
                    raise StoreError(message) from None
                if not self._is_down:
                    self._is_down = True
                    logger.warning(
                        "the metadata database is not usable: %s; waiting up to %.0f s for it",
                        one_line(error),
                        self._patience,
                    )
                time.sleep(min(pause, left))
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                if self._is_down:
                    self._is_down = False
                    logger.warning("the metadata database is back")
                return [None] * len(items)

    def _try_to_write(self, items: Sequence[FetchRecord | RdfDocument], *, afresh: bool) -> None:
        if self._engine is None:
            raise StoreError("the metadata database is closed")
        rows: dict[object, dict[str, Any]] = {}
        written_before: list[int] = []
        records = [item for item in items if isinstance(item, FetchRecord)]
        with self._engine.begin() as connection:
            history = DocumentHistory(
                connection, items if self._documents else (), terms=self._terms
            )
            for item in items:
                if isinstance(item, RdfDocument):
                    history.note_document(item, partial(_no_place, item))
                    continue
                row = fetch_row(item)
                row["spider"] = row["spider"] or self._spider
                row["worker"] = row["worker"] or self._worker
                name = row["attempt"]
                if name is not None and (item.repeated or afresh):
                    written_before.append(name)
                rows[object() if name is None else name] = row
                history.note_record(item, lambda: 0)
            history.flush()
            if written_before:
                connection.execute(_DELETE, [{"name": name} for name in written_before])
            if rows:
                insert_rows(connection, Fetch, rows.values())
            links = {row["url_key"]: row for row in map(links_row, records) if row is not None}
            if links:  # those of the last visit replace the former ones
                connection.execute(_DELETE_LINKS, [{"name": name} for name in links])
                insert_rows(connection, PageLinks, links.values())

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/metadata/{name}")


def _is_passing(error: SQLAlchemyError) -> bool:
    """Whether an error may pass by itself, unlike that of a full disk."""
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        # the lowest byte of SQLite's code is the kind of error
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
        )
    return isinstance(error, OperationalError | InterfaceError)


def _no_place(document: RdfDocument, counter: TermCounter) -> dict[str, Any]:
    """Count a document's terms; return an empty place, as its lines are not in a job folder."""
    if counter.is_on:
        for lines in whole_lines(document.chunks()):
            counter.add(lines)
    return {"offset": 0, "length": 0, "checksum": None, "revision": 0}
