"""Spiders of others: a script that crawls with all of them, and prints their stats."""

import json

from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest

from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.spiders.html import HtmlSpider

HOST = "http://d.example"


class Base(HtmlSpider):
    start_urls = [HOST + "/"]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs, follow_rdf=1)

    @classmethod
    def update_settings(cls, settings):
        settings.set("SEMCRAWL_JOBDIR", cls.name, "spider")
        # (what is asked for is counted)
        settings.set("SEMCRAWL_SITEMAPS", "never", "spider")
        settings.set("SEMCRAWL_WELL_KNOWN", [], "spider")
        super().update_settings(settings)


class Filters(Base):
    name = "filters"

    async def parse(self, response):
        async for item in super().parse(response):
            if isinstance(item, RdfDocument):
                yield item


class Raises(Base):
    name = "raises"

    async def parse(self, response):
        if response.url.endswith(".ttl"):
            raise ValueError("a fault of theirs")
        async for item in super().parse(response):
            yield item


class Returns(Base):
    name = "returns"

    async def parse(self, response):
        return [item async for item in super().parse(response)]


class Replaces(Base):
    name = "replaces"

    def parse(self, response):
        yield {"url": response.url}


class Adds(Base):
    name = "adds"

    async def parse(self, response):
        async for item in super().parse(response):
            yield item
        yield {"url": response.url}
        yield Request(HOST + "/own", callback=self.parse_own, meta=response.meta)
        yield Request(HOST + "/b.ttl")

    def parse_own(self, response):
        yield {"own": response.text}


class Starts(Base):
    name = "starts"
    start_urls = []

    async def start(self):
        yield {"begins": self.name}
        yield Request(HOST + "/own", callback=self.parse_own)
        yield Request(HOST + "/a.ttl")

    def parse_own(self, response):
        yield {"own": response.text}


class OwnOnly(Base):
    name = "own-only"
    start_urls = []

    async def start(self):
        yield Request(HOST + "/late", callback=self.parse_own)

    def parse_own(self, response):
        yield Request(HOST + "/late?2", callback=self.parse_later)

    def parse_later(self, response):
        self.note_referer(response)
        yield Request(HOST + "/elsewhere", callback=self.parse_last)

    def parse_last(self, response):
        self.note_referer(response)
        yield Request(HOST + "/a.ttl")

    def note_referer(self, response):
        referer = response.request.headers.get("Referer")
        noted = self.crawler.stats.get_value("referers", [])
        self.crawler.stats.set_value("referers", [*noted, referer and referer.decode()])


class Shallow(Base):
    name = "shallow"
    custom_settings = {"DEPTH_LIMIT": 1, "SCHEDULER": "scrapy.core.scheduler.Scheduler"}


class Bounded(Base):
    name = "bounded"
    allowed_domains = ["d.example"]
    custom_settings = {"SEMCRAWL_SCOPE": "any"}


class Ported(Base):
    name = "ported"
    start_urls = [HOST + ":8080/"]
    allowed_domains = ["D.example", None]


class DropsRecords:
    async def process_spider_output(self, response, result):
        async for item in result:
            if not isinstance(item, FetchRecord):
                yield item


class Fails:
    async def process_spider_output(self, response, result):
        async for item in result:
            raise RuntimeError("theirs")
            yield item


class Middleware(Base):
    name = "middleware"
    custom_settings = {"SPIDER_MIDDLEWARES": {DropsRecords: 500}}


class Broken(Base):
    name = "broken"
    custom_settings = {"SPIDER_MIDDLEWARES": {Fails: 10}}


class Ignores:
    def process_request(self, request):
        if request.url.endswith("/a.ttl"):
            raise IgnoreRequest("not this one")


class Ignoring(Base):
    name = "ignoring"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {Ignores: 543}}


class Pipeline:
    def process_item(self, item):
        if isinstance(item, RdfDocument) and item.url.endswith("/b.ttl"):
            raise CloseSpider("no use in a pipeline")
        if isinstance(item, RdfDocument):
            raise DropItem("not wanted")
        return item


class Drops(Base):
    name = "drops"
    custom_settings = {"ITEM_PIPELINES": {Pipeline: 100}}


class Closes(Base):
    name = "closes"

    async def parse(self, response):
        async for item in super().parse(response):
            if response.url.endswith("/a.ttl"):
                raise CloseSpider("enough")
            yield item


class Measures(Base):
    name = "measures"

    async def parse(self, response):
        self.crawler.stats.max_value("deepest", response.meta["depth"])
        async for item in super().parse(response):
            yield item


class Bought(Base):
    name = "bought"
    custom_settings = {"SEMCRAWL_PAGES": 2}


class Impatient(Base):
    name = "impatient"
    custom_settings = {"SEMCRAWL_PATIENCE": 1}


class Seedless(Base):
    name = "seedless"
    start_urls = []

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs, seeds="")


class Passes:
    def process_item(self, item):
        return item


class Lets:
    def process_request(self, request):
        return None


process = AsyncCrawlerProcess(
    {
        "SEMCRAWL_CRAWL_DELAY": 0,
        "SEMCRAWL_RELEVANCE": "breadth-first",
        "LOG_FILE": "log",
        "ITEM_PIPELINES": {Passes: 200},
        "DOWNLOADER_MIDDLEWARES": {Lets: 500},
    }
)
crawlers = []
for spider in Base.__subclasses__():
    crawlers.append(process.create_crawler(spider))
    process.crawl(crawlers[-1])
process.start()
print(json.dumps({c.spidercls.name: c.stats.get_stats() for c in crawlers}, default=str))
