"""The cost of the crawl metadata: a crawl with and without it, side by side.

    python benchmarks/store_metadata.py [--crawl html|bare|none] [--requests 2000] [--rounds 5] \
        [--url DATABASE]

A server on loopback has small pages, each with links to ten others. ``--crawl html`` is semcrawl's
own crawl of them (``semcrawl crawl html``, no delays); ``--crawl bare``, the hardest case, a Scrapy
spider that does nothing but read the links and give one record per response. Runs with and
without ``MetadataPipeline`` take turns; printed are the medians of their times and the overhead.
Look at the processor time: it suffers less from what else the machine does. ``--crawl none`` has no
crawl, and tells what a record costs by itself: so many records, 60 under way at a time, and the
processor time of this process for each, which hardly depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import crawl_db_url
from semcrawl.pipelines.metadata import MetadataPipeline

BARE = """
import json, sys, time
import scrapy
from scrapy.crawler import CrawlerProcess
import semcrawl.pipelines.metadata  # its loading is no part of the overhead
from semcrawl.items import FetchOutcome, FetchRecord

class Pages(scrapy.Spider):
    name = "pages"
    async def start(self):
        for i in range(int(sys.argv[2])):
            yield scrapy.Request(f"{sys.argv[1]}/{i}", dont_filter=True)
    def parse(self, response):
        links = [response.urljoin(link) for link in response.css("a::attr(href)").getall()]
        yield FetchRecord(
            response.url, FetchOutcome.FETCHED_HTML, response.url, f"{sys.argv[1]}/parent", 3, "HR",
            ("an2", "p1"), 200, "text/html", "html", len(response.body),
            started_at=time.time(), elapsed=0.01, extra={"links": str(len(links))},
        )

process = CrawlerProcess(json.loads(sys.argv[3]))
crawler = process.create_crawler(Pages)
before = time.process_time(), time.perf_counter()
process.crawl(crawler)
process.start()
print(time.perf_counter() - before[1], time.process_time() - before[0])
"""
OWN = """
import json, sys, time
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings
import semcrawl.pipelines.metadata

settings = get_project_settings()
settings.setdict({**json.loads(sys.argv[3]), "SEMCRAWL_PAGES": int(sys.argv[2])}, "cmdline")
process = CrawlerProcess(settings)
before = time.process_time(), time.perf_counter()
process.crawl("html", seeds=sys.argv[1] + "/0")
process.start()
print(time.perf_counter() - before[1], time.process_time() - before[0])
"""
CRAWLS = {"bare": BARE, "html": OWN}
PIPELINE = "semcrawl.pipelines.metadata.MetadataPipeline"
#: settings of both crawls
COMMON = {
    "bare": {"CONCURRENT_REQUESTS_PER_DOMAIN": 16},
    "html": {
        "SEMCRAWL_CRAWL_DELAY": 0,
        "SEMCRAWL_CONCURRENCY_PER_HOST": 16,
        "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
        "TELNETCONSOLE_ENABLED": False,
    },
}


class Pages(BaseHTTPRequestHandler):
    """Answers every request with a page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: D102
        number = int(self.path[1:]) if self.path[1:].isdigit() else 0
        page = "".join(
            f'<p><a href="/{10 * number + i}">link</a> some text</p>' * 6 for i in range(1, 11)
        )
        body = f"<html><body>{page}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def crawl(kind: str, base: str, requests: int, settings: dict[str, object]) -> tuple[float, float]:
    folder = Path(tempfile.mkdtemp(prefix="store-metadata-"))
    common = {"LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 16, "SEMCRAWL_JOBDIR": str(folder)}
    everything = json.dumps({**common, **COMMON[kind], **settings})
    done = subprocess.run(
        [sys.executable, "-c", CRAWLS[kind], base, str(requests), everything],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "semcrawl.settings" * (kind == "html")},
    )
    if "SEMCRAWL_METADATA_URL" in settings and not settings["SEMCRAWL_METADATA_URL"]:
        with sqlite3.connect(folder / "crawl.db") as database:
            (rows,) = database.execute("SELECT count(*) FROM fetch").fetchone()
        if rows < requests:
            sys.exit(f"{rows} records of {requests}")
    shutil.rmtree(folder)
    seconds, processor = done.stdout.split()[-2:]
    return float(seconds), float(processor)


def record_time(records: int, database: str) -> float:
    """Return the seconds of processor time that a record costs."""

    def record(number: int) -> FetchRecord:
        url = f"http://127.0.0.1:8000/{number}"
        return FetchRecord(
            url, FetchOutcome.FETCHED_HTML, url, "http://127.0.0.1:8000/parent", 3, "HR",
            ("an2", "p1"), 200, "text/html", "html", 3000, started_at=time.time(), elapsed=0.01,
            extra={"links": "60"}, attempt=random.getrandbits(63),
        )  # fmt: skip

    async def run() -> float:
        pipeline = MetadataPipeline(database, "html")
        pipeline.open_spider()
        await pipeline.process_item(record(0))
        made = [record(number) for number in range(records)]
        before = time.process_time()
        for first in range(0, records, 60):
            await asyncio.gather(*map(pipeline.process_item, made[first : first + 60]))
        elapsed = time.process_time() - before
        await pipeline.close_spider()
        return elapsed / records

    return asyncio.run(run())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crawl", choices=[*CRAWLS, "none"], default="html")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--url", default="", help="database (default: SQLite in a new folder)")
    options = parser.parse_args()
    if options.crawl == "none":
        with tempfile.TemporaryDirectory() as folder:
            database = options.url or crawl_db_url(Path(folder))
            times = [record_time(options.requests, database) for _ in range(options.rounds)]
        print(f"{statistics.median(times) * 1e6:.0f} µs of processor time per record")
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    runs: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for number in range(options.rounds):
        for is_on in (False, True) if number % 2 else (True, False):
            settings: dict[str, object] = {"ITEM_PIPELINES": {PIPELINE: 900 if is_on else None}}
            if is_on:
                settings["SEMCRAWL_METADATA_URL"] = options.url
            runs[is_on].append(crawl(options.crawl, base, options.requests, settings))
    server.shutdown()
    for name, place in (("time", 0), ("processor time", 1)):
        off, on = (statistics.median(run[place] for run in runs[x]) for x in (False, True))
        print(f"{name}: {off:.2f} s without, {on:.2f} s with: {on / off - 1:+.1%}")


if __name__ == "__main__":
    main()
