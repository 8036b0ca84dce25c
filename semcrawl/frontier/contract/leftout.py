"""Links that a crawl does not ask for: out of scope, of a barren family, or copies of a mirror."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, Self

from semcrawl.relevance.families import Family, Verdict


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
    #: there were more than could be counted once each
    more: bool = False

    @classmethod
    def of(cls, numbers: Mapping[bytes, Any], first: Mapping[bytes, bytes], *, more: bool) -> Self:
        """Read numbers and first links by reason and host, as the backends keep them."""
        counts: dict[Reason, Counter[str]] = {}
        for name, number in numbers.items():
            reason, host = _reason_and_host(name)
            counts.setdefault(reason, Counter())[host] = int(number)
        links = {_reason_and_host(n): url.decode("utf-8", "replace") for n, url in first.items()}
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


@dataclass(frozen=True, slots=True)
class Withheld:
    """A family of links (:mod:`semcrawl.relevance.families`) of which some are withheld."""

    document: str
    pattern: str
    #: withheld
    links: int
    #: requested, none of which brought anything
    asked: int
    #: these are copies: ``document`` and ``pattern`` are two origins that give the same
    mirror: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, Any], links: int) -> Self:
        """Read the stored state of a family, of which so many links are withheld."""
        document, pattern = (field_text(facts.get(name, b"")) for name in ("document", "pattern"))
        mirror = "mirror" in facts
        if mirror:
            document, pattern = sorted((document, pattern))
        asked = sum(int(facts.get(name, 0)) for name in ("barren", "unknown", "useful"))
        return cls(document, pattern, links, asked, mirror)


def most_first(found: Iterable[Withheld]) -> list[Withheld]:
    """Return families of which links are withheld, those with most first."""
    return sorted((f for f in found if f.links), key=lambda f: (-f.links, f.document))


def field_text(value: Any) -> str:
    """Return the stored state of a family, as text."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)


def _reason_and_host(name: bytes) -> tuple[Reason, str]:
    reason, _, host = name.decode("utf-8", "replace").partition(" ")
    return Reason(reason), host


class LeftOutLog(Protocol):
    """Links that do not go in, each counted once, for all workers and runs.

    Session and summary call it.
    """

    async def add(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links and why they are left out; atomic, repeatable.

        ``limit``: how many are counted once each; later ones are not counted.
        """

    async def summary(self) -> LeftOutLinks:
        """Return the links left out so far that no other page brought in.

        In portions: a link that goes in meanwhile may be counted.
        """


class WithheldLinks(Protocol):
    """Links that wait apart, as their family is barren or a mirror gave the same.

    The session reports the outcomes of links, and puts links back whose reason is gone. A
    take withholds links of barren families by itself. Each method is atomic and may be repeated;
    :meth:`families` reads one family after the other.
    """

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Note families of links, by name, before links of them go in."""

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Note what answers say of the families of their links.

        Each answer is the family's name, the verdict, and where its redirect led, if that was
        known. Return whether :meth:`restore` has anything to do now.
        """

    async def note_bodies(
        self,
        bodies: Sequence[tuple[str, str, str, str]],
        in_vain: Sequence[tuple[str, str]],
        known: int,
    ) -> tuple[bool, int, list[tuple[str, str]] | None]:
        """Note what paths gave (names of origin, its URL, names of path and body), or did not.

        Return whether :meth:`restore` has anything to do now, the number of the mirrors that are
        known, and, if it is another than ``known``, the mirrors: pairs of origins.
        """

    async def withhold_copies(self, links: Sequence[tuple[str, str, str]]) -> set[int]:
        """Withhold leased links that a mirror gave, or is being asked for; return which.

        Each link is the lease's id, and the names of its origin and its path.
        """

    async def release_copies(self, limit: int) -> int:
        """Put links back that a mirror was to give and did not; return how many."""

    async def restore(self, limit: int) -> int:
        """Put up to ``limit`` links back that are not to be withheld any more; return how many."""

    async def families(self) -> list[Withheld]:
        """Return the families of which links are withheld, those with most first."""
