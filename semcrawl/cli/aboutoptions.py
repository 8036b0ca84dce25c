"""The options that say what a crawl is about, of every command that knows topics."""

from __future__ import annotations

import argparse

from scrapy.settings import BaseSettings


def add_about_options(options: argparse._ActionsContainer, *, keeps: bool = True) -> None:
    """Add ``--about``, and ``--keep`` to commands that keep documents."""
    options.add_argument(
        "--about",
        metavar="TOPIC",
        action="append",
        help="what it is about: vocabulary:schema:Dataset, keywords:merge sort, new …; of several, "
        "all hold",
    )
    if keeps:
        options.add_argument(
            "--keep",
            choices=["relevant", "all"],
            help="what goes to the results: documents about the topic (the default), or all",
        )


def take_about_options(settings: BaseSettings, opts: argparse.Namespace) -> None:
    """Set what the options say."""
    if opts.about is not None:
        settings.set("SEMCRAWL_ABOUT", opts.about, "cmdline")
    if getattr(opts, "keep", None) is not None:
        settings.set("SEMCRAWL_KEEP", opts.keep, "cmdline")
