"""Deliver the documents of a job folder to a triple store: each once, in the order of revisions.

``quads.nq`` and its ledger are the spool, and ``embedded.nq`` with its own another: what a store
lacks is every document whose revision is larger than the one that the ledger's table ``delivery``
names for the store. A document's graphs are replaced, so that a delivery may be repeated after a
crash or a lost answer without doubling anything. A graph that both files have statements of holds
those of both.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.metadata.database import CRAWL_DB, one_line
from semcrawl.metadata.models import storable
from semcrawl.pipelines.graphs import iri
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE
from semcrawl.pipelines.stores.contract import GraphContent, GraphStore, StoreRefused
from semcrawl.pipelines.stores.spans import Span
from semcrawl.pipelines.stores.spool import OpenSpool, Spool


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that the store would not take."""

    url: str
    revision: int
    error: str


@dataclass(slots=True)
class Delivered:
    """What was brought at once."""

    documents: int = 0
    quads: int = 0
    #: documents that are gone, whose graphs the store has no more
    removed: int = 0
    refused: list[Refused] = field(default_factory=list)
    #: whether more was waiting than a batch holds
    more: bool = False


@dataclass(slots=True)
class _Batch:
    """Documents with the graphs they touch, read from the ledgers at one moment."""

    #: closes the files of the spans
    files: ExitStack
    #: (URL, revision, statements) in order of revision
    documents: list[tuple[str, int, int]] = field(default_factory=list)
    #: URLs of those that are gone
    gone: set[str] = field(default_factory=set)
    #: graphs by document URL
    graphs: dict[str, list[str]] = field(default_factory=dict)
    spans: dict[str, list[Span]] = field(default_factory=dict)
    #: graphs of documents in their first version, which no other document has statements in
    new: set[str] = field(default_factory=set)
    more: bool = False

    def contents(self, urls: Iterable[str]) -> list[GraphContent]:
        """Return the contents of the documents' graphs, each graph once."""
        names = dict.fromkeys(graph for url in urls for graph in self.graphs[url])
        return [GraphContent(name, self.spans.get(name, []), name in self.new) for name in names]


class Deliverer:
    """Brings a store up to date with a job folder. Not for several threads."""

    def __init__(
        self,
        folder: Path,
        store: GraphStore,
        *,
        embedded: bool = True,
        batch_documents: int = 2000,
        batch_bytes: int = 16 << 20,
    ) -> None:
        """Deliver to ``store`` in batches of so many documents and bytes of N-Quads.

        ``embedded``: also the data embedded in pages.
        """
        self._folder = folder
        self._store = store
        self._embedded = embedded
        self._target = storable(store.target)[:255]
        self._batch_documents = batch_documents
        self._batch_bytes = batch_bytes
        self._open_spools = [Spool(folder, QUADS_FILE, CRAWL_DB, self._target)]

    def waiting(self) -> int:
        """Return how many documents the store has not been told of."""
        return sum(spool.waiting() for spool in self._spools())

    def start_again(self) -> None:
        """Forget what was delivered: the store is new or was emptied."""
        try:
            for spool in self._spools():
                spool.start_again()
        except SQLAlchemyError as error:
            raise StoreError(f"cannot write the ledger: {one_line(error)}") from None

    def step(self) -> Delivered | None:
        """Deliver the next batch of each file; ``None`` when nothing waits.

        Raises ``StoreUnavailable`` when the store is away: nothing is lost, call again later.
        """
        total: Delivered | None = None
        for spool in self._spools():
            result = self._step(spool)
            if total is None or result is None:
                total = result or total
                continue
            total.documents += result.documents
            total.quads += result.quads
            total.removed += result.removed
            total.refused += result.refused
            total.more |= result.more
        return total

    def close(self) -> None:
        """Close the ledgers and the store."""
        for spool in self._open_spools:
            spool.close()
        self._store.close()

    def _spools(self) -> list[Spool]:
        """Return the spools; that of embedded data is there once a page had some."""
        is_there = len(self._open_spools) > 1
        if self._embedded and not is_there and (self._folder / EMBEDDED_FILE).exists():
            spool = Spool(self._folder, EMBEDDED_FILE, EMBEDDED_LEDGER, self._target)
            self._open_spools.append(spool)
        return self._open_spools

    def _step(self, spool: Spool) -> Delivered | None:
        try:
            batch = self._next_batch(spool)
        except OSError as error:
            raise StoreError(f"cannot read {self._folder}: {error.strerror}") from None
        except SQLAlchemyError as error:
            raise StoreError(f"cannot read the ledger: {one_line(error)}") from None
        if batch is None:
            return None
        with batch.files:
            result = self._deliver(batch)
        result.more = batch.more
        try:
            spool.note_delivered(batch.documents[-1][1], _rows(result.refused))
        except SQLAlchemyError as error:
            raise StoreError(f"cannot write the ledger: {one_line(error)}") from None
        return result

    def _deliver(self, batch: _Batch) -> Delivered:
        """Send all at once; when that is refused, half by half, to find whose fault it is."""
        result = Delivered()
        todo = [batch.documents]
        while todo:
            documents = todo.pop()
            try:
                self._store.replace(batch.contents(url for url, _, _ in documents))
            except StoreRefused as error:
                if len(documents) == 1:
                    url, revision, _ = documents[0]
                    result.refused.append(Refused(url, revision, str(error)))
                else:
                    middle = len(documents) // 2
                    todo += [documents[middle:], documents[:middle]]
            else:
                there = [quads for url, _, quads in documents if url not in batch.gone]
                result.documents += len(there)
                result.quads += sum(there)
                result.removed += len(documents) - len(there)
        return result

    def _next_batch(self, spool: Spool) -> _Batch | None:
        with ExitStack() as files, ExitStack() as looks:
            own = looks.enter_context(spool.opened())
            files.enter_context(own.file)
            rows = own.undelivered(self._batch_documents)
            if not rows:
                return None
            batch = _Batch(files, more=len(rows) == self._batch_documents)
            size = 0
            for row in rows:
                if batch.documents and size + row.length > self._batch_bytes:
                    batch.more = True
                    break
                size += row.length
                graph = iri(row.url)
                batch.documents.append((row.url, row.revision, row.quads))
                batch.graphs[row.url] = [graph]
                if not row.changes:
                    batch.new.add(graph)
                if row.gone_at is None:
                    batch.spans[graph] = [own.span(row)]
                else:
                    batch.gone.add(row.url)
            others = [
                looks.enter_context(other.opened())
                for other in self._spools()
                if other is not spool
            ]
            for other in others:
                files.enter_context(other.file)
            _add_shared_graphs(batch, own, others)
            batch.files = files.pop_all()
            return batch


def _add_shared_graphs(batch: _Batch, own: OpenSpool, others: Sequence[OpenSpool]) -> None:
    """Add the graphs that documents have statements in besides their own."""
    shared: set[str] = set()
    if own.has_contributions():
        for url, graph in own.contributions_of(batch.graphs):
            batch.graphs[url].append(graph)
            shared.add(graph)
        shared |= own.contributed([iri(url) for url in batch.graphs])
    if others:
        graphs = {graph for graphs in batch.graphs.values() for graph in graphs}
        for other in others:
            shared |= other.documents(graphs) | other.contributed(graphs)
    batch.new -= shared
    places = [spool.spans_of(shared) for spool in (own, *others)]
    for graph in shared:
        batch.spans[graph] = [span for spans in places for span in spans[graph]]


def _rows(refused: Sequence[Refused]) -> list[dict[str, object]]:
    return [
        {
            "url": entry.url,
            "revision": entry.revision,
            "error": storable(entry.error),
            "refused_at": time.time(),
        }
        for entry in refused
    ]
