"""Items as rows of the metadata tables."""

from __future__ import annotations

from typing import Any

from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.metadata.models import storable, url_key
from semcrawl.terminal.printable import printable

#: longest error text kept, in characters
MAX_ERRORS = 4000
#: longest list of an archive's files kept, in characters
MAX_MEMBERS = 1_000_000


def fetch_row(record: FetchRecord) -> dict[str, Any]:
    """Return the values of a row of ``fetch``."""
    return _stored(
        {
            "url": record.url,
            "final_url": record.final_url,
            "parent_url": record.parent_url,
            "depth": record.depth,
            "label": record.label,
            "rules": " ".join(record.rules),
            "outcome": str(record.outcome),
            "status": record.status,
            "content_type": record.content_type,
            "real_type": record.real_type[:64],
            "bytes": record.bytes,
            "quads": record.quads,
            "errors": printable(record.errors)[:MAX_ERRORS],
            "started_at": record.started_at,
            "elapsed": record.elapsed,
            "spider": record.extra.get("spider", "")[:64],
            "worker": record.extra.get("worker", "")[:128],
            "etag": record.extra.get("etag", ""),
            "last_modified": record.extra.get("last_modified", ""),
            "content_hash": record.extra.get("content_hash", "")[:64],
            "attempt": record.attempt,
            "found_by": str(record.found_by or ""),
            "relevance": record.relevance,
            "reasons": "\n".join(record.reasons) or None,
        }
    )


def document_row(document: RdfDocument) -> dict[str, Any]:
    """Return the values of a row of ``document``, without its place in the file."""
    return _stored(
        {
            "url_key": url_key(document.url),
            "url": document.url,
            "request_url": document.request_url,
            "parent_url": document.parent_url,
            "depth": document.depth,
            "label": document.label,
            "rules": " ".join(document.rules),
            "format": document.format,
            "content_type": document.content_type,
            "bytes": document.bytes,
            "quads": document.quads,
            "error_count": document.error_count,
            "etag": document.etag,
            "last_modified": document.last_modified,
            "content_hash": document.content_hash,
            "members": _members(document),
            "found_by": str(document.found_by),
            "fetched_at": document.fetched_at,
            "first_seen_at": document.fetched_at,
            "last_seen_at": document.fetched_at,
        }
    )


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose texts can be stored and shown, wherever they come from."""
    return {
        name: storable(value) if isinstance(value, str) else value for name, value in row.items()
    }


def _members(document: RdfDocument) -> str | None:
    """Return the names of the files of an archive, a line each, those that fit."""
    if not document.members:
        return None
    text = "\n".join(" ".join(name.split()) for name in document.members)
    if len(text) > MAX_MEMBERS:
        text = text[:MAX_MEMBERS].rpartition("\n")[0]
    return text
