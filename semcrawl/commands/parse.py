"""``parse``: Scrapy's own command, without a job folder."""

from __future__ import annotations

import argparse
from tempfile import TemporaryDirectory

from scrapy.commands.parse import Command as ScrapyParse

from semcrawl.cli.base import OneLineErrors
from semcrawl.errors import UsageError


class Command(OneLineErrors, ScrapyParse):
    """Fetches a URL with a spider and prints what its callback gives; no crawl is touched."""

    summary = "Fetch one URL with a spider and print what its callback gives"

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse an argument that is no URL."""
        if len(args) != 1 or "://" not in args[0]:
            raise UsageError("give one URL")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Parse in a folder of its own, unless the settings name one, and on no shared Redis."""
        settings = self.own_settings
        with TemporaryDirectory(prefix="semcrawl-parse-") as folder:
            if not (settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")):
                settings.set("SEMCRAWL_JOBDIR", folder, "cmdline")
            settings.set("REDIS_URL", "", "cmdline")
            ScrapyParse.run(self, args, opts)
