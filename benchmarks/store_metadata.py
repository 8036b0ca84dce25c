"""What the crawl metadata costs: a crawl with and without it, side by side.

    python benchmarks/store_metadata.py [--requests 2000] [--rounds 5] [--url DATABASE]

A Scrapy spider asks a server on loopback for small pages, as fast as it can, and gives one record
per response. Runs with and without ``MetadataPipeline`` take turns; printed are the medians of
their times and the overhead.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CRAWL = """
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

before = time.process_time()
process = CrawlerProcess(json.loads(sys.argv[3]))
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
elapsed, count = map(crawler.stats.get_value, ("elapsed_time_seconds", "item_scraped_count"))
print(elapsed, time.process_time() - before, count)
"""
PAGE = b"<html><body>" + b'<p><a href="x">link</a> some text</p>' * 60 + b"</body></html>"


class Pages(BaseHTTPRequestHandler):
    """Answers every request with the same page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: D102
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def crawl(base: str, requests: int, settings: dict[str, object]) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", CRAWL, base, str(requests), json.dumps(settings)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, processor, items = done.stdout.split()[-3:]
    if int(items) != requests:
        sys.exit(f"{items} records of {requests}")
    return float(seconds), float(processor)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--url", default="", help="database (default: SQLite in a new folder)")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    common: dict[str, object] = {
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    }
    plain, with_metadata = [], []
    for _ in range(options.rounds):
        plain.append(crawl(base, options.requests, common))
        more = {
            "ITEM_PIPELINES": {"semcrawl.pipelines.metadata.MetadataPipeline": 1},
            "SEMCRAWL_JOBDIR": tempfile.mkdtemp(),
            "SEMCRAWL_METADATA_URL": options.url,
        }
        with_metadata.append(crawl(base, options.requests, {**common, **more}))
    server.shutdown()
    for name, place in (("time", 0), ("processor time", 1)):
        off = statistics.median(run[place] for run in plain)
        on = statistics.median(run[place] for run in with_metadata)
        print(f"{name}: {off:.2f} s without, {on:.2f} s with: {on / off - 1:+.1%}")


if __name__ == "__main__":
    main()
