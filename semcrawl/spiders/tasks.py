"""Work of a spider beside its callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from scrapy import Spider

from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError


class BackgroundTasks:
    """Runs coroutines of a spider; a frontier that is away ends its crawl with one line."""

    def __init__(self, spider: Spider, session: CrawlSession) -> None:
        self._spider = spider
        self._session = session
        self._running: set[asyncio.Task[None]] = set()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine beside the crawl."""
        task = asyncio.ensure_future(self.guard(coroutine))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def guard(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Await a coroutine; end the crawl when the frontier fails."""
        try:
            await coroutine
        except FrontierError as error:
            self._session.fail_with(error, self._spider.logger)

    def pass_on(self, item: Any) -> None:
        """Send an item to the pipelines that belongs to no response."""
        self.start(self._pass_on(item))

    async def _pass_on(self, item: Any) -> None:
        engine = self._spider.crawler.engine
        if engine is None or engine.scraper.slot is None:
            return
        slot = engine.scraper.slot
        await engine.scraper.start_itemproc_async(item, response=None)
        # a scraper that closes waits until it is idle, but looks only when a response is done
        if slot.closing is not None and not slot.closing.called and slot.is_idle():
            slot.closing.callback(self._spider)
