"""Keeps the table ``document`` up to date: first visits, re-visits, documents that are gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.models import Document, url_key
from semcrawl.metadata.rows import document_row, insert_rows
from semcrawl.metadata.termindex import forget_terms, ids_of, write_terms
from semcrawl.rdf.usedterms import TermCounter

#: stores the content of a document, counts its terms, and returns the row's ``offset``, ``length``,
#: ``checksum`` and ``revision``
Place = Callable[[TermCounter], dict[str, Any]]
#: whether the lines at an offset, of a length and with a checksum, are in the file
Holds = Callable[[int, int, str | None], bool]


#: columns of a document whose lines the file has lost; the next run reads it again
LOST: dict[str, Any] = {
    "offset": 0,
    "length": 0,
    "checksum": None,
    "etag": "",
    "last_modified": "",
    "content_hash": "",
}


def unknown_row(url: str) -> dict[str, Any]:
    """Return the row of a document of which only the address is known."""
    return {
        **document_row(RdfDocument(url, quads=1)),
        **LOST,
        "revision": 0,
        "visits": 0,
        "changes": 0,
        "gone_at": None,
        "terms_complete": None,
    }


class Written(StrEnum):
    """What an item changed in the table."""

    NEW = "new"  #: a new document
    DUPLICATE = "duplicate"  #: the table already had its final URL
    REPLACED = "replaced"  #: a re-visit found other content, which counts now
    UNCHANGED = "unchanged"  #: a re-visit found the same content, or got a 304
    GONE = "gone"  #: a re-visit found that the document no longer exists
    NOTHING = "nothing"  #: a record that says nothing about a document


class DocumentHistory:
    """Writes a batch of items into the table ``document``, with one look-up and one insertion.

    Use it in one transaction: :meth:`note_document` or :meth:`note_record` for each item of the
    batch, then :meth:`flush`.
    """

    def __init__(
        self,
        connection: Connection,
        items: Iterable[RdfDocument | FetchRecord],
        *,
        pages: bool = False,
        terms: int = 0,
        holds: Holds = lambda offset, length, checksum: True,
        elsewhere: Callable[[str], bool] = lambda key: False,
    ) -> None:
        """Look up the rows of the items' documents.

        ``pages``: the table lists pages with data, not RDF documents. ``terms``: most terms to
        index of each document; 0 = none. A re-visit finds a document unchanged only if the file
        still ``holds`` its lines. ``elsewhere`` says whether another worker delivered the document
        with a key: if it is gone, it gets a row here, so that this worker's delivery drops it.
        """
        self._holds = holds
        self._elsewhere = elsewhere
        self._connection = connection
        self._limit = terms
        self._pages = pages
        keys = {
            url_key(item.url) for item in items if isinstance(item, RdfDocument) or item.revisit
        }
        self._known: dict[str, _Known] = {}
        if keys:
            for row in connection.execute(_LOOK_UP, {"keys": sorted(keys)}):
                self._known[row.url_key] = _Known(*row[1:])
        self._new: list[dict[str, Any]] = []
        #: by ``url_key``, the terms to write
        self._terms: dict[str, TermCounter] = {}

    def note_document(self, document: RdfDocument, place: Place) -> Written:
        """Note a document; call ``place`` if its content is to be stored."""
        key = url_key(document.url)
        known = self._known.get(key)
        if known is None:
            row = document_row(document)
            placed = self._placed(key, place)
            self._new.append({**row, **placed, "visits": 1, "changes": 0, "gone_at": None})
            place_now = (placed["offset"], placed["length"], placed["checksum"])
            self._known[key] = _Known(
                document.content_hash, None, document.fetched_at, 1, 0, *place_now
            )
            return Written.NEW
        if not document.revisit:
            return Written.DUPLICATE
        self.flush()
        row = document_row(document)
        known.visits += document.fetched_at > known.last_seen_at
        known.last_seen_at = document.fetched_at
        visit = {
            "visits": known.visits,
            "last_seen_at": known.last_seen_at,
            "etag": row["etag"],
            "last_modified": row["last_modified"],
        }
        is_same = known.gone_at is None and known.content_hash == document.content_hash != ""
        if is_same and self._is_held(known):
            self._update(key, visit)
            return Written.UNCHANGED
        row.pop("first_seen_at")
        known.content_hash, known.gone_at = document.content_hash, None
        known.changes += 1
        placed = self._placed(key, place)
        known.offset, known.length = placed["offset"], placed["length"]
        known.checksum = placed["checksum"]
        self._update(key, {**row, **placed, **visit, "changes": known.changes, "gone_at": None})
        return Written.REPLACED

    def _is_held(self, known: _Known) -> bool:
        return self._holds(known.offset, known.length, known.checksum)

    def _placed(self, key: str, place: Place) -> dict[str, Any]:
        """Store the content and count its terms; return the columns about both."""
        counter = TermCounter(self._limit)
        placed = place(counter)
        # even without an index: this deletes the rows of an older version of the document
        self._terms[key] = counter
        return {**placed, "terms_complete": counter.is_complete if counter.is_on else None}

    def note_record(self, record: FetchRecord, revision: Callable[[], int]) -> Written:
        """Apply a re-visit's record to a document; ``revision`` numbers a change."""
        if not record.revisit:
            return Written.NOTHING
        key = url_key(record.url)
        known = self._known.get(key)
        # if a page has become an RDF document, the page's data are gone
        is_gone = means_gone(record.outcome, record.status)
        is_gone |= self._pages and record.outcome is FetchOutcome.FETCHED_RDF
        if known is None and is_gone and self._elsewhere(key):
            self.flush()
            values = {**unknown_row(record.url), "gone_at": record.started_at}
            times = {"first_seen_at": record.started_at, "last_seen_at": record.started_at}
            values |= {**times, "visits": 1, "changes": 1, "revision": revision()}
            insert_rows(self._connection, Document, [values])
            self._known[key] = _Known(
                content_hash="",
                gone_at=record.started_at,
                last_seen_at=record.started_at,
                visits=1,
                changes=1,
                offset=0,
                length=0,
                checksum=None,
            )
            return Written.GONE
        if (
            known is None
            or record.started_at <= known.last_seen_at
            or not (is_gone or record.outcome is FetchOutcome.NOT_MODIFIED)
        ):
            return Written.NOTHING
        self.flush()
        known.visits += 1
        known.last_seen_at = record.started_at
        seen: dict[str, Any] = {"visits": known.visits, "last_seen_at": known.last_seen_at}
        if known.gone_at is not None or not is_gone:
            if known.gone_at is None and not self._is_held(known):
                # the server says that nothing has changed, but the file has lost it
                seen |= LOST
            self._update(key, seen)
            return Written.NOTHING if known.gone_at is not None else Written.UNCHANGED
        known.gone_at = record.started_at
        known.changes += 1
        gone = {"gone_at": known.gone_at, "changes": known.changes, "revision": revision()}
        self._update(key, {**seen, **gone})
        forget_terms(self._connection, [number for _, number in ids_of(self._connection, [key])])
        return Written.GONE

    def flush(self) -> None:
        """Insert the rows of new documents, then the terms of all documents."""
        insert_rows(self._connection, Document, self._new)
        self._new = []
        if self._terms:
            ids = ids_of(self._connection, list(self._terms))
            write_terms(self._connection, {number: self._terms[key] for key, number in ids})
            self._terms = {}

    def _update(self, key: str, values: dict[str, Any]) -> None:
        self._connection.execute(update(Document).where(Document.url_key == key).values(**values))


@dataclass(slots=True)
class _Known:
    """A document's state in the table."""

    content_hash: str
    gone_at: float | None
    last_seen_at: float
    visits: int
    changes: int
    offset: int
    length: int
    checksum: str | None


_LOOK_UP = select(
    Document.url_key,
    Document.content_hash,
    Document.gone_at,
    Document.last_seen_at,
    Document.visits,
    Document.changes,
    Document.offset,
    Document.length,
    Document.checksum,
).where(Document.url_key.in_(bindparam("keys", expanding=True)))


def means_gone(outcome: str, status: int | None) -> bool:
    """Whether an attempt with this outcome means that a URL gives no wanted RDF any more.

    Passing failures do not: network errors, timeouts, other HTTP errors, robots.txt.
    """
    if outcome == FetchOutcome.HTTP_ERROR:
        return status in (404, 410)
    if outcome == FetchOutcome.REDIRECTED:
        return status in (301, 308)
    no_rdf = (
        FetchOutcome.FETCHED_HTML,
        FetchOutcome.FETCHED_OTHER,
        FetchOutcome.FILTERED_TYPE,
        FetchOutcome.OFF_TOPIC,
    )
    return outcome in no_rdf
