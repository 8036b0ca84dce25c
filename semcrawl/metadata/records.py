"""Records: one for each attempt and document, their columns and rows.

Tables of the crawl metadata.

``fetch`` has one row per attempt, ``document`` one row per RDF document, under its final URL.
Times are seconds since the epoch (UTC), sizes are bytes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from operator import itemgetter
from reprlib import Repr
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Dialect,
    Double,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    insert,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semcrawl.items import DocumentError, FetchRecord, RdfDocument
from semcrawl.printable import printable


class _MediumText(Text):
    """A type of MySQL, whose drivers a crawl into a file need not load."""

    __visit_name__ = "MEDIUMTEXT"


class _MediumBytes(LargeBinary):
    """Another one."""

    __visit_name__ = "MEDIUMBLOB"


#: 64 bits; SQLite has them too, but numbers rows by itself only if the type is INTEGER
_RowId = BigInteger().with_variant(Integer, "sqlite")
#: a text without a limit; MySQL's TEXT ends at 64 KiB
_LongText = Text().with_variant(_MediumText(), "mysql", "mariadb")

_LongBytes = LargeBinary().with_variant(_MediumBytes(), "mysql", "mariadb")

#: values that ``repr`` leaves out
_NOTHING = (None, "", 0)
#: shortens other values in ``repr``
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 100


class Base(DeclarativeBase):
    """Base of all tables."""

    def __repr__(self) -> str:
        """Show the loaded values of a row, shortened."""
        held = ((name, vars(self).get(name)) for name in self.__table__.columns.keys())  # noqa: SIM118
        shown = (f"{name}={_SHORT.repr(value)}" for name, value in held if value not in _NOTHING)
        return f"{type(self).__name__}({', '.join(shown)})"


class Fetch(Base):
    """An attempt to fetch a URL (:class:`semcrawl.items.FetchRecord`)."""

    __tablename__ = "fetch"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    url: Mapped[str] = mapped_column(_LongText)
    final_url: Mapped[str] = mapped_column(_LongText)
    parent_url: Mapped[str | None] = mapped_column(_LongText)
    depth: Mapped[int] = mapped_column(Integer)
    label: Mapped[str] = mapped_column(String(16))
    #: names of the rules that gave the label, separated by spaces
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
    #: job that made the attempt: scrapyd's name for it, or host and process
    worker: Mapped[str] = mapped_column(String(128), default="")
    #: validators of the response and SHA-256 of its body, for re-visits
    etag: Mapped[str] = mapped_column(Text, default="")
    last_modified: Mapped[str] = mapped_column(Text, default="")
    content_hash: Mapped[str] = mapped_column(String(64), default="")
    #: number of the attempt; one that is repeated after a crash keeps it, and replaces the first
    #: row; NULL for requests that belong to no link
    attempt: Mapped[int | None] = mapped_column(BigInteger, index=True, unique=True)
    #: what led to the address (:class:`semcrawl.web.vocabulary.FoundBy`); empty for requests that
    #: belong to no link, and in rows older than the column
    found_by: Mapped[str] = mapped_column(String(16), default="")
    #: relevance to the crawl's topic, 0 to 1; NULL without a topic, or with nothing to judge
    relevance: Mapped[float | None] = mapped_column(Double)
    #: the topic's reasons, one per line; NULL as above
    reasons: Mapped[str | None] = mapped_column(_LongText)
    #: headers that tell how it is served, such as ``Vary: Accept``, one per line; empty if it has
    #: none of them, NULL without an answer, and in rows older than the column
    served: Mapped[str | None] = mapped_column(Text)


class Document(Base):
    """An RDF document with its last content (:class:`semcrawl.items.RdfDocument`)."""

    __tablename__ = "document"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    #: :func:`url_key` of ``url``, as URLs are too long for indexes of some databases
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
    #: size of the body as received
    bytes: Mapped[int] = mapped_column(BigInteger)
    quads: Mapped[int] = mapped_column(BigInteger)
    error_count: Mapped[int] = mapped_column(Integer)
    etag: Mapped[str] = mapped_column(Text)
    last_modified: Mapped[str] = mapped_column(Text)
    #: SHA-256 of the body, hexadecimal
    content_hash: Mapped[str] = mapped_column(String(64))
    #: names of the files of an archive that were read, one per line; NULL if it is no archive
    members: Mapped[str | None] = mapped_column(_LongText)
    #: when this content was fetched
    fetched_at: Mapped[float] = mapped_column(Double)
    #: number of its last change; changes of all documents are numbered from 1
    revision: Mapped[int] = mapped_column(BigInteger, index=True)
    #: place of its lines in ``quads.nq``
    offset: Mapped[int] = mapped_column("offset", BigInteger)
    length: Mapped[int] = mapped_column(BigInteger)
    #: checksum of these lines (:mod:`semcrawl.pipelines.quadsfile`); NULL in rows older than the
    #: column, and where the lines are not in a job folder
    checksum: Mapped[str | None] = mapped_column(String(32))
    #: time of the first and of the last visit
    first_seen_at: Mapped[float] = mapped_column(Double)
    last_seen_at: Mapped[float] = mapped_column(Double)
    #: number of visits, and of those that found a change
    visits: Mapped[int] = mapped_column(Integer, default=1)
    changes: Mapped[int] = mapped_column(Integer, default=0)
    #: when a re-visit found it gone
    gone_at: Mapped[float | None] = mapped_column(Double)
    #: what led to it, as in ``fetch``
    found_by: Mapped[str] = mapped_column(String(16), default="")
    #: whether ``term_use`` has all of its terms; NULL if its terms were not counted
    terms_complete: Mapped[bool | None] = mapped_column(Boolean)

    __table_args__ = (Index("ix_document_span", "offset", "length"),)


class PageLinks(Base):
    """The links of a page as of its last visit (``SEMCRAWL_RECORD_LINKS``)."""

    __tablename__ = "page_links"

    #: ``url_key`` of the page
    url_key: Mapped[str] = mapped_column(String(64), primary_key=True)
    url: Mapped[str] = mapped_column(_LongText)
    #: addresses and words, compressed (:mod:`semcrawl.metadata.records`)
    links: Mapped[bytes] = mapped_column(_LongBytes)


class Contribution(Base):
    """A graph, other than its own, in which a document has statements."""

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
    """A class or property that some document uses."""

    __tablename__ = "term"

    #: :func:`term_id` of kind and IRI, the same for all workers that share a database
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    #: ``class`` or ``property``
    kind: Mapped[str] = mapped_column(String(8))
    iri: Mapped[str] = mapped_column(_LongText)


class TermUse(Base):
    """A document's use of a term."""

    __tablename__ = "term_use"

    #: ``id`` of the document
    document_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    #: ``id`` of the term
    term_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    #: number of statements with the property, or with the class as type
    count: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (
        Index("ix_term_use_term", "term_id"),
        {"sqlite_with_rowid": False},
    )


class Delivery(Base):
    """The progress of the delivery to a triple store."""

    __tablename__ = "delivery"

    #: the store's name, from the settings
    target: Mapped[str] = mapped_column(String(255), primary_key=True)
    #: the store has taken or refused all revisions up to this one
    revision: Mapped[int] = mapped_column(BigInteger)
    #: whether ``made_graph`` lists the graphs that were delivered; older versions of semcrawl did
    #: not note them
    has_owners: Mapped[bool] = mapped_column(Boolean)


class MadeGraph(Base):
    """A graph that a document made in a triple store; no other document writes or drops it.

    ``crawl.db`` has the rows for both files of quads, as their graphs are in one store.
    """

    __tablename__ = "made_graph"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    target: Mapped[str] = mapped_column(String(255))
    #: :func:`url_key` of ``name``
    name_key: Mapped[str] = mapped_column(String(64))
    #: the graph's name in the store, as N-Quads writes it
    name: Mapped[str] = mapped_column(_LongText)
    #: ``url_key`` of the document that made it
    document_key: Mapped[str] = mapped_column(String(64))
    #: the name that the document states for it
    stated: Mapped[str] = mapped_column(_LongText)
    #: the version of the document that is being written; NULL once the store has it
    claimed_for: Mapped[str | None] = mapped_column(String(64))
    #: statements, one per line; until then, the document's graph is known by having one of them
    witness: Mapped[str | None] = mapped_column(_LongText)

    __table_args__ = (
        Index("ix_made_graph_name", "target", "name_key", unique=True),
        Index("ix_made_graph_document", "target", "document_key"),
    )


class Told(Base):
    """How much of a document's history a triple store was told (``SEMCRAWL_STORE_PROVENANCE``)."""

    __tablename__ = "told"

    target: Mapped[str] = mapped_column(String(255), primary_key=True)
    #: ``url_key`` of the document
    document_key: Mapped[str] = mapped_column(String(64), primary_key=True)
    #: its visits and changes then; 0 = to be told again
    state: Mapped[int] = mapped_column(BigInteger)


class Refusal(Base):
    """A document that a triple store refused."""

    __tablename__ = "refusal"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    target: Mapped[str] = mapped_column(String(255))
    url: Mapped[str] = mapped_column(_LongText)
    revision: Mapped[int] = mapped_column(BigInteger)
    #: the store's message, in one line
    error: Mapped[str] = mapped_column(_LongText)
    refused_at: Mapped[float] = mapped_column(Double)


def url_key(url: str) -> str:
    """Return a key of fixed length for a URL: its SHA-256, hexadecimal."""
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()


def term_id(kind: str, iri: str) -> int:
    """Return the number of a term: 63 bits of a SHA-256."""
    return int.from_bytes(sha256(f"{kind} {iri}".encode("utf-8", "replace")).digest()[:8]) >> 1


def storable(text: str) -> str:
    """Return the text without characters that a database refuses or a terminal interprets.

    Lone surrogates are replaced; control characters become escapes.
    """
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return printable(text)


#: name of the text among the extra values of a record
LINKS = "links"
#: most characters of the words of a link
_MOST_WORDS = 100
#: most bytes of the links of a page, before compression
_MOST_BYTES = 8 << 20


def links_text(links: Iterable[tuple[str, str]]) -> str:
    """Return the text of links, each an address with its words."""
    lines = (f"{url} {' '.join(words.split())[:_MOST_WORDS]}".rstrip() for url, words in links)
    return "\n".join(lines)


def pack_links(text: str) -> bytes:
    """Compress the text of :func:`links_text`; of a very long one, its beginning."""
    data = text.encode("utf-8", "replace")
    if len(data) > _MOST_BYTES:
        data = data[: data.rfind(b"\n", 0, _MOST_BYTES)]
    return zlib.compress(data, 1)


def read_links(packed: bytes) -> Iterator[tuple[str, str]]:
    """Yield the links of a page, each an address with its words; none of damaged bytes."""
    try:
        data = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    except zlib.error:
        return
    for line in data.decode("utf-8", "replace").split("\n"):
        url, _, words = line.partition(" ")
        if url:
            yield url, words


T = TypeVar("T")

#: most keys in one query; SQLite takes at least 999
_KEYS_AT_ONCE = 500
#: most characters of an error text
MAX_ERRORS = 4000
#: most characters of the list of an archive's files
MAX_MEMBERS = 1_000_000


#: columns of ``fetch`` and ``document`` with the names and values of the items' fields
_OF_BOTH = ("url", "parent_url", "depth", "label", "content_type", "bytes", "quads")
_OF_FETCH = (*_OF_BOTH, "final_url", "status", "started_at", "elapsed", "attempt")
_OF_DOCUMENT = (
    *_OF_BOTH, "request_url", "format", "error_count", "etag", "last_modified", "content_hash",
    "fetched_at",
)  # fmt: skip
#: columns of ``fetch`` that come from a record's ``extra``, with the most characters of each
_EXTRA = {"spider": 64, "worker": 128, "etag": None, "last_modified": None, "content_hash": 64}


def fetch_row(record: FetchRecord) -> dict[str, Any]:
    """Return the values of a row of ``fetch``."""
    row = {name: getattr(record, name) for name in _OF_FETCH}
    row |= {name: record.extra.get(name, "")[:most] for name, most in _EXTRA.items()}
    return _stored(
        {
            **row,
            "rules": " ".join(record.rules),
            "outcome": str(record.outcome),
            "real_type": record.real_type[:64],
            "errors": printable(record.errors)[:MAX_ERRORS],
            "found_by": str(record.found_by or ""),
            "relevance": record.relevance,
            "reasons": "\n".join(record.reasons) or None,
            "served": record.extra.get("served"),
        }
    )


def links_row(record: FetchRecord) -> dict[str, Any] | None:
    """Return the values of a row of ``page_links``; ``None`` without the links of a page."""
    text = record.extra.get(LINKS)
    if text is None:
        return None
    url = record.final_url or record.url
    return {"url_key": url_key(url), "url": storable(url), "links": pack_links(text)}


def document_row(document: RdfDocument) -> dict[str, Any]:
    """Return the values of a row of ``document``, without its place in the file."""
    return _stored(
        {
            **{name: getattr(document, name) for name in _OF_DOCUMENT},
            "url_key": url_key(document.url),
            "rules": " ".join(document.rules),
            "members": _members(document),
            "found_by": str(document.found_by),
            "first_seen_at": document.fetched_at,
            "last_seen_at": document.fetched_at,
        }
    )


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose texts any database can store and any terminal can show."""
    return {
        name: storable(value) if isinstance(value, str) else value for name, value in row.items()
    }


def _members(document: RdfDocument) -> str | None:
    """Return the names of an archive's files, one per line, as many as fit."""
    if not document.members:
        return None
    text = "\n".join(" ".join(name.split()) for name in document.members)
    if len(text) > MAX_MEMBERS:
        text = text[:MAX_MEMBERS].rpartition("\n")[0]
    return text


class _Insertion:
    """Inserts rows of numbers and texts with the driver's own call.

    SQLAlchemy writes the SQL once. If it also handled each row's values, which need no conversion,
    the insertion would take twice as long.
    """

    def __init__(self, table: Table, dialect: Dialect, columns: Sequence[str]) -> None:
        compiled = insert(table).compile(dialect=dialect, column_keys=list(columns))
        self._sql = str(compiled)
        self._values: Callable[[dict[str, Any]], Any] = (
            itemgetter(*compiled.positiontup) if compiled.positiontup else dict
        )

    def __call__(self, connection: Connection, rows: Iterable[dict[str, Any]]) -> None:
        connection.exec_driver_sql(self._sql, [self._values(row) for row in rows])


_insertion = lru_cache(maxsize=64)(_Insertion)


def insert_rows(connection: Connection, model: Any, rows: Collection[dict[str, Any]]) -> None:
    """Insert rows with the same two or more columns; raise SQLAlchemy's errors."""
    if rows:
        columns = tuple(next(iter(rows)))
        _insertion(model.__table__, connection.dialect, columns)(connection, rows)


def in_parts(keys: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield keys in parts that any database takes in one query."""
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        yield keys[start : start + _KEYS_AT_ONCE]


#: most characters of a record's text about errors
MAX_TEXT = 300
#: ends the text about a dead address that the crawl asked for with a slash which its link lacks
NO_SLASH = "; the link has no slash at its end"
#: stands in every text that counts errors
ERRORS = " error(s)"
_FORM = re.compile(r"(\d+) error\(s\)(?:; line (\d+), column (\d+): (.*))?\Z", re.S)


@dataclass(frozen=True, slots=True)
class ErrorsRead:
    """What a record tells about the errors of a document."""

    #: number of errors; 0 if the record tells only of other faults
    count: int
    #: line and column of the first error, from 1; 0 = unknown
    line: int
    column: int
    #: message of the first error, or the other faults
    message: str

    def __str__(self) -> str:
        """Return it for people, the place first."""
        place = f"line {self.line}, column {self.column}: " if self.line else ""
        more = f" (the first of {self.count:,} errors)" if self.count > 1 else ""
        return f"{place}{self.message}{more}"


def errors_text(count: int, errors: Sequence[DocumentError]) -> str:
    """Return one line with the number of errors and the first of them; empty if there are none."""
    if not count:
        return ""
    text = f"{count}{ERRORS}"
    if errors:
        first = errors[0]
        message = " ".join(first.message.split())[:MAX_TEXT]
        text += f"; line {first.line}, column {first.column}: {message}"
    return text


def read_errors(text: str) -> ErrorsRead:
    """Read a record's text; other faults may come before that of :func:`errors_text`."""
    found = _FORM.search(text)
    if found is None:
        return ErrorsRead(0, 0, 0, text)
    message = found[4] or text[: found.start()].rstrip("; ") or f"{found[1]} errors"
    return ErrorsRead(int(found[1]), int(found[2] or 0), int(found[3] or 0), message)
