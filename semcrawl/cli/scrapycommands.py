"""Replaces Scrapy's ``crawl`` and ``runspider`` in projects with our add-on.

They are entry points of the group ``scrapy.commands``. Scrapy loads add-ons only after it has
parsed the command line. These commands add our feed formats before, for ``scrapy crawl spider -o
data.nq.gz``. Without the add-on they work like Scrapy's.
"""

from __future__ import annotations

import argparse

from scrapy.commands import BaseRunSpiderCommand
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.commands.runspider import Command as ScrapyRunSpider
from scrapy.settings import BaseSettings

from semcrawl.config import feedformats as registry

_ADDON = "semcrawl.addon.Addon"


def know_feed_formats(settings: BaseSettings) -> None:
    """Add our feed formats and storages to a project with our add-on; its own take precedence."""
    if _ADDON not in {_path_of(addon) for addon in settings.getdict("ADDONS")}:
        return
    for name in ("FEED_EXPORTERS", "FEED_STORAGES"):
        formats = {**getattr(registry, name), **settings.getdict(name)}
        settings.set(name, formats, "project")


def _path_of(addon: object) -> str:
    if isinstance(addon, str):
        return addon
    return f"{getattr(addon, '__module__', '')}.{getattr(addon, '__qualname__', '')}"


class _KnowsFeedFormats(BaseRunSpiderCommand):
    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is not None:
            know_feed_formats(self.settings)
        super().process_options(args, opts)


class CrawlCommand(_KnowsFeedFormats, ScrapyCrawl):
    """Scrapy's ``crawl`` with our feed formats."""


class RunSpiderCommand(_KnowsFeedFormats, ScrapyRunSpider):
    """Scrapy's ``runspider`` with our feed formats."""
