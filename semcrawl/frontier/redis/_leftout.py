"""Links that are left out or withheld, on Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from semcrawl.frontier.contract import LeftOutLinks, Withheld, reason_in
from semcrawl.frontier.links import digest, text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.packing import Keys, readable
from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict
from semcrawl.web.hosts import netloc_of

#: buckets of the table of links left out that one call reads
_LEFT_AT_ONCE = 512


class RedisAside:
    """Links that are not fetched (:class:`~semcrawl.frontier.contract.Aside`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys

    async def leave_out(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out."""
        noted = [[digest(url), f"{reason} {netloc_of(url)}", url] for url, reason in links]
        if noted:
            await self._server.run("leave_out", [noted, limit])

    async def left_out(self) -> LeftOutLinks:
        """Return the links left out so far, and the families with withheld links."""
        bucket: int | None = 0
        while bucket is not None:  # in portions, as other workers wait
            bucket = await self._server.run("left_out", [bucket, _LEFT_AT_ONCE])
        ask, keys = self._server.ask, self._keys
        names = keys["lefthosts"], keys["leftfirst"]
        hosts, first = [await ask("hgetall", name) for name in names]
        full = await ask("hexists", keys.meta, "leftfull")
        withheld = await self._withheld()
        with readable(f"the frontier's keys {names}"):
            return LeftOutLinks.of(hosts, first, withheld, more=bool(full))

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out."""
        name = await self._server.run("left_reason", [digest(url)])
        with readable("a link that was left out"):
            return reason_in(name)

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""
        if families:
            named = [[name, found.document, found.pattern] for name, found in families.items()]
            await self._server.run("know_families", [named])

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families."""
        verdicts = [
            [name, str(what), led_to and digest(led_to).hex()] for name, what, led_to in answers
        ]
        return bool(await self._server.run("judge_families", [verdicts], once=True))

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""
        return int(await self._server.run("unwithhold", [limit]))

    async def _withheld(self) -> list[Withheld]:
        ask, keys = self._server.ask, self._keys
        found = []
        for family in await ask("smembers", keys["withholding"]):
            key = keys["family:" + text(family)]
            facts = await ask("hgetall", key)
            number = await ask("hlen", keys["withheld:" + text(family)])
            with readable(f"the frontier's key {key!r}"):
                named = {name.decode(): value for name, value in facts.items()}
                found.append(Withheld.of(named, number))
        return found
