"""When the sitemaps of hosts are asked for, and which of their links enter the frontier.

Nothing here waits or requests: an answer in, what to add out. Generators say which portion of a
list to add, and are told how many of its links were new.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple, Self, TypeVar

import msgpack

from semcrawl.config.options import SitemapRules
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import FRONT, Entry, Frontier, Lease, Shared
from semcrawl.frontier.links import GUESS, SITEMAP, LinkState
from semcrawl.links import FoundBy, Page
from semcrawl.recent import Recent
from semcrawl.relevance.contract import Outcome, Ranked
from semcrawl.sources import (
    CHUNK,
    GUESSED_AFTER,
    NAMED_AFTER,
    NEXT,
    Listing,
    Shelf,
    UntriedShapes,
    turn,
)
from semcrawl.sources.listing import LAST, LISTS, SEEDS, SITEMAPS
from semcrawl.web.hosts import host_of, netloc_of, origin_of
from semcrawl.web.urls import Normalisation, resolve


async def put_last(
    frontier: Frontier,
    urls: Sequence[tuple[str, LinkState]],
    queue: str,
    host: str,
    host_key: Callable[[str], str],
    kind: str = SITEMAPS,
) -> str:
    """Add sitemaps or well-known places of a host, to be fetched when nothing else of it waits.

    ``kind``: prefix of their group. Return the group; the caller may give it another value.
    """
    group = kind + host
    await frontier.set_values({group: LAST})
    await frontier.add(
        [
            Entry(url, host_key(url), queue, group, i, state.pack(), str(state.label))
            for i, (url, state) in enumerate(urls)
        ]
    )
    return group


def waiting_last(lease: Lease) -> Lease:
    """Return a lease that puts a link back, to wait until nothing else of its host does.

    Links that stand for lists take turns: the one that went back least often goes first.
    """
    key = lease.entry.key + 1 if lease.entry.group == LISTS else 0.0
    return replace(lease, entry=replace(lease.entry, group=LISTS, key=key))


def check_link(url: str, host: str, queue: str) -> Entry:
    """Return a known address as a link that comes before all others, to check its host."""
    state = LinkState(check=True)
    return Entry(url, host, queue, SEEDS, FRONT, state.pack(), str(state.label))


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


#: hosts whose search for sitemaps is remembered, those that answered last
_MOST_HOSTS = 10_000
#: new links after which a turn ends, even if it has not reached all shapes
_ENOUGH = 400
#: prefix, in a link's rules, of another host whose robots.txt names the sitemap
_OF = "of:"


class Portion(NamedTuple):
    """Links of one shelf of a list."""

    place: Place
    end: int


#: yields portions to add, is sent how many of their links were new
Portions = Generator[Portion, int, None]
#: the same; returns the turn in which the list waits next, empty if it is used up
Turn = Generator[Portion, int, str]


class ListRules:
    """Decides about the lists of one crawl; remembers what its hosts answered."""

    def __init__(
        self, rules: SitemapRules, policy: LinkPolicy, normalisation: Normalisation | None = None
    ) -> None:
        """Follow what ``policy`` allows."""
        self._rules = rules
        self._policy = policy
        self._normalisation = normalisation or Normalisation()
        #: by origin, the number of answers that its sitemaps wait for, and their group, which is
        #: empty if there are none
        self._sought: Recent[str, tuple[int, str]] = Recent(_MOST_HOSTS)
        #: number of sitemaps read, by host
        self._of_host: Counter[str] = Counter()
        self._untried = UntriedShapes()
        #: places in lists from which more links were added
        self._passed: set[Place] = set()

    @property
    def on(self) -> bool:
        """Whether sitemaps are used at all."""
        return self._rules.use != "never"

    # -- finding
    def seeks(self, url: str) -> str:
        """Return the origin whose robots.txt may name sitemaps; empty if that was asked before."""
        origin = origin_of(url)
        if not self.on or origin in self._sought:
            return ""
        self._sought[origin] = 0, ""
        return origin if self._policy.scope.inside(url) else ""

    def found(self, origin: str, named: Sequence[str]) -> list[tuple[str, LinkState]]:
        """Return the sitemaps of an origin, to wait until nothing else of it does.

        ``named``: those that its robots.txt names; without any, hosts of seeds may have one at the
        usual place.
        """
        robots, after = f"{origin}/robots.txt", NAMED_AFTER
        words: tuple[str, ...] = (SITEMAP,)
        found = [resolve(robots, each, self._normalisation) for each in named]
        if not found and host_of(origin) in self._policy.scope.roots:
            found, after = [f"{origin}/sitemap.xml"], GUESSED_AFTER
            words = (SITEMAP, GUESS)
        if self._rules.use == "only":
            after = 0
        host, links = netloc_of(origin), []
        for each in dict.fromkeys(filter(None, found)):
            if self._policy.may_fetch_sitemap(each):
                of = (_OF + host,) if netloc_of(each) != host else ()
                state = LinkState(robots, 1, rules=words + of, found_by=FoundBy.SITEMAP)
                links.append((each, state))
        if links:
            self._sought[origin] = after, SITEMAPS + host
        return links

    def note_answer(self, url: str) -> Portion | None:
        """Count an answer of a host; return a link of a shape that nothing led to, if it is due."""
        untried = self._untried.note(url) if self.on else None
        return Portion(Place(*untried, 0), 1) if untried is not None else None

    def due(self, url: str) -> str:
        """Return the group of a host's sitemaps if it moves forward, as the host gave answers."""
        after, group = self._sought.get(origin_of(url), (0, ""))
        if not group or self._untried.answers(url) < after:
            return ""
        self._sought[origin_of(url)] = 0, ""
        return group

    # -- reading
    def why_enough(self, url: str) -> str:
        """Say that enough sitemaps of a host were read; empty if they were not."""
        if self._of_host[netloc_of(url)] < self._rules.most:
            return ""
        return f"{self._rules.most} sitemaps of its host were read already"

    def note_read(self, url: str, name: str, shelves: Sequence[Shelf]) -> None:
        """Count a sitemap of a host, and remember the shapes of its links, which nothing led to."""
        self._of_host[netloc_of(url)] += 1
        self._untried.add(name, url, shelves)

    def take_turn(self, state: str, lengths: Sequence[int]) -> Turn:
        """Add links of each shape of a list; each turn takes more than the one before."""
        name, number, shelf = _numbers(state)
        new = 0
        while new < _ENOUGH:
            start, end = turn(number)
            if shelf < len(lengths):
                new += yield Portion(Place(name, shelf, start), end)
                shelf += 1
                continue
            shelf, number = 0, number + 1
            if max(lengths, default=0) <= turn(number)[0]:
                return ""
            if new:
                break
        return f"{name}.{number}.{shelf}"

    def go_on(self, more: str, lengths: Sequence[int]) -> Portions:
        """Add more links of a shape, at least one new one if there is any, as one was a target."""
        place = Place.parse(more)
        while place is not None and place not in self._passed:
            self._passed.add(place)
            if place.shelf >= len(lengths) or place.number >= lengths[place.shelf]:
                return
            end = place.number + NEXT
            if (yield Portion(place, end)):
                return
            place = place._replace(number=end)


def first_turn(name: str) -> str:
    """Return the turn in which a new list waits."""
    return f"{name}.0.0"


def left(lengths: Sequence[int], turn_of_list: str) -> int:
    """Return how many links of a list wait for this turn and later ones."""
    start = turn(_numbers(turn_of_list)[1])[0] if turn_of_list else 0
    return sum(max(0, length - start) for length in lengths) if turn_of_list else 0


def hosts_of(state: LinkState) -> frozenset[str]:
    """Return the other hosts whose addresses a sitemap may list: those that name it."""
    return frozenset(word.removeprefix(_OF) for word in state.rules if word.startswith(_OF))


def outcome_of_list(page: Page, new: tuple[Ranked, ...]) -> Outcome:
    """Return what strategies learn of the links of a list: no outcome of their own brings them."""
    return Outcome(
        url=page.url,
        kind=None,
        target=False,
        final_url=page.url,
        parent=page.url,
        depth=page.depth,
        duplicate=True,
        new_links=new,
    )


def _numbers(turn: str) -> tuple[str, int, int]:
    """Parse the state of a list: its name, the number of the turn, and the next shelf."""
    name, number, shelf = turn.split(".")
    return name, int(number), int(shelf)
