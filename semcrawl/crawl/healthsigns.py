"""The health of hosts and of our own network: signs, failure counts, and the hosts given up."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from http import HTTPStatus
from math import inf
from typing import Any, Protocol, runtime_checkable

from semcrawl.frontier.contract import Pace, Rest
from semcrawl.recent import Recent
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Weighing
from semcrawl.settings.reader import setting
from semcrawl.terminal import amount

#: failed checks after which a page is gone (sources.md I)
_GONE_AFTER = 4
#: pages whose checks are remembered
_REMEMBERED = 10_000


class RestPolicyName(StrEnum):
    """The policies, as ``SEMCRAWL_HOST_REST_POLICY`` names them."""

    #: every failed check adds the same; pages wait until their host is given up
    EVEN = "even"
    #: RestTime += α·PageRank(page); a page is gone after four failed checks (sources.md I)
    PAGERANK = "pagerank"


@runtime_checkable
class RestPolicy(Protocol):
    """The rule by which hosts rest."""

    def step(self, url: str) -> float:
        """Seconds that a failure of this page adds to its host's rest; a success subtracts them."""
        ...

    def is_gone(self, url: str) -> bool:
        """Count a failed check of a page whose host is down; return whether to give it up."""
        ...

    def answered(self, url: str) -> None:
        """Note that a page was fetched."""
        ...


class EvenRests:
    """Every check changes the rest by the same number of seconds."""

    def __init__(self, rest: float) -> None:
        """``rest``: that number."""
        self._rest = rest

    def step(self, url: str) -> float:
        """Return the same number for all pages."""
        return self._rest

    def is_gone(self, url: str) -> bool:
        """Return false: pages wait for their host."""
        return False

    def answered(self, url: str) -> None:
        """Do nothing."""


class PageRankRests:
    """RestTime += α·PageRank(page), and -= on success; α is a number of seconds.

    **Reading**: a check is a request that finds out whether a host that is down answers again.
    Each worker counts its own checks. The crawl gives a host up as early as with
    :class:`EvenRests`, even if some of its pages had fewer checks.
    """

    def __init__(self, rest: float, pagerank: Callable[[str], float]) -> None:
        """``rest`` is α; ``pagerank`` returns the PageRank of a page (1 on average)."""
        self._rest, self._pagerank = rest, pagerank
        self._failed: Counter[str] = Counter()

    def step(self, url: str) -> float:
        """Return α·PageRank(page)."""
        return self._rest * max(0.0, self._pagerank(url))

    def is_gone(self, url: str) -> bool:
        """Count a failed check; the page is gone with the fourth."""
        self._failed[url] += 1
        if self._failed[url] >= _GONE_AFTER:
            del self._failed[url]
            return True
        if len(self._failed) > _REMEMBERED:
            del self._failed[next(iter(self._failed))]
        return False

    def answered(self, url: str) -> None:
        """Forget the page's failed checks."""
        self._failed.pop(url, None)


def rest_policy(name: RestPolicyName, rest: float, strategy: Relevance) -> RestPolicy:
    """Make a policy; every page has PageRank 1 unless the strategy knows better."""
    if name is RestPolicyName.EVEN:
        return EvenRests(rest)
    weighs = strategy.importance if isinstance(strategy, Weighing) else lambda _: 1.0
    return PageRankRests(rest, weighs)


#: seconds within which several refusals (429) of a host count as one
_TOGETHER = 1.0
#: hosts that worked before and must now fail, with no answer from any host in between, before our
#: own network counts as down
_FAILING_HOSTS = 2
#: hosts and servers that are remembered, those asked last
_MOST_HOSTS = 10_000
#: a new host is unlikely to give anything once this many hosts have given nothing, and this many
#: times as many as have given something
_FRUITLESS, _FRUITLESS_SHARE = 16, 4


@dataclass(frozen=True, slots=True)
class HealthOptions:
    """When a host counts as down, and how long the crawl waits for it."""

    #: failures or refusals (429) in a row after which a host is down; 0 = never
    failures: int = setting("SEMCRAWL_HOST_FAILURES")
    #: 403 responses in a row after which a host that worked before may have blocked us; 0 = never
    forbidden: int = setting("SEMCRAWL_HOST_FORBIDDEN")
    #: seconds of the first rest; each further rest is longer by as much
    rest: float = 2.0
    #: how rests grow
    rest_policy: RestPolicyName = setting("SEMCRAWL_HOST_REST_POLICY", RestPolicyName)
    #: seconds to wait for our own network, or for a host that answered before
    patience: float = setting("SEMCRAWL_HOST_PATIENCE")
    #: seconds to wait for a host that never answered
    untried_patience: float = setting("SEMCRAWL_UNTRIED_HOST_PATIENCE")


class Sign(StrEnum):
    """What a response or a failure says about a host; the frontier keeps the word as reason."""

    #: nothing new
    NOTHING = ""
    #: the host does not answer
    SILENT = "silent"
    #: the host answers 429 to every request
    REFUSING = "refusing"
    #: the host answers 403 to every request
    BLOCKING = "blocking"
    #: one server of the host does not answer while another does, ``https`` and ``http`` say
    SERVER = "server"
    #: no host answers
    NETWORK = "network"


class Fate(Enum):
    """The fate of a link whose request failed."""

    #: it is tried again, as often as the settings say
    USUAL = auto()
    #: it goes back and the try does not count, as its host or our network is at fault
    UNCOUNTED = auto()
    #: it joins the failed links: the crawl has given its host up
    OVER = auto()
    #: it is done: an earlier fetch gave its document
    DONE = auto()


@dataclass(slots=True)
class Outage:
    """An outage of a server or of our network that only this process knows of.

    Times are those of ``time.monotonic``.
    """

    since: float
    until: float
    rest: float

    def probe_failed(self, step: float, now: float) -> bool:
        """Lengthen the rest after a failure; return false for a request sent before the rest."""
        if now < self.until:
            return False
        self.rest += step
        self.until = now + self.rest
        return True


@dataclass(slots=True)
class _Host:
    """A host's failures since its last good answer."""

    failures: int = 0
    refused_at: float = -inf
    #: 403 responses in a row
    forbidden: int = 0
    #: 403 responses in a row that make it suspect, raised after a wrong suspicion; 0 = as set
    forbidden_limit: int = 0
    #: its servers (scheme, host, port) that answered and have not failed since
    well: set[str] = field(default_factory=set)


class FailureCounts:
    """Counts each host's failures since its last answer.

    A *host* is the frontier's unit of politeness; it may have several servers.
    """

    def __init__(self, options: HealthOptions) -> None:
        self._options = options
        self._hosts: Recent[str, _Host] = Recent(_MOST_HOSTS, _Host)
        #: servers (scheme, host, port) that ever answered
        self._served: Recent[str, bool] = Recent(_MOST_HOSTS)
        #: failures since its last answer, by server
        self._servers: Recent[str, int] = Recent(_MOST_HOSTS, int)
        #: failures since the last answer of any host, by host, of servers that had answered before
        self._failing: dict[str, int] = {}

    def answered(self, host: str, server: str, status: int, now: float) -> Sign:
        """Count an answer; say whether the host refuses requests or seems to have blocked us."""
        self._failing.clear()
        self._served[server] = True
        self._servers.pop(server, None)
        found = self._hosts[host]
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            # requests in flight at the same time are refused at the same time
            if now - found.refused_at >= _TOGETHER:
                found.failures += 1
            found.refused_at = now
            refuses = 0 < self._options.failures <= found.failures
            return Sign.REFUSING if refuses else Sign.NOTHING
        found.failures = 0
        found.well.add(server)
        if status != HTTPStatus.FORBIDDEN:
            found.forbidden = 0
            return Sign.NOTHING
        found.forbidden += 1
        limit = found.forbidden_limit or self._options.forbidden
        return Sign.BLOCKING if 0 < limit <= found.forbidden else Sign.NOTHING

    @property
    def failing(self) -> Set[str]:
        """The hosts that answered before, and have failed since the last answer of any host."""
        return self._failing.keys()

    def failed(self, host: str, server: str, *, known: bool, began: bool = False) -> Sign:
        """Count a request without an answer; ``known``: the host gave something before.

        ``began``: an answer had begun to arrive, which no dead network lets through. Failures of a
        server that never answered say nothing about our network: a host may have ``http`` but no
        ``https``.
        """
        limit = self._options.failures
        if not limit:
            return Sign.NOTHING
        found = self._hosts[host]
        found.well.discard(server)
        found.failures += 1
        self._servers[server] += 1
        if began:
            self._failing.clear()
        elif known and self.has_answered(server):
            self._failing[host] = self._failing.get(host, 0) + 1
            if len(self._failing) >= _FAILING_HOSTS and sum(self._failing.values()) >= limit:
                return Sign.NETWORK
        if found.well:
            # others of its host answer meanwhile, and end the host's failures in a row
            return Sign.SERVER if self._servers[server] >= limit else Sign.NOTHING
        return Sign.SILENT if found.failures >= limit else Sign.NOTHING

    def has_answered(self, server: str) -> bool:
        """Whether a server ever answered this process."""
        return server in self._served

    def is_served_by_another(self, host: str, server: str) -> bool:
        """Whether another server of a host answers."""
        found = self._hosts.get(host)
        return found is not None and bool(found.well - {server})

    def failures_in_row(self, host: str) -> int:
        """Return how often a host failed since its last good answer."""
        found = self._hosts.get(host)
        return found.failures if found else 0

    def acquit(self, host: str) -> None:
        """Note that a host did not block us; twice as many 403 make it suspect from now on."""
        found = self._hosts[host]
        limit = found.forbidden_limit or self._options.forbidden
        found.forbidden, found.forbidden_limit = 0, 2 * limit


class FruitlessHosts:
    """Hosts that answer but have given nothing yet.

    They refuse, redirect, or have no more than a robots.txt: whatever it is, a thousand of them are
    a thousand requests while hosts that give wait.
    """

    def __init__(self) -> None:
        #: ``None`` once most hosts were found to give nothing
        self._hosts: set[str] | None = set()

    def met(self, host: str, known: Set[str]) -> bool:
        """Note an answer that gives nothing; return true, once, when most hosts give nothing.

        ``known``: the hosts that gave something.
        """
        if self._hosts is None or host in known:
            return False
        self._hosts.add(host)
        enough = max(_FRUITLESS, _FRUITLESS_SHARE * len(known))
        if len(self._hosts) < enough or len(self._hosts - known) < enough:
            return False
        self._hosts = None
        return True


#: description of a resting host, by the reason of its rest
WORDS = {
    Sign.SILENT: "does not answer",
    Sign.REFUSING: "answers 429 to everything",
    Sign.BLOCKING: "answers 403 to everything",
}
#: most hosts that get a line of their own
_SHOWN = 5


@dataclass(slots=True)
class GivenUp:
    """A host whose links were set aside."""

    host: str
    #: what is wrong with it, such as ``does not answer``
    what: str
    #: when the outage began (seconds since the epoch)
    since: float
    links: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return its entry of ``summary.json``."""
        return {
            "host": self.host,
            "reason": self.what,
            "since": round(self.since, 3),
            "links": self.links,
        }


def rest_message(host: str, rest: Rest) -> str:
    """Return the log line about a host that is down and its links."""
    what = WORDS[Sign(rest.why)]
    if rest.over:
        return f"{host} {what} (for {rest.down_for:.0f} s now): its links are set aside"
    return f"{host} {what}: its links wait"


def given_up_lines(hosts: Sequence[GivenUp]) -> Iterator[str]:
    """Yield a line for each host given up, most links first, and one for all the rest."""
    first = sorted(hosts, key=lambda host: -host.links)
    for host in first[:_SHOWN]:
        began = time.strftime("%H:%M:%S", time.localtime(host.since))
        links = amount(host.links, "link")
        yield f"{host.host} {host.what} (since {began}): {links} of it set aside."
    if others := first[_SHOWN:]:
        links = amount(sum(host.links for host in others), "link")
        yield f"{len(others):,} other hosts do not answer: {links} set aside."


logger = logging.getLogger(__name__)

#: most other hosts that are probed before a failed host is probed again
_OTHERS = 3
#: seconds longer than any rest, to end a rest at once
_ALL = 1e9
#: more requests than are ever under way
_MANY = 1 << 30


class NetworkPause:
    """Lets one link at a time through, at growing intervals, until a host answers.

    ``down``: the hosts that this process knows to rest. ``fail`` ends the crawl with a reason.
    """

    def __init__(
        self,
        pace: Pace,
        options: HealthOptions,
        down: MutableMapping[str, Rest],
        fail: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pace = pace
        self._options = options
        self._down = down
        self._fail = fail
        self._clock = clock
        self._outage: Outage | None = None
        #: hosts that did not answer during the pause
        self.asked: set[str] = set()
        #: requests under way since before the pause, which no probe waits for: they may take long
        self._before = 0

    @property
    def is_on(self) -> bool:
        """Whether the crawl is paused."""
        return self._outage is not None

    def room(self, flying: int) -> int | None:
        """Return how many links may be taken now; ``None`` if the crawl is not paused."""
        if self._outage is None:
            return None
        self._before = min(self._before, flying)
        return int(flying == self._before and self._clock() >= self._outage.until)

    async def no_answer(self, host: str) -> None:
        """Begin or lengthen the pause, as a host did not answer."""
        step, now = self._options.rest, self._clock()
        if self._outage is None:
            self._outage = Outage(now, now + step, step)
            self._before = _MANY
            logger.warning("no host answers any more: the crawl pauses until the network is back")
        elif self._outage.probe_failed(step, now):
            seconds = now - self._outage.since
            if seconds >= self._options.patience:
                self._fail(
                    f"no host has answered for {seconds:.0f} s: is the network away? "
                    "Nothing is lost, and the next run goes on from here"
                )
        # it rests while other hosts are probed, as these may answer
        self.asked.add(host)
        rest = self._outage.rest * (1 + min(len(self.asked), _OTHERS))
        await self._pace.up(host, step=_ALL)
        self._down[host] = await self._pace.down(
            host, Sign.SILENT, step=rest, patience=inf, untried_patience=inf
        )

    async def end(self) -> bool:
        """End the pause, as a host answered; return whether there was one."""
        if self._outage is None:
            return False
        seconds = self._clock() - self._outage.since
        self._outage = None
        for host in self.asked:
            self._down.pop(host, None)
            await self._pace.up(host, step=_ALL)
        self.asked.clear()
        logger.warning("the network is back after %d s: the crawl goes on", seconds)
        return True
