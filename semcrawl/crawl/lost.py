"""Results that could not be written."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.statscollectors import StatsCollector

from semcrawl.errors import ResultsGone, StoreError

#: the stats ``semcrawl/NAME/failed`` count what could not be written: by our pipelines, by the
#: user's (``pipelines``), and to WARC files
_NAMES = ("quads", "embedded", "pages", "files", "images", "metadata", "pipelines", "warc")


class ItemNotWritten(DropItem):
    """An item could not be written: its link must not count as done.

    It is a ``DropItem`` because Scrapy logs those in one line. ``Acknowledgement.item_dropped``
    tells it from an item dropped on purpose.
    """

    def __init__(self, reason: StoreError | str) -> None:
        """Give the reason, in one line."""
        #: earlier results are gone as well: the crawl ends and reports why
        self.ends_crawl = isinstance(reason, ResultsGone)
        super().__init__(str(reason), log_level="INFO" if self.ends_crawl else "ERROR")


def end_crawl(crawler: Crawler, reason: str) -> None:
    """End the crawl as its results are gone; a spider without a session goes on."""
    session = getattr(crawler.spider, "session", None)
    if session is not None:
        session.fail(reason)


def stats_of(crawlers: Iterable[Crawler]) -> list[StatsCollector]:
    """Return the stats of the crawlers that have begun."""
    found = []
    for crawler in crawlers:
        with suppress(RuntimeError):  # Scrapy raises it before a crawl begins
            if crawler.stats is not None:
                found.append(crawler.stats)
    return found


def lost_results(crawlers: Iterable[Crawler]) -> int:
    """How many results of a run could not be written."""
    names = [f"semcrawl/{name}/failed" for name in _NAMES]
    return sum(int(each.get_value(name, 0)) for each in stats_of(crawlers) for name in names)


def lost_feeds(crawlers: Iterable[Crawler]) -> bool:
    """Whether a feed export failed, or an item could not be put into a feed; the log says why."""
    return any(
        name.startswith(("feedexport/failed_count/", "semcrawl/feeds/failed"))
        for each in stats_of(crawlers)
        for name in each.get_stats()
    )
