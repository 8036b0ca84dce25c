"""Lets hosts rest that are down or block us; pauses the crawl when our own network is down.

Rest time follows sources.md I: when a page cannot be fetched, its domain rests, longer with each
further failure and shorter with each success (:mod:`semcrawl.crawl.healthsigns`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from math import inf

from semcrawl.crawl.healthsigns import (
    WORDS,
    FailureCounts,
    Fate,
    FruitlessHosts,
    GivenUp,
    HealthOptions,
    NetworkPause,
    Outage,
    Sign,
    rest_message,
    rest_policy,
)
from semcrawl.crawl.intake import Intake
from semcrawl.crawl.lists import check_link
from semcrawl.frontier.contract import Entry, Lease, Rest, WaitingLink
from semcrawl.frontier.links import LinkState
from semcrawl.recent import Recent
from semcrawl.web.hosts import name_of, netloc_of, origin_of, pay_level_domain

logger = logging.getLogger(__name__)

#: fewest failures in a row for which a host, not a link, may be at fault
_FEWEST_FAILURES = 2
#: dead hosts after which hosts that have given nothing come last
_FOUND_DEAD = 2
#: seconds from which a request counts as slow
LONG = 5.0
#: hosts, servers and links that this process remembers of each kind, those met last; the frontier
#: remembers which hosts gave something, and which are down
_MOST = 10_000
#: status that does not end a host's rest, by the reason of the rest
_NO_RECOVERY = {Sign.BLOCKING: HTTPStatus.FORBIDDEN, Sign.REFUSING: HTTPStatus.TOO_MANY_REQUESTS}


class HostHealth:
    """Learns how requests end, and lets hosts that are down rest, for all workers of the crawl.

    ``probes`` counts the probes under way, by host. ``fail`` ends the crawl with a reason.
    """

    def __init__(
        self,
        intake: Intake,
        options: HealthOptions,
        probes: Mapping[str, int],
        fail: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._newly_down = 0
        self._given_up: Recent[str, GivenUp] = Recent(_MOST)
        self._intake = intake
        self._pace = intake.frontier.pace
        self._options = options
        self._probes = probes
        self._clock = clock
        self._counts = FailureCounts(options)
        self._rests = rest_policy(options.rest_policy, options.rest, intake.strategy)
        #: hosts that are down, as far as this process knows
        self._down: Recent[str, Rest] = Recent(_MOST)
        #: hosts that gave something
        self._known: Recent[str, bool] = Recent(_MOST)
        #: hosts that gave nothing and were found dead or slow
        self._dead: set[str] = set()
        self._fruitless = FruitlessHosts()
        #: hosts that answer again, but whose next rest is still longer than the first
        self._recovering: set[str] = set()
        #: servers that are down while another of their host answers
        self._servers: Recent[str, Outage] = Recent(_MOST)
        #: servers whose name does not exist though another of their host answers, and until when
        #: that holds
        self._absent: Recent[str, float] = Recent(_MOST)
        self._pause = NetworkPause(self._pace, options, self._down, fail, clock)
        #: by host, the links that failed since its last answer
        self._tried: Recent[str, list[str]] = Recent(_MOST, list)
        #: by host, the links answered with 403 since its last other answer
        self._forbidden: Recent[str, list[Entry]] = Recent(_MOST, list)
        #: links that got one more try, as their host may be at fault
        self._retried_once_more: Recent[str, bool] = Recent(_MOST)
        #: number of tries that do not count, by link
        self._uncounted: Recent[str, int] = Recent(_MOST, int)

    # -- failures and answers
    async def answered(self, url: str, status: int, lease: Lease | None) -> list[WaitingLink]:
        """Note an answer; return the links that are set aside because of it."""
        host, server = self._intake.host_key(url), origin_of(url)
        if self._pause.is_on and await self._pause.end():
            self._intake.wake()
        self._servers.pop(server, None)
        self._absent.pop(server, None)
        sign = self._counts.answered(host, server, status, self._clock())
        if sign is Sign.REFUSING:
            return await self._let_rest(url, sign, "")
        if host in self._down or host in self._probes:
            why = (await self._pace.known(host)).down
            if why and status == _NO_RECOVERY.get(Sign(why)):
                return await self._let_rest(url, Sign(why), "") if host in self._probes else []
        if sign is Sign.BLOCKING:
            queue = lease.entry.queue if lease is not None else ""
            return await self._let_rest(url, sign, queue) if await self._is_known(host) else []
        if host in self._tried:
            del self._tried[host]
        is_good = status == HTTPStatus.OK and lease is not None and host not in self._known
        if not is_good and self._fruitless.met(host, self._known.keys()):
            for _ in range(_FOUND_DEAD):
                await self._pace.note_dead()
        if status == HTTPStatus.FORBIDDEN:
            return []
        self._forbidden.pop(host, None)
        if is_good or host in self._down or host in self._probes or host in self._recovering:
            await self._recover(url, url if is_good else "")
        return []

    async def failed(
        self,
        url: str,
        queue: str,
        *,
        ours: bool,
        missing: bool,
        took: float = 0.0,
        began: bool = False,
    ) -> list[WaitingLink]:
        """Note a request without an answer; return the links that are set aside because of it.

        ``ours``: the proxy is down; ``missing``: the host name does not exist; ``took``: seconds
        that a slow host held a slot; ``began``: the head of the response had arrived, so the
        network is up, however slow the host is.
        """
        if began and self._pause.is_on and await self._pause.end():
            self._intake.wake()
        if not self._options.failures:
            return []
        host, server = self._intake.host_key(url), origin_of(url)
        known = await self._is_known(host)
        if missing and self._counts.is_served_by_another(host, server):
            # a proxy may know the name for ``http`` only, say: one look-up shows it for all links
            self._absent[server] = self._clock() + self._options.patience
            return []
        sign = self._counts.failed(host, server, known=known, began=began)
        if not known:
            await self.note_dead(host)
        if sign is Sign.NETWORK or (ours and (known or self._known)) or self._pause.is_on:
            await self._pause_crawl(host)
            return []
        if missing and not known:
            return await self._let_rest(url, Sign.SILENT, "", 0.0) if host == netloc_of(url) else []
        if host in self._down or host in self._probes:
            return await self._let_rest(url, Sign.SILENT, "", took=took)
        if sign is Sign.SILENT or (took >= LONG and not known):
            return await self._let_rest(url, Sign.SILENT, queue, took=took)
        now = self._clock()
        if (away := self._servers.get(server)) is not None:
            away.probe_failed(self._options.rest, now)
        elif sign is Sign.SERVER or (
            # others of its host wait for a slow one, as they share their host's turns
            took >= LONG
            and not self._counts.has_answered(server)
            and self._counts.is_served_by_another(host, server)
        ):
            self._servers[server] = Outage(now, now + self._options.rest, self._options.rest)
        return []

    # -- decisions on links
    @property
    def given_up(self) -> list[GivenUp]:
        """The hosts that had answered, or had links waiting, when they were given up."""
        return [host for host in self._given_up.values() if host.links > 1]

    def rests(self, url: str) -> bool:
        """Whether a request that belongs to no link must not be sent, as its host rests."""
        host = self._intake.host_key(url)
        return self._pause.is_on or (host in self._down and host not in self._probes)

    def wait(self, url: str) -> float:
        """Return for how many seconds a link waits for its server; infinite when it is given up."""
        server = origin_of(url) if self._servers or self._absent else ""
        if self._absent.get(server, 0.0) > self._clock():
            return inf
        away = self._servers.get(server)
        if away is None:
            return 0.0
        now, options = self._clock(), self._options
        answered = self._counts.has_answered(server)
        patience = options.patience if answered else options.untried_patience
        if now >= away.until and now - away.since >= patience:
            return inf
        return max(0.0, away.until - now)

    def fate(self, lease: Lease, *, missing: bool = False) -> Fate:
        """Return the fate of a link that got no answer; ``missing``: its host does not exist."""
        host = lease.entry.host
        if self._pause.is_on:
            return Fate.UNCOUNTED
        if (rest := self._down.get(host)) is not None:
            over = rest.over or (lease.probe and self._rests.is_gone(lease.entry.url))
            return self._give_up(lease) if over else Fate.UNCOUNTED
        if missing:
            origin = origin_of(lease.entry.url)
            if host not in self._known or self._counts.is_served_by_another(host, origin):
                return Fate.OVER
        if lease.probe:
            return Fate.UNCOUNTED
        self._tried[host].append(lease.entry.url)
        return Fate.USUAL

    def fate_of_forbidden(self, lease: Lease) -> Fate:
        """Return the fate of a link that was answered with 403: its host may have blocked us."""
        host = lease.entry.host
        rest = self._down.get(host)
        if rest is not None and rest.why == Sign.BLOCKING:
            return self._give_up(lease) if rest.over else Fate.UNCOUNTED
        self._forbidden[host].append(lease.entry)
        return Fate.USUAL

    def reason(self, host: str) -> str:
        """Say why the links of a host were set aside."""
        given_up = self._given_up.get(host)
        return f"the host {given_up.what}" if given_up else ""

    def pop_uncounted(self, url: str) -> int:
        """Return how many tries of a link do not count, and forget that number."""
        return self._uncounted.pop(url, 0)

    async def may_be_hosts_fault(self, lease: Lease, tries: int) -> bool:
        """Whether the host may be at fault for a link that has used up its tries.

        That is so if the host gave something before, but nothing since the link's first failure.
        The host rests then. Each link gets this once.
        """
        host = lease.entry.host
        failures = self._counts.failures_in_row(host)
        if not self._options.failures or failures < max(tries, _FEWEST_FAILURES):
            return False
        if lease.entry.url in self._retried_once_more or not await self._is_known(host):
            return False
        self._retried_once_more[lease.entry.url] = True
        await self._let_rest(lease.entry.url, Sign.SILENT, lease.entry.queue)
        return self.fate(lease) is Fate.UNCOUNTED

    @property
    def some_are_dead(self) -> bool:
        """Whether this process has found several hosts dead or slow."""
        return len(self._dead) >= _FOUND_DEAD

    async def note_dead(self, host: str) -> None:
        """Note that a host that has given nothing is dead or slow."""
        if host not in self._dead and not self.some_are_dead:
            self._dead.add(host)
            await self._pace.note_dead()

    def has_answered(self, url: str) -> bool:
        """Whether the server of an address ever answered this process."""
        return self._counts.has_answered(origin_of(url))

    def is_in_doubt(self, lease: Lease) -> bool:
        """Whether a link was the first to find that its host, which gave nothing yet, is down."""
        host = lease.entry.host
        return host in self._down and host not in self._known and not lease.probe

    def gave_something(self, host: str = "") -> bool:
        """Whether a host, or any at all, has given anything, as far as this process knows."""
        return host in self._known if host else bool(self._known)

    def suspects(self) -> set[str]:
        """Return the domains that gave reason for the pause; empty if the crawl is not paused.

        Others are probed first: a few hosts can be silent for reasons of their own.
        """
        if not self._pause.is_on:
            return set()
        hosts = {*self._counts.failing, *self._pause.asked}
        return {pay_level_domain(name_of(host)) for host in hosts}

    def room(self, flying: int) -> int | None:
        """Return how many links may be taken while the crawl is paused; ``None`` if it is not."""
        return self._pause.room(flying)

    def newly_down(self) -> int:
        """Return how many hosts went down since the last call."""
        number, self._newly_down = self._newly_down, 0
        return number

    # -- inside
    def _give_up(self, lease: Lease) -> Fate:
        given_up = self._given_up.get(lease.entry.host)
        if LinkState.unpack(lease.entry).check:
            return Fate.DONE
        if given_up is not None:
            given_up.links += 1
        return Fate.OVER

    async def _is_known(self, host: str) -> bool:
        if host not in self._known and (await self._pace.known(host)).good:
            self._known[host] = True
        return host in self._known

    async def _let_rest(
        self,
        url: str,
        sign: Sign,
        queue: str,
        patience: float | None = None,
        took: float = 0.0,
    ) -> list[WaitingLink]:
        """Let a host rest, longer each time; set its links aside when the patience with it ends.

        With a ``queue``, an address that the host gave before is the first probe: its answer shows
        whether the host or its links are at fault. A probe that ``took`` long lengthens the rest.
        """
        options, host = self._options, self._intake.host_key(url)
        # a slow host that has given nothing rests until its patience ends, for one last probe
        lost = 2 * took if host in self._known else max(2 * took, options.untried_patience)
        rest = await self._pace.down(
            host,
            sign,
            step=self._rests.step(url) + (lost if took >= LONG else 0.0),
            patience=options.patience if patience is None else patience,
            untried_patience=options.untried_patience if patience is None else patience,
        )
        is_new = host not in self._down
        self._down[host] = rest
        self._newly_down += is_new
        if is_new and queue and rest.good:
            await self._intake.frontier.add([check_link(rest.good, host, queue)], again=True)
        elif host in self._probes and rest.down_for > 0:
            await self._acquit_links(host, rest)
        if rest.good and (is_new or rest.over):
            logger.warning(rest_message(host, rest))
        if not rest.over:
            return []
        links: list[WaitingLink] = []
        while portion := await self._pace.set_aside(host):
            links += portion
        what = WORDS[Sign(rest.why)] if patience is None else "has a name that does not exist"
        since = time.time() - rest.down_for
        given_up = self._given_up.setdefault(host, GivenUp(host, what, since))
        given_up.links += sum(not LinkState.unpack(link.entry).check for link in links)
        return links

    async def _acquit_links(self, host: str, rest: Rest) -> None:
        """Cancel the tries of links that failed before the host was known to be down."""
        self._discount(self._tried.pop(host, ()))
        refused = self._forbidden.pop(host, ())
        if rest.why == Sign.BLOCKING and refused:
            await self._intake.frontier.add(refused, again=True)

    async def _recover(self, url: str, good: str) -> None:
        """End the rest of a host that answered; shorten its next one."""
        host, step = self._intake.host_key(url), self._rests.step(url)
        self._rests.answered(url)
        was_down = self._down.pop(host, None)
        left, down_for = await self._pace.up(host, step=step, good=good)
        if good:
            self._known[host] = True
        if left > 0:
            self._recovering.add(host)
        else:
            self._recovering.discard(host)
        if was_down is not None and was_down.why == Sign.BLOCKING:
            self._counts.acquit(host)
        if was_down is not None and was_down.good:
            logger.warning("%s answers again, after %d s", host, down_for)
        self._intake.wake()

    async def _pause_crawl(self, host: str) -> None:
        """Pause the crawl, or pause it longer, as no host answers."""
        if not self._pause.is_on:
            for links in self._tried.values():
                self._discount(links)
            self._tried.clear()
        await self._pause.no_answer(host)

    def _discount(self, links: Iterable[str]) -> None:
        """Note a try of each link that does not count."""
        for url in links:
            self._uncounted[url] += 1
