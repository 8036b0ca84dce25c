"""Scrapy's own commands, which know our parts."""

from __future__ import annotations

import argparse
import logging
from asyncio import Future
from typing import Any

from scrapy import Spider
from scrapy.commands import BaseRunSpiderCommand, ScrapyCommand
from scrapy.commands.bench import Command as ScrapyBench
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.commands.fetch import Command as ScrapyFetch
from scrapy.commands.list import Command as ScrapyList
from scrapy.commands.runspider import Command as ScrapyRunSpider
from scrapy.commands.settings import Command as ScrapySettings
from scrapy.commands.shell import Command as ScrapyShell
from scrapy.commands.view import Command as ScrapyView
from scrapy.crawler import Crawler

from semcrawl.commandline import know_feed_formats
from semcrawl.config.environment import take_environment
from semcrawl.config.jobdir import has_addon
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.terminal import complain

logger = logging.getLogger(__name__)

_SPIDERS = "semcrawl.spiders"
#: reasons for which a spider of ours closed before it did its work
_FAILURES = frozenset({"usage", "error", "frontier_unavailable", "crawl_failed"})


class _CrawlsInOneLine(BaseRunSpiderCommand):
    """Knows our feed formats, and gives one line for a crawl that semcrawl refuses."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is not None:
            know_feed_formats(self.settings)
        super().process_options(args, opts)
        if self.settings is not None:
            from semcrawl.logformat import take_log

            try:
                take_environment(self.settings)
                take_log(self.settings)
            except SemcrawlError as error:
                complain(str(error))
                raise SystemExit(2) from None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        process: Any = self.crawler_process
        crawl = process.crawl
        self._crawlers: list[Crawler] = []

        def watched(crawler: Crawler, **arguments: Any) -> Any:
            self._crawlers.append(crawler)
            running = crawl(crawler, **arguments)
            if isinstance(running, Future):
                running.add_done_callback(self._ended)
            else:
                running.addErrback(lambda failure: self._failed(failure.value))
            return running

        process.crawl = watched
        try:
            super().run(args, opts)  # type: ignore[safe-super]
        except SemcrawlError as error:
            self._failed(error)
        for crawler in self._crawlers:
            reason = crawler.stats and crawler.stats.get_value("finish_reason")
            if issubclass(crawler.spidercls, Spider) and reason in _FAILURES:
                self.exitcode = self.exitcode or 1

    def _ended(self, crawl: Future[None]) -> None:
        if not crawl.cancelled() and (error := crawl.exception()) is not None:
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        """Report an error: ours in one line, others with their position, as Scrapy does."""
        self.exitcode = 2 if isinstance(error, UsageError) else 1
        if not isinstance(error, SemcrawlError):
            logger.error("the crawl cannot begin", exc_info=error)
            return
        logger.error("%s", error)
        settings = self.settings
        if settings is None or not settings.getbool("LOG_ENABLED") or settings.get("LOG_FILE"):
            complain(str(error))


class CrawlCommand(_CrawlsInOneLine, ScrapyCrawl):
    """Scrapy's ``crawl`` with our feed formats."""


class RunSpiderCommand(_CrawlsInOneLine, ScrapyRunSpider):
    """Scrapy's ``runspider`` with our feed formats."""


class _FetchesPrivateAddresses(ScrapyCommand):
    """Fetches what the user names, be it on a private network."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None and "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES" in self.settings:
            self.settings.set("SEMCRAWL_ALLOW_PRIVATE_ADDRESSES", True, "cmdline")


class BenchCommand(_FetchesPrivateAddresses, ScrapyBench):
    """Scrapy's ``bench``, which crawls a server on this machine."""


class FetchCommand(_FetchesPrivateAddresses, ScrapyFetch):
    """Scrapy's ``fetch``."""


class ShellCommand(_FetchesPrivateAddresses, ScrapyShell):
    """Scrapy's ``shell``."""


class ViewCommand(_FetchesPrivateAddresses, ScrapyView):
    """Scrapy's ``view``."""


class ListCommand(ScrapyList):
    """Scrapy's ``list`` with our spiders, which scrapyd asks for as well."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """List the spiders."""
        if self.settings is not None and has_addon(self.settings):
            from semcrawl.addon import Addon

            Addon.update_pre_crawler_settings(self.settings)
        super().run(args, opts)


class SettingsCommand(ScrapySettings):
    """Scrapy's ``settings`` with the parts with which crawls run."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print a setting."""
        settings = self.settings
        if settings is not None:
            from semcrawl.config.components import install, install_results

            try:
                if has_addon(settings):
                    install_results(settings)
                elif settings.getlist("SPIDER_MODULES") == [_SPIDERS]:
                    install(settings)
            except SemcrawlError as error:
                complain(str(error))
                self.exitcode = 2
                return
        super().run(args, opts)
