"""Runs the crawls of a command side by side, and reports why one could not begin."""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
import traceback
from asyncio import Future
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.misc import load_object

import semcrawl
from semcrawl.errors import SemcrawlError

logger = logging.getLogger(__name__)

#: settings of components by import path, each with its order
_PLACES = (
    "ADDONS",
    "DOWNLOADER_MIDDLEWARES",
    "EXTENSIONS",
    "ITEM_PIPELINES",
    "SPIDER_MIDDLEWARES",
)
#: settings of components by name
_NAMED = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES")
#: folders of Scrapy's and our code, whose errors are reported without a position
_KNOWN = tuple(str(Path(module.__file__ or "").parent) for module in (scrapy, semcrawl))


class Crawls:
    """The crawls that a command runs together in its process, and their errors."""

    def __init__(self, process: CrawlerProcessBase) -> None:
        """Run the crawls in ``process``."""
        self._process = process
        #: why the first of them could not begin, or empty
        self.fault = ""
        self._watch = _SignalWatch()
        self._began = time.process_time()

    @property
    def spent(self) -> float:
        """Processor seconds of this process since its last spider opened."""
        return time.process_time() - self._began

    @property
    def failed(self) -> bool:
        """Whether a crawl could not begin, or a signal handler failed."""
        return bool(self.fault or self._process.bootstrap_failed or self._watch.failed)

    def run(
        self, crawls: Mapping[Crawler, Mapping[str, Any]], give_up: Callable[[str], None]
    ) -> None:
        """Run crawlers with the arguments of their spiders until all have ended.

        If one cannot begin, log the reason in one line and pass it to ``give_up``, which ends the
        others.
        """
        handlers = logging.getLogger("scrapy.utils.signal")
        handlers.addHandler(self._watch)
        try:
            for crawler, arguments in crawls.items():
                crawler.signals.connect(self._opened, signals.spider_opened)
                unbegun = partial(self._unbegun, crawler.settings, give_up)
                crawl: Any = self._process.crawl(crawler, **arguments)
                if isinstance(crawl, Future):
                    crawl.add_done_callback(partial(_tell, unbegun))
                else:
                    crawl.addErrback(lambda failure, tell=unbegun: tell(failure.value))
            with _hangups_end():
                self._process.start()
        finally:
            handlers.removeHandler(self._watch)

    def _opened(self) -> None:
        """Exempt what is loaded by now from garbage collection, and start the clock."""
        gc.freeze()
        self._began = time.process_time()

    def _unbegun(
        self, settings: BaseSettings, give_up: Callable[[str], None], error: BaseException
    ) -> None:
        """Report why a crawl could not begin."""
        fault = f"the crawl cannot begin: {reason_of(error, settings)}"
        if fault != self.fault:  # both spiders may report the same
            logger.error("%s", fault)
            logger.debug("where it happened", exc_info=error)
        self.fault = self.fault or fault
        give_up(fault)


@contextmanager
def _hangups_end() -> Iterator[None]:
    """Let SIGHUP, sent when the terminal closes, end crawls like SIGTERM, unless it is ignored."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is not signal.SIG_DFL:
        yield
        return
    signal.signal(hangup, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(hangup, signal.SIG_DFL)


def reason_of(error: BaseException, settings: BaseSettings) -> str:
    """Return one line on why a crawl could not begin.

    It names the setting whose component cannot be loaded. For an error in code that is neither
    Scrapy's nor ours it gives the position.
    """
    if isinstance(error, SemcrawlError):
        return _one_line(error)
    if fault := unloadable_part(settings):
        return fault
    before = error.__context__
    if before is not None and not error.__suppress_context__ and _is_known(error):
        return reason_of(before, settings)  # raised while Scrapy cleaned up
    reason = f"{type(error).__name__}: {_one_line(error)}".removesuffix(": ")
    if _is_known(error):
        return reason
    place = traceback.extract_tb(error.__traceback__)[-1:]
    return reason + "".join(
        f" ({at.filename}, line {at.lineno})" for at in place if not at.filename.startswith("<")
    )


def unloadable_part(settings: BaseSettings) -> str:
    """Return which setting names a component that cannot be loaded, and why; empty if none."""
    for name, path in _parts(settings):
        try:
            load_object(path)
        except Exception as error:  # importing may raise anything
            return f"{name} names {path}, which cannot be loaded: {_one_line(error)}"
    return ""


def _parts(settings: BaseSettings) -> Iterator[tuple[str, str]]:
    """Yield settings and the import paths that they name."""
    for name, default in vars(default_settings).items():
        if not name.isupper() or (settings.getpriority(name) or 0) <= 0:
            continue
        value = settings[name]
        if name in _PLACES:
            paths = [path for path, place in dict(value).items() if place is not None]
        elif name in _NAMED:
            paths = list(dict(value).values())
        else:
            paths = [value] if isinstance(default, str) and _is_path(default) else []
        yield from ((name, path) for path in paths if isinstance(path, str) and "." in path)


def _is_path(text: str) -> bool:
    """Whether a default value is the import path of a class."""
    return text.startswith(("scrapy.", "twisted.")) and text.rpartition(".")[2][:1].isupper()


def _is_known(error: BaseException) -> bool:
    """Whether Scrapy or we raised an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.startswith(_KNOWN)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _tell(unbegun: Callable[[BaseException], None], crawl: Future[None]) -> None:
    """Report the exception that ended a crawl, if any."""
    if not crawl.cancelled() and (error := crawl.exception()) is not None:
        unbegun(error)


class _SignalWatch(logging.Handler):
    """Notices exceptions in signal handlers, which Scrapy only logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Record the failure."""
        self.failed = True
