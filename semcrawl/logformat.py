"""Formats Scrapy's log lines only when they are shown."""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.logformatter import LogFormatter
from scrapy.settings import BaseSettings

from semcrawl.printable import printable


class SparingLogFormatter(LogFormatter):
    """Formats no line per page and item unless ``LOG_LEVEL`` shows them.

    Scrapy formats and discards them all, which costs as much as writing a database row.
    """

    def __init__(self, *, verbose: bool = True) -> None:
        self._verbose = verbose

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the log level, and make all log records printable."""
        if logging.getLogRecordFactory() is logging.LogRecord:
            logging.setLogRecordFactory(PrintableRecord)
        return cls(verbose=shows_debug(crawler.settings))

    def crawled(self, *args: Any, **kwargs: Any) -> Any:
        """Format a line about a response."""
        return super().crawled(*args, **kwargs) if self._verbose else None

    def scraped(self, *args: Any, **kwargs: Any) -> Any:
        """Format a line about an item."""
        return super().scraped(*args, **kwargs) if self._verbose else None


class PrintableRecord(logging.LogRecord):
    """A log record whose message may contain text of a site."""

    def getMessage(self) -> str:  # noqa: N802 - of the base class
        """Return the message with terminal control characters escaped."""
        return printable(super().getMessage())


def shows_debug(settings: BaseSettings) -> bool:
    """Whether the log shows messages of level DEBUG."""
    if not settings.getbool("LOG_ENABLED"):
        return False
    level = settings.get("LOG_LEVEL")
    number = logging.getLevelName(level) if isinstance(level, str) else level
    return not isinstance(number, int) or number <= logging.DEBUG
