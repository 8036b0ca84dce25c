"""Long lists of links, kept in the frontier for all workers and runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple, Self, TypeVar

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Shared
from semcrawl.sources import CHUNK, Listing, Shelf

T = TypeVar("T")

#: pieces, and indexes, of lists that this process caches
_CACHED = 16


class Place(NamedTuple):
    """A position in a shelf of a list."""

    name: str
    shelf: int
    number: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read the text of :meth:`__str__`; ``None`` for anything else."""
        name, _, numbers = text.partition(".")
        shelf, _, number = numbers.partition(".")
        if not (shelf.isdecimal() and number.isdecimal()):
            return None
        return cls(name, int(shelf), int(number))

    def __str__(self) -> str:
        """Return its short text."""
        return f"{self.name}.{self.shelf}.{self.number}"


class ListIndex(NamedTuple):
    """The lengths of a list's shelves."""

    lengths: Sequence[int]

    def length(self, shelf: int) -> int:
        """Return how many links a shelf has; 0 if there is no such shelf."""
        return self.lengths[shelf] if shelf < len(self.lengths) else 0


class KeptLists:
    """Lists of links, stored in pieces; each piece is a blob."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._pieces: OrderedDict[str, Listing] = OrderedDict()
        self._indexes: OrderedDict[str, ListIndex] = OrderedDict()

    async def keep(self, page: str, depth: int, version: str, shelves: Sequence[Shelf]) -> str:
        """Store this version of a page's list; return its name."""
        text = f"{page} {version}".encode("utf-8", "surrogatepass")
        name = blake2b(text, digest_size=6).hexdigest()
        for number, shelf in enumerate(shelves):
            for piece, links in enumerate(shelf.chunks()):
                content = Listing(page, depth, links).pack()
                await self._shared.put(_blob(name, number, piece), content)
        lengths = [len(shelf.links) for shelf in shelves]
        await self._shared.put(_blob(name), msgpack.packb(lengths))
        return name

    async def drop(self, name: str, index: ListIndex) -> None:
        """Empty the blobs of a list that is used up."""
        await self._shared.put(_blob(name), b"")
        for number, length in enumerate(index.lengths):
            for piece in range(-(-length // CHUNK)):
                await self._shared.put(_blob(name, number, piece), b"")
        self._indexes.pop(_blob(name), None)

    async def index(self, name: str) -> ListIndex | None:
        """Return the index of a list; ``None`` for a list that is used up or unknown."""
        return await self._read(self._indexes, _blob(name), _index_of)

    async def links(self, place: Place, end: int) -> Listing | None:
        """Return the links from a place up to ``end``; ``None`` if the list is used up."""
        found: list[Listing] = []
        for piece in range(place.number // CHUNK, -(-end // CHUNK)):
            listing = await self._read(
                self._pieces, _blob(place.name, place.shelf, piece), Listing.unpack
            )
            if listing is None:
                break
            start = piece * CHUNK
            links = listing.links[max(0, place.number - start) : end - start]
            found.append(replace(listing, links=links))
        if not found:
            return None
        return replace(found[0], links=[link for each in found for link in each.links])

    async def _read(
        self, known: OrderedDict[str, T], blob: str, unpack: Callable[[bytes], T]
    ) -> T | None:
        if blob not in known:
            data = await self._shared.get(blob)
            if not data:
                return None
            try:
                known[blob] = unpack(data)
            except (ValueError, TypeError, msgpack.UnpackException) as error:
                raise FrontierCorrupt(f"{self._shared.place}, {blob!r} holds {error}") from error
            if len(known) > _CACHED:
                known.popitem(last=False)
        return known[blob]


def _index_of(data: bytes) -> ListIndex:
    return ListIndex([int(n) for n in msgpack.unpackb(data)])


def _blob(name: str, *numbers: int) -> str:
    return ".".join((f"list:{name}", *map(str, numbers)))
