"""``semcrawl pages``: list the kept pages of a job as a table, JSON Lines or CSV; mark examples."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from semcrawl.commandline import OfflineCommand, tell_of_damaged
from semcrawl.errors import UsageError
from semcrawl.items import TopicPage
from semcrawl.pipelines.pagestore import PAGES_LEDGER, stored_pages
from semcrawl.printable import printable, printable_json
from semcrawl.results.job import Job
from semcrawl.settings import SEMCRAWL_ABOUT_MAX_SIZE
from semcrawl.terminal import aligned, amount, fitted, table_console
from semcrawl.topics.examples import BAD, GOOD, Marked, read_marks, write_marks
from semcrawl.topics.sourcefiles import Sample, samples_in

_COLUMNS = ("url", "title", "language", "relevance", "reasons", "text")
#: first characters of texts that spreadsheets take for formulas
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
#: pages shown in the table
_SHOWN = 50


class Command(OfflineCommand):
    """Lists the pages that a harvest kept, the most relevant first, or marks examples."""

    arguments = "[options] DIR [--mark good|bad|none URL…]"
    summary = "List the pages that a harvest kept (--targets html), or mark examples"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        group = parser.add_mutually_exclusive_group()
        group.add_argument(
            "--jsonl",
            action="store_true",
            help="print a JSON object per page, with text and reasons",
        )
        group.add_argument(
            "--csv",
            action="store_true",
            help="print CSV with text and reasons; cells that look like formulas begin with '",
        )
        group.add_argument(
            "--mark",
            choices=(GOOD, BAD, "none"),
            help="mark the pages or RDF documents at these URLs as examples for later crawls: "
            "--about examples:DIR",
        )
        parser.add_argument(
            "--all", action="store_true", help=f"show every page, not only the best {_SHOWN}"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse missing and superfluous arguments."""
        if opts.mark and len(args) < 2:
            raise UsageError("give a job folder and the URLs to mark")
        if not opts.mark and len(args) != 1:
            raise UsageError("give one job folder")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Show the pages, or mark some."""
        folder = Path(args[0])
        if opts.mark:
            mark(folder, args[1:], opts.mark)
            marks = Counter(marks_of(folder).values())
            print(f"{folder}: {amount(marks[GOOD], 'document')} marked good, {marks[BAD]:,} bad")
            return
        damaged: list[str] = []
        pages = stored_pages(folder, damaged)
        if opts.jsonl:
            for page in pages:
                print(printable_json(json.dumps(_values(page), ensure_ascii=False)))
        elif opts.csv:
            _write_csv(pages)
        else:
            _show(folder, sorted(pages, key=lambda page: -(page.relevance or 0.0)), opts.all)
        self.exitcode = tell_of_damaged(damaged, [folder])


def _values(page: TopicPage) -> dict[str, Any]:
    return {name: getattr(page, name) for name in _COLUMNS}


def _write_csv(pages: Iterable[TopicPage]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(_COLUMNS)
    for page in pages:
        row = _values(page) | {"reasons": "\n".join(page.reasons)}
        writer.writerow([_harmless(value) for value in row.values()])


def _harmless(value: Any) -> Any:
    """Make a page's text safe for spreadsheets and terminals."""
    if not isinstance(value, str):
        return value
    return printable(f"'{value}" if value.startswith(_FORMULAS) else value)


def _show(folder: Path, pages: Sequence[TopicPage], whole: bool) -> None:
    shown = pages if whole else pages[:_SHOWN]
    title = f"{amount(len(pages), 'page')} in {folder}"
    if len(shown) < len(pages):
        title += f", the {len(shown)} most relevant"
    table = aligned(title, {"relevance": True, "title": False})
    table.add_column("lang")
    marks = marks_of(folder)
    if marks:
        table.add_column("mark")
    table.add_column("address", overflow="fold")
    for page in shown:
        relevance = "" if page.relevance is None else f"{page.relevance:.2f}"
        marked = (marks.get(page.url, ""),) if marks else ()
        table.add_row(relevance, *map(printable, (page.title, page.language, *marked, page.url)))
    console = table_console()
    console.print(fitted(table, console))


def mark(folder: Path, urls: Collection[str], as_what: str) -> None:
    """Mark kept pages and RDF documents as ``good`` or ``bad``; ``none`` removes the mark.

    Their texts are stored with the mark. Raises ``UsageError``, without marking any, for an address
    of which the job keeps no text.
    """
    others = [one for one in read_marks(folder) if one.url not in urls]
    if as_what == "none":
        write_marks(folder, others)
        return
    marked = [Marked(url, as_what, sample) for url, sample in _texts(folder, frozenset(urls))]
    if missing := sorted({*urls} - {one.url for one in marked}):
        raise UsageError(f"{folder} keeps no page or RDF with a text of {missing[0]}")
    write_marks(folder, others + marked)


def marks_of(folder: Path) -> dict[str, str]:
    """Return the marks of a job folder by URL; raise ``UsageError`` if they are unreadable."""
    return {one.url: one.mark for one in read_marks(folder)}


def _texts(folder: Path, urls: frozenset[str]) -> Iterator[tuple[str, Sample]]:
    """Yield the texts of pages, and for other addresses the texts in their statements."""
    pages = set()
    with Job(folder) as job:
        if (folder / PAGES_LEDGER).is_file():
            for page in stored_pages(folder):
                if page.url in urls and (page.text or page.title):
                    pages.add(page.url)
                    yield page.url, Sample(page.text, page.title, "", page.language)
        for source in job.sources:
            with source.snapshot() as snapshot:
                for span in snapshot.spans():
                    if span.url in urls - pages:
                        lines = b"".join(snapshot.lines(span))
                        for sample in samples_in(lines, span.url, SEMCRAWL_ABOUT_MAX_SIZE):
                            yield span.url, sample
