"""Items as rows of the metadata tables."""

from __future__ import annotations

from typing import Any

from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.metadata.models import storable, url_key

#: longest error text kept, in characters
MAX_ERRORS = 4000
#: longest list of an archive's files kept, in characters
MAX_MEMBERS = 1_000_000


def fetch_row(record: FetchRecord) -> dict[str, Any]:
    """Return the values of a row of ``fetch``."""
    return {
        "url": storable(record.url),
        "final_url": storable(record.final_url),
        "parent_url": None if record.parent_url is None else storable(record.parent_url),
        "depth": record.depth,
        "label": record.label,
        "rules": " ".join(record.rules),
        "outcome": str(record.outcome),
        "status": record.status,
        "content_type": storable(record.content_type),
        "real_type": storable(record.real_type)[:64],
        "bytes": record.bytes,
        "quads": record.quads,
        "errors": storable(record.errors)[:MAX_ERRORS],
        "started_at": record.started_at,
        "elapsed": record.elapsed,
        "spider": record.extra.get("spider", "")[:64],
        "worker": record.extra.get("worker", "")[:128],
        "etag": storable(record.extra.get("etag", "")),
        "last_modified": storable(record.extra.get("last_modified", "")),
        "content_hash": record.extra.get("content_hash", "")[:64],
        "attempt": record.attempt,
    }


def document_row(document: RdfDocument) -> dict[str, Any]:
    """Return the values of a row of ``document``, without its place in the file."""
    return {
        "url_key": url_key(document.url),
        "url": storable(document.url),
        "request_url": storable(document.request_url),
        "parent_url": None if document.parent_url is None else storable(document.parent_url),
        "depth": document.depth,
        "label": document.label,
        "rules": " ".join(document.rules),
        "format": document.format,
        "content_type": storable(document.content_type),
        "bytes": document.bytes,
        "quads": document.quads,
        "error_count": document.error_count,
        "etag": storable(document.etag),
        "last_modified": storable(document.last_modified),
        "content_hash": document.content_hash,
        "members": _members(document),
        "fetched_at": document.fetched_at,
        "first_seen_at": document.fetched_at,
        "last_seen_at": document.fetched_at,
    }


def _members(document: RdfDocument) -> str | None:
    """Return the names of the files of an archive, a line each, those that fit."""
    if not document.members:
        return None
    text = "\n".join(" ".join(name.split()) for name in document.members)
    if len(text) > MAX_MEMBERS:
        text = text[:MAX_MEMBERS].rpartition("\n")[0]
    return storable(text)
