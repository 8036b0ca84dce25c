"""Pages that may be there as RDF as well: which of them are asked for again, by type.

The other form of an address is a document of its own. It is named by the address with a fragment,
``#as-rdf``, which no normalised address has: so the seen set, the records, re-visits, ledgers and
graph names tell the two apart. The fragment is never sent.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from semcrawl.links import Link
from semcrawl.rdf.patterns import re as possessive
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import (
    HTML_EXTENSIONS,
    HTML_MEDIA_TYPES,
    RDF_MEDIA_TYPES,
    FoundBy,
    RdfFormat,
)

#: ``Link.element`` of the other form of an address
ELEMENT = "negotiation"
_AS_RDF = "#as-rdf"
_DIGITS = re.compile(r"\d+")
#: shapes that are told apart; beyond, those of long ago are forgotten
_MOST_SHAPES = 20_000
#: pages that wait for the answers of others of their shapes
_MOST_WAITING = 50_000
#: shapes of a host that are tried, as multiples of the tries of one, before one of them gave RDF
_HOST_FACTOR = 3
_TYPED = possessive.compile(
    rb"^<([^>]*+)> <http://www\.w3\.org/1999/02/22-rdf-syntax-ns#type> ", possessive.MULTILINE
)


def as_rdf(url: str) -> str:
    """Name the form in RDF of what is at an address."""
    return url + _AS_RDF


def is_as_rdf(url: str) -> bool:
    """Whether a name is one of these."""
    return url.endswith(_AS_RDF)


def address_of(url: str) -> str:
    """Return the address that is to be asked for."""
    return url.removesuffix(_AS_RDF)


def varies_by_type(vary: Iterable[str]) -> bool:
    """Whether ``Vary`` headers name ``Accept``."""
    names = ",".join(vary).lower().split(",")
    return any(name.strip() == "accept" for name in names)


def prefers_rdf(accept: str) -> bool:
    """Whether an ``Accept`` header likes some RDF better than pages.

    >>> prefers_rdf("text/turtle, text/html;q=0.5"), prefers_rdf("text/html, text/turtle;q=0.8")
    (True, False)
    """
    liked = {"rdf": 0.0, "html": 0.0}
    for part in accept.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        kind = "rdf" if name in RDF_MEDIA_TYPES else "html" if name in HTML_MEDIA_TYPES else ""
        if kind and weight.replace(".", "", 1).isdigit():
            liked[kind] = max(liked[kind], float(weight))
    return liked["rdf"] > liked["html"]


def names_itself(nquads: bytes, url: str) -> bool:
    """Whether a page's data say of what type the page's own address, or what it names, is."""
    own = url.encode("utf-8", "replace")
    return any(subject.partition(b"#")[0] == own for subject in _TYPED.findall(nquads[: 1 << 20]))


def other_form(url: str) -> Link:
    """Make the link to the other form of a page."""
    return Link(
        as_rdf(url),
        element=ELEMENT,
        type=RdfFormat.TURTLE.media_types[0],
        tag_path=ELEMENT,
        found_by=FoundBy.NEGOTIATION,
    )


@dataclass(slots=True)
class _Shape:
    """The results of asking for pages of one shape as RDF."""

    gave: int = 0
    #: asked for without RDF in answer, those included that were not answered yet
    wasted: int = 0
    waiting: deque[str] = field(default_factory=deque)


class NegotiationBook:
    """Learns which shapes of addresses have another form, with few requests for nothing.

    A shape is a host and its folders, digits made equal, and whether the last part has an
    extension.
    """

    def __init__(self, tries: int) -> None:
        """Ask for up to ``tries`` pages of a shape that gave nothing."""
        self._tries = tries
        self._shapes: dict[str, _Shape] = {}
        self._hosts: dict[str, _Shape] = {}
        self._waiting = 0

    def is_candidate(self, url: str, *, varies: bool, names_itself: bool) -> bool:
        """Whether a page shows a sign that it may be there as RDF."""
        if is_as_rdf(url) or self._tries <= 0:
            return False
        if varies:
            return True
        if extension_of(path_of(url)) in HTML_EXTENSIONS or urlsplit(url).query:
            return False
        host = self._hosts.get(netloc_of(url))
        return names_itself or (host is not None and host.gave > 0)

    def ask(self, url: str) -> bool:
        """Say whether a candidate is asked for now; one that is not waits for others' answers."""
        shape, host = self._of(url)
        if self._may_ask(shape, host):
            shape.wasted += 1
            host.wasted += 1
            return True
        if self._waiting < _MOST_WAITING:
            shape.waiting.append(url)
            self._waiting += 1
        return False

    def note_found(self, url: str) -> list[str]:
        """Note an address that gave RDF; return those of its shape that are asked for now."""
        shape, host = self._of(address_of(url))
        for each in (shape, host):
            each.gave += 1
            each.wasted = max(0, each.wasted - 1)
        asked = []
        while shape.waiting and self._may_ask(shape, host):
            asked.append(shape.waiting.popleft())
            self._waiting -= 1
            shape.wasted += 1
            host.wasted += 1
        return asked

    def _may_ask(self, shape: _Shape, host: _Shape) -> bool:
        """Whether so few were asked for in vain, or not answered yet, that one more may be."""
        if shape.wasted >= self._tries + shape.gave:
            return False
        return bool(shape.gave or host.gave) or host.wasted < _HOST_FACTOR * self._tries

    def _of(self, url: str) -> tuple[_Shape, _Shape]:
        if len(self._shapes) > _MOST_SHAPES:
            self._shapes.clear()
            self._hosts.clear()
            self._waiting = 0
        host = netloc_of(url)
        shapes = self._shapes
        return shapes.setdefault(shape_of(url), _Shape()), self._hosts.setdefault(host, _Shape())


def shape_of(url: str) -> str:
    """Return the shape of an address.

    >>> shape_of("http://example.org/people/2024/ann")
    'example.org/people/0/*'
    """
    path = path_of(url)
    folder, _, _ = path.rpartition("/")
    extension = extension_of(path)
    return f"{netloc_of(url)}{_DIGITS.sub('0', folder)}/*{'.' + extension if extension else ''}"
