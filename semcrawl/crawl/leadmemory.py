"""Other forms of pages and pages of catalogues, as all workers and runs of a crawl know them.

It is kept in the frontier's blobs. What is read there and written again is claimed meanwhile, so
that no worker's part is lost; and links go in before it is written that they did, so that a crawl
that is killed in between puts them in once more, and the seen set refuses the second.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import astuple
from hashlib import blake2b
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Frontier
from semcrawl.sources.negotiation import FormCounts, address_of, may_ask, shape_of
from semcrawl.web.hosts import netloc_of

#: puts the other form of an address in
PutIn = Callable[[str], Awaitable[None]]

#: seconds for which a host's state is claimed at most, and after which another look is taken
_CLAIMED, _LOOK_AGAIN = 10.0, 0.02
#: addresses of a piece of a list, and names of pages
_PIECE = 100
#: pages of one shape that wait for the answers of others
_MOST_WAITING = 50_000
#: answers of a host after which it is looked up again if another worker found a form there
_REMEMBERED = 50
#: hosts and catalogues that are remembered by this process
_MOST_KNOWN = 10_000
_NAME = 8


class LeadMemory:
    """Shared by the spiders of a process; ``shared``: by other workers as well."""

    def __init__(self, frontier: Frontier, *, shared: bool) -> None:
        self._blobs = frontier.blobs
        self._cache = frontier.cache
        self._shared = shared
        self._lock = asyncio.Lock()
        #: hosts that gave other forms, and answers of the others since they were looked up
        self._giving: set[str] = set()
        self._unknown: Counter[str] = Counter()
        #: names of the pages of catalogues that were followed, by shape
        self._pages: dict[str, set[bytes]] = {}

    # -- other forms of pages
    async def gives_forms(self, url: str) -> bool:
        """Whether an address of the host gave its other form."""
        host = netloc_of(url)
        if host in self._giving:
            return True
        asked = self._unknown[host]
        if asked:  # while it is looked up again, other pages go by what is known
            self._unknown[host] += 1
        if asked % _REMEMBERED == 0:
            counts = await self._counts(f"forms:{host}")
            if counts.gave:
                self._note_giving(host)
            self._unknown[host] = max(1, self._unknown[host])
        return host in self._giving

    async def ask(self, url: str, tries: int, put_in: PutIn) -> None:
        """Put the other form of a page in, or have it wait for the answers of its shape.

        ``tries``: pages of a shape that are asked for before one of them gives RDF.
        """
        names = _names(url)
        async with self._alone(netloc_of(url)):
            shape, host = [await self._counts(name) for name in names]
            if may_ask(shape, host, tries):
                await put_in(url)
                await self._store(names, shape.tried(), host.tried())
            elif shape.waiting < _MOST_WAITING:
                place = shape.first + shape.waiting
                piece = f"{names[0]}:{place // _PIECE}"
                urls = await self._list(piece)
                await self._blobs.put(piece, msgpack.packb([*urls[: place % _PIECE], url]))
                await self._store(names, shape.longer(), host)

    async def note_found(self, name: str, tries: int, put_in: PutIn) -> None:
        """Note an address that gave RDF; put those of its shape in that are asked for now."""
        url = address_of(name)
        names = _names(url)
        async with self._alone(netloc_of(url)):
            shape, host = [(await self._counts(each)).found() for each in names]
            while shape.waiting and may_ask(shape, host, tries):
                piece = f"{names[0]}:{shape.first // _PIECE}"
                urls = await self._list(piece)
                if shape.first % _PIECE >= len(urls):  # it was lost
                    shape = FormCounts(shape.gave, shape.wasted)
                    break
                await put_in(urls[shape.first % _PIECE])
                shape, host = shape.shorter().tried(), host.tried()
                if shape.first % _PIECE == 0 or not shape.waiting:
                    await self._blobs.put(piece, b"")
            await self._store(names, shape, host)
        self._note_giving(netloc_of(url))

    def _note_giving(self, host: str) -> None:
        if len(self._unknown) > _MOST_KNOWN:
            self._unknown.clear()
            self._giving.clear()
        self._giving.add(host)

    # -- pages of catalogues
    async def may_follow(self, url: str, most: int) -> bool:
        """Whether a further page of a catalogue may be followed; then it counts.

        ``most``: pages of one catalogue, addresses that differ in digits and queries alone; 0: any
        number.
        """
        if most <= 0:
            return True
        name, shape = _hash(url, _NAME), shape_of(url)
        if len(self._pages) > _MOST_KNOWN:
            self._pages.clear()
        known = self._pages.setdefault(shape, set())
        if name in known:
            return True
        blob = f"pages:{_hash(shape, 8).hex()}"
        async with self._alone(netloc_of(url)):
            number = len(known) // _PIECE
            piece = await self._blobs.get(f"{blob}:{number}") or b""
            known.update(_cut(piece))
            while len(piece) >= _PIECE * _NAME:
                number += 1
                piece = await self._blobs.get(f"{blob}:{number}") or b""
                known.update(_cut(piece))
            if name not in known:
                if len(known) >= most:
                    return False
                await self._blobs.put(f"{blob}:{number}", piece + name)
                known.add(name)
        return True

    # -- blobs
    @asynccontextmanager
    async def _alone(self, host: str) -> AsyncIterator[None]:
        """Have the state of a host for this task alone."""
        name = f"leads:{host}"
        async with self._lock:
            # (another process has it)
            while self._shared and not await self._cache.claim(name, _CLAIMED):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_AGAIN)
            try:
                yield
            finally:
                if self._shared:
                    await self._cache.release(name)

    async def _counts(self, name: str) -> FormCounts:
        return FormCounts.of(await self._unpacked(name))

    async def _list(self, name: str) -> list[str]:
        found = await self._unpacked(name)
        return [str(url) for url in found] if isinstance(found, list) else []

    async def _unpacked(self, name: str) -> Any:
        data = await self._blobs.get(name)
        if not data:
            return None
        try:
            return msgpack.unpackb(data)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise FrontierCorrupt(f"{self._blobs.describe(name)}: {error}") from error

    async def _store(self, names: tuple[str, str], shape: FormCounts, host: FormCounts) -> None:
        for name, counts in zip(names, (shape, host), strict=True):
            await self._blobs.put(name, msgpack.packb(astuple(counts)))


def _names(url: str) -> tuple[str, str]:
    """Name the blobs of a page's shape and of its host."""
    return f"form:{_hash(shape_of(url), 8).hex()}", f"forms:{netloc_of(url)}"


def _hash(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def _cut(piece: bytes) -> list[bytes]:
    return [piece[i : i + _NAME] for i in range(0, len(piece) - len(piece) % _NAME, _NAME)]
