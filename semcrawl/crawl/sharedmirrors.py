"""Mirrors that the workers of a crawl found (:mod:`semcrawl.relevance.mirrors`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from semcrawl.frontier.contract import Lease
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.relevance.mirrors import body_name, name_of, parts

#: links that go back in with one call
_AT_ONCE = 500


class MirrorBook:
    """Tells the frontier what hosts give, and withholds links that a mirror gave.

    ``copies``: paths by which two origins give the same before they count as mirrors; 0 = off.
    """

    def __init__(self, frontier: RedisFrontier, copies: int) -> None:
        self._frontier = frontier
        self._copies = copies
        #: of which the frontier has not been told: origin, its URL, path, body
        self._bodies: list[tuple[str, str, str, str]] = []
        self._in_vain: list[tuple[str, str]] = []
        #: links of mirrored origins that are being asked for: origin and path by lease
        self._asked: dict[str, tuple[str, str]] = {}
        #: mirrors by origin, and the frontier's number of them
        self._mirrors: dict[str, set[str]] = {}
        self._known = -1

    async def open(self) -> None:
        """Go on with the mirrors that were learned before."""
        if self._copies:
            await self._tell([], [])

    def gave(self, lease: Lease, sha256: str) -> None:
        """Note the body that a link gave."""
        if self._copies and sha256:
            self._asked.pop(lease.id, None)
            origin, path = parts(lease.entry.url)
            self._bodies.append((name_of(origin), origin, name_of(path), body_name(sha256)))

    def over(self, lease: Lease) -> None:
        """Note that an attempt is over: a mirror is asked if it gave nothing."""
        if asked := self._asked.pop(lease.id, None):
            self._in_vain.append(asked)

    def went_back(self, lease: Lease) -> None:
        """Note that a link will be asked for later."""
        self._asked.pop(lease.id, None)

    def others(self, url: str) -> list[str]:
        """Return the addresses that a URL has on the mirrors of its origin."""
        origin, path = parts(url)
        return [other + path for other in sorted(self._mirrors.get(origin, ()))]

    async def tell(self) -> None:
        """Tell the frontier; to be awaited before the links are acknowledged."""
        bodies, in_vain = list(self._bodies), list(self._in_vain)
        if bodies or in_vain:
            await self._tell(bodies, in_vain)
            del self._bodies[: len(bodies)]
            del self._in_vain[: len(in_vain)]

    async def sift(self, leases: Sequence[Lease]) -> tuple[list[Lease], list[Lease]]:
        """Return the leases that are to be asked for, and those that are withheld.

        A user's own seeds, links that are asked for again, and probes are always asked for.
        """
        if not self._mirrors:
            return list(leases), []
        told = {}
        for index, lease in enumerate(leases):
            origin, path = parts(lease.entry.url)
            if origin in self._mirrors and not lease.probe and "p" in lease.entry.payload:
                told[index] = (lease.id, name_of(origin), name_of(path))
        if not told:
            return list(leases), []
        found = await self._frontier.withhold_copies(list(told.values()))
        gone = {index for position, index in enumerate(told) if position in found}
        for index, (lease_id, *where) in told.items():
            if index not in gone:
                self._asked[lease_id] = (where[0], where[1])
        kept = [lease for index, lease in enumerate(leases) if index not in gone]
        return kept, [leases[index] for index in sorted(gone)]

    async def release(self) -> int:
        """Put links back in that a mirror was to give, as nothing is under way; return how many."""
        return await self._frontier.release_copies(_AT_ONCE) if self._copies else 0

    async def _tell(
        self, bodies: list[tuple[str, str, str, str]], in_vain: list[tuple[str, str]]
    ) -> None:
        restore, self._known, pairs = await self._frontier.note_bodies(bodies, in_vain, self._known)
        if pairs is not None:
            mirrors = defaultdict(set)
            for one, other in pairs:
                mirrors[one].add(other)
                mirrors[other].add(one)
            self._mirrors = dict(mirrors)
        while restore and await self._frontier.unwithhold(_AT_ONCE) >= _AT_ONCE:
            pass
