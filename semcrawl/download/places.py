"""Room beside the engine's limits: for downloads that are no link's, and documents that wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.crawler import Crawler


@contextmanager
def extra_download_slot(crawler: Crawler) -> Iterator[None]:
    """Allow one download more at a time, so that this one takes no link's slot."""
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
    """Allow a response of ``size`` bytes to wait beside those that the scraper counts."""
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
