"""One run of a harvest from the command line: checked before, started, ended by signals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from inspect import isclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.url import add_http_if_no_scheme

from semcrawl.commandline import Crawls
from semcrawl.config.checks import unheeded
from semcrawl.config.jobdir import ResultOptions, job_path
from semcrawl.config.logins import read_logins
from semcrawl.config.options import LeadOptions, read_options, robots_tags
from semcrawl.config.scope import url_normalisation
from semcrawl.crawl.crawllimits import Limits
from semcrawl.crawl.failures import lost_feeds, lost_results, stats_of
from semcrawl.crawl.healthsigns import GivenUp
from semcrawl.crawl.session import SessionSource
from semcrawl.crawl.topicfiles import fetch_topic_files
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.houses import houses
from semcrawl.logformat import formatter
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url
from semcrawl.pipelines.feeds import why_unwritable
from semcrawl.pipelines.pagestore import PAGES_FILE, PAGES_LEDGER
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE, orphaned
from semcrawl.relevance.focus import read_focus
from semcrawl.settings.reader import fill
from semcrawl.terminal import complain, error_handler, log_handler
from semcrawl.web.hosts import public_address

logger = logging.getLogger(__name__)


@dataclass
class RunResult:
    """The result of one process, or the sum of several."""

    #: why the crawl could not begin or continue, or empty
    failure: str = ""
    #: requests sent
    requests: int = 0
    #: results that could not be written
    lost: int = 0
    #: whether a component failed, or a feed or worker was given up
    failed: bool = False
    #: bytes of bodies that the fetch filter saved
    bytes_saved: int = 0
    #: the limit that ended the run: ``pages``, ``patience``, or empty
    limit: str = ""
    #: targets that the strategy expects among the waiting links
    expected_left: float | None = None
    listed_left: int = 0
    #: hosts whose links were set aside
    given_up: list[GivenUp] = field(default_factory=list)
    #: why the delivery to a triple store failed
    store_problem: str = ""
    #: pages that the browser failed to render, and why it failed at the last of them
    not_rendered: int = 0
    browser_problem: str = ""
    #: numbers of workers started, restarted and lost; empty for a single process
    workers: dict[str, int] = field(default_factory=dict)
    #: graphs renamed in the triple store, and documents that it refused
    renamed: int = 0
    refused: int = 0
    #: documents whose lines were missing when the run began
    cut_off: int = 0

    @classmethod
    def of(cls, source: SessionSource, crawlers: list[Crawler], *, failed: bool) -> Self:
        """Return the result of a process whose crawlers have ended."""
        session = source.session()

        def numbers(name: str) -> Iterable[int]:
            return (int(stats.get_value(name) or 0) for stats in stats_of(crawlers))

        return cls(
            failure=source.failure,
            requests=session.tally.requests + session.tally.context_requests,
            lost=lost_results(crawlers),
            failed=failed or lost_feeds(crawlers),
            bytes_saved=sum(numbers("semcrawl/filtered/bytes_saved")),
            limit=session.limit.removeprefix("SEMCRAWL_").lower(),
            expected_left=session.outlook.expected_left,
            listed_left=session.outlook.listed_left,
            given_up=session.health.given_up,
            store_problem=_last(crawlers, "semcrawl/store/problem"),
            not_rendered=sum(numbers("semcrawl/browser/failures")),
            browser_problem=_last(crawlers, "semcrawl/browser/problem"),
            renamed=sum(numbers("semcrawl/store/renamed")),
            refused=sum(numbers("semcrawl/store/refused")),
            cut_off=sum(
                sum(numbers(f"semcrawl/{kind}/cut_off")) for kind in ("quads", "embedded", "pages")
            ),
        )

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the result from the form of :meth:`as_dict`."""
        known = {each.name for each in fields(cls)}
        found = {name: value for name, value in data.items() if name in known}
        found["given_up"] = [GivenUp(**host) for host in found.get("given_up", ())]
        return cls(**found)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return asdict(self)

    def add(self, other: RunResult) -> None:
        """Add the result of a process that ended later."""
        for name in (
            *("requests", "lost", "bytes_saved", "renamed", "refused", "cut_off", "listed_left"),
            "not_rendered",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failed = self.failed or other.failed
        self.failure = self.failure or other.failure
        self.limit = self.limit or other.limit
        self.store_problem = other.store_problem or self.store_problem
        self.browser_problem = other.browser_problem or self.browser_problem
        if other.expected_left is not None:
            self.expected_left = other.expected_left
        hosts = {host.host: host for host in self.given_up}
        for host in other.given_up:
            if (known := hosts.get(host.host)) is None:
                self.given_up.append(host)
            else:
                known.links += host.links
                known.since = min(known.since, host.since)


def _last(crawlers: list[Crawler], name: str) -> str:
    """Return the last text that a stat has in one of the crawlers; empty if none has."""
    found = [str(stats.get_value(name) or "") for stats in stats_of(crawlers)]
    return next(filter(None, reversed(found)), "")


def run_spiders(
    process: CrawlerProcessBase,
    settings: BaseSettings,
    source: SessionSource,
    crawlers: list[Crawler],
    seeds: str | None,
    *,
    verbose: bool,
) -> RunResult:
    """Run both spiders until the crawl has ended or is interrupted."""
    log = log_handler(settings, formatter(settings)) if verbose else error_handler()
    logging.getLogger().addHandler(log)
    crawls = Crawls(process)
    crawls.run({crawlers[0]: {"seeds": seeds}, crawlers[1]: {}}, source.fail)
    logger.info(
        "The crawl took %.2f s of processor time in this process, without its start", crawls.spent
    )
    return RunResult.of(source, crawlers, failed=crawls.failed)


def begin_with(crawler: Crawler, begin: Callable[[Crawler], asyncio.Task[None]]) -> None:
    """Begin a task when a crawler's spider opens, and cancel it when the spider closes."""
    tasks: list[asyncio.Task[None]] = []

    def opened() -> None:
        tasks.append(begin(crawler))

    def closed() -> None:
        for task in tasks:
            task.cancel()

    crawler.signals.connect(opened, signals.spider_opened, weak=False)
    crawler.signals.connect(closed, signals.spider_closed, weak=False)


#: files of a job folder that every run extends, with their ledgers
_LEDGERS = (
    (QUADS_FILE, CRAWL_DB),
    (EMBEDDED_FILE, EMBEDDED_LEDGER),
    (PAGES_FILE, PAGES_LEDGER),
)
_FILES = tuple(
    name
    for file, ledger in _LEDGERS
    for name in (file, f".{file}.lock", ledger, f"{ledger}-wal", f"{ledger}-shm", f"{ledger}.lock")
)


def check_crawl(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for invalid settings of URLs, reading, targets and store.

    Proxies and download handlers that cannot work are refused too. Scrapy's settings that have no
    effect get a line.
    """
    for line in unheeded(settings):
        complain(line)
    proxies = getproxies() if settings.getbool("HTTPPROXY_ENABLED") else {}
    for scheme in ("http", "https"):
        if scheme in proxies and (fault := proxy_fault(proxies[scheme])):
            raise UsageError(f"the environment's {scheme}_proxy {fault}")
    _check_handlers(settings)
    url_normalisation(settings)
    read_logins(settings)
    for house in houses():
        house.check(settings)
    fetch_topic_files(settings)
    read_focus(settings)
    robots_tags(settings)
    for line in Limits.from_settings(settings).faults():
        complain(line)
    read_options(settings)
    fill(LeadOptions, settings)


def proxy_fault(proxy: str) -> str:
    """Return why requests cannot use a proxy with this address, or an empty string."""
    try:
        parts = urlsplit(add_http_if_no_scheme(proxy))
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
        port = parts.port
    except ValueError:
        is_one, port = False, None
    if is_one and port != 0:
        return ""
    shown = public_address(proxy)
    return f"is not the address of an HTTP proxy such as http://proxy.example:3128: {shown!r}"


def _check_handlers(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for an invalid download handler of http or https."""
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        named = handlers.get(scheme)
        if named is None:
            continue  # semcrawl adds its own, or the user has disabled it
        fault = ""
        try:
            found = load_object(named)
        except Exception as error:  # importing may raise anything
            fault = f"cannot be loaded: {' '.join(str(error).split())}"
        else:
            if not (isclass(found) and hasattr(found, "download_request")):
                fault = "is not a download handler class"
        if fault:
            raise UsageError(f"DOWNLOAD_HANDLERS names {named} for {scheme}, which {fault}")


def check_folder(folder: Path) -> None:
    """Make the job folder; raise ``UsageError`` if it or a file in it cannot be written.

    Files of another owner stay after a run as another user. Quads without their ledger are refused
    too, as they cannot be assigned to documents.
    """
    crawl_db_url(folder)  # refuses names that are not valid text
    with os_errors_as(UsageError, f"cannot write to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # other workers may start at the same time
    for path in (folder / name for name in _FILES):
        if reason := why_unwritable(path):
            raise UsageError(f"cannot write to {path}: {reason}")
    for fault in (orphaned(folder, *names) for names in _LEDGERS):
        if fault:
            raise UsageError(fault)


def check_results(settings: BaseSettings) -> None:
    """Check the job folder and the metadata database.

    Raises ``UsageError`` for wrong settings, ``StoreError`` for an unreachable database.
    """
    folder = job_path(settings)
    check_folder(folder)
    connect(metadata_url(settings, folder)).dispose()


def metadata_url(settings: BaseSettings, folder: Path) -> str:
    """Return the URL of the database of records."""
    return fill(ResultOptions, settings).metadata_url or crawl_db_url(folder)
