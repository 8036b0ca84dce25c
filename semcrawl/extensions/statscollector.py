"""A faster stats collector."""

from __future__ import annotations

from scrapy.statscollectors import MemoryStatsCollector


class StatsCollector(MemoryStatsCollector):
    """Scrapy's collector in memory, without its check of each call.

    Scrapy wraps each method to warn of a deprecated argument, which takes ten times as long as
    counting.
    """

    __getattribute__ = object.__getattribute__
