"""The index of the classes and properties that documents use: ``term`` and ``term_use``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Connection, Insert, Table, bindparam, delete, insert, select

from semcrawl.metadata.records import (
    Document,
    Term,
    TermUse,
    in_parts,
    insert_rows,
    storable,
    term_id,
)
from semcrawl.rdf.shortnames import TermCounter

CLASS, PROPERTY = "class", "property"

_TERM = cast("Table", Term.__table__)


def write_terms(connection: Connection, terms: Mapping[int, TermCounter]) -> None:
    """Replace the terms of documents, given by their ids."""
    forget_terms(connection, terms)
    uses: list[dict[str, Any]] = []
    rows: dict[int, dict[str, Any]] = {}
    for document, counter in terms.items():
        for kind, counts in ((CLASS, counter.classes), (PROPERTY, counter.properties)):
            for iri, count in counts.items():
                number = _number(kind, iri)
                if number not in rows:
                    rows[number] = {"id": number, "kind": kind, "iri": storable(iri)}
                uses.append({"document_id": document, "term_id": number, "count": count})
    if not uses:
        return
    # sorted, so that workers that add the same terms do not deadlock
    _new_terms(connection, [rows[number] for number in sorted(rows)])
    insert_rows(connection, TermUse, uses)


def forget_terms(connection: Connection, documents: Iterable[int]) -> None:
    """Remove documents, given by their ids, from the index."""
    for part in in_parts(sorted(documents)):
        connection.execute(_FORGET, {"ids": part})


def ids_of(connection: Connection, keys: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield ``url_key`` and id of the documents with these keys."""
    for part in in_parts(keys):
        for row in connection.execute(_IDS, {"keys": part}):
            yield row.url_key, row.id


_FORGET = delete(TermUse).where(TermUse.document_id.in_(bindparam("ids", expanding=True)))
_IDS = select(Document.url_key, Document.id).where(
    Document.url_key.in_(bindparam("keys", expanding=True))
)


def _new_terms(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Insert the terms that the table lacks."""
    dialect = connection.dialect
    statement: Insert
    if dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        statement = postgresql.insert(_TERM).on_conflict_do_nothing()
    elif dialect.name == "sqlite":
        statement = insert(_TERM).prefix_with("OR IGNORE")
    elif dialect.name in ("mysql", "mariadb"):
        statement = insert(_TERM).prefix_with("IGNORE")
    else:
        statement = insert(_TERM)
        known = select(Term.id).where(Term.id.in_([row["id"] for row in rows]))
        there = set(connection.scalars(known))
        rows = [row for row in rows if row["id"] not in there]
    if rows:
        connection.execute(statement, rows)


_number = lru_cache(maxsize=50_000)(term_id)
