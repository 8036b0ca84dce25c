"""Dates of sitemaps, which the workers of a re-visit share through the frontier."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeAlias

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Blobs

#: digests of addresses, each with the latest moment at which it may have changed
Dates: TypeAlias = Iterable[tuple[bytes, int]]

#: name of the blob that names the lists of this re-visit; beginning of the names of the lists
_LISTS, _LIST = "lastmods", "lastmods:"
_PAIR = struct.Struct("<8sq")
#: bytes of one blob
_PIECE = 65_536 * _PAIR.size


class SharedDates:
    """The lists of dates of one re-visit, each read once by each worker."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._known: set[str] = set()

    async def forget(self) -> None:
        """Begin a re-visit: what sitemaps said before says nothing now."""
        await self._blobs.put(_LISTS, b"")

    async def add(self, sitemap: str, dates: Dates) -> None:
        """Tell the others what a sitemap says."""
        name = blake2b(sitemap.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        content = b"".join(_PAIR.pack(key, moment) for key, moment in dates)
        names = []
        for start in range(0, len(content), _PIECE):
            names.append(f"{name}.{start}")
            await self._blobs.put(_LIST + names[-1], content[start : start + _PIECE])
        self._known.update(names)
        # (of two that add at the same moment one is lost: its pages are asked for)
        listed = [*await self._names(), *names]
        await self._blobs.put(_LISTS, " ".join(dict.fromkeys(listed)).encode())

    async def news(self) -> list[tuple[bytes, int]]:
        """Return the dates that others have given since the last call."""
        found: list[tuple[bytes, int]] = []
        for name in await self._names():
            if name in self._known:
                continue
            self._known.add(name)
            content = await self._blobs.get(_LIST + name) or b""
            if len(content) % _PAIR.size:
                raise FrontierCorrupt(f"{self._blobs.describe(_LIST + name)} holds no dates")
            found += _PAIR.iter_unpack(content)
        return found

    async def _names(self) -> list[str]:
        return (await self._blobs.get(_LISTS) or b"").decode(errors="replace").split()
