"""What all workers and runs know about RDF forms of pages and about pages of catalogues.

The frontier keeps it. A worker claims a host's state while it changes it, so no update is
lost. Links are added before the state says so: after a crash in between they are added again, and
the seen set refuses them.
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

from semcrawl.crawl.claims import claimed
from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Frontier
from semcrawl.sources.negotiation import FormCounts, address_of, may_ask, shape_of
from semcrawl.web.hosts import netloc_of

#: adds the RDF form of an address to the frontier
PutIn = Callable[[str], Awaitable[None]]

#: addresses, or names of pages, in one blob of a list
_PIECE = 100
#: most pages of one shape that wait for the answers of others
_MOST_WAITING = 50_000
#: pages of a host after which this process checks again whether another worker found a form there
_PAGES_PER_LOOKUP = 50
#: most hosts, or catalogues, that this process remembers
_MOST_KNOWN = 10_000
#: bytes of a page's name
_NAME = 8


class LeadMemory:
    """The memory that the spiders of a process share; ``shared``: with other workers as well."""

    def __init__(self, frontier: Frontier, *, shared: bool) -> None:
        self._store = frontier.shared
        self._claims = shared
        self._lock = asyncio.Lock()
        #: hosts that gave RDF forms
        self._giving: set[str] = set()
        #: pages of each other host since it was first looked up
        self._unknown: Counter[str] = Counter()
        #: names of the pages that were followed, by the shape of their catalogue
        self._pages: dict[str, set[bytes]] = {}

    # -- RDF forms of pages
    async def gives_forms(self, url: str) -> bool:
        """Whether an address of the host gave its RDF form."""
        host = netloc_of(url)
        if host in self._giving:
            return True
        asked = self._unknown[host]
        if asked:  # count now, so that no other page repeats the look-up meanwhile
            self._unknown[host] += 1
        if asked % _PAGES_PER_LOOKUP == 0:
            counts = await self._counts(f"forms:{host}")
            if counts.gave:
                self._note_giving(host)
            self._unknown[host] = max(1, self._unknown[host])
        return host in self._giving

    async def ask(self, url: str, tries: int, put_in: PutIn) -> None:
        """Add the RDF form of a page, or let it wait for the answers of pages of its shape.

        ``tries``: how many pages of a shape are asked for as RDF before one of them gives it.
        """
        names = _names(url)
        async with self._alone(netloc_of(url)):
            shape, host = [await self._counts(name) for name in names]
            if may_ask(shape, host, tries):
                await put_in(url)
                await self._keep(names, shape.tried(), host.tried())
            elif shape.waiting < _MOST_WAITING:
                place = shape.first + shape.waiting
                piece = f"{names[0]}:{place // _PIECE}"
                urls = await self._list(piece)
                await self._store.put(piece, msgpack.packb([*urls[: place % _PIECE], url]))
                await self._keep(names, shape.longer(), host)

    async def note_found(self, name: str, tries: int, put_in: PutIn) -> None:
        """Note an address that gave RDF; add the waiting pages of its shape that may be asked."""
        url = address_of(name)
        names = _names(url)
        async with self._alone(netloc_of(url)):
            shape, host = [(await self._counts(each)).found() for each in names]
            while shape.waiting and may_ask(shape, host, tries):
                piece = f"{names[0]}:{shape.first // _PIECE}"
                urls = await self._list(piece)
                if shape.first % _PIECE >= len(urls):  # the blob was lost
                    shape = FormCounts(shape.gave, shape.wasted)
                    break
                await put_in(urls[shape.first % _PIECE])
                shape, host = shape.shorter().tried(), host.tried()
                if shape.first % _PIECE == 0 or not shape.waiting:
                    await self._store.put(piece, b"")
            await self._keep(names, shape, host)
        self._note_giving(netloc_of(url))

    # -- further requests of addresses that answered with nothing
    async def may_ask_again(self, url: str, tries: int) -> bool:
        """Whether an address may be asked again with another ``Accept`` header; count it if so.

        ``tries``: requests of addresses of a shape that may be in vain before one is answered.
        """
        names = _names(address_of(url), "again")
        async with self._alone(netloc_of(url)):
            shape, host = [await self._counts(name) for name in names]
            if not may_ask(shape, host, tries):
                return False
            await self._keep(names, shape.tried(), host.tried())
        return True

    async def note_answered(self, url: str) -> None:
        """Note that such a request got a document."""
        names = _names(address_of(url), "again")
        async with self._alone(netloc_of(url)):
            shape, host = [(await self._counts(name)).found() for name in names]
            await self._keep(names, shape, host)

    def _note_giving(self, host: str) -> None:
        if len(self._unknown) > _MOST_KNOWN:
            self._unknown.clear()
            self._giving.clear()
        self._giving.add(host)

    # -- pages of catalogues
    async def may_follow(self, url: str, most: int) -> bool:
        """Whether a page of a catalogue may be followed; a page that may is counted.

        Pages of one catalogue have addresses that differ only in digits and queries. ``most``:
        pages per catalogue; 0 = any number.
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
            piece = await self._store.get(f"{blob}:{number}") or b""
            known.update(_cut(piece))
            while len(piece) >= _PIECE * _NAME:
                number += 1
                piece = await self._store.get(f"{blob}:{number}") or b""
                known.update(_cut(piece))
            if name not in known:
                if len(known) >= most:
                    return False
                await self._store.put(f"{blob}:{number}", piece + name)
                known.add(name)
        return True

    # -- what is kept
    @asynccontextmanager
    async def _alone(self, host: str) -> AsyncIterator[None]:
        """Keep all other tasks and workers from changing a host's state."""
        async with self._lock:
            if not self._claims:
                yield
                return
            async with claimed(self._store, f"leads:{host}"):
                yield

    async def _counts(self, name: str) -> FormCounts:
        return FormCounts.of(await self._unpacked(name))

    async def _list(self, name: str) -> list[str]:
        found = await self._unpacked(name)
        return [str(url) for url in found] if isinstance(found, list) else []

    async def _unpacked(self, name: str) -> Any:
        data = await self._store.get(name)
        if not data:
            return None
        try:
            return msgpack.unpackb(data)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise FrontierCorrupt(f"{self._store.place}, {name!r}: {error}") from error

    async def _keep(self, names: tuple[str, str], shape: FormCounts, host: FormCounts) -> None:
        for name, counts in zip(names, (shape, host), strict=True):
            await self._store.put(name, msgpack.packb(astuple(counts)))


def _names(url: str, what: str = "form") -> tuple[str, str]:
    """Name the blobs of a page's shape and of its host."""
    return f"{what}:{_hash(shape_of(url), 8).hex()}", f"{what}s:{netloc_of(url)}"


def _hash(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def _cut(piece: bytes) -> list[bytes]:
    return [piece[i : i + _NAME] for i in range(0, len(piece) - len(piece) % _NAME, _NAME)]
