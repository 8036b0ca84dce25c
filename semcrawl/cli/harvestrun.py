"""Runs a harvest in one process, both spiders on one session, and collects its result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.settings import BaseSettings

from semcrawl.cli.crawling import Crawls
from semcrawl.crawl.healthsigns import GivenUp
from semcrawl.crawl.lost import lost_feeds, lost_results, stats_of
from semcrawl.crawl.sessionsource import SessionSource
from semcrawl.terminal.messages import error_handler, log_handler

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

        problems = [stats.get_value("semcrawl/store/problem") for stats in stats_of(crawlers)]
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
            store_problem=next((problem for problem in reversed(problems) if problem), ""),
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
        sums = ("requests", "lost", "bytes_saved", "renamed", "refused", "cut_off", "listed_left")
        for name in sums:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failed = self.failed or other.failed
        self.failure = self.failure or other.failure
        self.limit = self.limit or other.limit
        self.store_problem = other.store_problem or self.store_problem
        if other.expected_left is not None:
            self.expected_left = other.expected_left
        hosts = {host.host: host for host in self.given_up}
        for host in other.given_up:
            if (known := hosts.get(host.host)) is None:
                self.given_up.append(host)
            else:
                known.links += host.links
                known.since = min(known.since, host.since)


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
    log = log_handler(settings) if verbose else error_handler()
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
