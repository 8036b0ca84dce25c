"""Code of the commands that read a job folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from semcrawl.cli.base import OfflineCommand
from semcrawl.errors import UsageError
from semcrawl.terminal.messages import aligned, amount, complain, fitted, table_console
from semcrawl.terminal.printable import printable

#: most damaged documents that are named
_NAMED = 10


class JobCommand(OfflineCommand):
    """A command on the job folder of a finished or running crawl."""

    def add_top(self, parser: argparse.ArgumentParser, rows: int, what: str) -> None:
        """Add the option ``--top``."""
        parser.add_argument(
            "--top", type=int, default=rows, metavar="N", help=f"{what} shown ({rows:,})"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a number of rows below 1."""
        if opts.top < 1:
            raise UsageError(f"--top must be at least 1, not {opts.top}")


def job_at(args: list[str], position: int) -> Path:
    """Return the folder in the arguments, by default the current one."""
    return Path(args[position]) if len(args) > position else Path()


def refuse_several(folders: list[str]) -> None:
    """Raise ``UsageError`` for more than one folder: a document in two would count twice."""
    if len(folders) > 1:
        raise UsageError("give one job folder; `semcrawl merge DIR DIR… --out DIR` merges several")


def print_json(content: Any) -> None:
    """Print an object as JSON without escaping non-ASCII characters."""
    json.dump(content, sys.stdout, ensure_ascii=False, indent=1)
    print()


def print_table(title: str, columns: dict[str, bool], rows: list[tuple[str, ...]]) -> None:
    """Print a table. Columns of figures (``True``) are aligned right and do not wrap."""
    console = table_console()
    table = aligned(title, columns, rows)
    table.title_style = "bold"
    console.print(fitted(table, console))


def tell_of_damaged(urls: Sequence[str], folders: Sequence[Path | str]) -> int:
    """Say which documents were left out as their lines are damaged; return the exit status."""
    if not urls:
        return 0
    for url in urls[:_NAMED]:
        remark(f"left out: {url}: its lines are damaged")
    names = " ".join(quote(str(folder)) for folder in folders)
    rest = f" (the first {_NAMED} are named)" if len(urls) > _NAMED else ""
    complain(
        f"{amount(len(urls), 'document')} left out{rest}: `semcrawl check {names}` says what is "
        "damaged, and the next harvest into the folder reads it again"
    )
    return 1


def remark(text: str) -> None:
    """Print a remark on standard error."""
    print(printable(text), file=sys.stderr)
