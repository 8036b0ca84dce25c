"""Groups long lists of links by shape and cuts them into batches.

A sitemap may list a million addresses of a dozen shapes. Pages link to most of them, with texts
that tell more than an address. So a list waits until its host has no other links. Then a few links
of each shape enter the frontier, and twice as many each further time. A link that was a target
brings more of its shape at once. Shapes that nothing else leads to are tried meanwhile, one link
each.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from urllib.parse import urlsplit

import msgpack

from semcrawl.links import FoundBy, Link
from semcrawl.recent import Recent
from semcrawl.web.hosts import netloc_of

#: hosts whose number of answers is remembered, those that answered last
_MOST_HOSTS = 10_000
#: answers of a host before its sitemaps are requested while it has other links: those that
#: robots.txt names, and guessed ones; answers between two tries of untried shapes
NAMED_AFTER, GUESSED_AFTER, _EVERY = 20, 250, 5
#: fewest links of a shape that is tried
_WORTH_A_TRY = 50

#: groups that no strategy judges: of the seeds; of a host's sitemaps and well-known places, to
#: which the host is appended; of links that stand for the remaining links of a list
SEEDS, SITEMAPS, PLACES, LISTS = "seeds", "sitemaps ", "places ", "lists"
#: values of such groups: the seeds; what comes before all pages; what comes when nothing else of
#: its host waits
FIRST, SOON, LAST = 1e9, 5e8, -1e12
#: targets of an origin after which its well-known places are fetched soon
MANY_TARGETS = 200

#: most shapes of a list
_MOST_SHAPES = 100
#: links of each shape in the first turn; each further turn has twice as many
_TURN = 4
#: links of a shape that go in after one of them was a target
NEXT = 32
#: links of one chunk, which is stored and read as a whole
CHUNK = 64 * NEXT
_DIGITS = re.compile(r"\d+")
_LONGEST_CHUNK = 1 << 26
_NAMES = tuple(each.name for each in fields(Link))
_values = attrgetter(*_NAMES)
_DEFAULTS = _values(Link(""))


@dataclass(frozen=True, slots=True)
class Shelf:
    """The links of one shape, in an order that spreads each batch over the list."""

    shape: tuple[str, ...]
    links: Sequence[Link]

    def chunks(self) -> list[Sequence[Link]]:
        """Return the links in pieces to be stored."""
        return [self.links[at : at + CHUNK] for at in range(0, len(self.links), CHUNK)]


def turn(number: int) -> tuple[int, int]:
    """Return start and end of a turn's links in every shelf."""
    return _TURN * (2**number - 1), _TURN * (2 ** (number + 1) - 1)


def in_turns(shelves: Sequence[Shelf]) -> list[Link]:
    """Return all links of a list in the order of their turns."""
    found: list[Link] = []
    number, longest = 0, max((len(shelf.links) for shelf in shelves), default=0)
    while (ends := turn(number))[0] < longest:
        found += [link for shelf in shelves for link in shelf.links[slice(*ends)]]
        number += 1
    return found


def is_judged(group: str) -> bool:
    """Whether a strategy chose a link's group."""
    return group != LISTS and not group.startswith((SITEMAPS, PLACES))


def has_shape(url: str, shape: tuple[str, ...]) -> bool:
    """Whether an address has a shape, whatever lists it."""
    parts = _parts(Link(url))
    return len(parts) == len(shape) and all(
        wanted in ("*", part) for wanted, part in zip(shape[1:], parts[1:], strict=True)
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """A stored chunk of a shelf: the page that lists the links, its depth, and the links."""

    page: str
    depth: int
    links: Sequence[Link]

    def pack(self) -> bytes:
        """Return the chunk as bytes."""
        rows = [
            {
                i: value
                for i, (value, usual) in enumerate(zip(_values(link), _DEFAULTS, strict=True))
                if value != usual
            }
            for link in self.links
        ]
        packed = msgpack.packb([self.page, self.depth, rows], unicode_errors="surrogatepass")
        return zlib.compress(packed)

    @classmethod
    def unpack(cls, data: bytes) -> Listing:
        """Read a packed chunk; raise ``ValueError`` for anything else."""
        try:
            plain = zlib.decompressobj().decompress(data, _LONGEST_CHUNK)
            page, depth, rows = msgpack.unpackb(
                plain, strict_map_key=False, unicode_errors="surrogatepass"
            )
            return cls(str(page), int(depth), [_link(row) for row in rows])
        except (ValueError, TypeError, LookupError, AttributeError, zlib.error) as error:
            raise ValueError(f"no list of links: {error}") from error
        except msgpack.UnpackException as error:
            raise ValueError(f"no list of links: {error}") from error


def _link(row: dict[int, object]) -> Link:
    named = {_NAMES[i]: value for i, value in row.items() if 0 <= i < len(_NAMES)}
    named["found_by"] = FoundBy.read(str(named.get("found_by", ""))) or FoundBy.LINK
    return Link(**named)  # type: ignore[arg-type]


def arrange(links: Sequence[Link], most: int = _MOST_SHAPES) -> list[Shelf]:
    """Group links by shape, in order of first occurrence.

    A shape is the host, the folders, the last part of the path and the query, with equal runs of
    digits. Parts that are rare in their position, such as names and identifiers, become wildcards.
    """
    parts = [_parts(link) for link in links]
    counts = Counter(token for tokens in parts for token in enumerate(tokens))
    often = 3
    while True:
        shelves: dict[tuple[str, ...], list[Link]] = {}
        for link, tokens in zip(links, parts, strict=True):
            shape = tuple(t if counts[i, t] >= often else "*" for i, t in enumerate(tokens))
            shelves.setdefault(shape, []).append(link)
            if len(shelves) > most and often <= len(links):
                break
        else:
            return [Shelf(shape, _spread(found)) for shape, found in shelves.items()]
        often *= 4


def _parts(link: Link) -> tuple[str, ...]:
    """Return the parts of a link's shape by position."""
    url = urlsplit(link.url)
    *folders, last = _DIGITS.sub("0", url.path).split("/")
    stem, _, extension = last.rpartition(".")
    if not stem or len(extension) > 8:
        stem, extension = last, ""
    query = _DIGITS.sub("0", url.query)[:200]
    return link.tag_path, url.netloc, extension, query, stem, *folders[:8]


def _spread(links: Sequence[Link]) -> list[Link]:
    """Reorder links so that every piece is spread over the whole list."""
    stride = max(1, len(links) // NEXT)
    return [link for start in range(stride) for link in links[start::stride]]


class UntriedShapes:
    """Counts the answers of hosts, and decides when to try an untried shape."""

    def __init__(self) -> None:
        self._answers: Recent[str, int] = Recent(_MOST_HOSTS, int)
        #: host → name of the list, number of its shelf, shape
        self._untried: dict[str, deque[tuple[str, int, tuple[str, ...]]]] = {}

    def add(self, name: str, sitemap: str, shelves: Sequence[Shelf]) -> None:
        """Add the shapes of a sitemap."""
        untried = self._untried.setdefault(netloc_of(sitemap), deque())
        untried += (
            (name, number, shelf.shape)
            for number, shelf in enumerate(shelves)
            if len(shelf.links) >= _WORTH_A_TRY
        )

    def answers(self, url: str) -> int:
        """Return the number of answers of an address's host."""
        return self._answers[netloc_of(url)]

    def note(self, url: str) -> tuple[str, int] | None:
        """Count an answer; return the list and shelf to try a link of now, if any."""
        host = netloc_of(url)
        self._answers[host] += 1
        untried = self._untried.get(host)
        if not untried:
            return None
        left = [each for each in untried if not has_shape(url, each[2])]
        if len(left) < len(untried):
            untried = self._untried[host] = deque(left)
        if not untried or self._answers[host] % _EVERY:
            return None
        name, number, _ = untried.popleft()
        return name, number
