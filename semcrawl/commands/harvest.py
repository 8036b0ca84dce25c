"""``semcrawl harvest``: get the RDF of web sites into a folder."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.settings import BaseSettings

from semcrawl.checks import check_settings
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.frontier.opening import SessionSource
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.summary import Summary, summarise
from semcrawl.relevance import STRATEGIES
from semcrawl.scope import Scope
from semcrawl.spiders.readoptions import read_options
from semcrawl.spiders.seeds import read_seeds
from semcrawl.targets import Targets
from semcrawl.urls import host_of

#: settings of ``--fast``: for one's own servers only
_FAST: dict[str, Any] = {
    "SEMCRAWL_CRAWL_DELAY": 0.0,
    "SEMCRAWL_OBEY_CRAWL_DELAY": False,
    "SEMCRAWL_CONCURRENCY_PER_HOST": 8,
    "CONCURRENT_REQUESTS": 8,
    "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
}


class Command(ScrapyCommand):
    """Runs both spiders in one process on one budget of requests."""

    requires_project = False
    default_settings = {"LOG_LEVEL": "INFO"}

    def syntax(self) -> str:
        """Say what the arguments are."""
        return "[options] URL… (or @FILE)"

    def short_desc(self) -> str:
        """Say what the command does."""
        return "Find the RDF that web sites publish and bring it home"

    def long_desc(self) -> str:
        """Say it at length."""
        return (
            "Crawl the sites of the given URLs, the most promising links first, and leave in DIR: "
            "quads.nq (the RDF found), crawl.db (one record per attempt), summary.json and "
            "crawl.log. Run it again on the same DIR to go on where it stopped."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options to Scrapy's."""
        super().add_options(parser)
        group = parser.add_argument_group("Harvest")
        group.add_argument("--out", metavar="DIR", default="harvest", help="job folder (harvest)")
        group.add_argument("--pages", metavar="N", type=int, help="requests of this run at most")
        group.add_argument(
            "--relevance", metavar="NAME", help=f"strategy: {', '.join(STRATEGIES)}, or a class"
        )
        group.add_argument(
            "--scope", metavar="SCOPE", help="site, parent, any, or hosts with commas between"
        )
        group.add_argument(
            "--targets",
            metavar="LIST",
            help="what counts: rdf (the default), embedded, media types such as text/csv",
        )
        group.add_argument(
            "--patience",
            metavar="N",
            type=int,
            help="end after N requests without a target when not one is expected of N more",
        )
        group.add_argument(
            "--model", metavar="FILE", help="start from what another crawl learned (learned.model)"
        )
        group.add_argument(
            "--record",
            action="store_true",
            help="keep the responses as WARC, so that `semcrawl evaluate DIR` can replay the crawl",
        )
        group.add_argument(
            "--fast", action="store_true", help="no delays, 8 requests at a time: own servers only"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take the options into the settings."""
        super().process_options(args, opts)
        settings = self._settings
        unknown = [arg for arg in args if arg.startswith("-")]
        if unknown:
            raise ScrapyUsageError(f"unknown option {unknown[0]}", print_help=False)
        if opts.pages is not None and opts.pages < 1:
            raise ScrapyUsageError("--pages must be at least 1", print_help=False)
        if opts.fast:
            for name, value in _FAST.items():
                if (settings.getpriority(name) or 0) < 40:  # what -s says holds
                    settings.set(name, value, "cmdline")
        for option, name in (
            (opts.pages, "SEMCRAWL_PAGES"),
            (opts.relevance, "SEMCRAWL_RELEVANCE"),
            (opts.scope, "SEMCRAWL_SCOPE"),
            (opts.targets, "SEMCRAWL_TARGETS"),
            (opts.patience, "SEMCRAWL_PATIENCE"),
            (opts.model, "SEMCRAWL_MODEL"),
            (opts.record or None, "SEMCRAWL_WARC"),
        ):
            if option is not None:
                settings.set(name, option, "cmdline")
        folder = Path(opts.out)
        try:
            check_settings(settings)
            self._seeds = [url for arg in args for url in read_seeds(arg)]
            if not self._seeds and not (folder / "frontier").is_dir():
                raise UsageError("give a URL to start from (or @FILE with one per line)")
            Scope.parse(settings.get("SEMCRAWL_SCOPE", "site"))
            Targets.parse(settings.getlist("SEMCRAWL_TARGETS"))
            read_options(settings)
            self._prepare(folder)
        except UsageError as error:
            self._complain(str(error))
            raise SystemExit(2) from None

    @property
    def _settings(self) -> BaseSettings:
        if self.settings is None:
            raise UsageError("the command was started without settings")
        return self.settings

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check everything, crawl, sum up."""
        folder = Path(opts.out)
        try:
            source = SessionSource(self._settings)
            self._settings.set("SEMCRAWL_SESSION_SOURCE", source, "cmdline")
            session = source.session()
            source.check()
        except SemcrawlError as error:
            self._complain(str(error))
            self.exitcode = 2 if isinstance(error, UsageError) else 1
            return
        before = self._requests_before(folder)
        try:
            self._crawl(self._seeds)
        finally:
            source.close()
        summary = self._sum_up(folder, self._bytes_saved())
        self._show(summary, folder, before)
        if session.failure:
            self._complain(session.failure)
            self.exitcode = 1
        elif self.crawler_process is not None and self.crawler_process.bootstrap_failed:
            self.exitcode = 1
        elif summary.requests > before and not self._anything(summary):
            self._complain("nothing could be fetched; the records in crawl.db say why")
            self.exitcode = 1

    def _prepare(self, folder: Path) -> None:
        """Make the job folder and point everything into it."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
        self._settings.set("SEMCRAWL_JOBDIR", str(folder.resolve()), "cmdline")
        self._settings.set("SEMCRAWL_HARVEST", True, "cmdline")
        if (self._settings.getpriority("SEMCRAWL_PROGRESS") or 0) < 40:
            self._settings.set("SEMCRAWL_PROGRESS", "auto", "cmdline")
        if (self._settings.getpriority("LOG_FILE") or 0) < 40:
            self._settings.set("LOG_FILE", str(folder / "crawl.log"), "cmdline")

    def _crawl(self, seeds: list[str]) -> None:
        """Run both spiders until the crawl is over or interrupted."""
        process = self.crawler_process
        if process is None:
            raise UsageError("no crawler process")
        console = logging.StreamHandler(sys.stderr)
        console.setLevel(logging.ERROR)
        console.addFilter(_OncePerHost())
        console.setFormatter(_OneLine("semcrawl: %(message)s"))
        console.addFilter(_is_about_the_crawl)
        logging.getLogger().addHandler(console)
        self._crawlers = [process.create_crawler("html"), process.create_crawler("rdf")]
        process.crawl(self._crawlers[0], seeds=" ".join(seeds))
        process.crawl(self._crawlers[1])
        process.start()

    def _bytes_saved(self) -> int:
        saved = 0
        for crawler in self._crawlers:
            if crawler.stats is not None:
                saved += int(crawler.stats.get_value("semcrawl/filtered/bytes_saved", 0) or 0)
        return saved

    def _requests_before(self, folder: Path) -> int:
        summary = self._last_summary(folder)
        return int(summary.get("requests", 0))

    @staticmethod
    def _last_summary(folder: Path) -> dict[str, Any]:
        try:
            data = json.loads((folder / "summary.json").read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _sum_up(self, folder: Path, bytes_saved: int) -> Summary:
        """Write ``summary.json``, whole or not at all."""
        url = _metadata_url(self._settings, folder)
        engine = connect(url)
        try:
            summary = summarise(engine)
        finally:
            engine.dispose()
        data = summary.as_dict()
        data["bytes_saved"] = bytes_saved + int(self._last_summary(folder).get("bytes_saved", 0))
        part = folder / "summary.json.part"
        part.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")
        os.replace(part, folder / "summary.json")
        return summary

    @staticmethod
    def _anything(summary: Summary) -> bool:
        return any(
            name.startswith(("fetched-", "filtered", "redirected", "not-modified", "http-error"))
            and name != "fetched-robots"
            for name in summary.outcomes
        )

    def _show(self, summary: Summary, folder: Path, before: int) -> None:
        """Print what was found per host."""
        console = Console()
        table = Table(title=f"Found in {folder}", title_justify="left", header_style="bold")
        table.add_column("host")
        for name in ("requests", "RDF", "HTML", "errors", "quads", "harvest rate"):
            table.add_column(name, justify="right")
        shown = list(summary.hosts.items())
        for name, host in shown[:30]:
            table.add_row(
                name, f"{host.requests:,}", f"{host.rdf_documents:,}", f"{host.html_documents:,}",
                f"{host.errors:,}", f"{host.quads:,}", f"{host.harvest_rate:.1%}",
            )  # fmt: skip
        if len(shown) > 30:
            table.add_row(f"… and {len(shown) - 30} more", "", "", "", "", "", "")
        table.add_section()
        errors = sum(host.errors for host in summary.hosts.values())
        table.add_row(
            "all", f"{summary.requests:,}", f"{summary.rdf_documents:,}",
            f"{summary.html_documents:,}", f"{errors:,}", f"{summary.quads:,}",
            f"{summary.harvest_rate:.1%}", style="bold",
        )  # fmt: skip
        console.print(table)
        rest = {
            k: v for k, v in summary.outcomes.items() if k not in ("fetched-rdf", "fetched-html")
        }
        console.print(
            "Other outcomes: " + (", ".join(f"{k} {v:,}" for k, v in rest.items()) or "none")
        )
        if before:
            console.print(f"This run: {summary.requests - before:,} requests of them.")
        if summary.embedded_documents:
            console.print(
                f"Embedded in pages: {summary.embedded_quads:,} quads in "
                f"{summary.embedded_documents:,} pages, in {folder / 'embedded.nq'}"
            )
        console.print(f"Quads: {folder / 'quads.nq'}   Records: {folder / 'crawl.db'}")

    @staticmethod
    def _complain(message: str) -> None:
        """Say what is wrong in one line."""
        print(f"semcrawl: {message}", file=sys.stderr)


def _is_about_the_crawl(record: logging.LogRecord) -> bool:
    """Leave out what concerns one request: the records tell that."""
    return record.name not in ("scrapy.core.scraper", "scrapy.downloadermiddlewares.robotstxt")


class _OncePerHost(logging.Filter):
    """Lets the first message about a host's failing requests through; the log file has them all."""

    def __init__(self) -> None:
        super().__init__()
        self._hosts: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether to show a message."""
        if not str(record.msg).startswith(("Error downloading", "Gave up retrying")):
            return True
        request = record.args.get("request") if isinstance(record.args, Mapping) else None
        host = host_of(getattr(request, "url", ""))
        if not host or host in self._hosts:
            return not host
        self._hosts.add(host)
        return True


class _OneLine(logging.Formatter):
    """Formats without tracebacks: those are in the log file."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name in logging
        """Return nothing."""
        return ""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        text = super().format(record).strip()
        return text.splitlines()[0] if text else ""


def _metadata_url(settings: BaseSettings, folder: Path) -> str:
    return settings.get("SEMCRAWL_METADATA_URL") or crawl_db_url(folder)
