"""Tables of the crawl metadata.

``fetch`` has one row per attempt, ``document`` one row per RDF document, under its final URL.
Times are seconds since the epoch (UTC), sizes are bytes.
"""

from __future__ import annotations

from hashlib import sha256
from reprlib import Repr

from sqlalchemy import BigInteger, Boolean, Double, Index, Integer, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semcrawl.terminal.printable import printable

#: 64 bits wide everywhere; SQLite numbers rows by itself only for INTEGER
_RowId = BigInteger().with_variant(Integer, "sqlite")
#: MySQL's TEXT ends at 64 KiB
_LongText = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")

#: values of columns that are not shown, and how long others may be shown
_NOTHING = (None, "", 0)
_BRIEFLY = Repr()
_BRIEFLY.maxstring = _BRIEFLY.maxother = 100


class Base(DeclarativeBase):
    """Base of all tables."""

    def __repr__(self) -> str:
        """Show what a row holds, shortened, as far as it was read."""
        held = ((name, vars(self).get(name)) for name in self.__table__.columns.keys())  # noqa: SIM118
        shown = (f"{name}={_BRIEFLY.repr(value)}" for name, value in held if value not in _NOTHING)
        return f"{type(self).__name__}({', '.join(shown)})"


class Fetch(Base):
    """One attempt to fetch a URL, as it ended (:class:`semcrawl.items.FetchRecord`)."""

    __tablename__ = "fetch"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    url: Mapped[str] = mapped_column(_LongText)
    final_url: Mapped[str] = mapped_column(_LongText)
    parent_url: Mapped[str | None] = mapped_column(_LongText)
    depth: Mapped[int] = mapped_column(Integer)
    label: Mapped[str] = mapped_column(String(16))
    #: names of the rules that held, divided by spaces
    rules: Mapped[str] = mapped_column(Text)
    outcome: Mapped[str] = mapped_column(String(32), index=True)
    status: Mapped[int | None] = mapped_column(Integer)
    content_type: Mapped[str] = mapped_column(Text)
    real_type: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    quads: Mapped[int] = mapped_column(BigInteger)
    errors: Mapped[str] = mapped_column(_LongText)
    started_at: Mapped[float] = mapped_column(Double)
    elapsed: Mapped[float] = mapped_column(Double)
    #: spider that made the attempt
    spider: Mapped[str] = mapped_column(String(64), default="")
    #: job that made the attempt (scrapyd's, else host and process)
    worker: Mapped[str] = mapped_column(String(128), default="")
    #: validators of the response and SHA-256 of its body, for re-visits
    etag: Mapped[str] = mapped_column(Text, default="")
    last_modified: Mapped[str] = mapped_column(Text, default="")
    content_hash: Mapped[str] = mapped_column(String(64), default="")
    #: names the attempt: one made again after a crash has the name of the first, whose row it
    #: replaces; NULL for requests that belong to no link
    attempt: Mapped[int | None] = mapped_column(BigInteger, index=True, unique=True)
    #: what led to the address (:class:`semcrawl.web.vocabulary.FoundBy`); empty for requests that
    #: belong to no link, and in rows that are older than the column
    found_by: Mapped[str] = mapped_column(String(16), default="")
    #: as the crawl's topic judged the document, 0 to 1, and why, a line for each reason; NULL where
    #: there was no topic or nothing to judge
    relevance: Mapped[float | None] = mapped_column(Double)
    reasons: Mapped[str | None] = mapped_column(_LongText)


class Document(Base):
    """One RDF document as last read (:class:`semcrawl.items.RdfDocument`)."""

    __tablename__ = "document"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    #: :func:`url_key` of ``url``: URLs are too long for an index in some databases
    url_key: Mapped[str] = mapped_column(String(64), unique=True)
    #: final URL
    url: Mapped[str] = mapped_column(_LongText)
    request_url: Mapped[str] = mapped_column(_LongText)
    parent_url: Mapped[str | None] = mapped_column(_LongText)
    depth: Mapped[int] = mapped_column(Integer)
    label: Mapped[str] = mapped_column(String(16))
    rules: Mapped[str] = mapped_column(Text)
    format: Mapped[str] = mapped_column(String(32))
    content_type: Mapped[str] = mapped_column(Text)
    #: of the body as downloaded
    bytes: Mapped[int] = mapped_column(BigInteger)
    quads: Mapped[int] = mapped_column(BigInteger)
    error_count: Mapped[int] = mapped_column(Integer)
    etag: Mapped[str] = mapped_column(Text)
    last_modified: Mapped[str] = mapped_column(Text)
    #: SHA-256 of the body, hexadecimal
    content_hash: Mapped[str] = mapped_column(String(64))
    #: names of the files of an archive that were looked at, a line each; NULL when it is none
    members: Mapped[str | None] = mapped_column(_LongText)
    #: when this content was fetched
    fetched_at: Mapped[float] = mapped_column(Double)
    #: number of its last change, counted over all documents from 1
    revision: Mapped[int] = mapped_column(BigInteger, index=True)
    #: place of its lines in ``quads.nq``
    offset: Mapped[int] = mapped_column("offset", BigInteger)
    length: Mapped[int] = mapped_column(BigInteger)
    #: when it was first and last looked at
    first_seen_at: Mapped[float] = mapped_column(Double)
    last_seen_at: Mapped[float] = mapped_column(Double)
    #: how often it was looked at, and how often it was found changed
    visits: Mapped[int] = mapped_column(Integer, default=1)
    changes: Mapped[int] = mapped_column(Integer, default=0)
    #: when a re-visit found it gone
    gone_at: Mapped[float | None] = mapped_column(Double)
    #: what led to it, as in ``fetch``
    found_by: Mapped[str] = mapped_column(String(16), default="")
    #: whether ``term_use`` has all of its terms; NULL: it was not looked at for terms
    terms_complete: Mapped[bool | None] = mapped_column(Boolean)

    __table_args__ = (Index("ix_document_span", "offset", "length"),)


class Contribution(Base):
    """A graph other than its own that a document has statements in."""

    __tablename__ = "contribution"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    #: ``url_key`` of the document
    document_key: Mapped[str] = mapped_column(String(64))
    #: :func:`url_key` of ``graph``
    graph_key: Mapped[str] = mapped_column(String(64), index=True)
    #: graph name as N-Quads writes it; empty for the default graph
    graph: Mapped[str] = mapped_column(_LongText)

    __table_args__ = (Index("ix_contribution_pair", "document_key", "graph_key", unique=True),)


class Term(Base):
    """A class or a property that some document uses."""

    __tablename__ = "term"

    #: :func:`term_id` of kind and IRI, so that workers who share a database give it the same
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    #: ``class`` or ``property``
    kind: Mapped[str] = mapped_column(String(8))
    iri: Mapped[str] = mapped_column(_LongText)


class TermUse(Base):
    """A document uses a term."""

    __tablename__ = "term_use"

    #: ``id`` of the document
    document_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    #: ``id`` of the term
    term_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    #: statements with the property, or that name the class
    count: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (
        Index("ix_term_use_term", "term_id"),
        {"sqlite_with_rowid": False},
    )


class Delivery(Base):
    """How far the delivery to a triple store has come."""

    __tablename__ = "delivery"

    #: the store, as its settings name it
    target: Mapped[str] = mapped_column(String(255), primary_key=True)
    #: every document's revision up to here is in the store, or refused
    revision: Mapped[int] = mapped_column(BigInteger)
    #: whether ``made_graph`` tells which graphs were made by it; deliveries of older versions of
    #: semcrawl have no owners noted
    has_owners: Mapped[bool] = mapped_column(Boolean)


class MadeGraph(Base):
    """A graph that a document has made in a triple store: no other document writes or drops it.

    The rows of both files of quads are in ``crawl.db``, as their graphs are in one store.
    """

    __tablename__ = "made_graph"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    target: Mapped[str] = mapped_column(String(255))
    #: :func:`url_key` of ``name``
    name_key: Mapped[str] = mapped_column(String(64))
    #: the graph in the store, as N-Quads writes it
    name: Mapped[str] = mapped_column(_LongText)
    #: ``url_key`` of the document that made it
    document_key: Mapped[str] = mapped_column(String(64))
    #: the name that the document states for it
    stated: Mapped[str] = mapped_column(_LongText)
    #: the version of the document that is being written; NULL once the store has said that it is
    #: there
    claimed_for: Mapped[str | None] = mapped_column(String(64))
    #: until then, statements of which the graph has one if it is the document's
    witness: Mapped[str | None] = mapped_column(_LongText)

    __table_args__ = (
        Index("ix_made_graph_name", "target", "name_key", unique=True),
        Index("ix_made_graph_document", "target", "document_key"),
    )


class Refusal(Base):
    """A document that a triple store would not take."""

    __tablename__ = "refusal"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    target: Mapped[str] = mapped_column(String(255))
    url: Mapped[str] = mapped_column(_LongText)
    revision: Mapped[int] = mapped_column(BigInteger)
    #: the store's words, one line
    error: Mapped[str] = mapped_column(_LongText)
    refused_at: Mapped[float] = mapped_column(Double)


def url_key(url: str) -> str:
    """Return the SHA-256 of the URL's UTF-8, hexadecimal: a key of fixed length."""
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()


def term_id(kind: str, iri: str) -> int:
    """Return the number of a term: 63 bits of a SHA-256."""
    return int.from_bytes(sha256(f"{kind} {iri}".encode("utf-8", "replace")).digest()[:8]) >> 1


def storable(text: str) -> str:
    """Return the text without characters that a database refuses or a terminal acts on.

    Lone surrogates are replaced, control characters written by their numbers.
    """
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return printable(text)
