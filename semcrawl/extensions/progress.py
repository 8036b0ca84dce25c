"""Progress of a harvest: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from semcrawl.crawl.session import CrawlSession
from semcrawl.crawl.spider import session_of
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import QUEUES
from semcrawl.items import FetchOutcome
from semcrawl.settings.reader import fill, setting
from semcrawl.terminal.crawlfigures import Display, Figures

#: seconds between two lines
INTERVAL = 5.0
#: seconds between updates of a live display
_LIVE_INTERVAL = 0.5


class Progress:
    """Extension: shows requests, errors, results, waiting links, hosts and the current address.

    ``SEMCRAWL_PROGRESS``: ``auto`` (live on a terminal, else lines), ``live``, ``lines``, ``off``.
    """

    def __init__(self, crawler: Crawler, mode: str, interval: float) -> None:
        self.crawler = crawler
        self._live = mode == "live"
        self._interval = interval
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension, unless progress is off."""
        mode = progress_mode(crawler.settings)
        if mode == "off" or getattr(crawler.spidercls, "name", "") != "html":
            raise NotConfigured
        extension = cls(crawler, mode, progress_interval(crawler.settings))
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Start the display."""
        if (session := session_of(self.crawler)) is not None:
            self._task = asyncio.ensure_future(self._show(session))

    async def spider_closed(self) -> None:
        """Stop the display."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _show(self, session: CrawlSession) -> None:
        with Display(live=self._live) as display:
            while True:
                if not self._live:
                    await asyncio.sleep(self._interval)
                display.show(await figures_of(session))
                if self._live:
                    await asyncio.sleep(self._interval)


@dataclass(frozen=True, slots=True)
class ProgressOptions:
    """How progress is shown."""

    mode: str = setting("SEMCRAWL_PROGRESS")


def progress_mode(settings: BaseSettings) -> str:
    """Return how to show progress: ``live``, ``lines`` or ``off``."""
    mode: str = fill(ProgressOptions, settings).mode
    if mode == "auto":
        mode = "live" if sys.stderr.isatty() else "lines"
    return mode if mode in ("live", "lines") else "off"


def progress_interval(settings: BaseSettings) -> float:
    """Return the seconds between updates of the display."""
    live = progress_mode(settings) == "live"
    return _LIVE_INTERVAL if live else INTERVAL


async def figures_of(session: CrawlSession) -> Figures:
    """Return the figures of a process's part in a crawl."""
    tally = session.tally
    try:
        waiting = dict((await session.frontier.counts(QUEUES, [])).waiting_by_label)
    except FrontierError:
        waiting = {}
    under_way = session.in_flight
    return Figures(
        requests=tally.requests,
        budget=session.options.budget,
        errors=tally.errors,
        rdf_documents=tally.rdf_documents,
        images=tally.outcomes[FetchOutcome.FETCHED_IMAGE],
        quads=tally.quads,
        embedded_quads=tally.embedded_quads,
        targets=session.outlook.targets,
        waiting=waiting,
        hosts=tally.current_hosts,
        url=under_way[-1].entry.url if under_way else "",
    )
