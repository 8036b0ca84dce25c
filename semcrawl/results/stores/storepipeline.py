"""Delivers documents to a triple store while the crawl goes on."""

from __future__ import annotations

import asyncio
import logging
import time
from math import inf
from pathlib import Path
from typing import IO, Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from semcrawl.config.jobdir import job_folder
from semcrawl.errors import StoreError
from semcrawl.filelocks import try_lock
from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.pipelines.quads import QuadsFilePipeline, StoreOptions
from semcrawl.results.stores.contract import StoreRefused, StoreUnavailable
from semcrawl.results.stores.delivery import Delivered, Deliverer
from semcrawl.results.stores.opening import (
    RENAMED_WORDS,
    STORE_LOCK,
    check_store_settings,
    open_deliverer,
)
from semcrawl.settings.reader import fill

#: seconds that a closing spider waits for an unreachable store
PATIENCE = 60.0
logger = logging.getLogger(__name__)

#: seconds between looks for work that another crawler of the job folder has left
POLL = 1.0
#: seconds between two deliveries, in which documents gather, as stores prefer large batches
GATHER = 1.0
#: number of documents that ends this wait early
GATHER_DOCUMENTS = 500
#: seconds between two tellings of the provenance, each of which looks through all documents
TELL = 60.0
#: longest pause between two tries while the store is down, in seconds
MAX_PAUSE = 60.0


class StorePipeline(QuadsFilePipeline):
    """Delivers every document to the triple store of ``SEMCRAWL_STORE_URL``.

    ``quads.nq`` is the spool. ``QuadsFilePipeline`` writes it, or without that pipeline this one
    does: ``process_item`` returns when the document is in the spool. The delivery runs in the
    background, so a store that is down delays nothing and loses nothing. The next run, or
    ``semcrawl load``, delivers the documents that wait at the end.

    Of several crawlers on one job folder, one delivers for all. Stats:
    ``semcrawl/store/documents``, ``/statements``, ``/refused``, ``/renamed``, ``/outages``,
    ``/told``, ``/problem`` (of the last outage), and at the end ``/waiting``.
    """

    def __init__(
        self,
        folder: Path,
        settings: BaseSettings,
        stats: StatsCollector | None = None,
        crawler: Crawler | None = None,
    ) -> None:
        """Deliver to the store that the settings name, from the spool in ``folder``.

        Write the spool unless another pipeline of the ``crawler`` does.
        """
        super().__init__(folder)
        self._crawler = crawler
        check_store_settings(settings)
        self._settings = settings
        self._store_stats = stats
        self._patience = PATIENCE
        self._lock: IO[bytes] | None = None
        self._deliverer: Deliverer | None = None
        self._task: asyncio.Task[None] | None = None
        self._work = asyncio.Event()
        #: documents spooled since the last delivery began
        self._gathered = 0
        self._closing_since: float | None = None
        self._tell_at = 0.0
        #: whether this pipeline writes the spool
        self._spools = True
        #: documents whose graphs got other names, as the store had graphs of their addresses
        self._renamed = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off without ``SEMCRAWL_STORE_URL`` or ``…_UPDATE_URL``."""
        settings = crawler.settings
        if not fill(StoreOptions, settings).named:
            raise NotConfigured
        return cls(job_folder(settings), settings, crawler.stats, crawler)

    def open_spider(self) -> None:
        """Open the spool; the delivery starts with documents of earlier runs."""
        self._spools = not self._is_spooled()
        if self._spools:
            super().open_spider()
        self._lock = (self._folder / STORE_LOCK).open("ab")
        self._work.set()

    async def process_item(self, item: Any) -> Any:
        """Spool a document and wake the delivery; pass everything on."""
        if self._task is None:
            self._task = asyncio.create_task(self._deliver())
        if isinstance(item, RdfDocument | FetchRecord):
            if self._spools:
                item = await super().process_item(item)
            self._gathered += isinstance(item, RdfDocument)
            self._work.set()
        return item

    async def close_spider(self) -> None:
        """Deliver the waiting documents; give up after a while if the store is down."""
        await self._flush()
        self._closing_since = time.monotonic()
        self._work.set()
        if self._task is None:
            self._task = asyncio.create_task(self._deliver())
        await self._task
        if self._deliverer is not None:
            waiting = await asyncio.to_thread(self._deliverer.waiting)
            if waiting:
                logger.warning(
                    "%d documents wait in %s for the store; the next run delivers them",
                    waiting,
                    self._folder,
                )
            self._set_store("waiting", waiting)
            if self._renamed:
                logger.warning("%s", RENAMED_WORDS.format(self._renamed))
            await asyncio.to_thread(self._deliverer.close)
        if self._lock is not None:
            self._lock.close()
        await super().close_spider()

    def _is_spooled(self) -> bool:
        """Whether another pipeline of the crawl writes the spool."""
        engine = None if self._crawler is None else self._crawler.engine
        if engine is None:
            return False
        pipelines = engine.scraper.itemproc.middlewares
        return any(
            type(pipeline) is QuadsFilePipeline and pipeline._folder == self._folder
            for pipeline in pipelines[: pipelines.index(self)]
        )

    async def _deliver(self) -> None:
        """Deliver until the spider closes and nothing waits, or the patience ends."""
        pause = 0.0
        while True:
            try:
                self._gathered = 0
                delivered = await asyncio.to_thread(self._step)
            except StoreError as error:
                pause = min(MAX_PAUSE, pause * 2 or 1.0)
                self._count_store("outages")
                self._set_store("problem", str(error))
                if isinstance(error, StoreUnavailable):
                    logger.warning("Triple store %s; trying again in %g s", error, pause)
                else:
                    logger.error("%s; trying again in %g s", error, pause)
                if await self._out_of_patience(pause):
                    return
                continue
            if pause:
                logger.info("The triple store is back")
                pause = 0.0
            if delivered is not None:
                self._report(delivered)
                if not delivered.more:
                    await self._rest(GATHER, GATHER_DOCUMENTS)
            elif self._closing_since is not None:
                return
            else:
                self._work.clear()
                await _wait(self._work, POLL)

    def _step(self) -> Delivered | None:
        """Deliver a batch, if no other process delivers from this folder."""
        if self._deliverer is None:
            if self._lock is None or not try_lock(self._lock):
                return None
            self._deliverer = open_deliverer(self._settings, self._folder)
        delivered = self._deliverer.step()
        if delivered is None and (self._closing_since or time.monotonic() > self._tell_at):
            self._tell_at = time.monotonic() + TELL
            try:
                self._count_store("told", self._deliverer.tell())
            except StoreRefused as error:
                logger.error("The triple store refuses the provenance: %s", error)
        return delivered

    async def _out_of_patience(self, pause: float) -> bool:
        """Pause; return whether the spider is closing and its patience is at an end."""
        if self._closing_since is None:
            await self._rest(pause)
            return False
        left = self._closing_since + self._patience - time.monotonic()
        if left <= 0:
            return True
        await asyncio.sleep(min(pause, left))
        return False

    async def _rest(self, seconds: float, documents: float = inf) -> None:
        """Wait for ``seconds``, or until the spider closes or so many documents were spooled."""
        deadline = time.monotonic() + seconds
        while (
            self._closing_since is None
            and self._gathered < documents
            and (left := deadline - time.monotonic()) > 0
        ):
            self._work.clear()
            await _wait(self._work, left)

    def _report(self, delivered: Delivered) -> None:
        self._count_store("documents", delivered.documents)
        self._count_store("statements", delivered.quads)
        self._renamed += delivered.renamed
        self._count_store("renamed", delivered.renamed)
        for refused in delivered.refused:
            self._count_store("refused")
            logger.warning("The triple store refuses %s: %s", refused.url, refused.error)

        for url in delivered.damaged:
            self._count_store("damaged")
            logger.error("%s is not delivered: its lines in %s are damaged", url, self._folder)

    def _count_store(self, name: str, count: int = 1) -> None:
        if self._store_stats is not None and count:
            self._store_stats.inc_value(f"semcrawl/store/{name}", count)

    def _set_store(self, name: str, value: object) -> None:
        if self._store_stats is not None:
            self._store_stats.set_value(f"semcrawl/store/{name}", value)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
