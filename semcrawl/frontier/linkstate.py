"""The state of a link that travels with it through the frontier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semcrawl.frontier.contract import Entry
from semcrawl.links import FoundBy, Page
from semcrawl.relevance.contract import Label, Ranked

#: words of the rules of a link: it leads to a sitemap; nobody named it
SITEMAP, GUESS = "sitemap", "guess"
#: ways by their places, as they are packed
_WAYS = tuple(FoundBy)


@dataclass(frozen=True, slots=True)
class LinkState:
    """The state of a waiting link, for its spider and its record; packs into few bytes."""

    parent: str | None = None
    depth: int = 0
    label: Label = Label.H
    rules: tuple[str, ...] = ()
    #: URLs asked for before this one, the link's own first (redirects)
    redirects: tuple[str, ...] = ()
    #: attempts that failed for passing reasons
    retries: int = 0
    #: validators of the known document, on a re-visit
    etag: str = ""
    last_modified: str = ""
    revisit: bool = False
    #: when it was visited last (seconds since the epoch), and the beginning of the SHA-256 of what
    #: it was then, hexadecimal; on a re-visit, where they are known
    visited: int = 0
    content: str = ""
    #: directory index that the address was written with, to be asked for if the folder fails
    index: str = ""
    #: the last of ``redirects`` was foreseen and not requested
    foreseen: bool = False
    #: name of its family (:mod:`semcrawl.relevance.families`); empty if it is in none
    family: str = ""
    #: is known to exist, and shows whether its host answers
    check: bool = False
    #: what led to it; ``None``: the usual, a link of its parent, or a seed where it has none
    found_by: FoundBy | None = None
    #: the step of an endpoint's pages that it is (:mod:`semcrawl.sources.endpointsteps`), if any
    query: str = ""
    #: place in a long list, of which some more go in if this link pays
    more: str = ""
    #: what the crawl's topic makes of the texts near an image, 0 to 1; ``None``: it was not asked
    near_text: float | None = None
    #: a page shows it as an image
    image: bool = False
    #: turn of a long list whose links go in, in the place of a request for this one
    turn: str = ""

    @classmethod
    def of_link(cls, page: Page, ranked: Ranked, *, family: str = "", more: str = "") -> LinkState:
        """Return the state of a link that was found on a page."""
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
        )

    @property
    def is_sitemap(self) -> bool:
        """Whether it leads to a sitemap."""
        return SITEMAP in self.rules

    @property
    def is_guess(self) -> bool:
        """Whether nobody named what it leads to: most often there is none."""
        return GUESS in self.rules

    @property
    def way(self) -> FoundBy:
        """The kind of link that led to it."""
        return self.found_by or self._usual_way

    @property
    def _usual_way(self) -> FoundBy:
        is_seed = self.parent is None and not self.revisit
        return FoundBy.SEED if is_seed else FoundBy.LINK

    def pack(self) -> dict[str, Any]:
        """Return the entry's payload; fields with their usual value are left out."""
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
        if self.way is not self._usual_way:
            packed["b"] = _WAYS.index(self.way)
        if self.query:
            packed["q"] = self.query
        if self.more:
            packed["n"] = self.more
        if self.turn:
            packed["w"] = self.turn
        if self.near_text is not None:
            packed["x"] = round(self.near_text, 4)
        if self.image:
            packed["g"] = True
        if self.family:
            if self.redirects or self.retries:  # once asked for, it is not withheld
                packed = {"s": self.family, **packed}
            else:
                packed["s"] = self.family  # at the end, where take.lua looks for it
        return packed

    @classmethod
    def unpack(cls, entry: Entry) -> LinkState:
        """Read it back from a leased entry; missing or odd fields get their usual value."""
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


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _way(value: object) -> FoundBy | None:
    """Return the way that an entry names; ``None`` for the usual one, or one of a newer version."""
    return _WAYS[value] if isinstance(value, int) and 0 <= value < len(_WAYS) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


def _time(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 40 else 0


#: the fields of an entry's payload, by their names there, and how each is read
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
    "x": ("near_text", _share),
    "g": ("image", bool),
}
