"""The contract of a topic: a judge of documents that were read.

A topic says how much a document is about something, from 0 to 1, and why. It sees no link:
strategies ask it how near single words and terms are to it. A topic knows nothing of Scrapy or
Redis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol, Self, runtime_checkable

from semcrawl.topics.options import TopicOptions
from semcrawl.web.vocabulary import Kind

#: the parts of a document that a topic may need, for :attr:`Topic.needs`
TEXT, STATEMENTS, MARKUP = "text", "statements", "markup"
#: rows of a judgement's reasons, and characters of each of their texts
MAX_REASONS, MAX_REASON = 20, 200
#: how the reason begins of a judgement that was stopped before its end
STOPPED = "the check was stopped"
#: relevance of a page that is near a topic and, by usual thresholds, no target: it orders the crawl
NEAR = 0.4


def _none() -> Iterable[bytes]:
    return ()


@dataclass(frozen=True, slots=True)
class Document:
    """The content read from one address."""

    url: str
    kind: Kind
    title: str = ""
    headings: str = ""
    #: text of a page without its markup; empty for RDF
    text: str = ""
    #: language tag of a page; empty where it is not known, and for RDF
    language: str = ""
    #: gives the statements, of an RDF document or embedded in a page, as N-Quads. Each piece holds
    #: whole lines, one or many; pieces of a megabyte are read fastest. May be called again
    statements: Callable[[], Iterable[bytes]] = _none
    #: bytes of a page; empty for RDF
    markup: bytes = b""


def _bounded(number: float) -> float:
    return min(1.0, max(0.0, number)) if isfinite(number) else 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """How much a document is about a topic, and why."""

    #: from 0 (not at all) to 1
    relevance: float
    #: (what, why) rows, the weightiest first
    reasons: tuple[tuple[str, str], ...] = ()
    #: how much a crawl wins with the document, 0 to 1, where that is not its relevance
    worth: float | None = None

    @classmethod
    def of(
        cls,
        relevance: float,
        reasons: Iterable[tuple[str, str]] = (),
        worth: float | None = None,
    ) -> Self:
        """Make one whose numbers and texts keep to their bounds; what is no number counts as 0."""
        rows = [(what[:MAX_REASON], why[:MAX_REASON]) for what, why in reasons]
        return cls(
            _bounded(relevance),
            tuple(rows[:MAX_REASONS]),
            None if worth is None else _bounded(worth),
        )


@runtime_checkable
class Topic(Protocol):
    """One topic. Made by :meth:`from_argument`; belongs to one crawl and is asked by one thread."""

    #: name on the command line
    name: str
    #: what it reads of a document: :data:`TEXT`, :data:`STATEMENTS`, or both
    needs: frozenset[str]
    #: whether :meth:`similarity` and :meth:`iri_similarity` say anything; else they are always 0
    knows_words: bool

    @property
    def takes_long(self) -> bool:
        """Whether a judgement may take seconds: the caller asks for it outside the event loop."""
        ...

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Make a topic from what stands behind its name; raise ``UsageError`` for a wrong one."""
        ...

    def judge(self, document: Document) -> Judgement:
        """Judge a document; never raises for what the document holds."""
        ...

    def similarity(self, text: str, language: str = "") -> float:
        """How near a word or phrase is to the topic, from 0 to 1 (sources.md S: ``sim(t, topic)``).

        ``language`` is a language tag, or empty. Strategies ask for each text of each link.
        """
        ...

    def iri_similarity(self, iri: str) -> float:
        """How near a property or a class is to the topic, from 0 to 1."""
        ...


@runtime_checkable
class StatementMemory(Protocol):
    """Which statements were said before, for all workers of a crawl.

    May forget the oldest ones. Documents and statements are 64-bit hashes, the same in all workers.
    """

    #: whether a call may wait for another process; a topic that uses it then takes long
    takes_long: bool

    def add(self, document: int, statements: Sequence[int]) -> list[bool]:
        """Add the statements of a document.

        Returns for each whether no other document said it before. What the same document said
        earlier counts as its own, so that it may be judged again.
        """
        ...


@runtime_checkable
class Remembering(Protocol):
    """A topic that judges a document by those before it; optional.

    It begins with a memory of its own. All topics of a crawl are given one that they share; callers
    find those inside combinations with :func:`parts_of`.
    """

    #: what it remembers with
    memory: StatementMemory

    def remember_in(self, memory: StatementMemory) -> None:
        """Use another memory from now on."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A topic that has something to close, a process for example; optional."""

    def close(self) -> None:
        """End it; nothing is judged afterwards."""
        ...


@runtime_checkable
class Combining(Protocol):
    """A topic made of others; optional, for callers that look for one of them."""

    #: the topics that it is made of, each with its weight
    parts: Sequence[tuple[Topic, float]]


def parts_of(topic: Topic) -> list[Topic]:
    """Return the single topics that a topic is made of; itself, where it is one."""
    if isinstance(topic, Combining):
        return [single for part, _ in topic.parts for single in parts_of(part)]
    return [topic]
