"""The contract of a topic, which judges the documents that were read.

A topic says how relevant a document is, from 0 to 1, and why. It sees no links; strategies ask it
for the similarity of words and terms. It knows nothing of Scrapy or Redis.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from semcrawl import settings as defaults
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import Values
from semcrawl.web.vocabulary import Kind

if TYPE_CHECKING:
    from semcrawl.links import PageText
    from semcrawl.rdf import Reading


#: name of the setting with the function that fetches URLs of topics; without it they are refused
FETCH = "SEMCRAWL_ABOUT_FETCH"
#: statements that a crawl remembers for all workers and runs; the oldest are forgotten first
MOST_REMEMBERED = 4_000_000
#: most bytes of a file or of statements that a topic is made of
MOST_OF_FILE = 256 * 1024 * 1024


def read_file(
    name: str,
    fetch: Callable[[str], bytes] | None = None,
    most: int = MOST_OF_FILE,
) -> bytes:
    """Return the bytes of a file or URL; raise ``UsageError`` if it cannot be read.

    A file of more than ``most`` bytes is refused, and so is a device without end. ``fetch`` returns
    the bytes of a URL, or raises ``UsageError``; without it URLs are refused.
    """
    if name[:8].lower().startswith(("http://", "https://")):
        if fetch is None:
            raise UsageError(f"{name} cannot be fetched here: save it, and name the file")
        return fetch(name)
    with os_errors_as(UsageError, f"cannot read {name}"), Path(name).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UsageError(f"{name} has more than {most:,} bytes")
    return data


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """Bounds of a judgement, and access to the files and URLs of a topic."""

    #: bytes of a document's statements, and characters of its text, to read from its beginning
    max_size: int = defaults.SEMCRAWL_ABOUT_MAX_SIZE
    #: returns the bytes of a file or URL that a topic names; raises ``UsageError``
    read: Callable[[str], bytes] = read_file
    #: bytes of the statements of a topic's file, beyond which it is refused
    max_file: int = MOST_OF_FILE
    #: all settings, for topics that have their own
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], read: Callable[[str], bytes] | None = None
    ) -> Self:
        """Read the settings; raise ``UsageError`` for a wrong one.

        Without ``read``, the function in the setting :data:`FETCH` fetches URLs.
        """
        read = read or partial(read_file, fetch=settings.get(FETCH))
        return cls(Values(settings)["SEMCRAWL_ABOUT_MAX_SIZE"], read, settings=settings)


#: the parts of a document that a topic may need, for :attr:`Topic.needs`
TEXT, STATEMENTS, MARKUP = "text", "statements", "markup"
#: most rows of reasons in a judgement, and most characters of each text in them
MAX_REASONS, MAX_REASON = 20, 200
#: beginning of the reason when a check was stopped before its end
STOPPED = "the check was stopped"
#: relevance of a page near a topic; below the usual threshold it is no target, but guides the crawl
NEAR = 0.4


@dataclass(frozen=True, slots=True)
class Document:
    """The content of one address."""

    url: str
    kind: Kind
    title: str = ""
    headings: str = ""
    #: visible text of a page; empty for RDF
    text: str = ""
    #: language tag of a page; empty if unknown, and for RDF
    language: str = ""
    #: returns the statements of an RDF document, or those embedded in a page, as N-Quads, in pieces
    #: of whole lines. Pieces of a megabyte are fastest. May be called repeatedly
    statements: Callable[[], Iterable[bytes]] = tuple
    #: bytes of a page; empty for RDF
    markup: bytes = b""

    @classmethod
    def of_page(
        cls, url: str, text: PageText, data: Reading | None = None, markup: bytes = b""
    ) -> Self:
        """Make the document of a page: its text, the data embedded in it, its bytes."""
        return cls(
            url,
            Kind.HTML,
            title=text.title,
            headings=text.headings,
            text=text.text,
            language=text.language,
            statements=tuple if data is None else data.statements,
            markup=markup,
        )

    @classmethod
    def of_rdf(cls, url: str, data: Reading) -> Self:
        """Make the document of RDF."""
        return cls(url, Kind.RDF, statements=data.statements)


def _bounded(number: float) -> float:
    return min(1.0, max(0.0, number)) if isfinite(number) else 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A topic's opinion of a document."""

    #: from 0 (not at all) to 1
    relevance: float
    #: (what, why) rows, the most important first
    reasons: tuple[tuple[str, str], ...] = ()
    #: the document's value to the crawl, 0 to 1, where that differs from its relevance
    worth: float | None = None
    #: what decides whether the document is kept, 0 to 1, where that differs from its relevance
    decides: float | None = None
    #: to be called once the document is kept, if the topic judges others by those that are
    on_kept: Callable[[], object] | None = field(default=None, compare=False)

    @property
    def deciding(self) -> float:
        """The number that decides whether the document is kept, 0 to 1."""
        return self.relevance if self.decides is None else self.decides

    def keep(self) -> None:
        """Let the topic know that the document is kept."""
        if self.on_kept is not None:
            self.on_kept()

    @classmethod
    def of(
        cls,
        relevance: float,
        reasons: Iterable[tuple[str, str]] = (),
        worth: float | None = None,
        decides: float | None = None,
        on_kept: Callable[[], object] | None = None,
    ) -> Self:
        """Make a judgement within its bounds; NaN and infinity become 0."""
        rows = [(what[:MAX_REASON], why[:MAX_REASON]) for what, why in reasons]
        return cls(
            _bounded(relevance),
            tuple(rows[:MAX_REASONS]),
            None if worth is None else _bounded(worth),
            None if decides is None else _bounded(decides),
            on_kept,
        )


@runtime_checkable
class Topic(Protocol):
    """A topic, made by :meth:`from_argument`. It serves one crawl, and one thread at a time."""

    #: name on the command line
    name: str
    #: the parts of a document that it reads: :data:`TEXT`, :data:`STATEMENTS`, :data:`MARKUP`
    needs: frozenset[str]
    #: whether it computes similarities; otherwise they are always 0
    knows_words: bool

    @property
    def takes_long(self) -> bool:
        """Whether a judgement may take seconds; the caller then leaves the event loop for it."""
        ...

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Make a topic from the text behind its name; raise ``UsageError`` if it is wrong."""
        ...

    def judge(self, document: Document) -> Judgement:
        """Judge a document; no content of a document makes it raise."""
        ...

    def similarity(self, text: str, language: str = "") -> float:
        """Similarity of a word or phrase to the topic, 0 to 1 (sources.md S: ``sim(t, topic)``).

        ``language`` is a language tag or empty. Strategies call this for each text of each link.
        """
        ...

    def iri_similarity(self, iri: str) -> float:
        """Similarity of a property or class to the topic, 0 to 1."""
        ...


@runtime_checkable
class StatementMemory(Protocol):
    """Remembers the statements of kept documents, for all workers of a crawl.

    It may forget some. Documents and statements are 64-bit hashes, the same in all workers.
    """

    #: whether a call may wait for another process, so that the topic takes long
    takes_long: bool

    def add(self, document: int, statements: Sequence[int], *, remember: bool = True) -> list[bool]:
        """Add the statements of a document, or only look them up.

        Returns for each whether it is new, that is, no other document stated it before. Earlier
        statements of the same document count as new, so a document may be judged again.
        """
        ...


@runtime_checkable
class Remembering(Protocol):
    """A topic that judges a document by earlier ones; optional.

    It starts with a memory of its own; a crawl gives its topics a shared one. Callers find such
    topics inside combinations with :func:`parts_of`.
    """

    #: the statements of earlier documents
    memory: StatementMemory

    def remember_in(self, memory: StatementMemory) -> None:
        """Use another memory from now on."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A topic that must be closed, for example as it runs a process; optional."""

    def close(self) -> None:
        """Release its resources; nothing is judged afterwards."""
        ...


@runtime_checkable
class Combining(Protocol):
    """A topic made of others; optional. It lets callers find its parts."""

    #: the topics in it with their weights
    parts: Sequence[tuple[Topic, float]]


def parts_of(topic: Topic) -> list[Topic]:
    """Return the single topics in a topic: its parts, recursively, or itself."""
    if isinstance(topic, Combining):
        return [single for part, _ in topic.parts for single in parts_of(part)]
    return [topic]


def split_list(argument: str) -> list[str]:
    """Split an argument at its commas, except inside double quotes.

    Raises ``UsageError`` for an unclosed quotation mark.
    """
    try:
        rows = list(csv.reader(argument.splitlines(), skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise UsageError(f"cannot read {argument!r}: {error}") from None
    return [part.strip() for row in rows for part in row if part.strip()]
