"""``semcrawl seeds``: write a list of seeds from jobs, sitemaps, archives, searches or lists."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from semcrawl.commandline import OfflineCommand
from semcrawl.commands._seedsources import (
    Bounds,
    distinct,
    from_archive,
    from_jobs,
    from_lists,
    from_search,
    from_sitemaps,
)
from semcrawl.config.scope import url_normalisation
from semcrawl.crawl.filefetching import Fetcher
from semcrawl.errors import SemcrawlError, UsageError, os_errors_as
from semcrawl.printable import printable
from semcrawl.sources.seedlists import Seed
from semcrawl.spiders.seeds import seed_url
from semcrawl.terminal import complain
from semcrawl.wholefiles import whole_file

#: source → its arguments and what it gives
_SOURCES = {
    "job": "DIR…: pages and hosts that led earlier harvests to much RDF",
    "sitemap": "HOST…: what the sitemaps of hosts, or sitemaps by URL, list",
    "archive": "PATTERN…: a web archive's captures of addresses such as example.org/*",
    "search": "WORDS…: the first results of a search service (--engine URL)",
    "list": "FILE…: published lists, files or URLs: LOV, the LOD cloud, OPML, RDF catalogues, text",
}
#: sources that have been read whole before they give their first seed
_COUNTED = ("job", "sitemap")


class Command(OfflineCommand):
    """Writes a seed list, which ``semcrawl harvest @FILE`` reads."""

    arguments = f"[options] {'|'.join(_SOURCES)} ARGUMENT…"
    summary = "Write a list of seeds: from jobs, sitemaps, archives, searches, lists"
    description = "Write a seed list for `semcrawl harvest @FILE`. Sources: " + "; ".join(
        f"{name} {what}" for name, what in _SOURCES.items()
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        group = parser.add_argument_group("Seeds")
        group.add_argument("-o", "--output", metavar="FILE", help="file to write (default: stdout)")
        group.add_argument(
            "--limit", metavar="N", type=int, help="most seeds (1000; for search 50)"
        )
        group.add_argument(
            "--engine", metavar="URL", help="search: URL of a SearXNG or an OpenSearch description"
        )
        group.add_argument(
            "--index",
            metavar="NAME",
            default="cc",
            help="archive: cc (Common Crawl), ia (Wayback Machine), the URL of a CDX server, or "
            "that of the collinfo.json of a mirror of Common Crawl's index",
        )
        group.add_argument(
            "--crawls",
            metavar="N",
            type=int,
            default=12,
            help="archive: how many of the newest crawls of Common Crawl to query (12)",
        )
        group.add_argument(
            "--type",
            metavar="TYPE",
            action="append",
            default=[],
            help="archive: a media type (default: those of RDF)",
        )
        group.add_argument(
            "--extension",
            metavar="NAME",
            action="append",
            default=[],
            help="archive: a file extension such as ttl (default: those of RDF)",
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse unknown sources and missing arguments."""
        if not args or args[0] not in _SOURCES:
            named = f", not {args[0]!r}" if args else ""
            raise UsageError(f"name a source: {', '.join(_SOURCES)}{named}")
        if len(args) < 2:
            raise UsageError(f"`semcrawl seeds {args[0]}` needs {_SOURCES[args[0]]}")
        for name in ("limit", "crawls"):
            if getattr(opts, name) is not None and getattr(opts, name) < 1:
                raise UsageError(f"--{name} must be at least 1")
        if args[0] == "search" and not opts.engine:
            raise UsageError("give --engine URL: a SearXNG, or an OpenSearch description")
        if args[0] == "archive" and opts.index not in ("cc", "ia") and "://" not in opts.index:
            raise UsageError(f"--index must be cc, ia or a CDX server's URL, not {opts.index!r}")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Find seeds and write them."""
        source, *rest = args
        limit = opts.limit or (50 if source == "search" else 1000)
        normalisation = url_normalisation(self.own_settings)

        def spelled(url: str) -> str | None:
            try:
                return seed_url(url, normalisation)
            except UsageError:
                return None

        found = iter(self._found(source, rest, opts, limit))
        seeds = distinct(found, spelled, limit)
        if not seeds:
            complain("nothing was found")
            self.exitcode = 1
            return
        if source in _COUNTED and (more := sum(1 for _ in found)):
            complain(f"the first {len(seeds):,} seeds; {more:,} more with a larger --limit")
        title = f"semcrawl seeds {' '.join(args)}, {datetime.now(UTC):%Y-%m-%d}"
        if not opts.output:
            _write(sys.stdout, title, seeds)
            return
        path = Path(opts.output)
        with os_errors_as(SemcrawlError, f"cannot write {path}"), whole_file(path) as file:
            file.write(_text(title, seeds).encode())
        print(f"{len(seeds):,} seeds in {opts.output}; next: semcrawl harvest @{opts.output}")

    def _found(
        self, source: str, rest: list[str], opts: argparse.Namespace, limit: int
    ) -> Iterable[Seed]:
        settings = self.own_settings
        fetcher = Fetcher.from_settings(settings)
        if source == "job":
            return from_jobs(rest)
        if source == "sitemap":
            return from_sitemaps(rest, fetcher, complain)
        if source == "search":
            return from_search(" ".join(rest), opts.engine, fetcher, limit)
        if source == "list":
            return from_lists(rest, fetcher, complain)
        return from_archive(
            rest,
            opts.index,
            opts.type,
            [name.lstrip(".") for name in opts.extension],
            limit,
            Bounds(settings.getfloat("DOWNLOAD_TIMEOUT"), settings.getint("DOWNLOAD_MAXSIZE")),
            opts.crawls,
        )


def _write(file: TextIO, title: str, seeds: Iterable[Seed]) -> None:
    file.write(_text(title, seeds))


def _text(title: str, seeds: Iterable[Seed]) -> str:
    """Return a seed list, with a comment on the reason above each address."""
    lines = [f"# {printable(title)}"]
    for seed in seeds:
        if seed.why:
            lines.append(f"# {printable(' '.join(seed.why.split()))}")
        lines.append(seed.url)
    return "\n".join(lines) + "\n"
