"""``crawl``: Scrapy's own command, with the arguments of our spiders checked beforehand."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands.crawl import Command as ScrapyCrawl

from semcrawl.checks import check_settings
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.frontier.opening import SessionSource, frontier_options, session_options
from semcrawl.relevance import load_strategy
from semcrawl.scope import Scope
from semcrawl.spiders.seeds import read_seeds

_OURS = frozenset({"html", "rdf"})


class Command(ScrapyCrawl):
    """Runs a spider; wrong seeds, scopes and settings get one line before anything starts."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take the options, and check what they say before the log begins."""
        super().process_options(args, opts)
        if args[:1] and args[0] in _OURS:
            try:
                self._check(opts)
            except SemcrawlError as error:
                print(f"semcrawl: {error}", file=sys.stderr)
                raise SystemExit(2 if isinstance(error, UsageError) else 1) from None

    def _check(self, opts: argparse.Namespace) -> None:
        if self.settings is None:
            raise UsageError("the command was started without settings")
        check_settings(self.settings)
        if "seeds" in opts.spargs:
            read_seeds(opts.spargs["seeds"])
        Scope.parse(opts.spargs.get("scope") or self.settings.get("SEMCRAWL_SCOPE", "site"))
        session_options(self.settings)
        frontier_options(self.settings)
        load_strategy(self.settings.get("SEMCRAWL_RELEVANCE", "rules-parents"), self.settings)
        SessionSource(self.settings).check()
