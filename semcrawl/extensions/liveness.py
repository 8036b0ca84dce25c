"""Keeps the heartbeat of a crawl, for health checks of containers and the like."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.crawl.session import CrawlSession
from semcrawl.crawl.spider import session_of
from semcrawl.machine.heartbeats import Heartbeat
from semcrawl.terminal.messages import amount

logger = logging.getLogger(__name__)


class Liveness:
    """Extension: writes a heartbeat into the folder ``SEMCRAWL_HEARTBEATS``.

    The crawl makes progress while it looks for links to take and, as long as some are in flight,
    finishes one now and then. So one that waits for seeds or for crawl delays is well, and one
    whose event loop stands still, or whose links never come back, is not. Of several spiders in a
    process the one that is named ``html`` keeps it.
    """

    def __init__(self, crawler: Crawler, folder: Path, interval: float, patience: float) -> None:
        self._crawler = crawler
        self._file = folder / f"{os.getpid()}.json"
        self._interval = interval
        self._patience = patience
        self._progressed = time.time()
        self._looks = 0
        self._in_flight: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension, where a folder is named."""
        settings = crawler.settings
        folder = settings.get("SEMCRAWL_HEARTBEATS")
        name = getattr(crawler.spidercls, "name", "")
        if not folder or (settings.getbool("SEMCRAWL_HARVEST") and name != "html"):
            raise NotConfigured
        extension = cls(
            crawler,
            Path(folder),
            settings.getfloat("SEMCRAWL_HEARTBEAT_INTERVAL") or 1.0,
            settings.getfloat("SEMCRAWL_HEARTBEAT_PATIENCE"),
        )
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Begin. A folder that cannot be written is reported in a line, and the crawl goes on."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._write("begins")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            logger.error("no heartbeat is kept: cannot write %s: %s", error.filename, reason)
            return
        self._task = asyncio.ensure_future(self._beat())

    async def spider_closed(self) -> None:
        """End: remove the file."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            with suppress(OSError):
                self._file.unlink()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            session = session_of(self._crawler)
            if session is None:
                self._progressed = time.time()
                doing = "takes part in no crawl"
            else:
                doing = self._observe(session)
            with suppress(OSError):  # a disk that is full now: the old beat grows old
                self._write(doing)

    def _observe(self, session: CrawlSession) -> str:
        """Note whether there was progress since the last look; say what the crawl does."""
        in_flight = {lease.id for lease in session.in_flight}
        # (one of those that were in flight has ended)
        moves = not in_flight or not self._in_flight <= in_flight
        if session.turns_done != self._looks and (moves or not self._in_flight):
            self._progressed = time.time()
        self._looks, self._in_flight = session.turns_done, in_flight
        links = amount(len(in_flight), "link")
        return f"{amount(session.requests, 'request')} sent, {links} in flight"

    def _write(self, doing: str) -> None:
        Heartbeat(os.getpid(), self._progressed, self._patience, doing).write(self._file)
