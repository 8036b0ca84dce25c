"""The part of a frontier that moves it to another server, or looks it over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from semcrawl.frontier.packing import Waiting, check, digest, pack_blob
from semcrawl.frontier.redis.sharedstate import SharedState


class MovableFrontier(SharedState):
    """The part of a frontier that takes in an exported one, and compares what it holds."""

    async def restore(self, links: Sequence[Waiting], *, failed: bool = False) -> None:
        """Put exported links into their old places, or among the failed ones."""
        parts: defaultdict[tuple[str, str, str], list[Any]] = defaultdict(list)
        aside: list[list[Any]] = []
        places = [[link.sequence, link.tries] for link in links]
        for index, link in enumerate(links):
            entry = link.entry
            check(entry)
            what = [entry.key, entry.label, digest(entry.url), pack_blob(entry)]
            where = (entry.queue, entry.host, entry.group)
            parts[where] += [index, *what]
            aside.append([*where, *what, *places[index]])
        if failed:
            await self._server.run("restore_failed", [aside])
        else:
            args = [[[*part, links] for part, links in parts.items()], False, places]
            await self._server.run("add", args)

    async def restore_totals(self, totals: Mapping[str, float]) -> None:
        """Set fields of the key ``meta`` that tell of what was before."""
        redis, key = self._server.redis, self.keys.meta
        fields: Any = {name: f"{value:.17g}" for name, value in totals.items()}
        if fields:
            await self._server.through(lambda: redis.hset(key, mapping=fields), key)

    async def restore_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set what was found on a host (fetches, targets, barren ones in a row), and its turn."""
        redis, keys = self._server.redis, self.keys
        name: Any = host.encode("utf-8", "surrogatepass")
        if any(numbers):
            key, text = keys["yield"], " ".join(map(str, numbers))
            await self._server.through(lambda: redis.hset(key, name, text), key)
        if turn:
            key = keys["turns"]
            await self._server.through(lambda: redis.hset(key, name, f"{turn:.17g}"), key)

    async def restore_family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set what is known of a family of links."""
        redis, key = self._server.redis, self.keys["family:" + name]
        known: Any = dict(fields)
        if known:
            await self._server.through(lambda: redis.hset(key, mapping=known), key)

    async def mark_seen(self, digests: Sequence[bytes]) -> None:
        """Count URLs as seen, by their digests."""
        await self._server.run("see", [list(digests)])

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return what differs, one line each.

        For tests and tools: the server is busy with it for as long as it takes to read all links.
        """
        lines = await self._server.run("audit", [])
        return [line.decode("utf-8", "backslashreplace") for line in lines]
