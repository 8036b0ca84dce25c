"""``semcrawl diff``: tell which statements re-visits added and removed."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import chain

from pyoxigraph import RdfFormat, serialize

from semcrawl.commandline import (
    OfflineCommand,
    job_at,
    refuse_several,
    remark,
    tell_of_damaged,
)
from semcrawl.commands._summary import moment_of, since_option
from semcrawl.errors import StoreError, UsageError
from semcrawl.metadata.description import own_iri, time_literal
from semcrawl.printable import printable
from semcrawl.results.changefeed import PREFIXES, feed_of
from semcrawl.results.changes import History
from semcrawl.results.differences import ADDED, DELETED
from semcrawl.results.job import Job
from semcrawl.settings.reader import checked_iri
from semcrawl.terminal import amount

#: documents that are named
_NAMED = 10


class Command(OfflineCommand):
    """Prints the statements that were added and removed since a moment."""

    arguments = "[options] [DIR]"
    summary = "Tell which statements re-visits added and removed"
    description = (
        "Compare the documents of the job in DIR (default: the current folder) with what they "
        "were at a moment, and print what was added and removed as RDF Patch: for each document a "
        "transaction (TX … TC), in it rows of N-Quads that begin with A (added) or D (deleted). "
        "The job must have been harvested with --history."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        parser.add_argument(
            "--since", default="", metavar="DATE",
            help="compare with this date or time (UTC; default: the last run's begin)",
        )  # fmt: skip
        forms = parser.add_mutually_exclusive_group()
        forms.add_argument(
            "--added", action="store_const", const=ADDED, dest="only",
            help="print the added statements alone, as N-Quads",
        )  # fmt: skip
        forms.add_argument(
            "--removed", action="store_const", const=DELETED, dest="only",
            help="print the removed statements alone, as N-Quads",
        )  # fmt: skip
        forms.add_argument(
            "--feed", action="store_true",
            help="print every change since then as a feed that others can follow (LDES and "
            "ActivityStreams, in Turtle)",
        )  # fmt: skip
        parser.add_argument(
            "--base", default="", metavar="IRI", help="address at which the feed is published"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse several folders and wrong moments."""
        refuse_several(args)
        moment_of(opts.since)
        checked_iri("--base", opts.base)
        if opts.base and not opts.feed:
            raise UsageError("--base needs --feed")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Compare and print."""
        folder = job_at(args, 0)
        with Job(folder) as job, History(job) as history:
            since = since_option(opts.since, folder)
            if since is None:
                raise UsageError(
                    f"{folder} does not say when its last run began: give --since DATE"
                )
            damaged: list[str] = []
            if opts.feed:
                _print_feed(history, since, opts.base, damaged)
            else:
                _print_rows(history, since, opts.only, damaged)
        self.exitcode = tell_of_damaged(job.damaged, [folder])
        for url in damaged:
            remark(f"left out: {url}: its former statements are damaged")
            self.exitcode = 1
        _tell_of_unknown(list(history.unknown))
        sys.stderr.flush()


def _print_rows(history: History, since: float, only: bytes | None, damaged: list[str]) -> None:
    out = sys.stdout.buffer
    kinds: Counter[str] = Counter()
    statements: Counter[bytes] = Counter()
    for change in history.net(since):
        rows = change.rows()
        try:
            first = next(rows, None)
        except StoreError:
            damaged.append(change.url)
            continue
        if first is None:
            continue
        kinds[change.kind] += 1
        if only is None:
            head = (
                f"# {change.kind} {printable(change.url)} {time_literal(change.at).value}\nTX .\n"
            )
            out.write(head.encode("utf-8", "replace"))
        for mark, line in chain([first], rows):
            statements[mark] += 1
            if only is None:
                out.write(mark + b" " + line)
            elif mark == only:
                out.write(line)
        if only is None:
            out.write(b"TC .\n")
    out.flush()
    remark(
        f"since {time_literal(since).value}: {kinds['new']:,} new, {kinds['changed']:,} changed, "
        f"{kinds['gone']:,} gone; {amount(statements[ADDED], 'statement')} added, "
        f"{statements[DELETED]:,} removed"
    )


def _print_feed(history: History, since: float, base: str, damaged: list[str]) -> None:
    with history.job.sources[0].snapshot() as snapshot:
        base = base or own_iri(snapshot.connection)
    if not base:
        raise UsageError("no attempt is recorded there: give --base IRI")
    triples = feed_of(history.each(since), since, base, damaged)
    serialize(triples, sys.stdout.buffer, RdfFormat.TURTLE, prefixes=PREFIXES)
    sys.stdout.buffer.flush()


def _tell_of_unknown(urls: list[str]) -> None:
    for url in urls[:_NAMED]:
        remark(f"not compared: {url}: it changed in a run without --history")
    if len(urls) > _NAMED:
        remark(f"… and {amount(len(urls) - _NAMED, 'more document')}")
