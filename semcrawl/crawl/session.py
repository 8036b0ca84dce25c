"""One process's part in a crawl: it takes links for its spiders, learns, and acknowledges.

All spiders of a process share one session, and so one budget and one limit on requests in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from semcrawl.config.checks import worker_count
from semcrawl.config.jobdir import job_path
from semcrawl.crawl.attempt import Attempt, LeaseBook
from semcrawl.crawl.channels import SpiderChannel, SpiderChannels
from semcrawl.crawl.dispatch import (
    CompletionCheck,
    Dispatcher,
    EventReader,
    Outlook,
    Turns,
    read_arrivals,
)
from semcrawl.crawl.hosthealth import HostHealth
from semcrawl.crawl.intake import Intake
from semcrawl.crawl.leadmemory import LeadMemory
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.sharedcontexts import ContextCache
from semcrawl.crawl.sharedrobots import SharedRobots
from semcrawl.crawl.workersigns import Signs
from semcrawl.errors import FrontierCorrupt, FrontierError, FrontierGone, SemcrawlError
from semcrawl.frontier.backends import check_backend, check_crawl_name, job_backend
from semcrawl.frontier.contract import Frontier, FrontierOptions, Lease, WaitingLink
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page
from semcrawl.links.twins import Twins
from semcrawl.metadata.summary import Tally
from semcrawl.processes import give_back
from semcrawl.recent import Recent
from semcrawl.relevance import Outcome, Ranked, Relevance, crawl_strategy
from semcrawl.settings.reader import fill, number

logger = logging.getLogger(__name__)
Logger = logging.Logger | logging.LoggerAdapter[logging.Logger]

#: bodies whose copies are known as such, those read last
_MOST_DIGESTS = 100_000
#: seconds until the next turn after one that took links and left room
_LOOK_AGAIN = 0.05
#: seconds for which a closing session waits for the current turn
_LAST_TURN = 1.0


class CrawlSession:
    """Takes links for the spiders of this process, learns from outcomes, and acknowledges."""

    def __init__(self, frontier: Frontier, strategy: Relevance, options: SessionOptions) -> None:
        self.frontier = frontier
        self.contexts = ContextCache(frontier, shared=options.shared)
        #: what was seen of pages and their documents
        self.twins = Twins()
        self.lead_memory = LeadMemory(frontier, shared=options.shared)
        #: turns of errands, that is, of requests that fetch no link
        self.turns = Turns(frontier)
        self.robots = SharedRobots(frontier, self.turns, memory=options.robots_memory)
        self.strategy = strategy
        self.options = options
        self._leases = LeaseBook(options.leases)
        self.intake = Intake(
            frontier=frontier,
            strategy=strategy,
            options=options,
            wake=self.wake,
            released=self._leases.pop_released,
            is_busy=lambda: 2 * self._leases.in_flight_count >= options.concurrency,
            asks_beside=self._leases.asks_beside,
        )
        #: requests sent in this run
        self.requests = 0
        #: turns of this run, a sign of life: while the number grows, the process is alive
        self.turns_done = 0
        #: why the crawl cannot go on; empty while it can
        self.failure = ""
        #: digests of the bodies read last
        self.digests: Recent[bytes, bool] = Recent(_MOST_DIGESTS)
        self.tally = Tally()
        self.finished = asyncio.Event()
        self._channels = SpiderChannels(options.spiders)
        #: set when all spiders of this process are there and have planted their own seeds
        self.begun = self._channels.begun
        self.health = HostHealth(self.intake, options.health, self._leases.probes, self.fail)
        self._learning = self.intake.learning
        self._dispatcher = Dispatcher(
            frontier=frontier,
            strategy=strategy,
            options=options,
            intake=self.intake,
            leases=self._leases,
            health=self.health,
            channels=self._channels,
            remaining=self._remaining,
        )
        #: fetches not reported to the frontier yet: host, and whether it gave a target
        self._yields: list[tuple[str, bool]] = []
        self.outlook = Outlook(strategy, options.patience)
        self._signs = Signs(self)
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        #: no more links are taken
        self._draining = False
        self._completion = CompletionCheck(
            frontier, self._channels, options, self._dispatcher.some_wait
        )
        self._event_reader = EventReader(self.intake, self._dispatcher, self._leases, options)
        self._opened = False
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Open the frontier and load the saved state; later calls do nothing."""
        async with self._opening:
            if not self._opened:
                await self.frontier.open()
                await self.intake.open()
                self._opened = True

    async def attach(self, queue: str, channel: SpiderChannel) -> None:
        """Serve the spider of a queue, until :meth:`detach`."""
        await self.open()
        self._channels.open(queue, channel)
        if not self._tasks:
            tasks = (self._pump(), self._keep_leases(), self._signs.keep())
            self._tasks = [asyncio.create_task(task) for task in tasks]
        self.wake()

    async def hand_over(
        self, queue: str, page: Page, links: Sequence[Link], barren: int
    ) -> tuple[Ranked, ...] | None:
        """Give links to another spider of this process; return the new ones, or ``None``."""
        return await self._channels.hand_over(queue, page, links, barren)

    def planted(self, queue: str) -> None:
        """Note that a spider's own seeds are in the frontier: the crawl may end now."""
        self._channels.planted(queue)
        self.wake()

    async def detach(self, queue: str) -> None:
        """Stop serving a spider; after the last one, save the learned state and close."""
        self._channels.pop(queue, None)
        if self._channels:
            self.drain()  # a spider that is closed, by CLOSESPIDER_ITEMCOUNT say, ends the crawl
            with contextlib.suppress(FrontierError):  # the pump reports it
                for lease in [each for each in self._leases.held if each.entry.queue == queue]:
                    await self.retry(lease, self.attempt(lease).link_state, 0.0)
            return
        self._draining = True
        if self.failure or not self.finished.is_set():
            # the patience with the server is at its end, or the user stopped the crawl
            self.frontier.hurry()
        # let a call to the frontier end, unless it takes long
        self.finished.set()
        self.wake()
        tasks, self._tasks = set(self._tasks), []
        if tasks and not self.failure:
            await asyncio.wait(tasks, timeout=_LAST_TURN, return_when=asyncio.FIRST_COMPLETED)
        while tasks:
            # repeat: a cancellation that coincides with a reply gets lost
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=0.2)
        for step in (
            self.robots.close,
            self.contexts.close,
            self._learning.publish,
            self.intake.flush,
            partial(self._leases.flush, self.frontier, final=True),
            self._learning.save,
            partial(self.outlook.look_back, self.frontier),
            partial(self._signs.give, ended=True),
        ):
            # a step that fails, at a corrupt key say, must not stop the others
            try:
                await step()
            except FrontierCorrupt:
                pass
            except FrontierError:
                break  # the server is down: the next step would wait for it again
            except Exception:
                logger.exception("at the end of the crawl something could not be saved")
        with contextlib.suppress(FrontierError):
            await self.frontier.close()

    def fail(self, reason: str) -> None:
        """End the crawl, as it cannot go on."""
        self.failure = self.failure or reason
        self._draining = True
        self.finished.set()

    def fail_with(self, error: SemcrawlError, log: Logger) -> None:
        """End the crawl because of an error, and log it.

        If the frontier's file is gone, the results may be gone as well. The command sees both and
        reports it, so that the level here is only ``INFO``.
        """
        log.log(logging.INFO if isinstance(error, FrontierGone) else logging.ERROR, "%s", error)
        self.fail(str(error))

    def lower_concurrency(self, reason: str) -> None:
        """Have fewer requests in flight, as the process lacks files for so many."""
        self._dispatcher.lower_limit(reason)

    def drain(self) -> None:
        """Take no more links; requests in flight go on."""
        self._draining = True
        self.wake()

    def wake(self) -> None:
        """Begin the next turn at once."""
        self._wake.set()

    @property
    def spent(self) -> bool:
        """Whether this run has sent as many requests as it may."""
        return self.options.budget is not None and self.requests >= self.options.budget

    @property
    def limit(self) -> str:
        """Name of the limit that stopped the crawl, or an empty string."""
        if self.outlook.gave_up:
            return "SEMCRAWL_PATIENCE"
        return "SEMCRAWL_PAGES" if self.spent else ""

    @property
    def in_flight(self) -> Sequence[Lease]:
        """Leases whose links are being fetched now."""
        return self._leases.in_flight

    def attempt(self, lease: Lease) -> Attempt:
        """Return the attempt of a link."""
        return self._leases.attempt(lease)

    def awaits(self, lease: Lease) -> bool:
        """Whether a link is in flight here: its spider has it and has not read it yet."""
        return self._leases.is_in_flight(lease)

    def send(self, lease: Lease) -> None:
        """Note that a link's request will be sent as soon as there is a connection."""
        self.requests += 1
        self._leases.note_sent(lease)

    def count_errand(self, url: str) -> None:
        """Count a request for a document that is here, which belongs to no link, for the limits.

        JSON-LD contexts and parts of pages in a browser are had even beyond them.
        """
        self.requests += 1
        if self.intake.limits is not None:
            self.intake.limits.sent(url)

    async def leaves(self, lease: Lease) -> bool:
        """Note that the request leaves now; return whether it may, as its lease still holds."""
        held = False
        try:
            (held,) = await self.frontier.started([lease])
        finally:
            self.requests -= not held
        return held

    def received(self, lease: Lease) -> None:
        """Note that a link's response is here, before it is decoded and read."""
        self._leases.note_received(lease)

    def downloaded(self, lease: Lease) -> None:
        """Note that a link's download is over: its host may be asked again."""
        self._leases.note_downloaded(lease)
        if self._leases.in_flight_count < self.options.concurrency:
            self.wake()

    def learn(self, outcome: Outcome, queue: str, *, links_in: str = "") -> None:
        """Learn the outcome of a fetch from a spider's queue.

        ``links_in``: queue of the document's links, if it is another. The next turn publishes the
        outcome and reorders the frontier before it takes links.
        """
        self._dispatcher.turns.note(queue, target=outcome.target)
        self._learning.learn(outcome, links_in or queue)
        self.intake.families.note(outcome)
        if self.options.report_yields:
            self._yields.append((self.intake.host_key(outcome.url), outcome.target))
        if self.outlook.note(target=outcome.target):
            self.drain()

    async def retry(self, lease: Lease, state: LinkState, delay: float) -> None:
        """Put a link back into the frontier, to be fetched after ``delay`` seconds."""
        self._leases.drop(lease)
        entry = replace(lease.entry, payload=state.pack())
        await self.frontier.give_back([replace(lease, entry=entry)], delay=delay)
        self._learning.forget(entry)
        self.wake()

    def waits(self, lease: Lease) -> None:
        """Note that a document waits for something else: nobody waits for its outcome."""
        self._learning.forget(lease.entry)
        self.processed(lease)

    def processed(self, lease: Lease) -> None:
        """Note that a link is no longer in flight: it is read, or waits for other documents."""
        self._leases.note_read(lease)
        self._completion.worked()
        self.wake()

    def acknowledge(self, lease: Lease, *, failed: bool = False) -> None:
        """Acknowledge a link, as all its results are written; ``failed``: for another try."""
        self._leases.end(lease, failed=failed)
        self.wake()

    async def _pump(self) -> None:
        """Take turns until the crawl is finished."""
        try:
            while not self.finished.is_set():
                if 2 * self._leases.in_flight_count >= self._dispatcher.limit:
                    await read_arrivals()
                self._wake.clear()
                pause = await self._turn()
                if not self._wake.is_set():
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._wake.wait()
        except FrontierError as error:
            self.fail_with(error, logger)
        except Exception as error:
            # a fault of our own or of a strategy: end with a message instead of standing still
            logger.exception("the crawl cannot go on")
            self.fail(f"{type(error).__name__}: {error}")

    async def _turn(self) -> float:
        """Do the work that is due; return the seconds until the next turn."""
        self.turns_done += 1
        yields, self._yields = self._yields, []
        for host, target in yields:
            await self.frontier.pace.reward(host, target=target)
        caught_up = await self._learning.publish()
        await self.intake.flush()
        over = await self._leases.flush(self.frontier)
        await self._event_reader.read_if_due(caught_up=caught_up)
        planted = await self._take_seeds()
        # pages read meanwhile may change the order
        await self._learning.publish()
        room = self._dispatcher.room()
        if taken := await self._dispatcher.take(room, over):
            self._completion.worked()
            # where room is left, hosts that were not ready may soon be
            pause = self.options.seed_interval
            return pause if taken >= room else min(pause, _LOOK_AGAIN)
        if self._paused:
            self._completion.worked()
        idle = not self._leases and not planted
        if idle and (self._draining or await self._completion.is_over(spent=self.spent)):
            self.finished.set()
            return 0.0
        return await self._dispatcher.next_look() if room > 0 else self._event_reader.patience

    @property
    def beyond(self) -> int:
        """How many requests may be in flight beyond the concurrency, as others are overdue."""
        return self._dispatcher.beyond

    @property
    def _paused(self) -> bool:
        """Whether an operator has paused the crawl."""
        return self.intake.limits is not None and self.intake.limits.paused

    def _remaining(self) -> int:
        """Return how many more links may be taken in this run."""
        if self._draining or self._paused:
            return 0
        if (room := self.health.room(self._leases.in_flight_count)) is not None:
            return room
        if self.options.budget is None:
            return self.options.leases
        return max(0, self.options.budget - self.requests - self._leases.unsent)

    async def _take_seeds(self) -> int:
        """Give each spider the raw seeds from its list, if that is due; return how many."""
        found = await self._channels.take_seeds(self.frontier, self.options.seed_interval)
        if found:
            self._completion.worked()
        return found

    async def _keep_leases(self) -> None:
        """Renew the leases held and save the learned state, at intervals."""
        pause = min(self.frontier.options.lease_time / 3, self.options.save_interval)
        saved = time.monotonic()
        while True:
            await asyncio.sleep(pause)
            try:
                await self.frontier.heartbeat(self.frontier.options.lease_time)
                await self.frontier.renew(self._leases.held)
                if time.monotonic() - saved >= self.options.save_interval:
                    saved = time.monotonic()
                    await self._learning.save()
                    await asyncio.to_thread(give_back)
            except FrontierError:
                pass  # the pump reports it
            except Exception:
                # a strategy's fault, say: the leases must be renewed nevertheless
                logger.exception("what was learned cannot be saved")


#: seconds without work after which a crawl that had seeds ends
_IDLE = "MAX_IDLE_TIME_BEFORE_CLOSE"


def frontier_options(settings: BaseSettings) -> FrontierOptions:
    """Read the frontier's settings; raise ``UsageError`` for wrong ones."""
    return fill(FrontierOptions, settings)


def session_options(settings: BaseSettings) -> SessionOptions:
    """Read the session's settings, Scrapy's among them; raise ``UsageError`` for wrong ones."""
    concurrency = number(
        "CONCURRENT_REQUESTS", settings.get("CONCURRENT_REQUESTS", 16), 1, whole=True
    )
    found = fill(
        SessionOptions,
        settings,
        concurrency=concurrency,
        idle_time=number(_IDLE, settings.get(_IDLE) or 0),
        shared=bool(settings.get("REDIS_URL")) or worker_count(settings) > 1,
        spiders=2 if settings.getbool("SEMCRAWL_HARVEST") else 1,
    )
    frontier = frontier_options(settings)
    return replace(
        found,
        leases=max(concurrency, found.leases),
        report_yields=frontier.fairness == "yield" or frontier.penalty_after > 0,
    )


@dataclass
class SessionSource:
    """Makes the one session of a process, and its frontier, on first use."""

    settings: BaseSettings
    _session: CrawlSession | None = None
    _unopened: str = ""
    _parts: tuple[SessionOptions, FrontierOptions, Relevance] | None = field(
        default=None, repr=False
    )

    def __deepcopy__(self, memo: object) -> SessionSource:
        """Return itself: crawlers copy their settings, but share the session."""
        return self

    def session(self) -> CrawlSession:
        """Return the session; raise ``UsageError`` or ``FrontierUnavailable`` if there is none."""
        if self._session is None:
            self._session = self._make()
        return self._session

    def adopt(self, settings: BaseSettings) -> None:
        """Use a crawler's settings, which its spider may have changed, unless others are in use."""
        if self._session is None and self._parts is None:
            self.settings = settings

    @property
    def failure(self) -> str:
        """Why the crawl cannot begin or go on; empty if it can."""
        return self._unopened or (self._session.failure if self._session else "")

    def fail(self, reason: str) -> None:
        """Note that a spider could not take part; end the crawl of the others."""
        self._unopened = self._unopened or reason
        if self._session is not None:
            self._session.fail(reason)

    def configure(self) -> tuple[SessionOptions, FrontierOptions, Relevance]:
        """Read the settings and load the strategy, once; this starts and writes nothing."""
        if self._parts is None:
            settings = self.settings
            check_crawl_name(settings)
            self._parts = (
                session_options(settings),
                frontier_options(settings),
                crawl_strategy(settings),
            )
        return self._parts

    def check(self) -> None:
        """Check that the frontier can be opened; raise as :func:`check_backend` does."""
        check_backend(self.settings, self.folder)

    def _make(self) -> CrawlSession:
        options, frontier_settings, strategy = self.configure()
        frontier = job_backend(self.settings, self.folder, frontier_settings)
        return CrawlSession(frontier, strategy, options)

    @property
    def folder(self) -> Path:
        """The job folder."""
        return job_path(self.settings)


def session_source(settings: BaseSettings) -> SessionSource:
    """Return the source that the process shares, or else a new one for this crawler."""
    shared: Any = settings.get("SEMCRAWL_SESSION_SOURCE")
    if not isinstance(shared, SessionSource):
        return SessionSource(settings)
    shared.adopt(settings)
    return shared


class SessionSpider(Protocol):
    """A spider that fetches the links of a session.

    :meth:`join` sets ``session``; for a spider that could not join it is missing or ``None``.
    """

    #: Scrapy's name of the spider
    name: str
    #: the session that it takes part in
    session: CrawlSession

    @property
    def queue(self) -> str:
        """Queue of the frontier that it fetches: ``html`` or ``rdf``."""

    @property
    def seed_key(self) -> str:
        """Name of its seed list."""

    @property
    def waits(self) -> bool:
        """Whether it has no seeds of its own and waits for some on that list."""

    # -- called by middlewares
    def excludes(self, request: Request) -> bool:
        """Whether the patterns that hold now exclude a link, which then waits for others."""

    # -- called by the scheduler
    def join(self, session: CrawlSession) -> None:
        """Take part in a session; raise ``UsageError`` if it cannot."""

    def make_request(self, lease: Lease) -> Request | None:
        """Return the request for a leased link.

        ``None`` if nothing is to be sent: the spider puts another link in its place.
        """

    def end_readings(self) -> None:
        """End the readings of documents that are under way; they are interrupted."""

    # -- called by the session
    def plant_raw(self, raw: list[str]) -> None:
        """Put raw seeds from its list into the frontier."""

    async def discover(self, page: Page, links: Sequence[Link], barren: int) -> tuple[Ranked, ...]:
        """Put the links of a page into the frontier; return the new ones."""

    # -- called by the acknowledgement
    async def plant_own(self) -> None:
        """Put its own seeds into the frontier."""

    async def plant_request(self, request: Request, *, own: bool = False) -> None:
        """Put a request without a callback into the frontier; ``own``: it is a seed."""

    async def until_over(self) -> None:
        """Wait until the crawl is over."""

    def abandoned(self, response: Response | Failure, reason: str) -> None:
        """Record a link whose callback failed or did not call ``super()``."""

    # -- called by the middlewares
    def why_refused(self, request: Request) -> str:
        """Say why this run does not fetch a link; empty if it does."""

    def emit(self, item: Any) -> None:
        """Send an item that belongs to no link to the pipelines."""

    def set_aside(self, links: Sequence[WaitingLink]) -> None:
        """Record links whose host was given up."""


def spider_of(crawler: Crawler) -> SessionSpider | None:
    """Return the crawler's spider if it can take part in a session, otherwise ``None``."""
    spider = crawler.spider
    return cast(SessionSpider, spider) if hasattr(spider, "make_request") else None


def session_of(crawler: Crawler) -> CrawlSession | None:
    """Return the session of the crawler's spider; ``None`` if it takes part in none."""
    session: CrawlSession | None = getattr(crawler.spider, "session", None)
    return session
