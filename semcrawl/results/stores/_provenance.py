"""Tells a triple store where its documents come from, in a graph of its own.

The terms are those of ``semcrawl describe``. Of each document the graph has its present state, the
attempt that brought it and the last visit; a telling replaces what was told of it before, so it can
be repeated, by several machines at once too. ``told`` in the ledger notes how much the store knows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyoxigraph import NamedNode, Triple
from sqlalchemy import Connection, Engine, and_, delete, insert, or_, select
from sqlalchemy.exc import IntegrityError, OperationalError

from semcrawl.items import FetchOutcome
from semcrawl.metadata.description import (
    NAMESPACE,
    PREFIXES,
    attempt_node,
    describe_attempt,
    describe_crawl,
    describe_document,
    iri_node,
    own_iri,
)
from semcrawl.metadata.records import Document, Fetch, Told, in_parts
from semcrawl.rdf.sink import iri
from semcrawl.results.stores.contract import GraphStore
from semcrawl.results.stores.naming import PROVENANCE_GRAPH, Owners

#: documents that are looked up together, as each look-up reads all records
_AT_ONCE = 5000
#: documents in one request
_IN_A_REQUEST = 100
#: most graphs that are named of a document
_MOST_GRAPHS = 1000
#: seconds in which the record of a visit may still come
_GRACE = 120.0
#: tries to note what was told while other machines do so
_TRIES = 5
_READ = (FetchOutcome.FETCHED_RDF, FetchOutcome.FETCHED_HTML)
_GENERATED, _VISITED = f"{PREFIXES['prov']}wasGeneratedBy", f"{NAMESPACE}lastVisit"


class Provenance:
    """Tells one store. Raises SQLAlchemy's errors."""

    def __init__(self, store: GraphStore, target: str, owners: Owners, records: Engine) -> None:
        """``records``: the database with the attempts, named ``target`` the store in ledgers."""
        self._store = store
        self._target = target
        self._owners = owners
        self._records = records

    def tell(self, ledgers: Mapping[str, Engine]) -> int:
        """Tell what is new of the documents in ledgers, by kind; return their number.

        Raises ``StoreUnavailable`` and ``StoreRefused``.
        """
        with self._records.execution_options(read_only=True).begin() as connection:
            base = own_iri(connection)
        count = 0
        for kind, ledger in ledgers.items() if base else ():
            last: int | None = 0
            while last is not None:
                last, told = self._tell_some(base, kind, ledger, last)
                count += told
        return count

    def forget(self, ledger: Engine) -> None:
        """Forget what the store was told of the documents in a ledger."""
        with ledger.begin() as connection:
            connection.execute(delete(Told).where(Told.target == self._target))

    def _tell_some(
        self, base: str, kind: str, ledger: Engine, after: int
    ) -> tuple[int | None, int]:
        with ledger.execution_options(read_only=True).begin() as connection:
            rows = _untold(connection, self._target, after)
        if not rows:
            return None, 0
        graphs: dict[str, list[str]] = {}
        for made in self._owners.of_documents([row.url_key for row in rows]):
            if made.claimed_for is None:
                graphs.setdefault(made.document_key, []).append(made.name)
        there = [row for row in rows if row.gone_at is not None or row.url_key in graphs]
        with self._records.execution_options(read_only=True).begin() as connection:
            attempts = _attempts(connection, {row.url: row for row in there})
        ready = [
            row for row in there if row.url in attempts or row.last_seen_at < time.time() - _GRACE
        ]
        for start in range(0, len(ready), _IN_A_REQUEST):
            part = ready[start : start + _IN_A_REQUEST]
            told = {
                f"{base}#{kind}-{row.url_key[:32]}": _about(
                    base, kind, row, graphs.get(row.url_key, []), attempts.get(row.url, {})
                )
                for row in part
            }
            self._store.update(replacing(told, describe_crawl(base)))
            self._note(ledger, part)
        return rows[-1].id, len(ready)

    def _note(self, ledger: Engine, rows: Sequence[Any]) -> None:
        """Note what the store knows now; if others note it at the same moment, try again."""
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                with ledger.begin() as connection:
                    self._set_told(connection, rows)
                return
            except (IntegrityError, OperationalError):
                if last:
                    raise

    def _set_told(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Note the states that were told; raises SQLAlchemy's errors, then nothing is noted.

        Where another machine told a document of another state meanwhile, nobody knows whose update
        the store has: it counts as untold.
        """
        keys, kept = [row.url_key for row in rows], dict[str, int]()
        for part in in_parts(keys):
            mine = and_(Told.target == self._target, Told.document_key.in_(part))
            query = select(Told.document_key, Told.state).where(mine).with_for_update()
            kept |= {row.document_key: row.state for row in connection.execute(query)}
            connection.execute(delete(Told).where(mine))
        states = [(row.url_key, row.visits + row.changes, row.told) for row in rows]
        certain = [
            {"target": self._target, "document_key": key, "state": state}
            for key, state, before in states
            if kept.get(key) in (before, state)
        ]
        if certain:
            connection.execute(insert(Told), certain)


def _untold(connection: Connection, target: str, after: int) -> Sequence[Any]:
    state = Document.visits + Document.changes
    return connection.execute(
        select(Document, Told.state.label("told"))
        .outerjoin(Told, and_(Told.target == target, Told.document_key == Document.url_key))
        .where(Document.id > after, or_(Told.state.is_(None), Told.state != state))
        .order_by(Document.id)
        .limit(_AT_ONCE)
    ).all()


def _attempts(connection: Connection, documents: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return by address the attempt that brought the content, and that of the last visit."""
    found: dict[str, dict[str, Any]] = {}
    for part in in_parts(list(documents)):
        query = select(Fetch).where(or_(Fetch.final_url.in_(part), Fetch.url.in_(part)))
        for row in connection.execute(query.order_by(Fetch.started_at, Fetch.id)):
            for url in {row.url, row.final_url or row.url} & set(part):
                document = documents[url]
                if row.outcome == FetchOutcome.DUPLICATE:
                    continue
                if row.started_at <= document.last_seen_at:
                    found.setdefault(url, {})[_VISITED] = row
                if row.started_at <= document.fetched_at and row.outcome in _READ:
                    found.setdefault(url, {})[_GENERATED] = row
    return found


def _about(
    base: str, kind: str, row: Any, graphs: Sequence[str], attempts: Mapping[str, Any]
) -> list[Triple]:
    """Return what is told of a document."""
    document = iri_node(f"{base}#{kind}-{row.url_key[:32]}")
    source = attempts.get(_GENERATED)
    generated = None if source is None else attempt_node(base, source.id)
    told = list(describe_document(document, row, generated))
    own = iri(row.url)
    names = sorted(graphs, key=lambda name: (name != own, name))[:_MOST_GRAPHS]
    graph = NamedNode(f"{NAMESPACE}graph")
    told += [Triple(document, graph, iri_node(name[1:-1])) for name in names]
    if visit := attempts.get(_VISITED):
        told.append(Triple(document, NamedNode(_VISITED), attempt_node(base, visit.id)))
    for attempt in {each.id: each for each in attempts.values()}.values():
        told += describe_attempt(base, attempt)
    return told


def replacing(told: Mapping[str, Sequence[Triple]], always: Iterator[Triple]) -> str:
    """Return a SPARQL Update that replaces what the graph says of documents, by their names.

    Attempts that another document refers to stay. ``always`` is added.
    """
    parts = []
    for name in told:
        node = iri_node(name)
        parts += [
            f"DELETE {{ GRAPH {PROVENANCE_GRAPH} {{ ?a ?p ?o }} }} WHERE {{"
            f" GRAPH {PROVENANCE_GRAPH} {{ {node} <{leads}> ?a . ?a ?p ?o }} FILTER NOT EXISTS {{"
            f" GRAPH {PROVENANCE_GRAPH} {{ ?other ?r ?a . FILTER(?other != {node}) }} }} }}"
            for leads in (_GENERATED, _VISITED)
        ]
        parts.append(f"DELETE WHERE {{ GRAPH {PROVENANCE_GRAPH} {{ {node} ?p ?o }} }}")
    lines = dict.fromkeys(f"{each} ." for about in (*told.values(), list(always)) for each in about)
    text = "\n".join(lines)
    return " ;\n".join([*parts, f"INSERT DATA {{ GRAPH {PROVENANCE_GRAPH} {{\n{text}\n}} }}"])
