"""Limits of a crawl that hold for all its workers and may change while it runs.

A budget bounds what a crawl requests from a host or a pay-level domain (T.8).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nlargest
from typing import Any, Protocol, Self

import msgpack
from scrapy.settings import BaseSettings

from semcrawl.config.scope import UrlPattern, UrlPatterns, listed
from semcrawl.crawl.claims import claimed
from semcrawl.crawl.standingorders import DOMAIN, EXCLUDE, HOST, Orders, load_orders
from semcrawl.errors import FrontierCorrupt, UsageError
from semcrawl.frontier.contract import QUEUES, Frontier, requeue_all
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.summary import Tally, is_errand, is_robots
from semcrawl.web.hosts import domain_of, netloc_of, start_of

logger = logging.getLogger(__name__)

#: seconds after which a worker reads changed limits and what other workers have spent
INTERVAL = 2.0
#: seconds for which the host of a paused link rests; renewed at each interval, it ends soon after
#: the host may go on
_REST = 4.0
#: places whose sums are remembered while no budget asks for them
_MOST_PLACES = 20_000
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)b?", re.I)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)(%?)/(\d+)")
_COUNTED = ("requests", "bytes", "documents", "depth")
_KNOWN = "requests=N, bytes=N (K, M, G), documents=N, depth=N, rdf=SHARE/REQUESTS"


@dataclass(slots=True)
class Spent:
    """What a crawl has spent on a host or domain."""

    requests: int = 0
    bytes: int = 0
    #: RDF documents
    documents: int = 0

    def add(self, other: Spent) -> None:
        """Add another sum to this one."""
        self.requests += other.requests
        self.bytes += other.bytes
        self.documents += other.documents


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of a host or domain; ``None`` means no bound."""

    requests: int | None = None
    #: bytes of the bodies received
    bytes: int | None = None
    #: RDF documents
    documents: int | None = None
    #: links from a seed
    depth: int | None = None
    #: least share of requests that must give RDF documents, 0 to 1
    share: float = 0.0
    #: number of requests from which on ``share`` holds
    after: int = 0

    @classmethod
    def parse(cls, name: str, text: str) -> Self:
        """Read ``requests=1000,bytes=1G,documents=500,depth=6,rdf=1%/200``.

        ``name`` is the setting's name. Raises ``UsageError`` for anything else.
        """
        found: dict[str, int] = {}
        share, after = 0.0, 0
        for part in filter(None, (each.strip() for each in text.split(","))):
            kind, _, value = (each.strip().lower() for each in part.partition("="))
            if kind == "rdf" and (match := _SHARE.fullmatch(value)):
                share, after = float(match[1]) / (100 if match[2] else 1), int(match[3])
                if share <= 1:
                    continue
            elif kind in _COUNTED and kind not in found and (match := _NUMBER.fullmatch(value)):
                found[kind] = int(float(match[1]) * _UNITS[match[2].lower()])
                continue
            raise UsageError(f"{name}: {part!r} is none of {_KNOWN}")
        return cls(**found, share=share, after=after)

    def __bool__(self) -> bool:
        """Whether it has any bound."""
        return self != Budget()

    def exceeded(self, spent: Spent, depth: int) -> str:
        """Say which bound forbids a request for a link of this depth; empty if none does."""
        if self.depth is not None and depth > self.depth:
            return f"it is deeper than {self.depth}"
        for name in ("requests", "bytes", "documents"):
            most = getattr(self, name)
            if most is not None and getattr(spent, name) >= most:
                return f"{most:,} {name} are spent"
        enough = spent.requests >= self.after > 0
        if enough and spent.documents < self.share * spent.requests:
            return f"less than {self.share:.3g} of {spent.requests:,} requests gave RDF"
        return ""


#: names of the frontier's blobs: what was spent on each place, and the limits that held when links
#: were set aside because of them
_SPENT, _SET_ASIDE = "spent", "limits-set-aside"


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets and patterns."""

    host: Budget = field(default_factory=Budget)
    domain: Budget = field(default_factory=Budget)
    patterns: UrlPatterns = field(default_factory=UrlPatterns)

    @classmethod
    def from_settings(cls, settings: BaseSettings, over: Mapping[str, Any] | None = None) -> Self:
        """Read the settings, overridden by ``over``; raise ``UsageError`` for wrong ones.

        Patterns that exclude are added to those of the settings.
        """
        found = settings.copy()
        found.frozen = False  # Scrapy freezes a crawl's settings; the copy is frozen too
        for name, value in (over or {}).items():
            more = listed(settings, EXCLUDE) if name == EXCLUDE else []
            found.set(name, [*more, *value] if more else value, "cmdline")
        return cls(
            Budget.parse(HOST, found.get(HOST) or ""),
            Budget.parse(DOMAIN, found.get(DOMAIN) or ""),
            UrlPatterns.from_settings(found),
        )

    def faults(self) -> list[str]:
        """Return a line for each pattern that can match no address."""
        return [
            f"the pattern {each.text!r} can match no address: {fault}"
            for group in self.patterns_by_kind
            for each in group
            if (fault := each.fault)
        ]

    def signature(self) -> bytes:
        """Return the same bytes for the same limits."""
        patterns = (sorted(each.text for each in group) for group in self.patterns_by_kind)
        return json.dumps([repr(self.host), repr(self.domain), *patterns]).encode()

    @property
    def patterns_by_kind(self) -> tuple[tuple[UrlPattern, ...], tuple[UrlPattern, ...]]:
        """The patterns to include and those to exclude."""
        return self.patterns.include, self.patterns.exclude


async def limits_now(frontier: Frontier, settings: BaseSettings) -> Limits:
    """Return the limits of a run: its settings, and what a command has set for the crawl."""
    return Limits.from_settings(settings, (await load_orders(frontier)).limits)


async def take_back(frontier: Frontier, limits: Limits) -> int:
    """Put links that other limits have set aside back into their groups; return how many.

    Those that these limits forbid too are set aside again, without a request.
    """
    before = await frontier.shared.get(_SET_ASIDE)
    if not before or before == limits.signature():
        return 0
    await frontier.shared.put(_SET_ASIDE, b"")
    return await requeue_all(frontier, QUEUES)


class CrawlLimits:
    """The limits that hold now, and what the crawl has spent.

    Workers add up their sums every few seconds; requests in between may exceed a budget.
    """

    def __init__(self, frontier: Frontier, settings: BaseSettings) -> None:
        self._frontier = frontier
        self._settings = settings
        self._take(Limits.from_settings(settings))
        #: what operators decided, as last read
        self.orders = Orders()
        #: how often they had stopped the crawl when this worker began; ``None`` until it is known
        self._stops: int | None = None
        #: limits that are noted as those that set links aside
        self._noted = b""
        #: sums of all workers, as last read
        self._sums: dict[str, Spent] = {}
        #: what this worker has spent since
        self._own: defaultdict[str, Spent] = defaultdict(Spent)

    async def note_set_aside(self) -> None:
        """Note that a link is set aside because of the limits that hold now."""
        if self._noted != (signature := self.now.signature()):
            await self._frontier.shared.put(_SET_ASIDE, signature)
            self._noted = signature

    async def refresh(self) -> bool:
        """Read the orders and sums of the crawl; return whether limits have changed."""
        given = await load_orders(self._frontier)
        changed = given.limits != self.orders.limits
        before, self.orders = self.orders, given
        if self._stops is None:
            self._stops = given.stops
            for line in given.lines():
                logger.info("an order holds: %s", line)
        else:
            known = before.said[-1].number if before.said else 0
            for said in given.said:
                if said.number > known:
                    logger.info("an order by %s: %s", said.by, said.text)
        if changed:
            try:
                self._take(Limits.from_settings(self._settings, given.limits))
            except UsageError as error:
                raise FrontierCorrupt(f"{self._frontier.shared.place}: {error}") from error
        if self._any_budget:
            await self._add_up()
        return changed

    @property
    def paused(self) -> bool:
        """Whether no link may be taken; also until the orders are known."""
        return self.orders.paused or self._stops is None

    @property
    def stopped(self) -> bool:
        """Whether this worker was told to stop."""
        return self._stops is not None and self.orders.stops > self._stops

    def holds(self, url: str) -> bool:
        """Whether an operator has paused the crawl or the host of an address."""
        return self.orders.paused or netloc_of(url) in self.orders.paused_hosts

    def _take(self, limits: Limits) -> None:
        """Apply these limits from now on."""
        self.now = limits
        self._noted = b""
        self._any_budget = bool(limits.host or limits.domain)

    def over_budget(self, url: str, depth: int) -> str:
        """Say why a link is over the budget of its host or domain; empty if it is not."""
        if not self._any_budget:
            return ""
        now = self.now
        for budget, place in zip((now.host, now.domain), _places(start_of(url)), strict=True):
            if budget and (reason := budget.exceeded(self.spent(place), depth)):
                return f"over the budget of its {place.partition(':')[0]}: {reason}"
        return ""

    def spent(self, place: str) -> Spent:
        """Return what all workers have spent on a place, as far as this worker knows."""
        total = Spent()
        for sums in (self._sums, self._own):
            if (found := sums.get(place)) is not None:
                total.add(found)
        return total

    def sent(self, url: str) -> None:
        """Count a request."""
        for own in self._own_of(url):
            own.requests += 1

    def note(self, record: FetchRecord) -> None:
        """Count the bytes and documents of a record."""
        if is_robots(record.url, record.outcome) or is_errand(record.rules):
            return
        is_rdf = record.outcome is FetchOutcome.FETCHED_RDF
        if record.bytes or is_rdf:
            for own in self._own_of(record.url):
                own.bytes += record.bytes
                own.documents += is_rdf

    def _own_of(self, url: str) -> list[Spent]:
        """Return what this worker spent on the host and on the domain of a URL.

        Without a budget, only what was spent on most is remembered, for a budget that may come.
        """
        if not self._any_budget and len(self._own) > _MOST_PLACES:
            most = nlargest(_MOST_PLACES // 2, self._own.items(), key=lambda own: own[1].requests)
            self._own = defaultdict(Spent, most)
        return [self._own[place] for place in _places(start_of(url))]

    async def _add_up(self) -> None:
        """Add this worker's sums to the common ones."""
        if not self._own:
            self._sums = await self._read()
            return
        async with claimed(self._frontier.shared, _SPENT, 0) as has:
            if has:
                sums, own = await self._read(), self._own
                self._own = defaultdict(Spent)
                for place, spent in own.items():
                    sums.setdefault(place, Spent()).add(spent)
                rows = {place: [s.requests, s.bytes, s.documents] for place, s in sums.items()}
                await self._frontier.shared.put(_SPENT, msgpack.packb(rows))
                self._sums = sums

    async def _read(self) -> dict[str, Spent]:
        data = await self._frontier.shared.get(_SPENT)
        if not data:
            return {}
        try:
            return {
                str(place): Spent(*map(int, row)) for place, row in msgpack.unpackb(data).items()
            }
        except (ValueError, TypeError, AttributeError, msgpack.UnpackException) as error:
            where = self._frontier.shared.place
            raise FrontierCorrupt(f"{where}, {_SPENT!r} holds no sums: {error}") from error


@lru_cache(maxsize=1024)
def _places(start: str) -> tuple[str, str]:
    """Name the host and the domain for which requests with this start of their URL count."""
    return f"host:{netloc_of(start)}", f"domain:{domain_of(start)}"


class Sharing(Protocol):
    """The session as the limits see it."""

    finished: asyncio.Event
    frontier: Frontier
    tally: Tally
    intake: Any

    def wake(self) -> None:
        """Look for links at once."""

    def drain(self) -> None:
        """Take no more links."""


def keep_limits(
    session: Sharing, settings: BaseSettings, changed: Callable[[UrlPatterns], None]
) -> Coroutine[Any, Any, None]:
    """Obey orders, and refresh the limits at intervals until the crawl is finished."""
    if session.intake.limits is None:
        session.intake.limits = CrawlLimits(session.frontier, settings)
        session.tally.listeners.append(session.intake.limits.note)
    return _keep_limits(session, session.intake.limits, changed)


async def _keep_limits(
    session: Sharing, limits: CrawlLimits, changed: Callable[[UrlPatterns], None]
) -> None:
    paused = True
    while not session.finished.is_set():
        await limits.refresh()
        if limits.stopped:
            session.drain()
        if paused and not limits.paused:
            session.wake()
        paused = limits.paused
        for host in limits.orders.paused_hosts:
            key = session.intake.host_key(f"http://{host}/")
            await session.frontier.pace.rest(key, _REST)
        changed(limits.now.patterns)
        if await take_back(session.frontier, limits.now):
            session.wake()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(INTERVAL):
                await session.finished.wait()
