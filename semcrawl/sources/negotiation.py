"""Pages that may be there as RDF as well: which of them are asked for again, by type.

The other form of an address is a document of its own. It is named by the address with a fragment,
``#as-rdf``, which no normalised address has: so the seen set, the records, re-visits, ledgers and
graph names tell the two apart. The fragment is never sent.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self
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


@dataclass(frozen=True, slots=True)
class FormCounts:
    """The results of asking for pages of one shape, or of one host, as RDF."""

    gave: int = 0
    #: asked for without RDF in answer, those included that were not answered yet
    wasted: int = 0
    #: the first of those that wait for others' answers, by its number, and how many there are
    first: int = 0
    waiting: int = 0

    @classmethod
    def of(cls, numbers: object) -> Self:
        """Read numbers that were stored; none of them for anything else."""
        if not isinstance(numbers, list) or not all(isinstance(n, int) and n >= 0 for n in numbers):
            return cls()
        return cls(*numbers[:4])

    def tried(self) -> Self:
        """Return the counts after one more was asked for."""
        return replace(self, wasted=self.wasted + 1)

    def found(self) -> Self:
        """Return the counts after one of those gave RDF."""
        return replace(self, gave=self.gave + 1, wasted=max(0, self.wasted - 1))

    def longer(self) -> Self:
        """Return the counts after one more waits."""
        return replace(self, waiting=self.waiting + 1)

    def shorter(self) -> Self:
        """Return the counts after the first waits no more."""
        return replace(self, first=self.first + 1, waiting=self.waiting - 1)


def may_ask(shape: FormCounts, host: FormCounts, tries: int) -> bool:
    """Whether so few were asked for in vain, or not answered yet, that one more may be.

    ``tries`` are those of a shape that gave nothing. Before a host gave anything, it has three
    times as many for all its shapes.
    """
    if shape.wasted >= tries + shape.gave:
        return False
    return bool(shape.gave or host.gave) or host.wasted < _HOST_FACTOR * tries


def may_be_candidate(url: str, *, varies: bool) -> bool:
    """Whether a page is asked for as RDF once there is a sign that it may be there so.

    Signs are a ``Vary`` header, data that name their own page, and other addresses of the host that
    gave RDF.
    """
    if is_as_rdf(url):
        return False
    if varies:
        return True
    return extension_of(path_of(url)) not in HTML_EXTENSIONS and not urlsplit(url).query


class NegotiationBook:
    """Learns which shapes of addresses have another form, with few requests for nothing.

    A shape is a host and its folders, digits made equal, and whether the last part has an
    extension. This book is that of one process without a frontier, as the simulator is.
    """

    def __init__(self, tries: int) -> None:
        """Ask for up to ``tries`` pages of a shape that gave nothing."""
        self._tries = tries
        self._counts: defaultdict[str, FormCounts] = defaultdict(FormCounts)
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def is_candidate(self, url: str, *, varies: bool, names_itself: bool) -> bool:
        """Whether a page shows a sign that it may be there as RDF."""
        sign = varies or names_itself or self._counts[netloc_of(url)].gave > 0
        return sign and self._tries > 0 and may_be_candidate(url, varies=varies)

    def ask(self, url: str) -> bool:
        """Say whether a candidate is asked for now; one that is not waits for others' answers."""
        shape, host = shape_of(url), netloc_of(url)
        if may_ask(self._counts[shape], self._counts[host], self._tries):
            self._note_tried(shape, host)
            return True
        self._waiting[shape].append(url)
        return False

    def note_found(self, url: str) -> list[str]:
        """Note an address that gave RDF; return those of its shape that are asked for now."""
        address = address_of(url)
        shape, host = shape_of(address), netloc_of(address)
        for name in (shape, host):
            self._counts[name] = self._counts[name].found()
        asked, waiting = [], self._waiting[shape]
        while waiting and may_ask(self._counts[shape], self._counts[host], self._tries):
            asked.append(waiting.popleft())
            self._note_tried(shape, host)
        return asked

    def _note_tried(self, *names: str) -> None:
        for name in names:
            self._counts[name] = self._counts[name].tried()


def shape_of(url: str) -> str:
    """Return the shape of an address.

    >>> shape_of("http://example.org/people/2024/ann")
    'example.org/people/0/*'
    """
    path = path_of(url)
    folder, _, _ = path.rpartition("/")
    extension = extension_of(path)
    return f"{netloc_of(url)}{_DIGITS.sub('0', folder)}/*{'.' + extension if extension else ''}"
