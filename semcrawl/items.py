"""The items that the spiders emit.

One :class:`RdfDocument` per document read, one :class:`FetchRecord` per attempt.
"""

from __future__ import annotations

import builtins  # ``bytes`` is a field below
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from semcrawl.web.bodies import BodyFile
from semcrawl.web.vocabulary import FoundBy

#: :attr:`RdfDocument.format` of data embedded in a page
EMBEDDED = "embedded"


class FetchOutcome(StrEnum):
    """How an attempt ended; a closed vocabulary."""

    FETCHED_RDF = "fetched-rdf"  #: an RDF document, read
    FETCHED_HTML = "fetched-html"  #: an HTML page, links extracted
    FETCHED_ROBOTS = "fetched-robots"  #: a robots.txt, whatever it held
    FETCHED_CONTEXT = "fetched-context"  #: a JSON-LD context that a document names
    FETCHED_SITEMAP = "fetched-sitemap"  #: a sitemap, entries taken
    FETCHED_LIST = "fetched-list"  #: a catalogue or a linkset that is no RDF, links taken
    FETCHED_IMAGE = "fetched-image"  #: an image, kept
    FETCHED_OTHER = "fetched-other"  #: a body that is neither RDF nor HTML, dropped
    NOT_MODIFIED = "not-modified"  #: 304 on a re-visit
    SITEMAP_UNCHANGED = "sitemap-unchanged"  #: unchanged by its sitemap; nothing was sent
    DUPLICATE = "duplicate"  #: its final URL or content had been had before
    NOT_KEPT = "not-kept"  #: data that say that no copy may be kept (noarchive)
    OFF_TOPIC = "off-topic"  #: an RDF document, read, that is not about the crawl's topic
    FILTERED_TYPE = "filtered-type"  #: body refused for its Content-Type
    TOO_LARGE = "too-large"  #: body larger than DOWNLOAD_MAXSIZE
    REDIRECTED = "redirected"  #: 3xx with a usable Location
    OUT_OF_SCOPE = "out-of-scope"  #: a redirect or hand-over led outside the scope
    ROBOTS_DENIED = "robots-denied"  #: robots.txt forbids it; nothing was sent
    HTTP_ERROR = "http-error"  #: status of 400 or more, or an unusable one
    NETWORK_ERROR = "network-error"  #: no DNS answer, refused, reset, broken response
    TIMEOUT = "timeout"  #: no answer in DOWNLOAD_TIMEOUT
    ADDRESS_REFUSED = "address-refused"  #: a private address, not asked for
    HOST_DOWN = "host-down"  #: the host was down for long; nothing was sent
    OVER_BUDGET = "over-budget"  #: a budget of its host or domain is spent; nothing was sent
    IGNORED = "ignored"  #: a middleware raised IgnoreRequest, or a limit of lists was reached
    PARSE_ERROR = "parse-error"  #: claimed to be RDF, and not one statement could be read
    INTERRUPTED = "interrupted"  #: the crawl could not go on before it was read


@dataclass(slots=True)
class DocumentError:
    """One error inside a document: message, and line and column (from 1; 0 = unknown)."""

    message: str
    line: int = 0
    column: int = 0


@dataclass(slots=True)
class RdfDocument:
    """An RDF document (or the data embedded in a page), read into N-Quads lines.

    The quads are in ``nquads`` (UTF-8, whole lines) or, when large, in the file ``spool``, which
    the consumer may move away or read until the item is done. Use :meth:`chunks` or :meth:`lines`.
    """

    url: str  #: final URL: default graph name and base
    request_url: str = ""
    parent_url: str | None = None
    depth: int = 0
    label: str = ""
    rules: tuple[str, ...] = ()
    format: str = ""  #: an RdfFormat value, or "embedded"
    content_type: str = ""
    bytes: int = 0  #: of the body as downloaded
    quads: int = 0
    errors: list[DocumentError] = field(default_factory=list)
    error_count: int = 0  #: may exceed ``len(errors)``, which is capped
    redirects: tuple[str, ...] = ()  #: URLs asked for before the final one
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""  #: SHA-256 of the body, hexadecimal
    fetched_at: float = 0.0  #: seconds since the epoch, UTC
    nquads: builtins.bytes = field(default=b"", repr=False)
    spool: Path | None = None
    revisit: bool = False  #: had been had before, and was asked for again to see if it changed
    members: tuple[str, ...] = ()  #: names of the files that were read out of an archive
    found_by: FoundBy = FoundBy.LINK  #: what led to it

    @property
    def is_embedded(self) -> bool:
        """Whether these are the data embedded in a page, and not an RDF document."""
        return self.format == EMBEDDED

    def chunks(self, size: int = 1 << 20) -> Iterator[builtins.bytes]:
        """Yield the N-Quads in pieces of about ``size`` bytes (not cut at line ends)."""
        if self.spool is None:
            if self.nquads:
                yield self.nquads
            return
        with self.spool.open("rb") as file:
            while piece := file.read(size):
                yield piece

    def lines(self) -> Iterator[builtins.bytes]:
        """Yield each N-Quads line with its line end."""
        if self.spool is None:
            yield from self.nquads.splitlines(keepends=True)
            return
        with self.spool.open("rb") as file:
            yield from file


@dataclass(slots=True)
class FetchRecord:
    """One attempt to fetch a URL, as it ended."""

    url: str
    outcome: FetchOutcome
    final_url: str = ""
    parent_url: str | None = None
    depth: int = 0
    label: str = ""
    rules: tuple[str, ...] = ()
    status: int | None = None
    content_type: str = ""  #: as the header said
    real_type: str = ""  #: "rdf:turtle", "html", "other" …: as found in the body
    bytes: int = 0  #: of the body as received
    quads: int = 0
    errors: str = ""  #: what went wrong, one line; empty when nothing did
    started_at: float = 0.0  #: seconds since the epoch, UTC
    elapsed: float = 0.0  #: seconds
    #: anything more a pipeline may want to keep
    extra: dict[str, str] = field(default_factory=dict)
    revisit: bool = False  #: the attempt asked for a document that had been had before
    attempt: int | None = None  #: names the attempt (64 bits); made again, it keeps its name
    repeated: bool = False  #: it is made again after a crash: a record of it may be there
    found_by: FoundBy | None = None  #: what led to it; ``None`` for requests that are no link's
    relevance: float | None = None  #: as the topic judged the document, 0 to 1; None: it did not
    reasons: tuple[str, ...] = ()  #: why, a line each


@dataclass(slots=True)
class FetchedFile:
    """A body that is a target for its media type, to be kept as it came."""

    url: str  #: final URL
    body: builtins.bytes = field(default=b"", repr=False)
    large: BodyFile | None = field(default=None, repr=False)  #: marks a ``body`` that is on disk
    request_url: str = ""
    parent_url: str | None = None
    content_type: str = ""
    content_hash: str = ""  #: SHA-256 of the body, hexadecimal
    fetched_at: float = 0.0  #: seconds since the epoch, UTC
    saved_name: str = ""  #: the file name that its server gives it; empty when it gives none


@dataclass(slots=True)
class TopicPage:
    """A page that is a target of the crawl, as the topic page store keeps it (sources.md S)."""

    url: str  #: final URL
    title: str = ""
    text: str = field(default="", repr=False)  #: the main text, plain
    language: str = ""  #: language tag in lower case; empty when unknown
    about: str = ""  #: the topic, as the user gave it
    relevance: float | None = None  #: as the topic judged the page, 0 to 1; None without a topic
    reasons: tuple[str, ...] = ()  #: why, a line each
    request_url: str = ""
    parent_url: str | None = None
    depth: int = 0
    label: str = ""
    content_type: str = ""
    bytes: int = 0  #: of the body as downloaded
    content_hash: str = ""  #: SHA-256 of the body, hexadecimal
    etag: str = ""
    last_modified: str = ""
    fetched_at: float = 0.0  #: seconds since the epoch, UTC
    revisit: bool = False  #: had been had before, and was asked for again to see if it changed
