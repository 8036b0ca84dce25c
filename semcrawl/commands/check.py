"""``semcrawl check``: find out what of a job folder is damaged, and have it read again."""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from scrapy.commands.check import Command as ContractsCommand

from semcrawl.commandline import OfflineCommand, job_at, refuse_several, remark
from semcrawl.commands.load import add_store_options, is_store_named, the_deliverer
from semcrawl.config.checks import START_URLS_KEY
from semcrawl.errors import StoreError, UsageError, existing_folder, os_errors_as
from semcrawl.frontier.backends import holds_frontier, visited_frontier
from semcrawl.pipelines.pagestore import SPOOLS
from semcrawl.printable import printable
from semcrawl.results.checking import Checked, check_job
from semcrawl.spiders.seeds import seed_list
from semcrawl.terminal import amount, complain

#: addresses of documents that the store does not hold which are shown
_SHOWN = 20


class Command(OfflineCommand):
    """Checks files, ledgers, frontier and store; says what is damaged, and requeues it."""

    arguments = "[options] [DIR]"
    summary = "Check a job folder for damage, and have the lost documents read again"
    description = (
        "Compare the files of the job in DIR (default: the current folder) with their checksums, "
        "and the ledgers with the records of attempts; check databases, recordings and the "
        "folder's own store; with --store or --update, also whether a triple store holds what "
        "was delivered to it. What is damaged is named, what can be mended is mended, and the "
        "next `semcrawl harvest --out DIR` reads lost documents again. What cannot be mended is "
        "moved to a name that ends with .damaged. Run it while no crawl uses the folder. The "
        "status is 1 if anything was damaged."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        add_store_options(parser)

    if not TYPE_CHECKING:

        def __new__(cls):
            """Make a command; under ``scrapy``, in a clone, its own of that name, for contracts."""
            program = Path(sys.argv[0])  # or .../scrapy/__main__.py, for python -m scrapy
            of_scrapy = "scrapy" in (program.stem, program.parent.name)
            return ContractsCommand() if of_scrapy else super().__new__(cls)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what is no job folder."""
        refuse_several(args)
        if opts.store or opts.update:
            is_store_named(self.own_settings, opts)
        folder = existing_folder(job_at(args, 0))
        files = (folder / name for names in SPOOLS for name in names)
        if not (holds_frontier(folder) or any(path.exists() for path in files)):
            raise UsageError(f"{folder} is not a job folder: it has no results and no frontier")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check and report."""
        folder = job_at(args, 0)
        with os_errors_as(StoreError, f"cannot check {folder}"):
            try:
                found = check_job(folder)
            except sqlite3.Error as error:
                raise StoreError(f"cannot check {folder}: {error}") from None
        if found.seeds is not None:
            asyncio.run(self._begin_again(folder, found.seeds))
        differing = self._differing(folder) if opts.store or opts.update else []
        for line in found.damages:
            remark(line)
        if differing:
            self.exitcode = 1
            what = amount(len(differing), "document")
            remark(f"the store does not hold what was delivered of {what}:")
            for url in differing[:_SHOWN]:
                remark(f"  {printable(url)}")
            again = f"`semcrawl load {quote(str(folder))}` with the same store"
            complain(f"{again} delivers {'it' if len(differing) == 1 else 'them'} again")
        if not found.damages and not found.lost:
            if differing:
                return
            print(f"{folder} is sound: {amount(found.documents, 'document')}")
            return
        self.exitcode = 1
        complain(_advice(folder, found))
        sys.stderr.flush()

    def _differing(self, folder: Path) -> list[str]:
        """Return documents that a store does not hold as delivered, and have them delivered."""
        with the_deliverer(self.own_settings, folder) as deliverer:
            differing = list(deliverer.differing())
            deliverer.deliver_again(differing)
        return differing

    async def _begin_again(self, folder: Path, seeds: list[str]) -> None:
        """Fill a new frontier with the seeds."""
        pattern = self.own_settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY
        async with visited_frontier(self.own_settings, folder, make=True) as frontier:
            await frontier.shared.push_seeds(seed_list(pattern, "html"), seeds)


def _advice(folder: Path, found: Checked) -> str:
    """Say what brings back what is lost."""
    again = f"`semcrawl harvest --out {quote(str(folder))}`"
    if found.seeds == []:
        return f"the seeds are lost: give them again, {again[:-1]} URL…`"
    if not found.lost and found.seeds is None:
        return "what was damaged is mended or told above; no document is lost"
    what = amount(len(found.lost), "document") if found.lost else "what is missing"
    return f"{again} reads {what} again"
