"""Items that could not be written."""

from __future__ import annotations

from collections.abc import Iterable

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

#: the stats ``semcrawl/NAME/failed`` count what a pipeline could not write
_PIPELINES = ("quads", "embedded", "files", "metadata")


class ItemLost(DropItem):
    """An item could not be written: its link must not count as done.

    A ``DropItem``, as Scrapy logs those in one line; whoever acknowledges links tells the two
    apart in the signal ``item_dropped``.
    """

    def __init__(self, message: str) -> None:
        """Say why, in one line."""
        super().__init__(message, log_level="ERROR")


def lost_results(crawlers: Iterable[Crawler]) -> int:
    """How many results of a run could not be written."""
    stats = [crawler.stats for crawler in crawlers if crawler.stats]
    names = [f"semcrawl/{pipeline}/failed" for pipeline in _PIPELINES]
    return sum(int(each.get_value(name, 0)) for each in stats for name in names)
