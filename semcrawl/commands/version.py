"""``semcrawl version``: semcrawl's version, and Scrapy's."""

from __future__ import annotations

import argparse

from scrapy.commands.version import Command as ScrapyVersion

import semcrawl


class Command(ScrapyVersion):
    """Prints the versions; ``-v`` those of the libraries as well."""

    def short_desc(self) -> str:
        """What ``semcrawl`` says of the command in its list."""
        return "Print the versions of semcrawl and Scrapy"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options; the usage shows the program that was called."""
        super().add_options(parser)
        parser.usage = f"{parser.prog} version {self.syntax()}"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print them."""
        print(f"semcrawl {semcrawl.__version__}")
        super().run(args, opts)
