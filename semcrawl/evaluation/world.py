"""A closed piece of the web for testing strategies, with the same answer to a URL every time.

A :class:`World` is made by the folder reader, the thesis's generator or a recorded crawl. The
offline simulator asks it directly, the live runner serves it over loopback HTTP.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from semcrawl.web.vocabulary import Kind

REDIRECTS: frozenset[int] = frozenset({300, 301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a world to a URL, without its body (see :meth:`World.body`)."""

    status: int
    #: the ``Content-Type`` header as sent, parameters included; empty = none sent
    content_type: str = ""
    #: real type of the body; ``None`` when there is no usable one (redirects, errors)
    kind: Kind | None = None
    #: absolute target of a redirect
    location: str = ""
    #: identity of the document: two URLs that serve the same document share it
    document: str = ""
    #: further response headers that matter: ``Link``, ``Vary``, ``Refresh``
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def is_success(self) -> bool:
        """Whether its status says that it gives what was asked for."""
        return 200 <= self.status < 300

    def header_values(self, name: bytes) -> list[bytes]:
        """Return all values of a header, as they are sent."""
        wanted = name.decode("ascii").lower()
        if wanted == "content-type":
            return [self.content_type.encode("utf-8", "replace")] if self.content_type else []
        return [
            value.encode("utf-8", "replace")
            for header, value in self.headers
            if header.lower() == wanted
        ]

    @property
    def redirect(self) -> bool:
        """Whether it is a redirect with a location."""
        return self.status in REDIRECTS and bool(self.location)


@runtime_checkable
class World(Protocol):
    """A closed piece of the web. Every method is a pure function of its argument."""

    #: a short name for tables and files
    name: str

    @property
    def hosts(self) -> Set[str]:
        """The crawl's scope: its host names, with any port that is not the default."""
        ...

    @property
    def starts(self) -> tuple[str, ...]:
        """Seed URLs, normalised."""
        ...

    def fetch(self, url: str) -> Answer:
        """Answer a URL; unknown URLs have status 404."""
        ...

    def body(self, url: str) -> bytes:
        """Return the bytes that the URL serves; ``b""`` for redirects and unknown URLs."""
        ...

    def robots(self, host: str) -> str:
        """Return the text of the host's robots.txt; empty = it has none."""
        ...


@runtime_checkable
class Labelled(Protocol):
    """A generated world that knows what its pages are about; optional.

    Crawls are measured by this truth, but not steered by it.
    """

    @property
    def about(self) -> str:
        """The topic as a value of ``SEMCRAWL_ABOUT``."""
        ...

    @property
    def topic(self) -> str:
        """The topic in words."""
        ...

    @property
    def requests(self) -> int:
        """The default number of requests of a crawl."""
        ...

    def topical(self, url: str) -> bool:
        """Whether the page is about the topic."""
        ...


@runtime_checkable
class Negotiating(Protocol):
    """A world with addresses that have another answer for requests that prefer RDF."""

    def form_of(self, url: str, *, rdf_first: bool) -> str:
        """Return the name of the answer, with ``#as-rdf`` if it is the RDF form."""
        ...


@runtime_checkable
class Aimed(Protocol):
    """A generated world for crawls with targets other than pages; optional."""

    #: a value of ``SEMCRAWL_TARGETS``
    targets: str


def status_class(status: int) -> str:
    """Return ``success``, ``redirect``, ``refused`` (401, 403) or ``error``."""
    if status == 200:
        return "success"
    if 300 <= status < 400:
        return "redirect"
    return "refused" if status in (401, 403) else "error"
