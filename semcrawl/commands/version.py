"""``semcrawl version``: print the versions of semcrawl and Scrapy."""

from __future__ import annotations

import argparse

from scrapy.commands.version import Command as ScrapyVersion

import semcrawl
from semcrawl.commandline import OneLineErrors
from semcrawl.errors import UsageError


class Command(OneLineErrors, ScrapyVersion):
    """Prints the versions; with ``-v`` also those of the libraries."""

    summary = "Print the versions of semcrawl and Scrapy"

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse arguments: the command takes none."""
        if args:
            raise UsageError(f"version takes no argument {args[0]!r}")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the versions."""
        print(f"semcrawl {semcrawl.__version__}")
        ScrapyVersion.run(self, args, opts)
