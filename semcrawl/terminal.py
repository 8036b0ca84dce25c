"""Prints messages of commands on standard error: one line each, no tracebacks."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcrawl.printable import printable
from semcrawl.web.hosts import host_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from scrapy.settings import BaseSettings


#: width of piped tables
_PIPED = 1000
#: loggers whose warnings are shown too: the crawl pauses, resumes, or lacks a component
_SHOWN_WARNINGS = frozenset(
    {
        "semcrawl.frontier.links",
        "semcrawl.frontier.redis.frontier",
        "semcrawl.frontier.redis.connection",
        "semcrawl.frontier.sqlite.frontier",
        "semcrawl.frontier.sqlite.file",
        "semcrawl.crawl.hosthealth",
        "semcrawl.crawl.healthsigns",
        "semcrawl.crawl.dispatch",
        "semcrawl.crawl.session",
        "semcrawl.pipelines.metadata",
        "scrapy.middleware",
        "scrapy.addons",
    }
)
#: logger of exceptions in signal handlers
_SIGNALS = "scrapy.utils.signal"
#: loggers about single requests, which are in the records
_REQUEST_LOGGERS = frozenset({"scrapy.core.scraper", "scrapy.downloadermiddlewares.robotstxt"})
#: beginnings of Scrapy's messages about results that pipelines dropped or failed to write
_LOST = ("Dropped: ", "Error processing ")


def complain(message: str) -> None:
    """Report a problem in one line."""
    print(f"semcrawl: {_one_line(message)}", file=sys.stderr)


def note_refusal(settings: BaseSettings, message: str) -> None:
    """Write to the log file, if there is one, why nothing was started.

    Users of a service that runs jobs see only the log.
    """
    if file := settings.get("LOG_FILE"):
        moment = time.strftime(settings.get("LOG_DATEFORMAT") or "%Y-%m-%d %H:%M:%S")
        with suppress(OSError), Path(file).open("a", encoding="utf-8") as log:
            log.write(f"{moment} [semcrawl] ERROR: {_one_line(message)}\n")


def _one_line(message: str) -> str:
    """Return a message that may name a file of any name."""
    return printable(" ".join(message.splitlines()))


def table_console() -> Console:
    """Make a console on standard output for tables of URLs.

    Piped output is not cut or wrapped, unless ``COLUMNS`` is set.
    """
    console = plain_console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = plain_console(width=_PIPED)
    return console


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Make a console that prints every text literally.

    Rich's markup, emoji names and terminal escape sequences in addresses, paths and messages have
    no effect.
    """
    from rich.console import Console  # few messages need it
    from rich.text import Text

    class PlainConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    return PlainConsole(stderr=stderr, width=width, markup=False, emoji=False)


def aligned(title: str, columns: Mapping[str, bool], rows: Iterable[Sequence[str]] = ()) -> Table:
    """Make a table: names break where it is too wide, figures (``True``) do not."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name, is_figure in columns.items():
        if is_figure:
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def fitted(table: Table, console: Console) -> Table:
    """Return a table fitted to a console, in a narrow one without lines between columns.

    Give columns of figures ``no_wrap`` and those of names ``overflow="fold"``: names wrap first,
    and nothing is cut off.
    """
    from rich import box
    from rich.measure import Measurement

    unbound = console.options.update(width=_PIPED)
    if Measurement.get(console, unbound, table).maximum > console.width:
        table.box, table.padding = box.SIMPLE_HEAD, 0
        table.show_edge = table.pad_edge = False
    return table


def log_handler(settings: BaseSettings, form: logging.Formatter) -> logging.Handler:
    """Make a log handler that shows the log on standard error as in its file, in its form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(settings.get("LOG_LEVEL"))
    handler.setFormatter(form)
    return handler


def error_handler() -> logging.Handler:
    """Make a log handler that shows a line per error or outage of the whole crawl."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.addFilter(_OncePerHost())
    handler.setFormatter(_OneLine())
    return handler


class _OncePerHost(logging.Filter):
    """Drops messages on single requests, repetitions, and all but the first on a failing host."""

    def __init__(self) -> None:
        super().__init__()
        self._hosts: set[str] = set()
        self._lost: set[str] = set()
        self._last = ""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to show a message."""
        if record.levelno < logging.ERROR and record.name not in _SHOWN_WARNINGS:
            return False
        if record.name in _REQUEST_LOGGERS:
            return self._is_new_loss(record)
        if record.name == _SIGNALS and _part_of(record) == "CoreStats.spider_closed":
            return False  # the spider could not open, which is reported separately
        # several tasks may report the same problem
        last, self._last = self._last, _text(record)
        if self._last == last:
            return False
        if not str(record.msg).startswith(("Error downloading", "Gave up retrying")):
            return True
        request = record.args.get("request") if isinstance(record.args, Mapping) else None
        host = host_of(getattr(request, "url", ""))
        if host in self._hosts:
            return False
        self._hosts.add(host)
        return True

    def _is_new_loss(self, record: logging.LogRecord) -> bool:
        """Whether a record is the first with its reason for lost results."""
        text = _text(record)
        if not str(record.msg).startswith(_LOST) or text in self._lost:
            return False
        self._lost.add(text)
        return True


class _OneLine(logging.Formatter):
    """Formats an error with its reason; the traceback is in the log file."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return f"semcrawl: {printable(_text(record))}"


def _text(record: logging.LogRecord) -> str:
    """Return a record in one line, with the reason of an error."""
    message = record.getMessage().strip()
    text = message.splitlines()[0] if message else ""
    if record.name == _SIGNALS and (part := _part_of(record)):
        text = f"{part} failed"
    elif str(record.msg).startswith(_LOST):
        text = "a result is lost"
        if not record.exc_info and isinstance(record.args, Mapping):
            return f"{text}: {record.args.get('exception')}"
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return text
    reason = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return f"{text}: {reason}"


def _part_of(record: logging.LogRecord) -> str:
    """Return the name of the handler in Scrapy's message."""
    receiver = record.args.get("receiver") if isinstance(record.args, Mapping) else None
    return getattr(receiver, "__qualname__", "")


def amount(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 page``, ``2,000 pages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
