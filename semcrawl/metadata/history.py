"""The table ``document`` kept true: first visits, re-visits, documents that are gone."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, insert, select, update

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.models import Document, url_key
from semcrawl.metadata.rows import document_row


class Written(StrEnum):
    """What became of a document, or of what a record says of one."""

    NEW = "new"  #: had not been there
    DUPLICATE = "duplicate"  #: its final URL was there already
    REPLACED = "replaced"  #: a re-visit found other content, which counts now
    UNCHANGED = "unchanged"  #: a re-visit found the same content, or a 304
    GONE = "gone"  #: a re-visit found nothing there any more
    NOTHING = "nothing"  #: a record that says nothing of a document


def note_document(
    connection: Connection, document: RdfDocument, place: Callable[[], dict[str, int]]
) -> Written:
    """Insert or update a document's row.

    ``place`` is called when the content is to be kept, and returns the row's ``offset``,
    ``length`` and ``revision``.
    """
    key = url_key(document.url)
    known = connection.execute(
        select(
            Document.content_hash, Document.gone_at, Document.last_seen_at, Document.visits
        ).where(Document.url_key == key)
    ).first()
    row = document_row(document)
    if known is None:
        connection.execute(insert(Document).values(**row, **place(), visits=1, changes=0))
        return Written.NEW
    if not document.revisit:
        return Written.DUPLICATE
    visit = {
        "visits": known.visits + (document.fetched_at > known.last_seen_at),
        "last_seen_at": document.fetched_at,
        "etag": row["etag"],
        "last_modified": row["last_modified"],
    }
    if known.gone_at is None and known.content_hash == document.content_hash != "":
        _update(connection, key, visit)
        return Written.UNCHANGED
    row.pop("first_seen_at")
    changed = {**row, **place(), **visit, "changes": Document.changes + 1, "gone_at": None}
    _update(connection, key, changed)
    return Written.REPLACED


def note_record(
    connection: Connection, record: FetchRecord, revision: Callable[[], int]
) -> Written:
    """Take in what the record of a re-visit says of a document; ``revision`` numbers a change."""
    if not record.revisit:
        return Written.NOTHING
    key = url_key(record.url)
    known = connection.execute(
        select(Document.last_seen_at).where(Document.url_key == key, Document.gone_at.is_(None))
    ).first()
    if known is None or record.started_at <= known.last_seen_at:
        return Written.NOTHING
    seen = {"visits": Document.visits + 1, "last_seen_at": record.started_at}
    if record.outcome is FetchOutcome.NOT_MODIFIED:
        _update(connection, key, seen)
        return Written.UNCHANGED
    if not says_gone(record):
        return Written.NOTHING
    gone = {
        "gone_at": record.started_at,
        "changes": Document.changes + 1,
        "revision": revision(),
    }
    _update(connection, key, {**seen, **gone})
    return Written.GONE


def says_gone(record: FetchRecord) -> bool:
    """Say whether the record of a re-visit means that the document is no longer there.

    Not after what may pass: network errors, timeouts, other HTTP errors, robots.txt.
    """
    if record.outcome is FetchOutcome.HTTP_ERROR:
        return record.status in (404, 410)
    if record.outcome is FetchOutcome.REDIRECTED:
        return record.status in (301, 308)
    no_rdf = (FetchOutcome.FETCHED_HTML, FetchOutcome.FETCHED_OTHER, FetchOutcome.FILTERED_TYPE)
    return record.outcome in no_rdf and record.quads == 0


def _update(connection: Connection, key: str, values: dict[str, Any]) -> None:
    connection.execute(update(Document).where(Document.url_key == key).values(**values))
