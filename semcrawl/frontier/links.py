"""The forms in which a frontier stores links, their state and its options."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgpack

from semcrawl.frontier.contract import Entry, FrontierOptions
from semcrawl.links import FoundBy, Page
from semcrawl.relevance.contract import Label, Ranked
from semcrawl.sources.negotiation import Wish, first_wish, is_as_rdf, wish_of

#: words among the rules of a link: it leads to a sitemap; nothing linked to it
SITEMAP, GUESS = "sitemap", "guess"
#: members by the index under which they are packed
_WAYS = tuple(FoundBy)


@dataclass(slots=True, unsafe_hash=True)
class LinkState:  # not frozen, for the speed of making one; nothing changes it
    """The state of a link for its spider and its record; packs into few bytes."""

    parent: str | None = None
    depth: int = 0
    label: Label = Label.H
    rules: tuple[str, ...] = ()
    #: URLs that redirected here, the link's own first
    redirects: tuple[str, ...] = ()
    #: number of attempts with temporary failures
    retries: int = 0
    #: validators of the known document, on a re-visit
    etag: str = ""
    last_modified: str = ""
    revisit: bool = False
    #: on a re-visit, if known: time of the last visit (seconds since the epoch), and the beginning
    #: of the hexadecimal SHA-256 of its content
    visited: int = 0
    content: str = ""
    #: directory index that normalisation dropped, to try if the folder fails
    index: str = ""
    #: whether the last of ``redirects`` was predicted and not requested
    foreseen: bool = False
    #: name of its family (:mod:`semcrawl.relevance.families`); empty if it is in none
    family: str = ""
    #: whether it is known to exist, and tests if its host answers
    check: bool = False
    #: what led to it; ``None`` = the default: a link of its parent, or a seed without one
    found_by: FoundBy | None = None
    #: its step in paging through an endpoint (:mod:`semcrawl.sources.endpoints`), if any
    query: str = ""
    #: position in a long list, of which more links are added if this one pays
    more: str = ""
    #: the topic's relevance of the texts near an image, 0 to 1; ``None`` if not judged
    near_text: float | None = None
    #: whether a page shows it as an image
    image: bool = False
    #: portion of a long list whose links are added instead of a request for this one
    turn: str = ""
    #: what its request asks for (:class:`~semcrawl.sources.negotiation.Wish`); empty = the first
    wish: str = ""
    #: number of the address among ``redirects``, from 1, that chose its target by the ``Accept``
    #: header; 0 = none
    varied: int = 0

    @classmethod
    def of_link(cls, page: Page, ranked: Ranked, *, family: str = "", more: str = "") -> LinkState:
        """Return the state of a link found on a page."""
        link = ranked.link
        return cls(
            page.url,
            page.depth + 1,
            ranked.label,
            ranked.rules if not link.is_sitemap else (SITEMAP, *ranked.rules),
            index=link.index,
            family=family,
            found_by=link.found_by,
            more=more,
            near_text=link.near_text,
            image="image/*" in link.type,
            wish=wish_of(link),
        )

    @property
    def is_sitemap(self) -> bool:
        """Whether it leads to a sitemap."""
        return SITEMAP in self.rules

    @property
    def is_guess(self) -> bool:
        """Whether nothing linked to it, so that it rarely exists."""
        return GUESS in self.rules

    @property
    def way(self) -> FoundBy:
        """The kind of link that led to it."""
        return self.found_by or self._default_way

    @property
    def is_seed(self) -> bool:
        """Whether it is a seed, before any redirects."""
        return self.parent is None and not self.revisit

    @property
    def _default_way(self) -> FoundBy:
        return FoundBy.SEED if self.is_seed else FoundBy.LINK

    def link_url(self, url: str) -> str:
        """Return the URL of the link, before the redirects that led to ``url``."""
        return self.redirects[0] if self.redirects else url

    def expects_rdf(self, url: str) -> bool:
        """Whether the link at ``url`` is expected to lead to RDF."""
        return self.label is Label.R or is_as_rdf(self.link_url(url))

    def asks_for(self, url: str, *, rdf: bool) -> Wish:
        """Return what the request of ``url`` asks for; ``rdf``: RDF is expected there."""
        return Wish.read(self.wish) or first_wish(self.link_url(url), rdf=rdf)

    def redirected(self, url: str, **changed: Any) -> LinkState:
        """Return the state after the address ``url`` led to another one."""
        before = (*self.redirects, url)
        return replace(self, redirects=before, retries=0, foreseen=False, **changed)

    def pack(self) -> dict[str, Any]:
        """Return the entry's payload, without fields that have their default."""
        packed: dict[str, Any] = {"d": self.depth}
        if self.parent is not None:
            packed["p"] = self.parent
        if self.rules:
            packed["r"] = " ".join(self.rules)
        if self.redirects:
            packed["v"] = list(self.redirects)
        if self.retries:
            packed["t"] = self.retries
        if self.etag:
            packed["e"] = self.etag
        if self.last_modified:
            packed["m"] = self.last_modified
        if self.revisit:
            packed["again"] = True
        if self.visited:
            packed["l"] = self.visited
        if self.content:
            packed["h"] = self.content
        if self.index:
            packed["i"] = self.index
        if self.foreseen:
            packed["f"] = True
        if self.check:
            packed["c"] = True
        if self.way is not self._default_way:
            packed["b"] = _WAYS.index(self.way)
        if self.query:
            packed["q"] = self.query
        if self.more:
            packed["n"] = self.more
        if self.turn:
            packed["w"] = self.turn
        if self.wish:
            packed["a"] = self.wish
        if self.varied:
            packed["y"] = self.varied
        if self.near_text is not None:
            packed["x"] = round(self.near_text, 4)
        if self.image:
            packed["g"] = True
        if self.family:
            if self.redirects or self.retries or self.wish:  # once requested, it is not withheld
                packed = {"s": self.family, **packed}
            else:
                packed["s"] = self.family  # at the end, where take.lua looks for it
        return packed

    @classmethod
    def unpack(cls, entry: Entry) -> LinkState:
        """Read the state from a leased entry; missing or invalid fields get their default."""
        found: dict[str, Any] = {
            _FIELDS[name][0]: _FIELDS[name][1](value)
            for name, value in entry.payload.items()
            if name in _FIELDS
        }
        return cls(label=Label.read(entry.label), **found)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(_text(value).split())


def _urls(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _fraction(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _way(value: object) -> FoundBy | None:
    """Return the kind that an entry names; ``None`` for the default, or one of a newer version."""
    return _WAYS[value] if isinstance(value, int) and 0 <= value < len(_WAYS) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


def _time(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 40 else 0


#: name in an entry's payload → field, and its reader
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "p": ("parent", _text),
    "d": ("depth", _number),
    "r": ("rules", _words),
    "v": ("redirects", _urls),
    "t": ("retries", _number),
    "e": ("etag", _text),
    "m": ("last_modified", _text),
    "again": ("revisit", bool),
    "l": ("visited", _time),
    "h": ("content", _text),
    "i": ("index", _text),
    "f": ("foreseen", bool),
    "s": ("family", _text),
    "c": ("check", bool),
    "b": ("found_by", _way),
    "q": ("query", _text),
    "n": ("more", _text),
    "w": ("turn", _text),
    "x": ("near_text", _fraction),
    "g": ("image", bool),
    "a": ("wish", _text),
    "y": ("varied", _number),
}

#: exceptions that invalid bytes and values raise
UNREADABLE = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    msgpack.UnpackException,
)
_DIGEST_BYTES = 10
_SCHEMES = ("http://", "https://")
#: one packer for all, as each takes a buffer of its own, and four times as long as it packs
_pack = msgpack.Packer(unicode_errors="surrogatepass").pack
#: code of our msgpack extension type: a text without the beginning that it shares with the URL
_SHORTENED = 1
#: fewest shared characters that are left out
_WORTH_SHORTENING = 6


def digest(url: str) -> bytes:
    """Return 80 bits of BLAKE2b; two of 10⁹ URLs collide with a probability of 4·10⁻⁷."""
    data = url.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def pack_blob(entry: Entry) -> bytes:
    """Encode URL and payload, without the host and the beginnings that texts share with the URL."""
    rest: Any = entry.url
    for code, scheme in enumerate(_SCHEMES):
        start = scheme + entry.host
        if entry.url.startswith(start):
            rest = [code, entry.url[len(start) :]]
    parts = [rest]
    if entry.payload or entry.barren:
        parts.append({name: _shorten(v, entry.url) for name, v in entry.payload.items()})
    if entry.barren:
        parts.append(entry.barren)
    packed: bytes = _pack(parts)
    return packed


def unpack_blob(blob: bytes, host: str) -> tuple[str, dict[str, Any], int]:
    """Decode URL, payload and :attr:`Entry.barren`; raise one of ``UNREADABLE`` for other bytes."""
    rest, *more = msgpack.unpackb(blob, strict_map_key=False, unicode_errors="surrogatepass")
    url = rest if isinstance(rest, str) else _SCHEMES[rest[0]] + host + rest[1]
    payload = {name: _lengthen(v, url) for name, v in more[0].items()} if more else {}
    barren = more[1] if len(more) > 1 else 0
    if not isinstance(url, str) or not isinstance(barren, int):
        raise TypeError("no link")
    return url, payload, barren


def text(data: bytes) -> str:
    """Decode text of a URL or host name, whatever its bytes."""
    return data.decode("utf-8", "surrogatepass")


def _shorten(value: Any, url: str) -> Any:
    """Omit the beginning that a text, mostly the parent's URL, shares with the link's URL."""
    if not isinstance(value, str) or value[:_WORTH_SHORTENING] != url[:_WORTH_SHORTENING]:
        return value
    # the first difference of two numbers is found faster than that of two texts
    most = min(len(value), len(url), 255)
    differing = (_number_of(value[:most]) ^ _number_of(url[:most])).bit_length()
    common = most - (differing + 31) // 32
    rest = value[common:].encode("utf-8", "surrogatepass")
    return msgpack.ExtType(_SHORTENED, bytes([common]) + rest)


def _number_of(text: str) -> int:
    """Return a number with 32 bits for each character."""
    return int.from_bytes(text.encode("utf-32-be", "surrogatepass"), "big")


def _lengthen(value: Any, url: str) -> Any:
    if isinstance(value, msgpack.ExtType) and value.code == _SHORTENED:
        return url[: value.data[0]] + text(value.data[1:])
    return value


logger = logging.getLogger(__name__)


def pack_options(options: FrontierOptions) -> bytes:
    """Return the options that the scripts need as a msgpack map, with times in microseconds."""
    known: dict[str, int | str] = {
        "delay": round(options.delay * 1e6),
        "concurrency": options.concurrency,
        "fairness": options.fairness,
        "penalty_after": options.penalty_after,
        "penalty_time": round(options.penalty_time * 1e6),
        "max_waiting": options.max_waiting,
        "exact_limit": options.exact_limit,
        "family_tries": options.family_tries,
        "chunk": options.chunk,
    }
    packed: bytes = msgpack.packb(known, use_bin_type=False)
    return packed


def changes(before: bytes, after: bytes) -> str:
    """Describe the differences between two packed maps."""
    old, new = _read(before), _read(after)
    changed = [name for name in new if new[name] != old.get(name)]
    return ", ".join(
        f"{name.replace('_', ' ')} {_shown(name, old.get(name))} -> {_shown(name, new[name])}"
        for name in changed
    )


def slowed(before: bytes, options: FrontierOptions) -> FrontierOptions:
    """Return options slowed down to the pace of a packed map where that is slower; log it."""
    old = _read(before)
    delay, concurrency = old.get("delay", 0), old.get("concurrency", options.concurrency)
    found = replace(
        options,
        delay=max(options.delay, delay / 1e6) if isinstance(delay, int) else options.delay,
        concurrency=min(options.concurrency, concurrency)
        if isinstance(concurrency, int)
        else options.concurrency,
    )
    if slower := changes(pack_options(options), pack_options(found)):
        logger.warning("others work on this crawl, and their slower pace holds: %s", slower)
    return found


def bloom_size(options: FrontierOptions) -> str:
    """Return the numbers of 2²⁰-bit strings and of hash functions of the Bloom filter.

    It needs n·log₂(1/error)/ln 2 bits and log₂(1/error) hash functions.
    """
    hashes = math.log2(1 / options.seen_error)
    bits = options.seen_capacity * hashes / math.log(2)
    return f"{math.ceil(bits / (1 << 20))} {math.ceil(hashes)}"


def _read(packed: bytes) -> dict[str, int | str]:
    """Decode the options that another worker stored; skip invalid ones."""
    try:
        found = msgpack.unpackb(packed)
    except (ValueError, msgpack.UnpackException):
        return {}
    options = found.items() if isinstance(found, dict) else ()
    return {n: v for n, v in options if isinstance(n, str) and type(v) in (int, str)}


def _shown(name: str, option: Any) -> str:
    """Return an option in the user's unit."""
    is_time = name in ("delay", "penalty_time") and option and isinstance(option, int)
    return f"{option / 1e6:g} s" if is_time else str(option)
