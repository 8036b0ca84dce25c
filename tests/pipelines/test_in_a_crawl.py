"""The pipelines in a real Scrapy process."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys

import pytest

CRAWL = """
import json, sys, warnings
import scrapy
from scrapy.crawler import CrawlerProcess
import pytest

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
warnings.filterwarnings("error", module="scrapy|semcrawl")

class Two(scrapy.Spider):
    name = "two"
    first = 0
    async def start(self):
        yield scrapy.Request("data:,")
    def parse(self, response):
        for i in range(self.first, self.first + 50):
            url = f"http://example.org/{i}"
            line = f"<{url}> <http://example.org/p> 'x' <{url}> .".replace("'", '"')
            yield RdfDocument(url=url, nquads=(line + chr(10)).encode() * 3, quads=3)
            yield FetchRecord(url=url, outcome=FetchOutcome.FETCHED_RDF, quads=3)

class Other(Two):
    name = "other"
    first = 40

process = CrawlerProcess(json.loads(sys.argv[1]))
stats = []
for spider in (Two, Other):
    crawler = process.create_crawler(spider)
    stats.append(crawler)
    process.crawl(crawler)
process.start()
print(json.dumps([{k: v for k, v in c.stats.get_stats().items() if k.startswith("semcrawl")}
                  for c in stats]))
"""


def crawl(settings: dict) -> tuple[list[dict], str]:
    done = subprocess.run(
        [sys.executable, "-c", CRAWL, json.dumps(settings)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.slow
def test_two_crawlers_of_one_process_share_a_job_folder(tmp_path):
    stats, log = crawl(
        {
            "SEMCRAWL_JOBDIR": str(tmp_path),
            "LOG_LEVEL": "INFO",
            "ITEM_PIPELINES": {
                "semcrawl.pipelines.quads.QuadsFilePipeline": 300,
                "semcrawl.pipelines.metadata.MetadataPipeline": 900,
            },
        }
    )
    assert "WARNING" not in log
    assert "ERROR" not in log
    assert sum(s["semcrawl/quads/documents"] for s in stats) == 90
    assert sum(s.get("semcrawl/quads/duplicates", 0) for s in stats) == 10
    assert [s["semcrawl/metadata/rows"] for s in stats] == [50, 50]
    lines = (tmp_path / "quads.nq").read_text().splitlines()
    assert len(lines) == 270
    assert len(set(lines)) == 90
    with sqlite3.connect(tmp_path / "crawl.db") as connection:
        assert connection.execute("SELECT spider, count(*) FROM fetch GROUP BY 1").fetchall() == [
            ("other", 50),
            ("two", 50),
        ]
