"""Writes the heartbeat of a crawl, for the health checks of containers."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.crawl.session import CrawlSession, session_of
from semcrawl.heartbeats import Heartbeat
from semcrawl.settings.reader import fill, setting
from semcrawl.terminal import amount

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LivenessOptions:
    """Where the heartbeat is kept, and how often."""

    folder: str = setting("SEMCRAWL_HEARTBEATS")
    interval: float = 10.0
    patience: float = setting("SEMCRAWL_HEARTBEAT_PATIENCE")


class Liveness:
    """Extension: writes a heartbeat into the folder ``SEMCRAWL_HEARTBEATS``.

    A crawl makes progress while it takes turns and, if links are in flight, finishes one now and
    then. So a crawl that waits for seeds or crawl delays is healthy. One whose event loop stands
    still, or whose links never finish, is not. Of several spiders in a process, the one named
    ``html`` writes it.
    """

    def __init__(self, crawler: Crawler, folder: Path, interval: float, patience: float) -> None:
        self._crawler = crawler
        self._file = folder / f"{os.getpid()}.json"
        self._interval = interval
        self._patience = patience
        self._progressed = time.time()
        self._turns_done = 0
        self._in_flight: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension if the settings name a folder."""
        settings = crawler.settings
        options = fill(LivenessOptions, settings)
        name = getattr(crawler.spidercls, "name", "")
        if not options.folder or (settings.getbool("SEMCRAWL_HARVEST") and name != "html"):
            raise NotConfigured
        extension = cls(
            crawler,
            Path(options.folder),
            options.interval or 1.0,
            options.patience,
        )
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Begin; if the folder cannot be written, log one line and let the crawl go on."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._write("begins")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            logger.error("no heartbeat is kept: cannot write %s: %s", error.filename, reason)
            return
        self._task = asyncio.ensure_future(self._beat())

    async def spider_closed(self) -> None:
        """Stop, and delete the file."""
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
            with suppress(OSError):  # a full disk, say: the last heartbeat grows old
                self._write(doing)

    def _observe(self, session: CrawlSession) -> str:
        """Note whether there was progress since the last call; say what the crawl does."""
        in_flight = {lease.id for lease in session.in_flight}
        # progress means that a link which was in flight has ended
        moves = not in_flight or not self._in_flight <= in_flight
        if session.turns_done != self._turns_done and (moves or not self._in_flight):
            self._progressed = time.time()
        self._turns_done, self._in_flight = session.turns_done, in_flight
        links = amount(len(in_flight), "link")
        return f"{amount(session.requests, 'request')} sent, {links} in flight"

    def _write(self, doing: str) -> None:
        Heartbeat(os.getpid(), self._progressed, self._patience, doing).write(self._file)
