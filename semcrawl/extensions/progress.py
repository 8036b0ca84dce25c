"""Progress of a harvest: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import timedelta
from typing import Any, Self

from rich.live import Live
from rich.table import Table
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import QUEUES
from semcrawl.metadata.tally import Tally
from semcrawl.terminal.messages import plain_console

_LABELS = ("R", "HR", "H", "N")


class Progress:
    """Extension: shows requests, errors, finds, the queue, hosts, times, the address.

    ``SEMCRAWL_PROGRESS``: ``auto`` (live on a terminal, else lines), ``live``, ``lines``, ``off``.
    """

    def __init__(self, crawler: Crawler, mode: str, interval: float) -> None:
        self.crawler = crawler
        self._live = mode == "live"
        self._interval = interval
        self._task: asyncio.Task[None] | None = None
        self._started = time.monotonic()
        self._console = plain_console(stderr=True)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension, unless progress is off."""
        mode = crawler.settings.get("SEMCRAWL_PROGRESS", "off")
        if mode == "auto":
            mode = "live" if sys.stderr.isatty() else "lines"
        if mode not in ("live", "lines") or getattr(crawler.spidercls, "name", "") != "html":
            raise NotConfigured
        interval = (
            0.5 if mode == "live" else crawler.settings.getfloat("SEMCRAWL_PROGRESS_INTERVAL")
        )
        extension = cls(crawler, mode, interval)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Start showing."""
        session: CrawlSession | None = getattr(self.crawler.spider, "session", None)
        if session is not None:
            self._started = time.monotonic()
            self._task = asyncio.ensure_future(self._show(session))

    async def spider_closed(self) -> None:
        """Stop showing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _show(self, session: CrawlSession) -> None:
        if not self._live:
            while True:
                await asyncio.sleep(self._interval)
                print(
                    self._line(session, await self._waiting(session)), file=sys.stderr, flush=True
                )
        with Live(console=self._console, refresh_per_second=4, transient=True) as live:
            while True:
                live.update(self._table(session, await self._waiting(session)))
                await asyncio.sleep(self._interval)

    async def _waiting(self, session: CrawlSession) -> dict[str, int]:
        try:
            counts = await session.frontier.counts(QUEUES, [])
        except FrontierError:
            return {}
        return dict(counts.waiting_by_label)

    def _facts(self, session: CrawlSession, waiting: dict[str, int]) -> dict[str, str]:
        tally: Tally = session.tally
        budget = session.options.budget
        seconds = time.monotonic() - self._started
        left = self._seconds_left(tally.requests, seconds, budget, sum(waiting.values()))
        queue = " ".join(f"{name} {waiting[name]:,}" for name in _LABELS if waiting.get(name))
        under_way = session.in_flight
        return {
            "requests": f"{tally.requests:,}" + (f" of {budget:,}" if budget else ""),
            "errors": f"{tally.errors:,}",
            "RDF found": f"{tally.rdf_documents:,} documents, {tally.quads:,} quads",
            "embedded": f"{tally.embedded_quads:,} quads",
            "harvest rate": f"{tally.harvest_rate:.1%}",
            "waiting": queue or "nothing",
            "hosts": ", ".join(tally.current_hosts) or "none yet",
            "elapsed": _clock(seconds),
            "time left": "?" if left is None else _clock(left),
            "now": under_way[-1].entry.url if under_way else "waiting for the next",
        }

    @staticmethod
    def _seconds_left(done: int, seconds: float, budget: int | None, waiting: int) -> float | None:
        """Return the time to the end of the budget, or of what waits, at the pace so far."""
        if not done or not seconds:
            return None
        left = waiting if budget is None else min(budget - done, max(waiting, 0))
        return max(0, left) * seconds / done

    def _line(self, session: CrawlSession, waiting: dict[str, int]) -> str:
        facts = self._facts(session, waiting)
        return " | ".join(f"{name} {value}" for name, value in facts.items())

    def _table(self, session: CrawlSession, waiting: dict[str, int]) -> Any:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis")  # a display of changing height flickers
        for name, value in self._facts(session, waiting).items():
            table.add_row(name, value)
        return table


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
