"""``semcrawl load``: deliver the documents of a job folder to a triple store."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.commandline import OfflineCommand, tell_of_damaged
from semcrawl.commands._run import check_folder
from semcrawl.errors import StoreError, UsageError, existing_folder
from semcrawl.filelocks import try_lock
from semcrawl.pipelines.quads import StoreOptions
from semcrawl.pipelines.quadsfile import QUADS_FILE
from semcrawl.printable import printable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.opening import RENAMED_WORDS, STORE_LOCK, open_deliverer
from semcrawl.settings.reader import fill
from semcrawl.terminal import amount


def add_store_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a triple store."""
    parser.add_argument(
        "--store", metavar="URL", help='Graph Store Protocol endpoint, or "embedded"'
    )
    parser.add_argument("--update", metavar="URL", help="SPARQL 1.1 Update endpoint")


def is_store_named(settings: BaseSettings, opts: argparse.Namespace) -> bool:
    """Put these options into the settings; return whether options or settings name a store."""
    for name, value in (("STORE_URL", opts.store), ("STORE_UPDATE_URL", opts.update)):
        if value is not None:
            settings.set(f"SEMCRAWL_{name}", value, priority="cmdline")
    return bool(fill(StoreOptions, settings).named)


@contextmanager
def the_deliverer(settings: BaseSettings, folder: Path) -> Iterator[Deliverer]:
    """Open the one deliverer of a job folder; raise ``StoreError`` if a crawl delivers from it."""
    with (folder / STORE_LOCK).open("ab") as file:
        if not try_lock(file):
            raise StoreError(f"a crawl is delivering from {folder}")
        with closing(open_deliverer(settings, folder)) as deliverer:
            yield deliverer


class Command(OfflineCommand):
    """Delivers what a store lacks: a whole harvest, or its changes."""

    arguments = "[options] DIR"
    summary = "Deliver the quads of a harvest to a triple store"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        add_store_options(parser)
        parser.add_argument(
            "--provenance",
            action="store_true",
            help="also tell where documents come from (graph urn:semcrawl:provenance)",
        )
        parser.add_argument("--again", action="store_true", help="deliver everything again")
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="also replace graphs of others that are named by documents' addresses",
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a folder without quads, and a missing store."""
        if len(args) != 1:
            raise UsageError("give one job folder")
        if not (existing_folder(Path(args[0])) / QUADS_FILE).is_file():
            raise UsageError(f"{args[0]} holds no {QUADS_FILE}")
        check_folder(Path(args[0]))  # it records what was delivered
        if opts.adopt:
            self.own_settings.set("SEMCRAWL_STORE_ADOPT", True, priority="cmdline")
        if opts.provenance:
            self.own_settings.set("SEMCRAWL_STORE_PROVENANCE", True, priority="cmdline")
        if not is_store_named(self.own_settings, opts):
            raise UsageError("give the triple store: --store URL, --update URL, or both")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Deliver until nothing waits."""
        with the_deliverer(self.own_settings, Path(args[0])) as deliverer:
            self._deliver(deliverer, Path(args[0]), opts)

    def _deliver(self, deliverer: Deliverer, folder: Path, opts: argparse.Namespace) -> None:
        documents = quads = removed = refused = renamed = 0
        damaged: list[str] = []
        if opts.again:
            deliverer.start_again()
        while (step := deliverer.step()) is not None:
            documents += step.documents
            quads += step.quads
            removed += step.removed
            refused += len(step.refused)
            renamed += step.renamed
            damaged += step.damaged
            for entry in step.refused:
                print(printable(f"refused: {entry.url}: {entry.error}"), file=sys.stderr)
        told = deliverer.tell()
        if renamed:
            print(RENAMED_WORDS.format(renamed), file=sys.stderr)
        gone = f"{removed:,} that are gone removed, " if removed else ""
        what = f"{amount(documents, 'document')} with {amount(quads, 'quad')}"
        print(f"{what} delivered, {gone}{refused:,} refused")
        if told:
            print(f"provenance of {amount(told, 'document')} told")
        self.exitcode = max(tell_of_damaged(damaged, [folder]), 1 if refused else 0)
