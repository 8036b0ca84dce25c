"""Places for what is beside the crawl of links: downloads, and documents that wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.crawler import Crawler


@contextmanager
def extra_download_slot(crawler: Crawler) -> Iterator[None]:
    """Have one download more at a time, so that no link waits for the place of this one."""
    engine = crawler.engine
    if engine is None or engine.downloader.total_concurrency <= 0:  # (0: there is no limit)
        yield
        return
    downloader = engine.downloader
    downloader.total_concurrency += 1
    try:
        yield
    finally:
        downloader.total_concurrency -= 1


@contextmanager
def uncounted_by_scraper(crawler: Crawler, size: int) -> Iterator[None]:
    """Have a response of ``size`` bytes wait without counting among those that are being read."""
    engine = crawler.engine
    slot = engine.scraper.slot if engine is not None else None
    if slot is None:
        yield
        return
    slot.max_active_size += size
    try:
        yield
    finally:
        slot.max_active_size -= size
