"""The index of terms made afterwards, for jobs that were crawled without it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from sqlalchemy import func, select, update

from semcrawl.errors import StoreError
from semcrawl.metadata.models import Document
from semcrawl.metadata.termindex import write_terms
from semcrawl.rdf.usedterms import TermCounter
from semcrawl.results.quadsource import QuadSource, store_errors

#: documents that are indexed in one transaction, which keeps a crawl waiting
_BATCH = 200
_WAITING = (
    Document.gone_at.is_(None),
    Document.length > 0,
    Document.terms_complete.is_(None),
)


def index_documents(
    source: QuadSource, limit: int, starting: Callable[[int], None] = lambda documents: None
) -> None:
    """Index the documents that are not yet, each with ``limit`` terms at most.

    ``starting`` is called with their number, if any. Raises ``StoreError`` where there are some
    and the ledger cannot be written.
    """
    with store_errors(source.ledger), source.engine.connect() as connection:
        waiting = connection.scalar(select(func.count()).select_from(Document).where(*_WAITING))
    if not waiting:
        return
    if not source.is_writable:
        raise StoreError(
            f"{waiting:,} documents of {source.path} are not indexed, and {source.ledger} may not "
            "be written: copy the folder; `semcrawl query` needs no index"
        )
    starting(waiting)
    while _index_some(source, limit):
        pass


def _index_some(source: QuadSource, limit: int) -> bool:
    """Index a batch; return whether there was any."""
    with store_errors(source.path), source.change() as snapshot:
        counters: dict[int, TermCounter] = {}
        for place in list(islice(snapshot.places(unindexed=True), _BATCH)):
            counter = counters[place.id] = TermCounter(limit)
            for lines in snapshot.lines(place):
                counter.add(lines)
        write_terms(snapshot.connection, counters)
        for complete in (True, False):
            ids = [number for number, c in counters.items() if c.is_complete is complete]
            snapshot.connection.execute(
                update(Document).where(Document.id.in_(ids)).values(terms_complete=complete)
            )
    return bool(counters)
