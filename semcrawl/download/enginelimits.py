"""Exemptions from the engine's limits, for errands and for documents that wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.crawler import Crawler


@contextmanager
def extra_download_slot(crawler: Crawler) -> Iterator[None]:
    """Allow one more download at a time, so that an errand takes no link's slot."""
    engine = crawler.engine
    if engine is None or engine.downloader.total_concurrency <= 0:  # 0 = no limit
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
    """Exempt a waiting response of ``size`` bytes from the scraper's limit."""
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
