"""Shares the dates of sitemaps among the workers of a re-visit, through the frontier."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeAlias

from semcrawl.crawl.claims import claimed
from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Shared

#: digests of addresses, each with the latest time at which the document may have changed
Dates: TypeAlias = Iterable[tuple[bytes, int]]

#: blob with the names of this re-visit's lists; prefix of the blobs of these lists
_LISTS, _LIST = "lastmods", "lastmods:"
_PAIR = struct.Struct("<8sq")
#: most bytes of one blob
_PIECE = 65_536 * _PAIR.size


class SharedDates:
    """The lists of dates of one re-visit; each worker reads each list once."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._known: set[str] = set()

    async def forget(self) -> None:
        """Begin a re-visit: forget the dates of earlier ones."""
        await self._shared.put(_LISTS, b"")

    async def add(self, sitemap: str, dates: Dates) -> None:
        """Share the dates of a sitemap."""
        name = blake2b(sitemap.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        content = b"".join(_PAIR.pack(key, moment) for key, moment in dates)
        names = []
        for start in range(0, len(content), _PIECE):
            names.append(f"{name}.{start}")
            await self._shared.put(_LIST + names[-1], content[start : start + _PIECE])
        self._known.update(names)
        async with claimed(self._shared, _LISTS):
            listed = [*await self._names(), *names]
            await self._shared.put(_LISTS, " ".join(dict.fromkeys(listed)).encode())

    async def news(self) -> list[tuple[bytes, int]]:
        """Return the dates that other workers have added since the last call."""
        found: list[tuple[bytes, int]] = []
        for name in await self._names():
            if name in self._known:
                continue
            self._known.add(name)
            content = await self._shared.get(_LIST + name) or b""
            if len(content) % _PAIR.size:
                raise FrontierCorrupt(f"{self._shared.place}, {_LIST + name!r} holds no dates")
            found += _PAIR.iter_unpack(content)
        return found

    async def _names(self) -> list[str]:
        return (await self._shared.get(_LISTS) or b"").decode(errors="replace").split()
