"""Chooses the pages that are requested again as RDF, by content negotiation.

The RDF of a page is a separate document. Its URL is the page's with the fragment ``#as-rdf``, which
no normalised address has. So the seen set, records, re-visits, ledgers and graph names tell the two
apart. The fragment is never sent.
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

#: ``Link.element`` of a page requested as RDF
ELEMENT = "negotiation"
_AS_RDF = "#as-rdf"
_DIGITS = re.compile(r"\d+")
#: tries of a host that gave no RDF yet, as a multiple of those of one shape
_HOST_FACTOR = 3
_TYPED = possessive.compile(
    rb"^<([^>]*+)> <http://www\.w3\.org/1999/02/22-rdf-syntax-ns#type> ", possessive.MULTILINE
)


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


def other_form(url: str) -> Link:
    """Return the link to a page as RDF."""
    return Link(
        as_rdf(url),
        element=ELEMENT,
        type=RdfFormat.TURTLE.media_types[0],
        tag_path=ELEMENT,
        found_by=FoundBy.NEGOTIATION,
    )


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
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def is_candidate(self, url: str, *, varies: bool, names_itself: bool) -> bool:
        """Whether there is evidence that a page is available as RDF."""
        has_evidence = varies or names_itself or self._counts[netloc_of(url)].gave > 0
        return has_evidence and self._tries > 0 and may_be_candidate(url, varies=varies)

    def ask(self, url: str) -> bool:
        """Whether to request a candidate now; else it waits for the answers of others."""
        shape, host = shape_of(url), netloc_of(url)
        if may_ask(self._counts[shape], self._counts[host], self._tries):
            self._note_tried(shape, host)
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
