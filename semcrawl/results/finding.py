"""Finds the documents that use a class or a property."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher, get_close_matches
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, func, or_, select

from semcrawl.metadata.records import Document, Term, TermUse, term_id
from semcrawl.metadata.termindex import CLASS, PROPERTY
from semcrawl.rdf.shortnames import expand, local_name, other_scheme, shorten
from semcrawl.results.quadsource import store_errors

#: terms of a crawl that are searched by local name, and those that one word may match
_MOST_NAMES, _MOST_MEANT = 100_000, 1000
_NEAR = 3


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """A class or property that matches, with its use."""

    iri: str
    name: str  #: ``prefix:name``, or the IRI
    kind: str  #: ``class`` or ``property``
    documents: int
    statements: int


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that uses matching terms."""

    url: str
    format: str
    statements: int  #: with these terms


@dataclass
class Found:
    """The result of a search: matching terms and the documents that use them."""

    asked: str
    terms: list[FoundTerm] = field(default_factory=list)
    #: most statements first
    documents: list[FoundDocument] = field(default_factory=list)
    #: number of documents, without the limit
    total: int = 0
    #: documents with more terms than the index keeps, which the search may have missed
    incomplete: int = 0
    #: similar names, if nothing matches
    near: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as ``find --json`` prints it."""
        return asdict(self)


def find_term(engines: Sequence[Engine], asked: str, limit: int | None = None) -> Found:
    """Look up a term in ledgers: ``prefix:name``, an IRI, a namespace, or a bare word.

    A prefix alone and an IRI that ends with ``#`` or ``/`` match all terms of the namespace; a bare
    word matches local names. http and https are the same. Returns at most ``limit`` documents.
    Raises ``UsageError`` for an unknown prefix, and ``StoreError``.
    """
    iri = expand(asked)
    found = Found(asked)
    terms: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for engine in engines:
        with store_errors(engine.url.database), engine.connect() as connection:
            matches = _matches(connection, asked, iri)
            for kind, name, documents, statements in connection.execute(_uses_of(matches)):
                terms[kind, name].update(documents=documents, statements=int(statements))
            found.documents += _documents(connection, matches, limit)
            found.total += connection.scalar(_number_of(matches)) or 0
            found.incomplete += connection.scalar(_INCOMPLETE) or 0
            if not terms:
                found.near += _similar(connection, asked)
    found.terms = [
        FoundTerm(name, shorten(name), kind, uses["documents"], uses["statements"])
        for (kind, name), uses in terms.items()
    ]
    found.terms.sort(key=lambda term: (-term.documents, -term.statements, term.name, term.kind))
    found.documents.sort(key=lambda document: (-document.statements, document.url))
    found.documents = found.documents[:limit]
    found.near = [] if found.terms else list(dict.fromkeys(found.near))[:_NEAR]
    return found


_LIVE = Document.gone_at.is_(None)
_INCOMPLETE = (
    select(func.count()).select_from(Document).where(_LIVE, Document.terms_complete.is_(False))
)


def _matches(connection: Connection, asked: str, iri: str) -> ColumnElement[bool]:
    """Return the condition that a row of the table ``term`` matches."""
    if not iri:
        word = asked.casefold()
        names = (n for n, name in _all_terms(connection) if local_name(name).casefold() == word)
        return Term.id.in_([number for number, _ in zip(names, range(_MOST_MEANT), strict=False)])
    both = {iri, other_scheme(iri)}
    if iri.endswith(("#", "/", ":")):
        return or_(*(func.substr(Term.iri, 1, len(start)) == start for start in sorted(both)))
    return Term.id.in_([term_id(kind, name) for kind in (CLASS, PROPERTY) for name in both])


def _all_terms(connection: Connection) -> Iterator[tuple[int, str]]:
    query = select(Term.id, Term.iri).limit(_MOST_NAMES)
    for row in connection.execution_options(yield_per=1000).execute(query):
        yield row.id, row.iri


def _uses_of(matches: ColumnElement[bool]) -> Any:
    return (
        select(Term.kind, Term.iri, func.count(), func.sum(TermUse.count))
        .join(TermUse, TermUse.term_id == Term.id)
        .join(Document, Document.id == TermUse.document_id)
        .where(matches, _LIVE)
        .group_by(Term.id, Term.kind, Term.iri)
    )


def _documents(
    connection: Connection, matches: ColumnElement[bool], limit: int | None
) -> Iterator[FoundDocument]:
    statements = func.sum(TermUse.count)
    query = (
        select(Document.url, Document.format, statements)
        .join(TermUse, TermUse.document_id == Document.id)
        .join(Term, Term.id == TermUse.term_id)
        .where(matches, _LIVE)
        .group_by(Document.id, Document.url, Document.format)
        .order_by(statements.desc(), Document.id)
        .limit(limit)
    )
    for url, syntax, count in connection.execute(query):
        yield FoundDocument(url, syntax, int(count))


def _number_of(matches: ColumnElement[bool]) -> Any:
    return (
        select(func.count(func.distinct(TermUse.document_id)))
        .join(Term, Term.id == TermUse.term_id)
        .join(Document, Document.id == TermUse.document_id)
        .where(matches, _LIVE)
    )


def _similar(connection: Connection, asked: str) -> list[str]:
    """Return short names of terms of the crawl that are spelled like ``asked``."""
    names: dict[str, list[str]] = {}
    for _, iri in _all_terms(connection):
        names.setdefault(local_name(iri).casefold(), []).append(shorten(iri))
    word = asked.strip("<>").casefold()
    tail = local_name(word) or word
    close = [name for each in get_close_matches(tail, names, cutoff=0.75) for name in names[each]]
    # comparing with prefixes puts terms of the same vocabulary first
    return sorted(close, key=lambda name: -SequenceMatcher(None, name, asked).ratio())[:_NEAR]
