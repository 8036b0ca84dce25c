"""Writes quads to ``quads.nq`` of the job folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from semcrawl.config.jobdir import ResultOptions, job_folder, job_path, writes_at_once
from semcrawl.crawl.failures import ItemNotWritten, end_crawl
from semcrawl.errors import ResultsGone, StoreError, os_errors_as
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import CRAWL_DB, crawl_db_url
from semcrawl.metadata.history import Written
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE, QuadsFile
from semcrawl.rdf.shortnames import INDEXED_TERMS
from semcrawl.settings.reader import fill, setting

T = TypeVar("T")
R = TypeVar("R")


class GroupCommit(Generic[T, R]):
    """Collects elements from coroutines and writes them in batches, in a worker thread.

    ``write`` gets one batch at a time and returns one result per element. :meth:`submit` returns
    when the batch with its element is written.
    """

    def __init__(
        self,
        write: Callable[[Sequence[T]], Sequence[R]],
        *,
        delay: float = 0.1,
        limit: int = 200,
    ) -> None:
        """Write after ``delay`` seconds or as soon as ``limit`` elements wait."""
        self._write = write
        self._delay = delay
        self._limit = limit
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def submit(self, element: T) -> R:
        """Wait until an element is written; return its result, or raise what ``write`` raises."""
        written: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((element, written))
        if len(self._waiting) >= self._limit:
            self._full.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await written

    async def flush(self) -> None:
        """Write the waiting elements without further delay."""
        self._full.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._waiting:
            if not self._full.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._delay)
            self._full.clear()
            batch, self._waiting = self._waiting[: self._limit], self._waiting[self._limit :]
            if len(self._waiting) >= self._limit:
                self._full.set()
            try:
                results = await asyncio.to_thread(self._write, [element for element, _ in batch])
            except Exception as error:  # each waiting coroutine raises it
                for _, written in batch:
                    if not written.done():
                        written.set_exception(error)
            else:
                for (_, written), result in zip(batch, results, strict=True):
                    if not written.done():
                        written.set_result(result)


logger = logging.getLogger(__name__)

#: value of ``SEMCRAWL_STORE_URL`` for a store in the job folder
EMBEDDED_STORE = "embedded"

#: names of the stats that count documents which were not new
STATS = {
    Written.DUPLICATE: "duplicates",
    Written.REPLACED: "replaced",
    Written.UNCHANGED: "unchanged",
    Written.GONE: "gone",
}


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which store documents go to, and what may be written there."""

    url: str = setting("SEMCRAWL_STORE_URL")
    update_url: str = setting("SEMCRAWL_STORE_UPDATE_URL")
    trusted: tuple[str, ...] = setting("SEMCRAWL_TRUSTED_SITES")
    embedded: bool = setting("SEMCRAWL_STORE_EMBEDDED")
    adopt: bool = setting("SEMCRAWL_STORE_ADOPT")
    metadata_url: str = setting("SEMCRAWL_METADATA_URL")
    provenance: bool = setting("SEMCRAWL_STORE_PROVENANCE")

    @property
    def named(self) -> str:
        """URL of the store, or ``embedded``; empty if there is none."""
        return self.url or self.update_url


class QuadsFilePipeline:
    """Writes every :class:`~semcrawl.items.RdfDocument` once to ``quads.nq``.

    ``process_item`` returns when all lines are written and the document's row is committed. File
    and ledger are made at the start by our own spiders, and with the first document by others. On a
    re-visit, changed content replaces a document's old lines, and a document that is gone loses
    its lines; the file shrinks when the spider closes. Stats: ``semcrawl/quads/documents``,
    ``/statements``, ``/duplicates``, ``/replaced``, ``/unchanged``, ``/gone``, ``/cut_off``,
    ``/failed``.
    """

    #: prefix of its stats
    stats_prefix: ClassVar[str] = "semcrawl/quads"
    file_name: ClassVar[str] = QUADS_FILE
    ledger_name: ClassVar[str] = CRAWL_DB
    #: whether to make the file before there is anything to write
    may_be_empty: ClassVar[bool] = True

    def __init__(
        self,
        folder: Path,
        stats: StatsCollector | None = None,
        *,
        at_once: bool = True,
        terms: int = INDEXED_TERMS,
        shared: str = "",
        sync_interval: float = 0.0,
        history: bool = False,
    ) -> None:
        """Write to ``folder``; make the file ``at_once``, or with the first document.

        ``terms``: most terms to index of each document. ``shared``, ``sync_interval`` and
        ``history``: as for :class:`QuadsFile`.
        """
        self._history = history
        self._sync_interval = sync_interval
        self._shared = shared
        self._terms = terms
        self._folder = folder
        self._crawler: Crawler | None = None
        self._at_once = at_once and self.may_be_empty
        self._opening = asyncio.Lock()
        self._stats = stats
        self._file: QuadsFile | None = None
        self._commits: GroupCommit[RdfDocument | FetchRecord, Written] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline from the crawler's settings."""
        at_once = writes_at_once(crawler)
        folder = job_folder(crawler.settings) if at_once else job_path(crawler.settings)
        options = fill(ResultOptions, crawler.settings)
        pipeline = cls(
            folder,
            crawler.stats,
            at_once=at_once,
            shared=shared_ledger(crawler.settings, folder),
            sync_interval=options.sync_interval,
            history=options.history,
        )
        pipeline._crawler = crawler
        return pipeline

    def open_spider(self) -> None:
        """Open the file if it, or its ledger, exists or is to be made at once."""
        names = (self.file_name, self.ledger_name)
        if self._at_once or any((self._folder / name).exists() for name in names):
            self._open()

    def _open(self) -> None:
        """Open the file, which cuts off the incomplete lines of a crashed writer."""
        self._file = self._open_file()
        self._commits = GroupCommit(self._file.append)
        if self._file.missing:
            self._count("cut_off", self._file.missing)
            logger.error(
                "%s was cut or deleted: the lines of %d documents are lost, and read again",
                self._file.path,
                self._file.missing,
            )

    def _open_file(self) -> QuadsFile:
        with os_errors_as(StoreError, f"cannot make {self._folder}"):
            self._folder.mkdir(parents=True, exist_ok=True)
        return QuadsFile(
            self._folder,
            self.file_name,
            self.ledger_name,
            terms=self._terms,
            shared=self._shared,
            sync_interval=self._sync_interval,
            history=self._history,
        )

    async def process_item(self, item: Any) -> Any:
        """Write a document; pass everything on.

        Raises ``ItemNotWritten`` if it cannot be written.
        """
        document = self._to_write(item)
        if document is None:
            return item
        async with self._opening:
            if self._commits is None:
                try:
                    await asyncio.to_thread(self._open)
                except StoreError as error:
                    self._note_failure(error)
                    raise ItemNotWritten(error) from None
        if self._commits is None:
            return item
        try:
            written = await self._commits.submit(document)
        except StoreError as error:
            self._note_failure(error)
            raise ItemNotWritten(error) from None
        if isinstance(document, RdfDocument) and written in (Written.NEW, Written.REPLACED):
            self._count("documents")
            self._count("statements", document.quads)
        if written in (Written.DUPLICATE, Written.REPLACED, Written.UNCHANGED, Written.GONE):
            self._count(STATS[written])
        return item

    def _to_write(self, item: Any) -> RdfDocument | FetchRecord | None:
        """Return the item if it says something about an RDF document; otherwise ``None``."""
        if isinstance(item, RdfDocument):
            return None if item.is_embedded else item
        return item if isinstance(item, FetchRecord) and item.revisit else None

    async def close_spider(self) -> None:
        """Write the waiting documents, compact the file, and close it."""
        await self._flush()
        if self._file is not None:
            try:
                await asyncio.to_thread(self._file.compact)
            except ResultsGone as error:
                if self._crawler is not None:
                    end_crawl(self._crawler, str(error))
            except StoreError as error:
                logger.error("%s", error)
            self._file.close()

    async def _flush(self) -> None:
        if self._commits is not None:
            await self._commits.flush()

    def _note_failure(self, error: StoreError) -> None:
        """Count an item as lost, unless its link goes back as the results are gone."""
        if not isinstance(error, ResultsGone):
            self._count("failed")

    def _count(self, name: str, count: int = 1) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"{self.stats_prefix}/{name}", count)


def shared_ledger(settings: BaseSettings, folder: Path) -> str:
    """Return the URL of the database in which the workers of a crawl note who made which graph.

    It is that of ``SEMCRAWL_METADATA_URL``; empty without one, and for the folder's own store.
    """
    options = fill(StoreOptions, settings)
    url = options.metadata_url
    is_own = not url or url == crawl_db_url(folder)
    return "" if is_own or options.named in ("", EMBEDDED_STORE) else url


def lists_graphs_alone(settings: BaseSettings, folder: Path) -> bool:
    """Whether a job delivers to a server, and only its folder says which graphs are the crawl's."""
    server = fill(StoreOptions, settings).named
    return server not in ("", EMBEDDED_STORE) and not shared_ledger(settings, folder)


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
        options = fill(ResultOptions, crawler.settings)
        folder = job_path(crawler.settings)
        pipeline = cls(
            folder,
            crawler.stats,
            shared=shared_ledger(crawler.settings, folder),
            sync_interval=options.sync_interval,
            history=options.history,
        )
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
