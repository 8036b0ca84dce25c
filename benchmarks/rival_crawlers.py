"""Crawlers to compare with: Scrapy, scrapy-redis, crawlee, Scrapy's engine alone, aiohttp and lxml.

    python benchmarks/rival_crawlers.py NAME START --pages N [--redis ADDRESS]

Each fetches the pages that START leads to. ``engine`` has Scrapy's default middlewares and is told
all addresses beforehand, ``engine-bare`` has no middlewares either. ``bare`` is aiohttp and lxml on
asyncio's own event loop, ``bare-uvloop`` the same on the loop that semcrawl's commands run on.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import deque
from typing import Any
from urllib.parse import urljoin

#: requests in flight, of all contenders
CONCURRENCY = 16
NAMES = ["scrapy", "scrapy-redis", "crawlee", "bare", "bare-uvloop", "engine", "engine-bare"]


def run_scrapy(start: str, redis: str | None) -> None:
    """Plain Scrapy as it comes, or with scrapy-redis's scheduler."""
    import scrapy
    from scrapy.crawler import CrawlerProcess

    class PlainSpider(scrapy.Spider):
        name = "plain"
        start_urls = [start]

        def parse(self, response: Any) -> Any:
            yield {"url": response.url, "title": response.css("title::text").get()}
            yield from response.follow_all(css="a")

    settings: dict[str, Any] = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}
    if redis:
        settings |= {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": redis,
        }
    process = CrawlerProcess(settings)
    process.crawl(PlainSpider)
    process.start()


def run_engine(start: str, pages: int, *, middlewares: bool) -> None:
    """Scrapy's engine and downloader, given the addresses and an empty callback."""
    import scrapy
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import AsyncCrawlerProcess

    class EmptySpider(scrapy.Spider):
        name = "empty"

        async def start(self) -> Any:
            return
            yield

        def parse(self, response: Any) -> None:
            return None

    class AllPages(BaseScheduler):
        def __init__(self) -> None:
            self.asked = 0

        def open(self, spider: scrapy.Spider) -> None:
            self.spider = spider

        def has_pending_requests(self) -> bool:
            return self.asked < pages

        def enqueue_request(self, request: scrapy.Request) -> bool:
            return True

        def next_request(self) -> scrapy.Request | None:
            if self.asked == pages:
                return None
            self.asked += 1
            url = urljoin(start, f"/s0/page-{self.asked - 1}.html")
            return scrapy.Request(url, self.spider.parse, dont_filter=True)

    settings: dict[str, Any] = {
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "SCHEDULER": AllPages,
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2 * CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
    }
    if not middlewares:
        settings |= {"DOWNLOADER_MIDDLEWARES_BASE": {}, "SPIDER_MIDDLEWARES_BASE": {}}
    process = AsyncCrawlerProcess(settings)
    process.crawl(EmptySpider)
    process.start()


def run_crawlee(start: str) -> None:
    """crawlee-python with Parsel and storage in memory: it follows all links and keeps a title."""
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
    from crawlee.storage_clients import MemoryStorageClient

    async def main() -> None:
        crawler = ParselCrawler(
            concurrency_settings=ConcurrencySettings(
                min_concurrency=CONCURRENCY,
                max_concurrency=CONCURRENCY,
                desired_concurrency=CONCURRENCY,
            ),
            storage_client=MemoryStorageClient(),
            configure_logging=False,
        )

        @crawler.router.default_handler
        async def page(context: ParselCrawlingContext) -> None:
            title = context.selector.css("title::text").get()
            await context.push_data({"url": context.request.url, "title": title})
            await context.enqueue_links()

        await crawler.run([start])

    asyncio.run(main())


def run_bare(start: str, *, uvloop: bool) -> None:
    """The fastest that Python does with the same libraries: no scheduler, no records."""
    import aiohttp
    import lxml.html

    async def main() -> None:
        queue, seen = deque([start]), {start}
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONCURRENCY)
        ) as session:
            running: set[asyncio.Task[None]] = set()

            async def fetch(url: str) -> None:
                async with session.get(url) as response:
                    body = await response.read()
                for href in lxml.html.fromstring(body).xpath("//a/@href"):
                    target = urljoin(url, href)
                    if target not in seen:
                        seen.add(target)
                        queue.append(target)

            while queue or running:
                while queue and len(running) < CONCURRENCY:
                    running.add(asyncio.create_task(fetch(queue.popleft())))
                _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)

    if uvloop:
        import uvloop as fast

        fast.run(main())
    else:
        asyncio.run(main())


def main() -> None:
    """Run one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("start")
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--redis", help="where scrapy-redis has its queue")
    args = parser.parse_args()
    if args.name in ("bare", "bare-uvloop"):
        run_bare(args.start, uvloop=args.name == "bare-uvloop")
    elif args.name == "crawlee":
        run_crawlee(args.start)
    elif args.name in ("engine", "engine-bare"):
        run_engine(args.start, args.pages, middlewares=args.name == "engine")
    else:
        run_scrapy(args.start, args.redis if args.name == "scrapy-redis" else None)


if __name__ == "__main__":
    main()
