"""Counting without a check of each call."""

from __future__ import annotations

from scrapy.statscollectors import MemoryStatsCollector


class StatsCollector(MemoryStatsCollector):
    """Scrapy's collector in memory.

    Scrapy wraps each method to warn of an argument that nobody gives here: that took ten times as
    long as counting.
    """

    __getattribute__ = object.__getattribute__
