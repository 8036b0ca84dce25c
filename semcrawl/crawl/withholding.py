"""Links that are not fetched: left out, of a family that leads nowhere, or copies on a mirror.

Each book collects what this process learns. It reports to the frontier before the links that it
learned from are acknowledged.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b
from urllib.parse import urlsplit

from semcrawl.frontier.contract import Lease, LeftOutLog, WithheldLinks
from semcrawl.links import Reason
from semcrawl.relevance import Outcome
from semcrawl.relevance.families import Verdict, by_name, families, verdict

#: bytes of a digest that names an origin, a path or a body: 48 bits
_NAME_BYTES = 6

#: links that one call restores
_AT_ONCE = 500


class LeftOutBook:
    """Links that a process leaves out; the frontier counts each once.

    ``limit``: most links that the frontier counts; ``remembered``: links that this process
    remembers, so as not to report them again.
    """

    def __init__(self, log: LeftOutLog, limit: int, remembered: int = 100_000) -> None:
        self._log = log
        self._limit = limit
        self._remembered = remembered
        self._reported: set[int] = set()
        self._unreported: list[tuple[str, Reason]] = []

    def add(self, url: str, reason: Reason) -> None:
        """Note a link."""
        code = hash((url, reason))
        if self._limit and code not in self._reported:
            if len(self._reported) >= self._remembered:
                self._reported.clear()
            self._reported.add(code)
            self._unreported.append((url, reason))

    async def flush(self) -> None:
        """Report what is new to the frontier."""
        if new := list(self._unreported):
            # images and style sheets must not take the room of the others
            await self._log.add([n for n in new if n[1] is not Reason.OTHER_TYPE], self._limit)
            media = [n for n in new if n[1] is Reason.OTHER_TYPE]
            await self._log.add(media, max(1, self._limit // 10))
            del self._unreported[: len(new)]


class FamilyBook:
    """Families of links (:mod:`semcrawl.relevance.families`): names them, reports their outcomes.

    ``tries``: links of a family that must lead nowhere before the others are withheld; 0 = no
    links are withheld.
    """

    def __init__(self, withheld: WithheldLinks, tries: int) -> None:
        self._withheld = withheld
        self._tries = tries
        #: outcomes not reported yet: family, verdict, the document that the link led to
        self._unreported: list[tuple[str, Verdict, str]] = []

    async def open(self) -> None:
        """Restore links that are withheld no longer, after a change of the setting, say."""
        await _restore(self._withheld)

    async def name(self, document: str, urls: Sequence[str]) -> dict[str, str]:
        """Name the families of a document's links, by URL, and report them to the frontier."""
        if not 0 < self._tries < len(urls):
            return {}
        found = families(document, urls, self._tries)
        await self._withheld.know_families(by_name(found))
        return {url: family.name for url, family in found.items()}

    def note(self, outcome: Outcome) -> None:
        """Note the outcome of a fetch."""
        if outcome.family:
            self._unreported.append((outcome.family, verdict(outcome), outcome.led_to))

    async def flush(self) -> None:
        """Report what is new to the frontier."""
        if new := list(self._unreported):
            restore = await self._withheld.judge_families(new)
            del self._unreported[: len(new)]
            if restore:
                await _restore(self._withheld)


class MirrorBook:
    """Mirrors: origins with the same bodies by the same paths. Reports bodies, withholds copies.

    ``copies``: paths with the same body that make two origins mirrors; 0 = off.
    """

    def __init__(self, withheld: WithheldLinks, copies: int) -> None:
        self._withheld = withheld
        self._copies = copies
        #: bodies not reported yet: name of the origin, origin, name of the path, name of the body
        self._bodies: list[tuple[str, str, str, str]] = []
        #: links without a body, not reported yet: names of origin and path
        self._in_vain: list[tuple[str, str]] = []
        #: links of mirrored origins in flight: names of origin and path, by lease
        self._asked: dict[str, tuple[str, str]] = {}
        #: mirrors by origin
        self._mirrors: dict[str, set[str]] = {}
        #: the frontier's version of the mirrors, -1 for none
        self._known = -1

    async def open(self) -> None:
        """Load the mirrors that are known."""
        if self._copies:
            await self._report([], [])

    def gave(self, lease: Lease, sha256: str) -> None:
        """Note the body of a link."""
        if self._copies and sha256:
            self._asked.pop(lease.id, None)
            origin, path = parts(lease.entry.url)
            self._bodies.append((name_of(origin), origin, name_of(path), body_name(sha256)))

    def over(self, lease: Lease) -> None:
        """Note that an attempt is over; if it gave no body, its copy on a mirror is restored."""
        if asked := self._asked.pop(lease.id, None):
            self._in_vain.append(asked)

    def went_back(self, lease: Lease) -> None:
        """Note that a link goes back to be fetched later."""
        self._asked.pop(lease.id, None)

    def others(self, url: str) -> list[str]:
        """Return the addresses that a URL has on the mirrors of its origin."""
        origin, path = parts(url)
        return [other + path for other in sorted(self._mirrors.get(origin, ()))]

    async def flush(self) -> None:
        """Report what is new to the frontier."""
        bodies, in_vain = list(self._bodies), list(self._in_vain)
        if bodies or in_vain:
            await self._report(bodies, in_vain)
            del self._bodies[: len(bodies)]
            del self._in_vain[: len(in_vain)]

    async def sift(self, leases: Sequence[Lease]) -> tuple[list[Lease], list[Lease]]:
        """Withhold copies on mirrors; return the leases to fetch, and those withheld.

        Links without a parent (the user's seeds) and probes are never withheld.
        """
        if not self._mirrors:
            return list(leases), []
        asked = {}
        for index, lease in enumerate(leases):
            origin, path = parts(lease.entry.url)
            if origin in self._mirrors and not lease.probe and "p" in lease.entry.payload:
                asked[index] = (lease.id, name_of(origin), name_of(path))
        if not asked:
            return list(leases), []
        found = await self._withheld.withhold_copies(list(asked.values()))
        gone = {index for position, index in enumerate(asked) if position in found}
        for index, (lease_id, *where) in asked.items():
            if index not in gone:
                self._asked[lease_id] = (where[0], where[1])
        kept = [lease for index, lease in enumerate(leases) if index not in gone]
        return kept, [leases[index] for index in sorted(gone)]

    async def release(self) -> int:
        """Restore copies withheld for a mirror, as nothing is under way; return how many."""
        return await self._withheld.release_copies(_AT_ONCE) if self._copies else 0

    async def _report(
        self, bodies: list[tuple[str, str, str, str]], in_vain: list[tuple[str, str]]
    ) -> None:
        restore, self._known, pairs = await self._withheld.note_bodies(bodies, in_vain, self._known)
        if pairs is not None:
            mirrors = defaultdict(set)
            for one, other in pairs:
                mirrors[one].add(other)
                mirrors[other].add(one)
            self._mirrors = dict(mirrors)
        if restore:
            await _restore(self._withheld)


async def _restore(withheld: WithheldLinks) -> None:
    """Restore all links that are withheld no longer."""
    while await withheld.restore(_AT_ONCE) >= _AT_ONCE:
        pass


def parts(url: str) -> tuple[str, str]:
    """Return a URL's origin (``http://a.example:8080``) and the rest."""
    split = urlsplit(url)
    origin = f"{split.scheme}://{split.netloc}"
    return origin, url[len(origin) :]


def name_of(text: str) -> str:
    """Return the eight-character name of an origin, or of a path with its query."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_NAME_BYTES).digest()
    return urlsafe_b64encode(digest).decode()


def body_name(sha256: str) -> str:
    """Return the eight-character name of a body, from its SHA-256 (hexadecimal)."""
    return urlsafe_b64encode(bytes.fromhex(sha256[: 2 * _NAME_BYTES])).decode()
