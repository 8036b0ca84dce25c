"""Makes rows of the metadata tables from items, and inserts many rows with one driver call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Dialect, Table, insert

from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.metadata.models import storable, url_key
from semcrawl.metadata.pagelinks import LINKS, pack_links
from semcrawl.terminal.printable import printable

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
