"""The live display of a crawl, and its figures."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from semcrawl.crawl.session import CrawlSession, session_of
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import QUEUES
from semcrawl.items import FetchOutcome
from semcrawl.settings.reader import fill, setting
from semcrawl.terminal import amount, plain_console

if TYPE_CHECKING:
    from rich.console import Console


#: figures that are summed over processes
_ADDED = ("requests", "errors", "rdf_documents", "quads", "embedded_quads", "images", "targets")
_LABELS = ("R", "HR", "H", "N")
#: number of hosts shown
_HOSTS = 3


@dataclass
class Figures:
    """The figures of one process, or of several."""

    requests: int = 0
    #: requests that the run may send; ``None`` = no limit
    budget: int | None = None
    errors: int = 0
    rdf_documents: int = 0
    quads: int = 0
    embedded_quads: int = 0
    #: waiting links by label
    waiting: Mapping[str, int] = field(default_factory=dict)
    #: hosts of the last answers, the latest first
    hosts: list[str] = field(default_factory=list)
    #: the address being requested, or another activity
    url: str = ""
    #: running workers; 0 = a single process
    workers: int = 0
    #: images kept, if they are targets
    images: int = 0
    #: documents that are what the crawl looks for
    targets: int = 0

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Return the figures from the form of :meth:`as_dict`."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})

    @classmethod
    def added(cls, parts: Iterable[Figures], budget: int | None = None) -> Self:
        """Add up the figures of several processes, which share the ``budget``.

        The last process knows best what waits.
        """
        total = cls(budget=budget)
        for part in parts:
            for name in _ADDED:
                setattr(total, name, getattr(total, name) + getattr(part, name))
            total.waiting = part.waiting or total.waiting
            total.hosts += [host for host in part.hosts[:1] if host not in total.hosts]
            total.url = part.url or total.url
        return total

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return asdict(self)

    def facts(self, seconds: float) -> dict[str, str]:
        """Return names and texts to display ``seconds`` after the beginning."""
        left = self._seconds_left(seconds)
        queue = " ".join(
            f"{name} {self.waiting[name]:,}" for name in _LABELS if self.waiting.get(name)
        )
        rate = self.targets / self.requests if self.requests else 0.0
        others = self.targets != self.rdf_documents
        of_all = f" of {self.budget:,}" if self.budget else ""
        workers = {"workers": str(self.workers)} if self.workers else {}
        return {
            **workers,
            "requests": f"{self.requests:,}{of_all}",
            "errors": f"{self.errors:,}",
            "RDF found": f"{amount(self.rdf_documents, 'document')}, {amount(self.quads, 'quad')}",
            "embedded": amount(self.embedded_quads, "quad"),
            **({"images": f"{self.images:,}"} if self.images else {}),
            **({"targets": f"{self.targets:,}"} if others else {}),
            "harvest rate": f"{rate:.1%}",
            "waiting": queue or "nothing",
            "hosts": ", ".join(self.hosts[:_HOSTS]) or "none yet",
            "elapsed": _clock(seconds),
            "time left": "?" if left is None else _clock(left),
            "now": self.url or "waiting for the next",
        }

    def _seconds_left(self, seconds: float) -> float | None:
        """Return the time until budget or waiting links are used up, at the pace so far."""
        if not self.requests or not seconds:
            return None
        waiting = sum(self.waiting.values())
        left = waiting if self.budget is None else min(self.budget - self.requests, waiting)
        return max(0, left) * seconds / self.requests


class Display:
    """Shows figures on standard error, ``live`` or line by line.

    It is a context manager. The live display disappears at its end, and messages go above it.
    """

    def __init__(self, *, live: bool) -> None:
        self.is_live = live
        self._console: Console = plain_console(stderr=True)
        self._live: Any = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        """Begin the display."""
        if self.is_live:
            from rich.live import Live

            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """End the display."""
        if self._live is not None:
            self._live.__exit__(*error)

    def show(self, figures: Figures) -> None:
        """Show the current figures."""
        facts = figures.facts(time.monotonic() - self._began)
        if self._live is None:
            line = " | ".join(f"{name} {value}" for name, value in facts.items())
            print(line, file=sys.stderr, flush=True)
        else:
            self._live.update(_table(facts))

    def say(self, line: str) -> None:
        """Show a message."""
        if self._live is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._console.print(line, soft_wrap=True, highlight=False)


def _table(facts: Mapping[str, str]) -> Any:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")  # a display of changing height flickers
    for name, value in facts.items():
        table.add_row(name, value)
    return table


def _clock(seconds: float) -> str:
    """Return hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


#: seconds between two lines
INTERVAL = 5.0
#: seconds between updates of a live display
_LIVE_INTERVAL = 0.5


class Progress:
    """Extension: shows requests, errors, results, waiting links, hosts and the current address.

    ``SEMCRAWL_PROGRESS``: ``auto`` (live on a terminal, else lines), ``live``, ``lines``, ``off``.
    """

    def __init__(self, crawler: Crawler, mode: str, interval: float) -> None:
        self.crawler = crawler
        self._live = mode == "live"
        self._interval = interval
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension, unless progress is off."""
        mode = progress_mode(crawler.settings)
        if mode == "off" or getattr(crawler.spidercls, "name", "") != "html":
            raise NotConfigured
        extension = cls(crawler, mode, progress_interval(crawler.settings))
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Start the display."""
        if (session := session_of(self.crawler)) is not None:
            self._task = asyncio.ensure_future(self._show(session))

    async def spider_closed(self) -> None:
        """Stop the display."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _show(self, session: CrawlSession) -> None:
        with Display(live=self._live) as display:
            while True:
                if not self._live:
                    await asyncio.sleep(self._interval)
                display.show(await figures_of(session))
                if self._live:
                    await asyncio.sleep(self._interval)


@dataclass(frozen=True, slots=True)
class ProgressOptions:
    """How progress is shown."""

    mode: str = setting("SEMCRAWL_PROGRESS")


def progress_mode(settings: BaseSettings) -> str:
    """Return how to show progress: ``live``, ``lines`` or ``off``."""
    mode: str = fill(ProgressOptions, settings).mode
    if mode == "auto":
        mode = "live" if sys.stderr.isatty() else "lines"
    return mode if mode in ("live", "lines") else "off"


def progress_interval(settings: BaseSettings) -> float:
    """Return the seconds between updates of the display."""
    live = progress_mode(settings) == "live"
    return _LIVE_INTERVAL if live else INTERVAL


async def figures_of(session: CrawlSession) -> Figures:
    """Return the figures of a process's part in a crawl."""
    tally = session.tally
    try:
        waiting = dict((await session.frontier.counts(QUEUES, [])).waiting_by_label)
    except FrontierError:
        waiting = {}
    under_way = session.in_flight
    return Figures(
        requests=tally.requests,
        budget=session.options.budget,
        errors=tally.errors,
        rdf_documents=tally.rdf_documents,
        images=tally.outcomes[FetchOutcome.FETCHED_IMAGE],
        quads=tally.quads,
        embedded_quads=tally.embedded_quads,
        targets=session.outlook.targets,
        waiting=waiting,
        hosts=tally.current_hosts,
        url=under_way[-1].entry.url if under_way else "",
    )
