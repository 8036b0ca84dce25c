"""Links that a crawl leaves out though somebody may want them, for its summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self


class Reason(StrEnum):
    """Why a link did not go into the frontier."""

    OUT_OF_SCOPE = "out-of-scope"  #: off the sites of the crawl
    EXCLUDED = "excluded"  #: a pattern of the user's excludes it
    TOO_DEEP = "too-deep"  #: its page is as deep as ``DEPTH_LIMIT`` allows


@dataclass(frozen=True, slots=True)
class LeftOutLinks:
    """How many links of a crawl were left out, by reason and host (with its port)."""

    hosts: Mapping[Reason, Counter[str]] = field(default_factory=dict)
    #: the first link that was left out, by reason and host
    first: Mapping[tuple[Reason, str], str] = field(default_factory=dict)
    #: there were more than are told apart
    more: bool = False

    @classmethod
    def read(
        cls, hosts: Mapping[bytes, bytes], first: Mapping[bytes, bytes], *, more: bool
    ) -> Self:
        """Read what the frontier keeps: numbers and links by reason and host."""
        counts: dict[Reason, Counter[str]] = {}
        for name, number in hosts.items():
            reason, host = _parts(name)
            counts.setdefault(reason, Counter())[host] = int(number)
        links = {_parts(name): url.decode("utf-8", "replace") for name, url in first.items()}
        return cls(counts, links, more)

    @property
    def most(self) -> tuple[str, int]:
        """A link to the host out of scope that most links lead to, and how many lead there.

        An empty URL and 0 if there is none.
        """
        hosts = self.hosts.get(Reason.OUT_OF_SCOPE, Counter())
        if not hosts:
            return "", 0
        links, host = max((number, host) for host, number in hosts.items())
        return self.first.get((Reason.OUT_OF_SCOPE, host), ""), links


class _Frontier(Protocol):
    async def leave_out(self, links: list[tuple[str, Reason]], limit: int) -> None: ...


class LeftOut:
    """Gathers what a process leaves out, and tells the frontier, which counts each link once.

    ``limit``: links that the frontier tells apart; ``remembered``: links that this process
    does not tell again.
    """

    def __init__(self, limit: int, remembered: int = 100_000) -> None:
        self._limit = limit
        self._remembered = remembered
        self._told: set[int] = set()
        self._untold: list[tuple[str, Reason]] = []

    def add(self, url: str, reason: Reason) -> None:
        """Note a link."""
        code = hash((url, reason))
        if self._limit and code not in self._told:
            if len(self._told) >= self._remembered:
                self._told.clear()
            self._told.add(code)
            self._untold.append((url, reason))

    async def tell(self, frontier: _Frontier) -> None:
        """Tell the frontier; to be awaited before what they were found in is acknowledged."""
        if untold := list(self._untold):
            await frontier.leave_out(untold, self._limit)
            del self._untold[: len(untold)]


def _parts(name: bytes) -> tuple[Reason, str]:
    reason, _, host = name.decode("utf-8", "replace").partition(" ")
    return Reason(reason), host
