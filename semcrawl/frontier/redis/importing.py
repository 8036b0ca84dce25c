"""Taking in an exported frontier on Redis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from semcrawl.frontier.contract import WaitingLink
from semcrawl.frontier.linkblob import digest, pack_blob
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.keys import Keys


class RedisImporter:
    """Fills an empty frontier (:class:`~semcrawl.frontier.contract.Importer`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys

    async def links(self, links: Sequence[WaitingLink], *, failed: bool = False) -> None:
        """Put links into their old places, or among the failed ones."""
        parts: defaultdict[tuple[str, str, str], list[Any]] = defaultdict(list)
        aside: list[list[Any]] = []
        places = [[link.sequence, link.tries] for link in links]
        for index, link in enumerate(links):
            entry = link.entry
            entry.check()
            what = [entry.key, entry.label, digest(entry.url), pack_blob(entry)]
            where = (entry.queue, entry.host, entry.group)
            parts[where] += [index, *what]
            aside.append([*where, *what, *places[index]])
        if failed:
            await self._server.run("restore_failed", [aside])
        else:
            args = [[[*part, links] for part, links in parts.items()], False, places]
            await self._server.run("add", args)

    async def totals(self, totals: Mapping[str, float]) -> None:
        """Set the totals of the former frontier, fields of the key ``meta``."""
        await self._set(self._keys.meta, {n: f"{value:.17g}" for n, value in totals.items()})

    async def host_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set a host's counts, and its turn."""
        name = host.encode("utf-8", "surrogatepass")
        if any(numbers):
            await self._set(self._keys["yield"], {name: " ".join(map(str, numbers))})
        if turn:
            await self._set(self._keys["turns"], {name: f"{turn:.17g}"})

    async def family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set the state of a family of links."""
        await self._set(self._keys["family:" + name], dict(fields))

    async def seen(self, digests: Sequence[bytes]) -> None:
        """Count URLs as seen, by their digests."""
        await self._server.run("see", [list(digests)])

    async def _set(self, key: str, fields: Any) -> None:
        redis = self._server.redis
        if fields:
            await self._server.through(lambda: redis.hset(key, mapping=fields), key)
