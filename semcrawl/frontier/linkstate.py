"""The state that a link carries through the frontier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from semcrawl.frontier.contract import Entry
from semcrawl.links import FoundBy, Page
from semcrawl.relevance.contract import Label, Ranked
from semcrawl.sources.negotiation import Wish, first_wish, is_as_rdf, wish_of

#: words among the rules of a link: it leads to a sitemap; nothing linked to it
SITEMAP, GUESS = "sitemap", "guess"
#: members by the index under which they are packed
_WAYS = tuple(FoundBy)


@dataclass(frozen=True, slots=True)
class LinkState:
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
    #: its step in paging through an endpoint (:mod:`semcrawl.sources.endpointsteps`), if any
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
