"""The items that the spiders emit.

One :class:`RdfDocument` per document read, one :class:`FetchRecord` per attempt.
"""

from __future__ import annotations

import builtins  # ``bytes`` is a field below
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from semcrawl.web.bodies import BodyFile
from semcrawl.web.vocabulary import FoundBy

#: :attr:`RdfDocument.format` of data embedded in a page
EMBEDDED = "embedded"


def _exported(serializer: Callable[[Any], Any]) -> dict[str, Any]:
    """Return metadata of a field, by which Scrapy's item exporters show its value as plain data."""
    return {"serializer": serializer}


def _name(value: StrEnum | None) -> str | None:
    return None if value is None else str(value)


def _text(nquads: builtins.bytes) -> str:
    return nquads.decode("utf-8", "replace")


def _objects(errors: Sequence[DocumentError]) -> list[dict[str, Any]]:
    return [asdict(error) for error in errors]


#: reason why a link gave nothing: it failed, retries included
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Means:
    """What an outcome means to those who count, retry and report."""

    #: a request was sent
    sent: bool = True
    #: it counts as an error
    problem: bool = False
    #: words for links that gave nothing for this reason; empty if they gave something or lead on
    words: str = ""
    #: the reason, if it is not the outcome itself
    missed: str = ""
    #: it gave something, for a seed
    gave: bool = False
    #: it served another link
    errand: bool = False
    #: the body was used
    taken: bool = True
    #: another try may give more
    passing: bool = False


class FetchOutcome(StrEnum):
    """How an attempt ended, and what that means; a closed vocabulary."""

    means: Means

    #: an RDF document, read
    FETCHED_RDF = "fetched-rdf", Means(gave=True)
    #: an HTML page, links extracted
    FETCHED_HTML = "fetched-html", Means(gave=True)
    #: a robots.txt, whatever it held
    FETCHED_ROBOTS = "fetched-robots", Means(errand=True)
    #: a JSON-LD context that a document names
    FETCHED_CONTEXT = "fetched-context", Means(errand=True)
    #: a sitemap, entries taken
    FETCHED_SITEMAP = "fetched-sitemap", Means(gave=True)
    #: a catalogue or a linkset that is no RDF, links taken
    FETCHED_LIST = "fetched-list", Means(gave=True)
    #: an image, kept
    FETCHED_IMAGE = "fetched-image", Means(gave=True)
    #: a body that is neither RDF nor HTML, dropped
    FETCHED_OTHER = "fetched-other", Means(gave=True)
    #: 304 on a re-visit
    NOT_MODIFIED = "not-modified", Means(gave=True)
    #: unchanged by its sitemap; nothing was sent
    SITEMAP_UNCHANGED = "sitemap-unchanged", Means(sent=False, gave=True)
    #: its final URL or content had been had before
    DUPLICATE = "duplicate", Means(gave=True)
    #: data that say that no copy may be kept (noarchive)
    NOT_KEPT = (
        "not-kept",
        Means(words="read but not kept, as they ask robots to keep no copy"),
    )
    #: an RDF document, read, that is not about the crawl's topic
    OFF_TOPIC = "off-topic", Means(words="read, but not about the topic")
    #: body refused for its Content-Type
    FILTERED_TYPE = "filtered-type", Means(gave=True, taken=False)
    #: body larger than DOWNLOAD_MAXSIZE
    TOO_LARGE = "too-large", Means(problem=True, taken=False, words="too large")
    #: 3xx with a usable Location
    REDIRECTED = "redirected"
    #: a redirect or hand-over led outside the scope
    OUT_OF_SCOPE = "out-of-scope", Means(words="out of scope")
    #: robots.txt forbids it; nothing was sent
    ROBOTS_DENIED = (
        "robots-denied",
        Means(sent=False, words="forbidden by robots.txt"),
    )
    #: status of 400 or more, or an unusable one
    HTTP_ERROR = (
        "http-error",
        Means(
            problem=True,
            words="answered by another HTTP error",
        ),
    )
    #: no DNS answer, refused, reset, broken response
    NETWORK_ERROR = (
        "network-error",
        Means(problem=True, taken=False, passing=True, missed=FAILED),
    )
    #: no answer in DOWNLOAD_TIMEOUT
    TIMEOUT = (
        "timeout",
        Means(problem=True, taken=False, passing=True, missed=FAILED),
    )
    #: a private address, not asked for
    ADDRESS_REFUSED = (
        "address-refused",
        Means(sent=False, words="on private addresses"),
    )
    #: the host was down for long; nothing was sent
    HOST_DOWN = (
        "host-down",
        Means(sent=False, problem=True, passing=True, missed=FAILED),
    )
    #: a budget of its host or domain is spent; nothing was sent
    OVER_BUDGET = (
        "over-budget",
        Means(sent=False, words="over the budget of their host or domain"),
    )
    #: a pattern of the user excludes it now; nothing was sent, and it waits
    EXCLUDED = "excluded", Means(sent=False, words="excluded")
    #: a middleware raised IgnoreRequest, or a limit of lists was reached
    IGNORED = (
        "ignored",
        Means(
            sent=False,
            passing=True,
            words="left out by a limit of lists or by a middleware",
        ),
    )
    #: claimed to be RDF, and not one statement could be read
    PARSE_ERROR = "parse-error", Means(problem=True, words="unreadable RDF")
    #: the crawl could not go on before it was read
    INTERRUPTED = "interrupted", Means(taken=False, missed=FAILED)

    def __new__(cls, value: str, means: Means = Means()) -> Self:
        """Make the member of a name."""
        member = str.__new__(cls, value)
        member._value_, member.means = value, means
        return member


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
    errors: list[DocumentError] = field(default_factory=list, metadata=_exported(_objects))
    error_count: int = 0  #: may exceed ``len(errors)``, which is capped
    redirects: tuple[str, ...] = ()  #: URLs asked for before the final one
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""  #: SHA-256 of the body, hexadecimal
    fetched_at: float = 0.0  #: seconds since the epoch, UTC
    nquads: builtins.bytes = field(default=b"", repr=False, metadata=_exported(_text))
    spool: Path | None = field(default=None, metadata=_exported(lambda _: None))
    revisit: bool = False  #: had been had before, and was asked for again to see if it changed
    members: tuple[str, ...] = ()  #: names of the files that were read out of an archive
    #: what led to it
    found_by: FoundBy = field(default=FoundBy.LINK, metadata=_exported(_name))

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
    outcome: FetchOutcome = field(metadata=_exported(_name))
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
    #: what led to it; ``None`` for requests that are no link's
    found_by: FoundBy | None = field(default=None, metadata=_exported(_name))
    relevance: float | None = None  #: as the topic judged the document, 0 to 1; None: it did not
    reasons: tuple[str, ...] = ()  #: why, a line each


class KeptElsewhere:
    """Items with bodies or pixels, which have their own files; feeds leave them out."""

    __slots__ = ()


@dataclass(slots=True)
class FetchedFile(KeptElsewhere):
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
    also_about: tuple[str, ...] = ()  #: earlier topics of the job that kept it too
