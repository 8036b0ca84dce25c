"""``semcrawl watch``: serve a page that shows a crawl, with metrics and health."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.commandline import OfflineCommand, serve_until_stopped
from semcrawl.commands._harvestoptions import WATCH_PORT
from semcrawl.commands._summary import last_summary
from semcrawl.commands._watching import port_of, serve_for_harvest, take_redis
from semcrawl.config.options import ReaderOptions
from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError, existing_folder
from semcrawl.frontier.backends import check_crawl_name
from semcrawl.localpages import LOOPBACK
from semcrawl.settings.reader import fill
from semcrawl.topics import threshold
from semcrawl.watch import CrawlView


class Command(OfflineCommand):
    """Shows a crawl in a browser, whether it runs or has ended."""

    arguments = "[options] [DIR | REDIS_URL]"
    summary = "Watch a crawl in the browser, and give its figures to Prometheus"
    description = (
        "Serve a page on this machine that shows the crawl in DIR (default: the current folder) "
        "or on a Redis: what it found and finds, what waits, hosts, workers, errors. /metrics has "
        "the figures for Prometheus, /view as JSON; /health and /ready are for health checks. It "
        "only reads, and only while a page is open or somebody asks."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add this command's options."""
        super().add_options(parser)
        group = parser.add_argument_group("Watch")
        group.add_argument(
            "--port",
            default=WATCH_PORT,
            metavar="N",
            help=f"port ({WATCH_PORT}; 0: a free one)",
        )
        group.add_argument(
            "--bind",
            default=LOOPBACK,
            metavar="ADDRESS",
            help=f"address of this machine to listen on ({LOOPBACK}: nobody else can ask)",
        )
        group.add_argument("--of-harvest", action="store_true", help=argparse.SUPPRESS)

    def complete(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take a Redis from the arguments."""
        take_redis(args, self.own_settings)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse invalid options."""
        if len(args) > 1:
            raise UsageError("give one job folder, or the address of a Redis")
        self._port = port_of(opts.port, "--port")
        check_crawl_name(self.own_settings)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve until Ctrl-C."""
        if opts.of_harvest:
            serve_for_harvest(self.own_settings)
        else:
            _serve(view_of(self.own_settings, args), self._port, opts.bind)


def view_of(settings: BaseSettings, args: list[str]) -> CrawlView:
    """Return the view of the crawl that arguments and settings name."""
    folder = None if settings.get("REDIS_URL") and not args else Path(args[0] if args else ".")
    found = last_summary(existing_folder(folder)) if folder is not None else {}
    kinds = found.get("target_kinds")
    return CrawlView(
        settings,
        folder,
        targets=Targets.parse(kinds) if kinds else fill(ReaderOptions, settings).targets,
        threshold=found.get("threshold") or threshold(settings),
    )


def _serve(view: CrawlView, port: int, bind: str) -> None:
    """Serve a view until Ctrl-C; raise ``UsageError`` if the port cannot be had."""
    from semcrawl.watch.watchpages import serve_watch

    def started(address: str) -> None:
        print(f"Watch the crawl at {address}\nStop with Ctrl-C.", file=sys.stderr, flush=True)

    async def serve(stopped: asyncio.Event) -> None:
        await view.frontier()  # a wrong folder is told at once
        await serve_watch(view, port, started, stopped, bind=bind)

    serve_until_stopped(serve, port)
