"""Which documents use a class or a property."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher, get_close_matches
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, func, or_, select

from semcrawl.metadata.models import Document, Term, TermUse, term_id
from semcrawl.metadata.termindex import CLASS, PROPERTY
from semcrawl.rdf.shortnames import expand, local_name, other_scheme, shorten
from semcrawl.results.quadsource import store_errors

#: terms of a crawl that are looked through for near names, and those that one word may mean
_MOST_NAMES, _MOST_MEANT = 100_000, 1000
_NEAR = 3


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """A class or a property that was asked for, with its use."""

    iri: str
    name: str  #: short, where its prefix is known
    kind: str  #: ``class`` or ``property``
    documents: int
    statements: int


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that uses such terms."""

    url: str
    format: str
    statements: int  #: with these terms


@dataclass
class Found:
    """The documents that use a term."""

    asked: str
    terms: list[FoundTerm] = field(default_factory=list)
    #: those with the most such statements first
    documents: list[FoundDocument] = field(default_factory=list)
    #: how many there are in all
    total: int = 0
    #: documents with more terms than their index holds: some of them may have been missed
    incomplete: int = 0
    #: names like the one that was asked for, where nothing was found
    near: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return it in the form of ``find --json``."""
        return asdict(self)


def find_term(engines: Sequence[Engine], asked: str, limit: int | None = None) -> Found:
    """Look a term up in ledgers: ``prefix:name``, an IRI, a namespace, or a bare word.

    A prefix alone, and an IRI that ends with ``#`` or ``/``, mean all terms of the namespace; a
    bare word means any term of this name. http and https are one. ``limit`` documents are named at
    most. Raises ``UsageError`` for an unknown prefix and ``StoreError``.
    """
    iri = expand(asked)
    found = Found(asked)
    terms: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for engine in engines:
        with store_errors(engine.url.database), engine.connect() as connection:
            meant = _meant(connection, asked, iri)
            for kind, name, documents, statements in connection.execute(_uses_of(meant)):
                terms[kind, name].update(documents=documents, statements=int(statements))
            found.documents += _documents(connection, meant, limit)
            found.total += connection.scalar(_number_of(meant)) or 0
            found.incomplete += connection.scalar(_INCOMPLETE) or 0
            if not terms:
                found.near += _near(connection, asked)
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


def _meant(connection: Connection, asked: str, iri: str) -> ColumnElement[bool]:
    """Return the condition that a term of the table is one of those asked for."""
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


def _uses_of(meant: ColumnElement[bool]) -> Any:
    return (
        select(Term.kind, Term.iri, func.count(), func.sum(TermUse.count))
        .join(TermUse, TermUse.term_id == Term.id)
        .join(Document, Document.id == TermUse.document_id)
        .where(meant, _LIVE)
        .group_by(Term.id, Term.kind, Term.iri)
    )


def _documents(
    connection: Connection, meant: ColumnElement[bool], limit: int | None
) -> Iterator[FoundDocument]:
    statements = func.sum(TermUse.count)
    query = (
        select(Document.url, Document.format, statements)
        .join(TermUse, TermUse.document_id == Document.id)
        .join(Term, Term.id == TermUse.term_id)
        .where(meant, _LIVE)
        .group_by(Document.id, Document.url, Document.format)
        .order_by(statements.desc(), Document.id)
        .limit(limit)
    )
    for url, syntax, count in connection.execute(query):
        yield FoundDocument(url, syntax, int(count))


def _number_of(meant: ColumnElement[bool]) -> Any:
    return (
        select(func.count(func.distinct(TermUse.document_id)))
        .join(Term, Term.id == TermUse.term_id)
        .join(Document, Document.id == TermUse.document_id)
        .where(meant, _LIVE)
    )


def _near(connection: Connection, asked: str) -> list[str]:
    """Return short names of terms of the crawl that are spelled like the one asked for."""
    names: dict[str, list[str]] = {}
    for _, iri in _all_terms(connection):
        names.setdefault(local_name(iri).casefold(), []).append(shorten(iri))
    word = asked.strip("<>").casefold()
    tail = local_name(word) or word
    close = [name for each in get_close_matches(tail, names, cutoff=0.75) for name in names[each]]
    # those of the same vocabulary, and spelled most alike, first
    return sorted(close, key=lambda name: -SequenceMatcher(None, name, asked).ratio())[:_NEAR]
