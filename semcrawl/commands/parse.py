"""``parse``: Scrapy's command, in a temporary job folder."""

from __future__ import annotations

import argparse
from shlex import quote
from tempfile import TemporaryDirectory

from scrapy import Request, Spider
from scrapy.commands.parse import Command as ScrapyParse
from scrapy.spiderloader import get_spider_loader

from semcrawl.commandline import OneLineErrors
from semcrawl.errors import UsageError
from semcrawl.web.hosts import host_of, is_private_address


class Command(OneLineErrors, ScrapyParse):
    """Fetches a URL with a spider and prints what its callback returns; leaves crawls alone."""

    summary = "Fetch one URL with a spider of your project and print what its callback returns"

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse an argument that is no URL, and spiders that a URL alone is no link of."""
        if len(args) != 1 or "://" not in args[0]:
            raise UsageError("give one URL")
        spiders = get_spider_loader(self.own_settings)
        names = [opts.spider] if opts.spider else spiders.find_by_request(Request(args[0]))
        if not any(name in spiders.list() and _is_foreign(spiders.load(name)) for name in names):
            raise UsageError(
                "name a spider of your project: --spider NAME; to see what semcrawl makes of a "
                f"page: semcrawl explain {quote(args[0])}"
            )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Parse in a temporary folder, unless the settings name one, and without a shared Redis."""
        settings = self.own_settings
        if is_private_address(host_of(args[0])):  # the user names it
            settings.set("SEMCRAWL_ALLOW_PRIVATE_ADDRESSES", True, "cmdline")
        with TemporaryDirectory(prefix="semcrawl-parse-") as folder:
            if not (settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")):
                settings.set("SEMCRAWL_JOBDIR", folder, "cmdline")
            settings.set("REDIS_URL", "", "cmdline")
            ScrapyParse.run(self, args, opts)


def _is_foreign(spider: type[Spider]) -> bool:
    return not spider.__module__.startswith("semcrawl.")
