"""The log: lines formatted only when they are shown, as text or JSON, in files that rotate."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from logging.handlers import WatchedFileHandler
from typing import Any, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.extensions.logstats import LogStats
from scrapy.logformatter import LogFormatter
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.statscollectors import StatsCollector

from semcrawl.printable import printable
from semcrawl.settings.reader import fill, setting

#: log files that are kept besides the current one
_KEPT = 5


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


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How the log is written."""

    #: ``text`` or ``json``
    form: str = setting("SEMCRAWL_LOG_AS")
    #: bytes above which a file is renamed; 0 = any number
    size: int = setting("SEMCRAWL_LOG_SIZE")


class JsonLines(logging.Formatter):
    """Formats a log record as a JSON object on one line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        moment = datetime.fromtimestamp(record.created, UTC)
        found: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if name := getattr(getattr(record, "spider", None), "name", None):
            found["spider"] = name
        if isinstance(record.args, Mapping):
            cause = record.args.get("request") or record.args.get("response")
            if url := getattr(cause, "url", None):
                found["url"] = url
        if record.exc_info and record.exc_info[1] is not None:
            found["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
            found["traceback"] = self.formatException(record.exc_info)
        return json.dumps(found, default=str)


class RotatingLog(WatchedFileHandler):
    """A log file that several processes append to, and that is renamed when it is large.

    Whoever sees it too large renames it; the others notice, as they do when a program such as
    logrotate renames it.
    """

    def __init__(self, path: str, most: int, encoding: str | None) -> None:
        """Append to ``path``; ``most``: bytes of a file, 0 = any number."""
        super().__init__(path, encoding=encoding, errors="backslashreplace")
        self._most = most

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; then rename the file if it is too large."""
        super().emit(record)
        if self._most and self.stream is not None:
            with suppress(OSError, ValueError):  # a full disk, or a closed file
                own = os.fstat(self.stream.fileno())
                if own.st_size > self._most and os.path.samestat(own, os.stat(self.baseFilename)):
                    self._rename()

    def _rename(self) -> None:
        names = [self.baseFilename, *(f"{self.baseFilename}.{n}" for n in range(1, _KEPT + 1))]
        for old, new in reversed(list(pairwise(names))):
            with suppress(FileNotFoundError):
                os.replace(old, new)


#: our handler, where Scrapy's does not do
_own: logging.Handler | None = None


def formatter(settings: BaseSettings) -> logging.Formatter:
    """Return what formats the log by the settings."""
    if fill(LogOptions, settings).form == "json":
        return JsonLines()
    return logging.Formatter(settings.get("LOG_FORMAT"), settings.get("LOG_DATEFORMAT"))


def take_log(settings: BaseSettings) -> None:
    """Write the log ourselves if it is JSON or rotates; call this before the crawler process.

    Scrapy, which would open the file again for each crawler, then logs nowhere.
    """
    global _own
    options = fill(LogOptions, settings)
    path = settings.get("LOG_FILE")
    if not (options.form == "json" or (options.size and path)):
        return
    if not (settings.getbool("LOG_ENABLED") or path):
        return
    encoding = settings.get("LOG_ENCODING")
    _own = RotatingLog(path, options.size, encoding) if path else logging.StreamHandler()
    _own.setFormatter(formatter(settings))
    _own.setLevel(settings.get("LOG_LEVEL"))
    if logging.getLogRecordFactory() is logging.LogRecord:
        logging.setLogRecordFactory(PrintableRecord)
    logging.root.addHandler(_own)
    for name, value in (("LOG_FILE", None), ("LOG_ENABLED", False)):
        priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["project"])
        settings.set(name, value, priority)


def log_file(settings: BaseSettings) -> str | None:
    """Return the path of the log, whoever writes it."""
    if isinstance(_own, RotatingLog):
        return _own.baseFilename
    path: str | None = settings.get("LOG_FILE")
    return path


class EvenLogStats(LogStats):
    """Scrapy's line per minute, once per minute, and none before the first page.

    Event loops may wake a timer a moment early; Scrapy's then calls again and again until the
    minute is over.
    """

    def __init__(self, stats: StatsCollector, interval: float = 60.0) -> None:
        """Log every ``interval`` seconds."""
        super().__init__(stats, interval)
        self._last = float("-inf")

    def log(self, spider: Spider) -> None:
        """Log the numbers of pages and items, and their rates."""
        now = time.monotonic()
        if now - self._last < self.interval / 2:
            return
        self._last = now
        if self.stats.get_value("response_received_count", 0):
            super().log(spider)


def shows_debug(settings: BaseSettings) -> bool:
    """Whether the log shows messages of level DEBUG."""
    if not settings.getbool("LOG_ENABLED") and _own is None:
        return False
    level = settings.get("LOG_LEVEL")
    number = logging.getLevelName(level) if isinstance(level, str) else level
    return not isinstance(number, int) or number <= logging.DEBUG
