"""Parts of a project that keep a crawl from beginning, each in its way."""

from __future__ import annotations

from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured


class Raises:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Raises:
        raise KeyError("PART_KEY")


class Declines:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Declines:
        raise NotConfigured("PART_KEY is missing")


class OpensBadly:
    def open_spider(self) -> None:
        raise RuntimeError("no database")

    def process_item(self, item: Any) -> Any:
        return item


class HearsBadly:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> HearsBadly:
        part = cls()
        crawler.signals.connect(part.opened, signals.spider_opened)
        return part

    def opened(self) -> None:
        raise RuntimeError("no licence")
