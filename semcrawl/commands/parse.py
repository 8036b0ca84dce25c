"""``parse``: Scrapy's command, in a temporary job folder."""

from __future__ import annotations

import argparse
from tempfile import TemporaryDirectory

from scrapy.commands.parse import Command as ScrapyParse

from semcrawl.cli.base import OneLineErrors
from semcrawl.errors import UsageError
from semcrawl.web.hosts import host_of
from semcrawl.web.privatehosts import is_private_address


class Command(OneLineErrors, ScrapyParse):
    """Fetches a URL with a spider and prints what its callback returns; leaves crawls alone."""

    summary = "Fetch one URL with a spider and print what its callback returns"

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse an argument that is no URL."""
        if len(args) != 1 or "://" not in args[0]:
            raise UsageError("give one URL")

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
