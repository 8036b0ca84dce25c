"""``semcrawl load``: bring a triple store up to date with a job folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.settings import Settings

from semcrawl.errors import SemcrawlError
from semcrawl.pipelines.quadsfile import QUADS_FILE
from semcrawl.pipelines.stores.opening import open_deliverer


class Command(ScrapyCommand):
    """Delivers what a store has not been told of: all of a harvest, or what changed since."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return the arguments."""
        return "<job folder> [--store URL] [--update URL] [--again]"

    def short_desc(self) -> str:
        """Return the line of the overview."""
        return "Deliver the quads of a harvest to a triple store"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        parser.add_argument("--store", help='Graph Store Protocol endpoint, or "embedded"')
        parser.add_argument("--update", help="SPARQL 1.1 Update endpoint")
        parser.add_argument("--again", action="store_true", help="deliver everything anew")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Deliver until nothing waits."""
        if len(args) != 1:
            raise ScrapyUsageError("give one job folder")
        folder = Path(args[0])
        if not (folder / QUADS_FILE).is_file():
            raise ScrapyUsageError(f"{folder} holds no {QUADS_FILE}", print_help=False)
        settings = self.settings or Settings()
        for name, value in (("STORE_URL", opts.store), ("STORE_UPDATE_URL", opts.update)):
            if value is not None:
                settings.set(f"SEMCRAWL_{name}", value, priority="cmdline")
        documents = quads = refused = 0
        try:
            deliverer = open_deliverer(settings, folder)
            if opts.again:
                deliverer.start_again()
            while (step := deliverer.step()) is not None:
                documents += step.documents
                quads += step.quads
                refused += len(step.refused)
                for entry in step.refused:
                    print(f"refused: {entry.url}: {entry.error}", file=sys.stderr)
            deliverer.close()
        except SemcrawlError as error:
            print(f"semcrawl load: {error}", file=sys.stderr)
            self.exitcode = 1
            return
        print(f"{documents} documents with {quads} quads delivered, {refused} refused")
        self.exitcode = 1 if refused else 0
