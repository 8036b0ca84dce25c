"""Whole crawls side by side: semcrawl, plain Scrapy, scrapy-redis, and a bare aiohttp + lxml loop.

And the floor: Scrapy's engine alone, which fetches the same pages and reads nothing.

    python benchmarks/frontier_crawl.py [--pages 5000] [--rounds 3] [--only NAME …]

All fetch the same local pages of 30 links, over one server process, and end when they have them
all. semcrawl runs as users run it, with relevance, records and pipelines; the others do no more
than follow links and yield an item; ``engine`` has Scrapy's default middlewares and is told all
addresses beforehand, ``engine-bare`` has no middlewares either. Time and CPU are taken from the
first page to the last, start-up left out; "per core" is pages per second of the crawler's own CPU
time (the web server and Redis counted out, and shown beside it). ``semcrawl`` learns, as by
default; ``semcrawl-rules`` goes by the thesis's rules and parents. ``-2`` is two workers on one
Redis; what two free cores make of them is twice their pages/s per core, as long as Redis keeps up.
Rounds are interleaved; medians are shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urljoin

from rich.console import Console
from rich.table import Table

from semcrawl.frontier import EmbeddedRedis

LINKS = 30
CONCURRENCY = 16
TICKS = os.sysconf("SC_CLK_TCK")


def make_page(page: int, pages: int) -> bytes:
    """An ordinary page: a head, some navigation, paragraphs with links in them."""
    rng = random.Random(page)
    targets = [2 * page + 1, 2 * page + 2]
    targets += [rng.randrange(pages) for _ in range(LINKS - 2)]
    targets = [target % pages for target in targets]
    words = "the crawler reads what stands around each link and keeps it for later use".split()
    items = []
    for target in targets:
        text = " ".join(rng.choices(words, k=12))
        section = target % 12
        items.append(
            f'<p class="entry">{text} <a href="/s{section}/page-{target}.html"'
            f' title="about {target}">page {target}</a> {text}</p>'
        )
    head = f'<html><head><title>Page {page}</title><link rel="icon" href="/i.png"></head><body>'
    return (head + '<div id="main">' + "\n".join(items) + "</div></body></html>").encode()


def serve(pages: int, port: Synchronized[int], served: Synchronized[int]) -> None:
    """Serve the pages for ever; count them."""
    bodies = [make_page(n, pages) for n in range(pages)]
    asked: set[int] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                if path == "/reset-0.html":
                    asked.clear()
                try:
                    number = int(path.rpartition("-")[2].removesuffix(".html"))
                    body, status = bodies[number], "200 OK"
                    if path.startswith("/s"):
                        asked.add(number)
                    served.value = len(asked)
                except (ValueError, IndexError):
                    body, status = b"", "404 Not Found"
                start = (
                    f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                writer.write(start.encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 20)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())


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


def run_bare(start: str) -> None:
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

    asyncio.run(main())


@dataclass
class Result:
    """One crawl."""

    seconds: float
    cpu: float
    redis_cpu: float


def cpu_seconds(pids: list[int]) -> float:
    """CPU time of processes so far."""
    total = 0.0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def command(name: str, start: str, redis: str, folder: Path, pages: int) -> list[str]:
    """The command line of a contender."""
    if not name.startswith("semcrawl"):
        options = ["--run", name, "--start", start, "--redis", redis, "--pages", str(pages)]
        return [sys.executable, __file__, *options]
    settings = {
        "REDIS_URL": redis,
        "SEMCRAWL_CRAWL_NAME": "bench",
        "SEMCRAWL_JOBDIR": folder,
        "SEMCRAWL_CRAWL_DELAY": 0,
        "SEMCRAWL_CONCURRENCY_PER_HOST": 2 * CONCURRENCY,
        "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
        "LOG_LEVEL": "WARNING",
    }
    if name.startswith("semcrawl-rules"):
        settings["SEMCRAWL_RELEVANCE"] = "rules-parents"
    parts = [sys.executable, "-m", "semcrawl", "crawl", "html", "-a", f"seeds={start}"]
    for key, value in settings.items():
        parts += ["-s", f"{key}={value}"]
    return parts


def run_one(name: str, start: str, pages: int, served: Synchronized[int]) -> Result:
    """Run a contender to its last page."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(EmbeddedRedis(folder / "redis"))
        address = f"unix://{redis.socket}"
        processes = []
        for number in range(2 if name.endswith("-2") else 1):
            job = folder / f"job{number}"
            job.mkdir()
            line = command(name, start, address, job, pages)
            processes.append(subprocess.Popen(line, cwd=folder))
        pids = [process.pid for process in processes]
        try:
            while served.value < 1 + pages // 100:
                if processes[0].poll() is not None:
                    raise SystemExit(f"{name} ended before its first page")
                time.sleep(0.005)
            first = served.value
            began, cpu = time.perf_counter(), cpu_seconds(pids)
            redis_cpu = cpu_seconds([redis.pid or 0])
            while served.value < pages:
                if all(process.poll() is not None for process in processes):
                    raise SystemExit(f"{name} ended after {served.value} pages")
                time.sleep(0.005)
            share = pages / (pages - first)
            return Result(
                (time.perf_counter() - began) * share,
                (cpu_seconds(pids) - cpu) * share,
                (cpu_seconds([redis.pid or 0]) - redis_cpu) * share,
            )
        finally:
            for process in processes:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    names = ["semcrawl", "semcrawl-2", "semcrawl-rules", "semcrawl-rules-2"]
    names += ["scrapy", "scrapy-redis", "bare", "engine", "engine-bare"]
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--run", choices=names[4:], help=argparse.SUPPRESS)
    parser.add_argument("--start", help=argparse.SUPPRESS)
    parser.add_argument("--redis", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run == "bare":
        return run_bare(args.start)
    if args.run in ("engine", "engine-bare"):
        return run_engine(args.start, args.pages, middlewares=args.run == "engine")
    if args.run:
        return run_scrapy(args.start, args.redis if args.run == "scrapy-redis" else None)
    port, served = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(args.pages, port, served), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    results: dict[str, list[Result]] = {name: [] for name in args.only}
    import urllib.request

    for _ in range(args.rounds):
        for name in args.only:
            urllib.request.urlopen(f"http://127.0.0.1:{port.value}/reset-0.html").read()
            start = f"http://127.0.0.1:{port.value}/s0/page-0.html"
            results[name].append(run_one(name, start, args.pages, served))
            print(name, json.dumps(results[name][-1].__dict__), file=sys.stderr, flush=True)
    table = Table("crawler", "pages/s", "pages/s per core", "Redis CPU/page ms", "of semcrawl")
    cores = {n: args.pages / median(r.cpu for r in rs) for n, rs in results.items()}
    for name, runs in results.items():
        rate = args.pages / median(r.seconds for r in runs)
        redis_cost = median(r.redis_cpu for r in runs) / args.pages * 1000
        ratio = cores["semcrawl"] / cores[name] if "semcrawl" in cores else 0
        table.add_row(
            name, f"{rate:,.0f}", f"{cores[name]:,.0f}", f"{redis_cost:.2f}", f"{ratio:.2f}"
        )
    Console().print(table)
    return None


if __name__ == "__main__":
    main()
