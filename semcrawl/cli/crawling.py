"""Crawls of a command: they run side by side; why one could not begin is reported."""

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

#: settings with parts by import path, each with its place among the others
_PLACES = (
    "ADDONS",
    "DOWNLOADER_MIDDLEWARES",
    "EXTENSIONS",
    "ITEM_PIPELINES",
    "SPIDER_MIDDLEWARES",
)
#: settings with parts by name
_NAMED = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES")
#: where the code stands whose messages need no place
_KNOWN = tuple(str(Path(module.__file__ or "").parent) for module in (scrapy, semcrawl))


class Crawls:
    """The crawls that a command runs together in its process, and what went wrong with them."""

    def __init__(self, process: CrawlerProcessBase) -> None:
        """Take the process that runs them."""
        self._process = process
        #: why one of them could not begin; empty if all could
        self.fault = ""
        self._watch = _SignalWatch()
        self._began = time.process_time()

    @property
    def spent(self) -> float:
        """Processor time of this process since its last spider opened, seconds."""
        return time.process_time() - self._began

    @property
    def failed(self) -> bool:
        """Whether a crawl could not begin, or an extension failed at its task."""
        return bool(self.fault or self._process.bootstrap_failed or self._watch.failed)

    def run(
        self, crawls: Mapping[Crawler, Mapping[str, Any]], give_up: Callable[[str], None]
    ) -> None:
        """Run crawlers, each with the arguments of its spider, until all are over.

        When one cannot begin, its reason is logged as an error in one line, and ``give_up`` gets it
        to end the others.
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
        """Note that all is loaded; the garbage collector need not look at it again and again."""
        gc.freeze()
        self._began = time.process_time()

    def _unbegun(
        self, settings: BaseSettings, give_up: Callable[[str], None], error: BaseException
    ) -> None:
        """Tell why a crawl could not begin."""
        fault = f"the crawl cannot begin: {reason_of(error, settings)}"
        if fault != self.fault:  # the other spider meets the same
            logger.error("%s", fault)
            logger.debug("where it happened", exc_info=error)
        self.fault = self.fault or fault
        give_up(fault)


@contextmanager
def _hangups_end() -> Iterator[None]:
    """Have the end of the terminal (SIGHUP) end crawls as SIGTERM does, unless it is ignored."""
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
    """Say in one line why a crawl could not begin.

    A setting whose part cannot be loaded is named; of a part that is neither Scrapy's nor ours, the
    place in its code.
    """
    if isinstance(error, SemcrawlError):
        return _one_line(error)
    if fault := unloadable_part(settings):
        return fault
    before = error.__context__
    if before is not None and not error.__suppress_context__ and _is_known(error):
        return reason_of(before, settings)  # what Scrapy met when it tidied up
    reason = f"{type(error).__name__}: {_one_line(error)}".removesuffix(": ")
    if _is_known(error):
        return reason
    place = traceback.extract_tb(error.__traceback__)[-1:]
    return reason + "".join(
        f" ({at.filename}, line {at.lineno})" for at in place if not at.filename.startswith("<")
    )


def unloadable_part(settings: BaseSettings) -> str:
    """Say which setting names a part that cannot be loaded, and why; nothing if none does."""
    for name, path in _parts(settings):
        try:
            load_object(path)
        except Exception as error:  # a part's module may raise anything
            return f"{name} names {path}, which cannot be loaded: {_one_line(error)}"
    return ""


def _parts(settings: BaseSettings) -> Iterator[tuple[str, str]]:
    """Yield what settings name by an import path, with the setting."""
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
    """Whether a default is the import path of a class."""
    return text.startswith(("scrapy.", "twisted.")) and text.rpartition(".")[2][:1].isupper()


def _is_known(error: BaseException) -> bool:
    """Whether Scrapy or we raised an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.startswith(_KNOWN)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _tell(unbegun: Callable[[BaseException], None], crawl: Future[None]) -> None:
    """Tell of the exception with which a crawl ended, if with one."""
    if not crawl.cancelled() and (error := crawl.exception()) is not None:
        unbegun(error)


class _SignalWatch(logging.Handler):
    """Notes that a handler of Scrapy's signals raised: Scrapy logs it, and goes on without."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Note an error."""
        self.failed = True
