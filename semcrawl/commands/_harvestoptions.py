"""Defines the options of ``semcrawl harvest`` and maps them to settings.

Other commands use those of the topic as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl import settings as defaults
from semcrawl.config.checks import read_worker_count
from semcrawl.errors import UsageError
from semcrawl.pipelines.feeds import requested_feeds
from semcrawl.relevance import strategies
from semcrawl.relevance.focus import usual_targets
from semcrawl.settings.table import TABLE

#: default port of the page that shows a crawl
WATCH_PORT = "8267"
#: settings of ``--fast``, for your own servers only
FAST: dict[str, Any] = {
    "SEMCRAWL_CRAWL_DELAY": 0.0,
    "SEMCRAWL_MAX_CRAWL_DELAY": 0.0,
    "SEMCRAWL_CONCURRENCY_PER_HOST": 8,
    "CONCURRENT_REQUESTS": 8,
    "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
}
#: options that set a setting each
SETTINGS_OF_OPTIONS = {
    "pages": "SEMCRAWL_PAGES",
    "relevance": "SEMCRAWL_RELEVANCE",
    "scope": "SEMCRAWL_SCOPE",
    "include": "SEMCRAWL_INCLUDE",
    "exclude": "SEMCRAWL_EXCLUDE",
    "host-budget": "SEMCRAWL_HOST_BUDGET",
    "domain-budget": "SEMCRAWL_DOMAIN_BUDGET",
    "sitemaps": "SEMCRAWL_SITEMAPS",
    "targets": "SEMCRAWL_TARGETS",
    "about": "SEMCRAWL_ABOUT",
    "keep": "SEMCRAWL_KEEP",
    "links": "SEMCRAWL_RDF_LINKS",
    "patience": "SEMCRAWL_PATIENCE",
    "model": "SEMCRAWL_MODEL",
    "revisit": "SEMCRAWL_REVISIT",
    "history": "SEMCRAWL_HISTORY",
    "record": "SEMCRAWL_WARC",
    "workers": "SEMCRAWL_WORKERS",
}
#: priority of settings given by ``-s``
CMDLINE = 40


def add_harvest_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to Scrapy's."""
    group = parser.add_argument_group("Harvest")
    group.add_argument(
        "--out", metavar="DIR", help="job folder (default: SEMCRAWL_JOBDIR, else harvest)"
    )
    group.add_argument("--pages", metavar="N", type=int, help="most requests of this run")
    group.add_argument(
        "--relevance", metavar="NAME", help=f"strategy: {', '.join(strategies())}, or a class"
    )
    group.add_argument(
        "--scope", metavar="SCOPE", help="site, parent, any, or hosts separated by commas"
    )
    group.add_argument(
        "--endpoint",
        metavar="URL",
        action="append",
        default=[],
        help="read this SPARQL endpoint, page by page",
    )
    for name, what in (
        ("include", "only matching links"),
        ("exclude", "no matching links"),
    ):
        group.add_argument(
            f"--{name}",
            metavar="PATTERN",
            action="append",
            help=f"follow {what}: /data/*, example.org/data/*, host:*.org, type:image/*, "
            "re:EXPRESSION, @FILE",
        )
    for name in ("host", "domain"):
        group.add_argument(
            f"--{name}-budget",
            metavar="BOUNDS",
            help=f"limits per {name}: requests=N,bytes=1G,documents=N,depth=N,rdf=1%%/200",
        )
    group.add_argument(
        "--sitemaps",
        choices=TABLE["SEMCRAWL_SITEMAPS"].words,
        help="whether to read sitemaps; only: follow no links of pages",
    )
    group.add_argument(
        "--targets",
        metavar="LIST",
        help="what counts as a target: rdf (default), embedded, html, images, media types such as "
        "text/csv",
    )
    add_about_options(group)
    group.add_argument(
        "--links",
        metavar="LIST",
        help="links of RDF to follow: all (default), see-also, foaf, dcat, void, or properties",
    )
    group.add_argument(
        "--patience",
        metavar="N",
        type=int,
        help="end after N requests without a target, if none is expected of N more",
    )
    group.add_argument(
        "--model",
        metavar="FILE",
        help="start with the model of another crawl (written by `semcrawl frontier "
        "--export-model`)",
    )
    group.add_argument(
        "--revisit",
        action="store_true",
        help="fetch again what is due in the job folder: `semcrawl harvest DIR --revisit`",
    )
    group.add_argument(
        "--history",
        action="store_true",
        help="keep the statements that re-visits replace, which `semcrawl diff DIR` compares",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        help="also append new documents to FILE: data.nq.gz, data.ttl, s3://…",
    )
    group.add_argument(
        "-O",
        "--overwrite-output",
        metavar="FILE",
        action="append",
        help="the same, but replace FILE",
    )
    group.add_argument(
        "--metadata",
        choices=["parquet"],
        help="also write fetch.parquet and document.parquet at the end",
    )
    group.add_argument(
        "--record",
        action="store_true",
        help="keep the responses as WARC, so that `semcrawl evaluate DIR` can replay the crawl",
    )
    group.add_argument(
        "--join",
        metavar="NAME",
        help="join the workers of the crawl NAME on the Redis at REDIS_URL",
    )
    group.add_argument(
        "--workers",
        metavar="N",
        help="crawl with N processes on this machine; auto: one per processor",
    )
    group.add_argument(
        "--watch",
        metavar="PORT",
        nargs="?",
        const=WATCH_PORT,
        help=f"serve a page that shows the crawl, on this machine alone (port {WATCH_PORT})",
    )
    group.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    group.add_argument("-q", "--quiet", action="store_true", help="print only problems")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="also show the log on standard error"
    )
    group.add_argument(
        "--json", action="store_true", help="print summary.json to standard output, and no table"
    )
    group.add_argument(
        "--on-end",
        metavar="COMMAND",
        help="at the end run a shell command, with folder, status and summary as JSON on its "
        "standard input",
    )
    group.add_argument("--webhook", metavar="URL", help="at the end POST the same JSON to URL")
    group.add_argument(
        "--fast",
        action="store_true",
        help="no delays, 8 requests at a time, private addresses allowed: own servers only",
    )


def take_harvest_options(settings: BaseSettings, opts: argparse.Namespace) -> None:
    """Apply the options; raise ``UsageError`` for invalid ones."""
    if opts.pages is not None and opts.pages < 1:
        raise UsageError("--pages must be at least 1")
    if opts.workers is not None:
        read_worker_count("--workers", opts.workers)
    if opts.patience is not None and opts.patience < 0:
        raise UsageError("--patience must not be negative")
    if opts.fast:
        set_unless_given(settings, FAST)
    for name, setting in SETTINGS_OF_OPTIONS.items():
        option = getattr(opts, name.replace("-", "_"))
        if option is not None and option is not False:
            settings.set(setting, option, "cmdline")
    if opts.join is not None:
        settings.set("SEMCRAWL_CRAWL_NAME", opts.join, "cmdline")
        settings.set("SEMCRAWL_JOIN", bool(opts.join), "cmdline")
    take_topic_targets(settings)
    if feeds := requested_feeds(settings, opts.output, opts.overwrite_output):
        settings.set("FEEDS", feeds, "cmdline")
    if opts.quiet and opts.verbose:
        raise UsageError("give -q or -v, not both")
    if (settings.getpriority("SEMCRAWL_PROGRESS") or 0) < CMDLINE:
        # a live display and a log cannot share the screen
        progress = "off" if opts.quiet else "lines" if opts.verbose else "auto"
        settings.set("SEMCRAWL_PROGRESS", progress, "cmdline")
    if opts.join and not settings.get("REDIS_URL"):
        raise UsageError("--join needs the Redis of the crawl's workers: -s REDIS_URL=redis://…")


def set_unless_given(settings: BaseSettings, values: Mapping[str, Any]) -> None:
    """Set what the command line has not set, as if it had."""
    for name, value in values.items():
        if (settings.getpriority(name) or 0) < CMDLINE:
            settings.set(name, value, "cmdline")


def add_about_options(options: argparse._ActionsContainer, *, keeps: bool = True) -> None:
    """Add ``--about``, and ``--keep`` to commands that keep documents."""
    options.add_argument(
        "--about",
        metavar="TOPIC",
        action="append",
        help="topic: vocabulary:schema:Dataset, keywords:merge sort, new …; several must all match",
    )
    if keeps:
        options.add_argument(
            "--keep",
            choices=TABLE["SEMCRAWL_KEEP"].words,
            help="documents to keep: those about the topic (default), or all",
        )


def take_about_options(settings: BaseSettings, opts: argparse.Namespace) -> None:
    """Copy the options of the topic into the settings; its targets are what it reads."""
    if opts.about is not None:
        settings.set("SEMCRAWL_ABOUT", opts.about, "cmdline")
    if getattr(opts, "keep", None) is not None:
        settings.set("SEMCRAWL_KEEP", opts.keep, "cmdline")
    take_topic_targets(settings)


def take_topic_targets(settings: BaseSettings) -> None:
    """Make what the topic reads the targets, unless the user names some."""
    name = "SEMCRAWL_TARGETS"
    is_default = settings.get(name) == defaults.SEMCRAWL_TARGETS
    if is_default and (settings.getpriority(name) or 0) < CMDLINE:
        settings.set(name, usual_targets(settings) or defaults.SEMCRAWL_TARGETS, "cmdline")
