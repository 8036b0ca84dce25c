"""Slots that one domain, or hosts that give nothing, cannot fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from semcrawl.frontier.contract import Lease
from semcrawl.web.hosts import pay_level_domain

#: a link of a host that gave nothing yet waits for its robots.txt, which Scrapy counts as well
_REQUESTS_OF_UNTRIED = 2
#: as many links as there is room for
_ANY = 1_000_000


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Hosts and domains that a take passes over."""

    #: hosts that gave nothing yet
    untried: bool
    #: pay-level domains
    domains: Sequence[str]

    def pack(self) -> list[Any]:
        """Return it as the script has it."""
        return [self.untried, list(self.domains)]

    def __bool__(self) -> bool:
        """Whether it is anything."""
        return self.untried or bool(self.domains)


NOTHING = LeftOut(untried=False, domains=())


class Slots:
    """Says which links may have the slots that are free.

    ``share`` of the ``concurrency`` is what hosts that gave nothing yet (``gave_something`` tells)
    get once some were found dead, and what one pay-level domain gets as soon as there are two.
    """

    def __init__(
        self, concurrency: int, share: float, gave_something: Callable[[str], bool]
    ) -> None:
        #: slots that any of them gets
        self.most = max(1, int(concurrency * share))
        self._bounded = self.most < concurrency
        self._gave_something = gave_something
        self._domains: set[str] = set()

    def left_out(self, in_flight: Collection[Lease], *, some_are_dead: bool) -> tuple[LeftOut, int]:
        """Return what has its share already, and how many links may be taken of anything else."""
        if not self._bounded:
            return NOTHING, _ANY
        domains = Counter(_domain(lease) for lease in in_flight)
        if len(self._domains) < 2:
            self._domains |= domains.keys()
        held = domains if len(self._domains) > 1 else Counter[str]()
        new = [lease for lease in in_flight if not self._gave_something(lease.entry.host)]
        untried = len(new) * _REQUESTS_OF_UNTRIED
        full = [domain for domain, number in held.items() if number >= self.most]
        untried_full = some_are_dead and untried >= self.most
        left = [self.most - number for number in held.values() if number < self.most]
        if some_are_dead and not untried_full:
            left.append(max(1, (self.most - untried) // _REQUESTS_OF_UNTRIED))
        most = self.most if held or some_are_dead else _ANY
        return LeftOut(untried_full, full), min(left, default=most)


def _domain(lease: Lease) -> str:
    return pay_level_domain(_name(lease.entry.host))


def _name(host: str) -> str:
    """Return a host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
