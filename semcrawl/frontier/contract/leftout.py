"""Links that a crawl does not fetch: out of scope, of a barren family, or copies on a mirror."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict


@dataclass(frozen=True, slots=True)
class LeftOutLinks:
    """Numbers of links that a crawl left out, by reason and host (with port)."""

    hosts: Mapping[Reason, Counter[str]] = field(default_factory=dict)
    #: the first link that was left out, by reason and host
    first: Mapping[tuple[Reason, str], str] = field(default_factory=dict)
    #: whether there were more than the limit of counted links
    more: bool = False

    @classmethod
    def of(cls, numbers: Mapping[bytes, Any], first: Mapping[bytes, bytes], *, more: bool) -> Self:
        """Decode the numbers and first links that a backend stores by reason and host."""
        counts: dict[Reason, Counter[str]] = {}
        for name, number in numbers.items():
            reason, host = _reason_and_host(name)
            counts.setdefault(reason, Counter())[host] = int(number)
        links = {_reason_and_host(n): url.decode("utf-8", "replace") for n, url in first.items()}
        return cls(counts, links, more)

    @property
    def most(self) -> tuple[str, int]:
        """A link to the out-of-scope host with most links, and the number of its links.

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
    #: number of withheld links
    links: int
    #: number of requested links, none of which was useful
    asked: int
    #: whether the links are copies; ``document`` and ``pattern`` are then two mirrored origins
    mirror: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, Any], links: int) -> Self:
        """Decode the stored state of a family with this number of withheld links."""
        document, pattern = (field_text(facts.get(name, b"")) for name in ("document", "pattern"))
        mirror = "mirror" in facts
        if mirror:
            document, pattern = sorted((document, pattern))
        asked = sum(int(facts.get(name, 0)) for name in ("barren", "unknown", "useful"))
        return cls(document, pattern, links, asked, mirror)


def most_first(found: Iterable[Withheld]) -> list[Withheld]:
    """Return the families with withheld links, those with most first."""
    return sorted((f for f in found if f.links), key=lambda f: (-f.links, f.document))


def field_text(value: Any) -> str:
    """Return a stored field of a family as text."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)


def reason_in(name: bytes | None) -> Reason | None:
    """Decode a stored reason with its host; ``None`` stays."""
    return None if name is None else _reason_and_host(name)[0]


def _reason_and_host(name: bytes) -> tuple[Reason, str]:
    reason, _, host = name.decode("utf-8", "replace").partition(" ")
    return Reason(reason), host


class LeftOutLog(Protocol):
    """Counts the links that are left out, each once, for all workers and runs.

    The session and the summary call it.
    """

    async def add(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out; atomic and repeatable.

        At most ``limit`` links are counted; later ones are ignored.
        """

    async def summary(self) -> LeftOutLinks:
        """Return the links left out so far, without those that another page brought in.

        It reads in portions: a link added meanwhile may be counted.
        """

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out; ``None`` if it was not, or not counted.

        A link that another page brought in later may still have one.
        """


class WithheldLinks(Protocol):
    """Links that wait apart, as their family is barren or a mirror has a copy.

    The session reports the outcomes of links, and restores links whose reason is gone. A take
    withholds links of barren families by itself. Each method is atomic and may be repeated, except
    that :meth:`families` reads one family after another.
    """

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families.

        Each answer is the family's name, the verdict, and the target of a redirect if it was known
        already. Return whether :meth:`restore` has work to do.
        """

    async def note_bodies(
        self,
        bodies: Sequence[tuple[str, str, str, str]],
        in_vain: Sequence[tuple[str, str]],
        known: int,
    ) -> tuple[bool, int, list[tuple[str, str]] | None]:
        """Record bodies (names of origin, its URL, path and body), and paths without one.

        Return whether :meth:`restore` has work to do, the number of known mirrors, and, if it
        differs from ``known``, the mirrors as pairs of origins.
        """

    async def withhold_copies(self, links: Sequence[tuple[str, str, str]]) -> set[int]:
        """Withhold leased links that a mirror gave or is being asked for; return their indexes.

        Each link is a lease's id with the names of its origin and its path.
        """

    async def release_copies(self, limit: int) -> int:
        """Restore up to ``limit`` links that a mirror failed to give; return how many."""

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""

    async def families(self) -> list[Withheld]:
        """Return the families with withheld links, those with most first."""
