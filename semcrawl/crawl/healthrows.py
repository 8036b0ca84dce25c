"""The health of hosts and of our own network: signs, counts, and the hosts given up."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from http import HTTPStatus
from math import inf
from typing import Any

from semcrawl.crawl.restpolicy import RestPolicyName

#: seconds within which several refusals (429) of a host count as one
_TOGETHER = 1.0
#: known hosts that must fail, with no answer from anywhere in between, to blame our own network
_FAILING_HOSTS = 2
#: hosts that answered and gave nothing, and how many times as many as gave something, from which
#: on there is little to expect of a new host
_FRUITLESS, _FRUITLESS_SHARE = 16, 4


@dataclass(frozen=True, slots=True)
class HealthOptions:
    """When a host counts as down, and how long it is waited for."""

    #: failures or refusals (429) in a row after which a host is down; 0 = never
    failures: int = 4
    #: answers 403 in a row after which a host that gave good ones may have blocked us; 0 = never
    forbidden: int = 6
    #: seconds of the first rest; each further one is longer by as much
    rest: float = 2.0
    #: what each rest hangs on
    rest_policy: RestPolicyName = RestPolicyName.EVEN
    #: seconds for which a host that answered before, and our own network, are waited for
    patience: float = 600.0
    #: seconds for which a host is waited for that never answered
    untried_patience: float = 60.0


class Sign(StrEnum):
    """The sign that an event is; its word is how the frontier knows why a host is down."""

    #: nothing new
    NOTHING = ""
    #: the host does not answer
    SILENT = "silent"
    #: the host answers 429 to all that it is asked
    REFUSING = "refusing"
    #: the host answers 403 to all that it is asked
    BLOCKING = "blocking"
    #: one server of a host does not answer, and another one does (``http`` and ``https``, say)
    SERVER = "server"
    #: no host answers
    NETWORK = "network"


class Fate(Enum):
    """The fate of a link whose request failed."""

    #: it is tried again, as often as the settings say
    USUAL = auto()
    #: it goes back, and the try does not count: its host, or our network, is to blame
    UNCOUNTED = auto()
    #: it joins the failed links: its host was waited for long enough
    OVER = auto()
    #: it is done: an earlier fetch gave its document
    DONE = auto()


@dataclass(slots=True)
class Away:
    """A server, or our network, that this process alone waits for (``time.monotonic``)."""

    since: float
    until: float
    rest: float

    def grow(self, step: float, now: float) -> bool:
        """Take in that a probe failed; return whether it was one, and not sent before the rest."""
        if now < self.until:
            return False
        self.rest += step
        self.until = now + self.rest
        return True


@dataclass(slots=True)
class _Host:
    """A host's record since its last answer."""

    failures: int = 0
    refused_at: float = -inf
    forbidden: int = 0
    #: 403 in a row that make it suspect: more of them when a suspicion was wrong
    forbidden_limit: int = 0
    #: servers (scheme, host, port) of it that answered, and not failed since
    well: set[str] = field(default_factory=set)


class HealthRows:
    """Counts each host's failures since its last answer.

    A *host* is the frontier's unit of pace; it may have several servers.
    """

    def __init__(self, options: HealthOptions) -> None:
        self._options = options
        self._hosts: dict[str, _Host] = {}
        #: servers (scheme, host, port) that ever answered
        self._served: set[str] = set()
        #: failures since any host answered, of hosts that had answered before
        self._failing: dict[str, int] = {}

    def answered(self, host: str, server: str, status: int, now: float) -> Sign:
        """Take in an answer; say whether the host refuses, or seems to have blocked us."""
        self._failing.clear()
        self._served.add(server)
        found = self._hosts.setdefault(host, _Host())
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            # what was in flight together is refused together
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

    def failed(self, host: str, server: str, *, known: bool) -> Sign:
        """Note that no answer came; ``known``: the host gave something before.

        Failures of a server that never answered say nothing about our network: the ``https`` of a
        host, say, that has ``http`` only.
        """
        limit = self._options.failures
        if not limit:
            return Sign.NOTHING
        found = self._hosts.setdefault(host, _Host())
        found.well.discard(server)
        found.failures += 1
        if known and self.has_answered(server):
            self._failing[host] = self._failing.get(host, 0) + 1
            if len(self._failing) >= _FAILING_HOSTS and sum(self._failing.values()) >= limit:
                return Sign.NETWORK
        if found.failures < limit:
            return Sign.NOTHING
        return Sign.SERVER if found.well else Sign.SILENT

    def has_answered(self, server: str) -> bool:
        """Whether a server ever answered this process."""
        return server in self._served

    def is_served_by_another(self, host: str, server: str) -> bool:
        """Whether another server of a host answers."""
        found = self._hosts.get(host)
        return found is not None and bool(found.well - {server})

    def row(self, host: str) -> int:
        """How often a host failed since its last answer."""
        found = self._hosts.get(host)
        return found.failures if found else 0

    def acquit(self, host: str) -> None:
        """Note that a host did not block us after all: from now on it takes twice as many 403."""
        found = self._hosts.setdefault(host, _Host())
        limit = found.forbidden_limit or self._options.forbidden
        found.forbidden, found.forbidden_limit = 0, 2 * limit


class FruitlessHosts:
    """Hosts that answer, and refuse all that they are asked for."""

    def __init__(self) -> None:
        #: none once they were found to be most
        self._hosts: set[str] | None = set()

    def most(self, host: str, known: Set[str]) -> bool:
        """Note that a host refused an address; say, once, whether most hosts give nothing.

        ``known``: those that gave something.
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
#: hosts that get a line of their own
_SHOWN = 5


@dataclass(slots=True)
class GivenUp:
    """A host whose links were set aside."""

    host: str
    #: ``does not answer``, say
    what: str
    #: when that began (seconds since the epoch)
    since: float
    links: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it in the form of ``summary.json``."""
        return {
            "host": self.host,
            "reason": self.what,
            "since": round(self.since, 3),
            "links": self.links,
        }


def given_up_lines(hosts: Sequence[GivenUp]) -> Iterator[str]:
    """Yield lines on hosts whose links were set aside: which, why, since when, and how many."""
    first = sorted(hosts, key=lambda host: -host.links)
    for host in first[:_SHOWN]:
        began = time.strftime("%H:%M:%S", time.localtime(host.since))
        yield f"{host.host} {host.what} since {began}: {_links(host.links)} of it set aside."
    if others := first[_SHOWN:]:
        links = sum(host.links for host in others)
        yield f"{len(others):,} other hosts do not answer: {_links(links)} set aside."


def _links(number: int) -> str:
    return "1 link" if number == 1 else f"{number:,} links"
