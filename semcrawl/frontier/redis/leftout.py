"""Links that are not asked for, on Redis: left out, or withheld."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from semcrawl.frontier.contract import LeftOutLinks, Reason, Withheld
from semcrawl.frontier.linkblob import digest, text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.keys import Keys
from semcrawl.frontier.redis.packing import readable
from semcrawl.relevance.families import Family, Verdict
from semcrawl.web.hosts import netloc_of

#: parts of the table of links left out that one call looks through
_LEFT_AT_ONCE = 512


class RedisLeftOut:
    """Links that do not go in (:class:`~semcrawl.frontier.contract.LeftOutLog`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys

    async def add(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links and why they are left out."""
        noted = [[digest(url), f"{reason} {netloc_of(url)}", url] for url, reason in links]
        if noted:
            await self._server.run("leave_out", [noted, limit])

    async def summary(self) -> LeftOutLinks:
        """Return the links left out so far that no other page brought in."""
        bucket: int | None = 0
        while bucket is not None:  # in portions, so that no other worker waits long
            bucket = await self._server.run("left_out", [bucket, _LEFT_AT_ONCE])
        redis, keys = self._server.redis, self._keys
        names = keys["lefthosts"], keys["leftfirst"]
        hosts, first = [await self._server.through(partial(redis.hgetall, n), n) for n in names]
        full = await self._server.through(lambda: redis.hexists(keys.meta, "leftfull"), keys.meta)
        with readable(f"the frontier's keys {names}"):
            return _left_out(hosts, first, more=bool(full))


class RedisWithheld:
    """Links that wait apart (:class:`~semcrawl.frontier.contract.WithheldLinks`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Note families of links, by name, before links of them go in."""
        if families:
            named = [[name, found.document, found.pattern] for name, found in families.items()]
            await self._server.run("know_families", [named])

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Note what answers say of the families of their links."""
        verdicts = [
            [name, str(what), led_to and digest(led_to).hex()] for name, what, led_to in answers
        ]
        return bool(await self._server.run("judge_families", [verdicts], once=True))

    async def note_bodies(
        self,
        bodies: Sequence[tuple[str, str, str, str]],
        in_vain: Sequence[tuple[str, str]],
        known: int,
    ) -> tuple[bool, int, list[tuple[str, str]] | None]:
        """Note what paths gave, or did not; return the mirrors if they are others than before."""
        args = [[list(b) for b in bodies], [list(v) for v in in_vain], known]
        restore, number, *found = await self._server.run("note_bodies", args, once=True)
        pairs = [(text(a), text(b)) for a, b in found[0]] if found else None
        return bool(restore), int(number), pairs

    async def withhold_copies(self, links: Sequence[tuple[str, str, str]]) -> set[int]:
        """Withhold leased links that a mirror gave, or is being asked for; return which."""
        args = [[list(link) for link in links]]
        return set(await self._server.run("withhold_copies", args, once=True))

    async def release_copies(self, limit: int) -> int:
        """Put links back that a mirror was to give and did not; return how many."""
        return int(await self._server.run("release_copies", [limit]))

    async def restore(self, limit: int) -> int:
        """Put links back that are not to be withheld any more; return how many."""
        return int(await self._server.run("unwithhold", [limit]))

    async def families(self) -> list[Withheld]:
        """Return the families of which links are withheld, those with most first."""
        redis, keys = self._server.redis, self._keys
        name = keys["withholding"]
        found = []
        for family in await self._server.through(lambda: redis.smembers(name), name):
            key, links = keys["family:" + text(family)], keys["withheld:" + text(family)]
            facts = await self._server.through(partial(redis.hgetall, key), key)
            number = await self._server.through(partial(redis.hlen, links), links)
            with readable(f"the frontier's key {key!r}"):
                found.append(_withheld(facts, number))
        return sorted((f for f in found if f.links), key=lambda f: (-f.links, f.document))


def _left_out(
    hosts: Mapping[bytes, bytes], first: Mapping[bytes, bytes], *, more: bool
) -> LeftOutLinks:
    """Read numbers and links by reason and host."""
    counts: dict[Reason, Counter[str]] = {}
    for name, number in hosts.items():
        reason, host = _parts(name)
        counts.setdefault(reason, Counter())[host] = int(number)
    links = {_parts(name): url.decode("utf-8", "replace") for name, url in first.items()}
    return LeftOutLinks(counts, links, more)


def _parts(name: bytes) -> tuple[Reason, str]:
    reason, _, host = name.decode("utf-8", "replace").partition(" ")
    return Reason(reason), host


def _withheld(facts: Mapping[bytes, bytes], links: int) -> Withheld:
    """Read the stored state of a family."""
    document, pattern = (
        facts.get(name, b"").decode("utf-8", "surrogatepass") for name in (b"document", b"pattern")
    )
    mirror = b"mirror" in facts
    if mirror:
        document, pattern = sorted((document, pattern))
    asked = sum(int(facts.get(name, 0)) for name in (b"barren", b"unknown", b"useful"))
    return Withheld(document, pattern, links, asked, mirror)
