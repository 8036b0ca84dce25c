"""``semcrawl pages``: the topic page store of a job folder as a table, JSON Lines or CSV."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from semcrawl.cli.base import OneLineErrors
from semcrawl.errors import UsageError
from semcrawl.items import TopicPage
from semcrawl.pipelines.pagestore import stored_pages
from semcrawl.terminal.messages import fitted, table_console
from semcrawl.terminal.printable import printable

_COLUMNS = ("url", "title", "language", "relevance", "reasons", "text")
#: pages that the table shows
_SHOWN = 50


class Command(OneLineErrors):
    """Shows the pages that a harvest kept, the most relevant first."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] DIR"

    def short_desc(self) -> str:
        """Return the line of the overview."""
        return "List the pages that a harvest kept (--targets html)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        group = parser.add_mutually_exclusive_group()
        group.add_argument(
            "--jsonl", action="store_true", help="a JSON object per line, with text and reasons"
        )
        group.add_argument("--csv", action="store_true", help="CSV, with text and reasons")
        parser.add_argument("--all", action="store_true", help=f"every page, not the best {_SHOWN}")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what is no job folder."""
        if len(args) != 1:
            raise UsageError("give one job folder")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Show the pages."""
        folder = Path(args[0])
        pages = stored_pages(folder)
        if opts.jsonl:
            for page in pages:
                print(json.dumps(_values(page), ensure_ascii=False))
        elif opts.csv:
            _write_csv(pages)
        else:
            _show(folder, sorted(pages, key=lambda page: -(page.relevance or 0.0)), opts.all)


def _values(page: TopicPage) -> dict[str, Any]:
    return {name: getattr(page, name) for name in _COLUMNS}


def _write_csv(pages: Iterable[TopicPage]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(_COLUMNS)
    for page in pages:
        row = _values(page) | {"reasons": "\n".join(page.reasons)}
        writer.writerow(row.values())


def _show(folder: Path, pages: Sequence[TopicPage], whole: bool) -> None:
    shown = pages if whole else pages[:_SHOWN]
    title = f"{len(pages):,} pages in {folder}"
    if len(shown) < len(pages):
        title += f", the {len(shown)} most relevant"
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("relevance", justify="right", no_wrap=True)
    table.add_column("title", overflow="fold")
    table.add_column("lang")
    table.add_column("address", overflow="fold")
    for page in shown:
        relevance = "" if page.relevance is None else f"{page.relevance:.2f}"
        table.add_row(relevance, *map(printable, (page.title, page.language, page.url)))
    console = table_console()
    console.print(fitted(table, console))
