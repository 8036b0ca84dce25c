"""Chooses ``Accept`` headers, and the pages that are requested again as RDF.

The RDF of a page is a separate document. Its URL is the page's with the fragment ``#as-rdf``, which
no normalised address has. So the seen set, records, re-visits, ledgers and graph names tell the two
apart. The fragment is never sent.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from http import HTTPStatus
from typing import Self
from urllib.parse import urlsplit

from semcrawl.links import Link
from semcrawl.rdf.patterns import re as possessive
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import (
    HTML_EXTENSIONS,
    HTML_FIRST,
    HTML_MEDIA_TYPES,
    RDF_FIRST,
    RDF_MEDIA_TYPES,
    RDF_ONLY,
    TURTLE_ALONE,
    FoundBy,
    RdfFormat,
)

#: ``Link.element`` of a page requested as RDF
ELEMENT = "negotiation"
#: begins the cue of a link that names its wish
WISH = "wish:"
_AS_RDF = "#as-rdf"
_DIGITS = re.compile(r"\d+")
#: what ends a type, where those of several occurrences of a link are joined
_TYPE_ENDS = re.compile(r"[\s;,]+")
#: syntaxes, the usual one first, then those that say most
_FULLEST = sorted(RdfFormat, key=lambda syntax: (syntax is not RdfFormat.TURTLE, -syntax.weight))
#: statuses of servers that have nothing of the types asked for; the last one offers a choice
_NOTHING_ACCEPTED = (
    HTTPStatus.NOT_ACCEPTABLE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.MULTIPLE_CHOICES,
)
#: statuses of addresses that do not exist, or not in the types asked for
_NOT_FOUND = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
#: tries of a host that gave no RDF yet, as a multiple of those of one shape
_HOST_FACTOR = 3
_TYPED = possessive.compile(
    rb"^<([^>]*+)> <http://www\.w3\.org/1999/02/22-rdf-syntax-ns#type> ", possessive.MULTILINE
)


class Wish(StrEnum):
    """What a request asks for. Links keep the names of the wishes that are not their first."""

    PAGE = "page"  #: a page, or else anything
    RDF = "rdf"  #: RDF, or else anything
    ONLY_RDF = "only-rdf"  #: RDF of an address whose page is known
    TURTLE = "turtle"  #: the usual syntax of RDF, and nothing else
    NAMED = "named"  #: the type that a page names for itself; links keep the type instead

    @property
    def header(self) -> str:
        """The ``Accept`` header; empty if the link keeps it."""
        return _HEADERS.get(self, "")

    @classmethod
    def read(cls, text: str) -> Wish | None:
        """Return the wish of that name, or of a type; ``None`` for any other text."""
        if text in RDF_MEDIA_TYPES:
            return cls.NAMED
        return cls._value2member_map_.get(text)  # type: ignore[return-value]


_HEADERS = {
    Wish.PAGE: HTML_FIRST,
    Wish.RDF: RDF_FIRST,
    Wish.ONLY_RDF: RDF_ONLY,
    Wish.TURTLE: TURTLE_ALONE,
}


def first_wish(url: str, *, rdf: bool) -> Wish:
    """Return what the first request of a link asks for; ``rdf``: RDF is expected there."""
    if is_as_rdf(url):
        return Wish.ONLY_RDF
    return Wish.RDF if rdf else Wish.PAGE


def next_wish(asked: Wish, url: str, *, rdf: bool, first: bool) -> Wish | None:
    """Return what to ask for after a request that the server answered with nothing.

    First Turtle alone, then a page if RDF was expected; ``None`` after these. ``first``: it was the
    link's first wish.
    """
    if asked is Wish.TURTLE:
        return Wish.PAGE if rdf and not is_as_rdf(url) else None
    return Wish.TURTLE if first else None


def gave_nothing(status: int, *, varies: bool, expects_rdf: bool, empty: bool) -> bool:
    """Whether an answer says, or suggests, that other types may give more.

    Statuses that say so, a missing document that depends on the type, and no content where the
    answer depends on the type or RDF is expected. ``empty``: it has no body and is of no RDF type,
    as an empty document of such a type is RDF.
    """
    if status in _NOTHING_ACCEPTED:
        return True
    if status in _NOT_FOUND:
        return varies
    return 200 <= status < 300 and empty and (varies or expects_rdf)


def as_rdf(url: str) -> str:
    """Return the URL that names the RDF at an address."""
    return url + _AS_RDF


def is_as_rdf(url: str) -> bool:
    """Whether a URL names the RDF at an address."""
    return url.endswith(_AS_RDF)


def address_of(url: str) -> str:
    """Return the address to request."""
    return url.removesuffix(_AS_RDF)


def varies_by_type(vary: Iterable[str]) -> bool:
    """Whether ``Vary`` headers contain ``Accept``."""
    names = ",".join(vary).lower().split(",")
    return any(name.strip() == "accept" for name in names)


def asks_rdf_alone(accept: str) -> bool:
    """Whether an ``Accept`` header names types of RDF and nothing else.

    >>> asks_rdf_alone("text/turtle, application/rdf+xml;q=0.9"), asks_rdf_alone("text/turtle, */*")
    (True, False)
    """
    return all(
        part.partition(";")[0].strip() in RDF_MEDIA_TYPES for part in accept.lower().split(",")
    )


def prefers_rdf(accept: str) -> bool:
    """Whether an ``Accept`` header prefers some RDF to HTML.

    >>> prefers_rdf("text/turtle, text/html;q=0.5"), prefers_rdf("text/html, text/turtle;q=0.8")
    (True, False)
    """
    weights = {"rdf": 0.0, "html": 0.0}
    for part in accept.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        kind = "rdf" if name in RDF_MEDIA_TYPES else "html" if name in HTML_MEDIA_TYPES else ""
        if kind and weight.replace(".", "", 1).isdigit():
            weights[kind] = max(weights[kind], float(weight))
    return weights["rdf"] > weights["html"]


def names_itself(nquads: bytes, url: str) -> bool:
    """Whether embedded data types the page's address, with or without a fragment."""
    own = url.encode("utf-8", "replace")
    return any(subject.partition(b"#")[0] == own for subject in _TYPED.findall(nquads[: 1 << 20]))


def own_type(url: str, links: Iterable[Link]) -> str:
    """Return the RDF type of which a page names itself as an ``alternate``; empty if of none.

    Of several types it is the usual one, else that of the fullest syntax.
    """
    named = {
        media
        for link in links
        if link.url == url and "alternate" in link.rel.split()
        for media in _TYPE_ENDS.split(link.type)
        if media in RDF_MEDIA_TYPES
    }
    fullest = (media for syntax in _FULLEST for media in syntax.media_types if media in named)
    return next(fullest, "")


def other_form(url: str, wish: str = Wish.ONLY_RDF) -> Link:
    """Return the link to a page as RDF; its first request asks for ``wish``, or for that type."""
    return Link(
        as_rdf(url),
        element=ELEMENT,
        type=RdfFormat.TURTLE.media_types[0],
        tag_path=ELEMENT,
        cues="" if wish is Wish.ONLY_RDF else f"{WISH}{wish}",
        found_by=FoundBy.NEGOTIATION,
    )


def wish_of(link: Link) -> str:
    """Return the name of what a link's first request asks for, if that is not the usual."""
    if link.element != ELEMENT:
        return ""
    return link.cues.removeprefix(WISH) if link.cues.startswith(WISH) else ""


@dataclass(frozen=True, slots=True)
class FormCounts:
    """Counts of the pages of one shape or host that were requested as RDF."""

    gave: int = 0
    #: requests without RDF in the answer, including unanswered ones
    wasted: int = 0
    #: number of the first waiting page, and how many wait
    first: int = 0
    waiting: int = 0

    @classmethod
    def of(cls, numbers: object) -> Self:
        """Return stored counts; zeros for anything else."""
        if not isinstance(numbers, list) or not all(isinstance(n, int) and n >= 0 for n in numbers):
            return cls()
        return cls(*numbers[:4])

    def tried(self) -> Self:
        """Return the counts after one more request."""
        return replace(self, wasted=self.wasted + 1)

    def found(self) -> Self:
        """Return the counts after a request gave RDF."""
        return replace(self, gave=self.gave + 1, wasted=max(0, self.wasted - 1))

    def longer(self) -> Self:
        """Return the counts with one more waiting page."""
        return replace(self, waiting=self.waiting + 1)

    def shorter(self) -> Self:
        """Return the counts without the first waiting page."""
        return replace(self, first=self.first + 1, waiting=self.waiting - 1)


def may_ask(shape: FormCounts, host: FormCounts, tries: int) -> bool:
    """Whether few enough requests were wasted for one more.

    A shape that gave nothing has ``tries``. A host that gave nothing has three times as many for
    all its shapes.
    """
    if shape.wasted >= tries + shape.gave:
        return False
    return bool(shape.gave or host.gave) or host.wasted < _HOST_FACTOR * tries


def may_be_candidate(url: str, *, varies: bool) -> bool:
    """Whether a page may be requested as RDF once there is evidence for it.

    Evidence is a ``Vary`` header, embedded data about the page itself, or another address of the
    host that gave RDF.
    """
    if is_as_rdf(url):
        return False
    if varies:
        return True
    return extension_of(path_of(url)) not in HTML_EXTENSIONS and not urlsplit(url).query


class NegotiationBook:
    """Learns which shapes of addresses are available as RDF, with few wasted requests.

    A shape is the host, the folders with equal runs of digits, and the extension. This class serves
    one process without a frontier, such as the simulator.
    """

    def __init__(self, tries: int) -> None:
        """Allow ``tries`` requests of a shape that gave nothing."""
        self._tries = tries
        self._counts: defaultdict[str, FormCounts] = defaultdict(FormCounts)
        #: the same for addresses that were asked again, as they gave nothing
        self._again: defaultdict[str, FormCounts] = defaultdict(FormCounts)
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def gives_forms(self, url: str) -> bool:
        """Whether an address of the host gave its RDF form."""
        return self._counts[netloc_of(url)].gave > 0

    def ask(self, url: str) -> bool:
        """Whether to request a candidate now; else it waits for the answers of others."""
        shape, host = shape_of(url), netloc_of(url)
        if may_ask(self._counts[shape], self._counts[host], self._tries):
            _note_tried(self._counts, shape, host)
            return True
        self._waiting[shape].append(url)
        return False

    def note_found(self, url: str) -> list[str]:
        """Count an address that gave RDF; return those of its shape to request now."""
        address = address_of(url)
        shape, host = shape_of(address), netloc_of(address)
        for name in (shape, host):
            self._counts[name] = self._counts[name].found()
        asked, waiting = [], self._waiting[shape]
        while waiting and may_ask(self._counts[shape], self._counts[host], self._tries):
            asked.append(waiting.popleft())
            _note_tried(self._counts, shape, host)
        return asked

    def may_ask_again(self, url: str) -> bool:
        """Whether to ask an address that gave nothing in another way; counts it if so."""
        address = address_of(url)
        shape, host = shape_of(address), netloc_of(address)
        if not may_ask(self._again[shape], self._again[host], self._tries):
            return False
        _note_tried(self._again, shape, host)
        return True

    def note_answered(self, url: str) -> None:
        """Count an address that was asked again and gave a document."""
        address = address_of(url)
        for name in (shape_of(address), netloc_of(address)):
            self._again[name] = self._again[name].found()


def _note_tried(counts: dict[str, FormCounts], *names: str) -> None:
    for name in names:
        counts[name] = counts[name].tried()


def shape_of(url: str) -> str:
    """Return the shape of an address.

    >>> shape_of("http://example.org/people/2024/ann")
    'example.org/people/0/*'
    """
    path = path_of(url)
    folder, _, _ = path.rpartition("/")
    extension = extension_of(path)
    return f"{netloc_of(url)}{_DIGITS.sub('0', folder)}/*{'.' + extension if extension else ''}"
