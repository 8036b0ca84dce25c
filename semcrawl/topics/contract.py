"""The contract of a topic, which judges the documents that were read.

A topic says how relevant a document is, from 0 to 1, and why. It sees no links; strategies ask it
for the similarity of words and terms. It knows nothing of Scrapy or Redis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from semcrawl.topics.options import TopicOptions
from semcrawl.web.vocabulary import Kind

if TYPE_CHECKING:
    from semcrawl.links import PageText
    from semcrawl.rdf import Reading

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
