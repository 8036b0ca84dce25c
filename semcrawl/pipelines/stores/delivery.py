"""Delivers the documents of a job folder to a triple store, each once, in order of revisions.

``quads.nq`` with its ledger is one spool, ``embedded.nq`` with its ledger another. The ledger's
table ``delivery`` names the last revision that a store has; documents with a larger one wait. A
delivery replaces a document's graphs, so it can be repeated after a crash or a lost response
without duplicates. If both files have statements of a URL, its graph holds both. Only graphs that a
document made, according to the ledger, are replaced (:mod:`~semcrawl.pipelines.stores._claiming`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname

from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.metadata.database import CRAWL_DB, connect, one_line
from semcrawl.metadata.models import storable, url_key
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE
from semcrawl.pipelines.stores._claiming import Claimed, Claims, StatedDocument
from semcrawl.pipelines.stores._source import OpenSpool, Spool, take_over_delivery
from semcrawl.pipelines.stores.contract import GraphContent, GraphStore, StoreRefused
from semcrawl.pipelines.stores.naming import GraphNaming
from semcrawl.pipelines.stores.owners import Owners

#: the naming that trusts no site
NAMING = GraphNaming()


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that the store refused."""

    url: str
    revision: int
    error: str


@dataclass(slots=True)
class Delivered:
    """The result of one delivery step."""

    documents: int = 0
    quads: int = 0
    #: documents that are gone, and whose graphs were dropped
    removed: int = 0
    refused: list[Refused] = field(default_factory=list)
    #: documents whose own graph has a name other than their address, as somebody else has that name
    renamed: int = 0
    #: addresses of documents that were left out, as their lines in the job folder are damaged
    damaged: list[str] = field(default_factory=list)
    #: whether more documents waited than fit into a batch
    more: bool = False


@dataclass(slots=True)
class _Batch:
    """Documents with the graphs that they state, read from the ledgers at one moment."""

    #: closes the files of the spans
    files: ExitStack
    #: (URL, revision, statements) in order of revision
    documents: list[tuple[str, int, int]] = field(default_factory=list)
    #: URLs of documents that are gone
    gone: set[str] = field(default_factory=set)
    stated: dict[str, StatedDocument] = field(default_factory=dict)
    #: graph names that are the addresses of documents
    addresses: frozenset[str] = frozenset()
    claimed: dict[str, Claimed] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    #: the revision that the store has after this batch
    revision: int = 0
    more: bool = False

    def leave_out(self, url: str) -> None:
        """Leave out a document whose lines are damaged: the store keeps what it has of it."""
        self.documents = [entry for entry in self.documents if entry[0] != url]
        self.stated.pop(url, None)
        self.gone.discard(url)
        self.damaged.append(url)

    def contents(self, urls: Iterable[str]) -> list[GraphContent]:
        """Return the contents of the documents' graphs."""
        return [content for url in urls for content in self.claimed[url].contents]

    def mark_existing(self) -> None:
        """Mark no graph as new any more: the store may have some of them now."""
        for content in self.contents(self.claimed):
            content.is_new = False


class Deliverer:
    """Brings a store up to date with a job folder. Not thread-safe."""

    def __init__(
        self,
        folder: Path,
        store: GraphStore,
        *,
        embedded: bool = True,
        naming: GraphNaming = NAMING,
        adopting: bool = False,
        batch_documents: int = 2000,
        batch_bytes: int = 16 << 20,
        shared: str = "",
    ) -> None:
        """Deliver to ``store`` in batches of at most so many documents and bytes of N-Quads.

        ``embedded``: also deliver the data embedded in pages. ``naming`` says which graph names
        documents may keep. ``adopting``: replace graphs under documents' addresses, whoever made
        them. ``shared``: the URL of the database that lists the graphs of all workers of a crawl;
        without it, the folder's own ledger does.
        """
        self._folder = folder
        self._store = store
        self._embedded = embedded
        self._target = storable(store.target)[:255]
        self._batch_documents = batch_documents
        self._batch_bytes = batch_bytes
        spool = Spool(folder, QUADS_FILE, CRAWL_DB, self._target)
        self._open_spools = [spool]
        own = Owners(spool.engine, self._target)
        self._owners, self._versions = own, ""
        if shared:
            self._owners = Owners(connect(shared), self._target)
            # revisions are numbered by folder
            self._versions = url_key(f"{gethostname()}:{folder.resolve()}")[:12] + " "
            with self._ledger("write"):
                self._owners.take_over(own)
        self._is_shared = bool(shared)
        self._naming = naming
        self._claims = Claims(self._owners, store, naming, adopting=adopting)
        self._take_over(spool)

    def waiting(self) -> int:
        """Return how many documents wait for delivery to the store."""
        return sum(spool.waiting() for spool in self._spools())

    def start_again(self, *, is_new: bool = False) -> None:
        """Forget how much was delivered; if the store ``is_new``, also which graphs were made."""
        with self._ledger("write"):
            if is_new:
                self._owners.forget_all()
            else:
                self._owners.unsettle_all()
            for spool in self._spools():
                spool.start_again()

    def step(self) -> Delivered | None:
        """Deliver the next batch of each file; ``None`` if nothing waits.

        Raises ``StoreUnavailable`` if the store is down; nothing is lost, and a later call goes on.
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
            total.renamed += result.renamed
            total.damaged += result.damaged
            total.more |= result.more
        return total

    def close(self) -> None:
        """Close the ledgers and the store."""
        for spool in self._open_spools:
            spool.close()
        if self._is_shared:
            self._owners.close()
        self._store.close()

    def _spools(self) -> list[Spool]:
        """Return the spools, with that of embedded data as soon as it exists."""
        is_there = len(self._open_spools) > 1
        if self._embedded and not is_there and (self._folder / EMBEDDED_FILE).exists():
            spool = Spool(self._folder, EMBEDDED_FILE, EMBEDDED_LEDGER, self._target)
            self._take_over(spool)
            self._open_spools.append(spool)
        return self._open_spools

    def _take_over(self, spool: Spool) -> None:
        """Note the owners of graphs that an older version delivered."""
        with self._ledger("write"):
            take_over_delivery(spool, self._owners, self._naming)

    @contextmanager
    def _ledger(self, doing: str) -> Iterator[None]:
        """Turn errors of file and database into a one-line ``StoreError``."""
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot read {self._folder}: {error.strerror}") from None
        except SQLAlchemyError as error:
            raise StoreError(f"cannot {doing} the ledger: {one_line(error)}") from None

    def _step(self, spool: Spool) -> Delivered | None:
        with self._ledger("read"):
            batch = self._next_batch(spool)
        if batch is None:
            return None
        with batch.files:
            with self._ledger("write"):
                batch.claimed = self._claims.claim(list(batch.stated.values()), batch.addresses)
            result = self._deliver(batch)
        result.more, result.damaged = batch.more, batch.damaged
        refused = {entry.url for entry in result.refused}
        done = [claimed for url, claimed in batch.claimed.items() if url not in refused]
        result.renamed = sum(claimed.is_renamed for claimed in done)
        dropped = [name for claimed in done for name in claimed.dropped]
        names = {content.name for claimed in done for content in claimed.contents}
        with self._ledger("write"):
            # a crash between these two repeats a delivery, which does no harm
            self._owners.settle(names.difference(dropped), dropped)
            spool.note_delivered(batch.revision, _rows(result.refused))
        return result

    def _deliver(self, batch: _Batch) -> Delivered:
        """Send all documents at once; if refused, send halves, to find the refused ones."""
        result = Delivered()
        todo = [batch.documents] if batch.documents else []
        while todo:
            documents = todo.pop()
            try:
                self._store.replace(batch.contents(url for url, _, _ in documents))
            except StoreRefused as error:
                batch.mark_existing()
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
                if batch.revision and size + row.length > self._batch_bytes:
                    batch.more = True
                    break
                batch.revision = row.revision
                if not own.is_sound(row):
                    batch.damaged.append(row.url)
                    continue
                size += row.length
                batch.documents.append((row.url, row.revision, row.quads))
                document = StatedDocument(row.url, f"{self._versions}{spool.name} {row.revision}")
                batch.stated[row.url] = document
                if row.gone_at is None:
                    document.spans.append(own.span(row))
                else:
                    batch.gone.add(row.url)
            others = [
                looks.enter_context(other.opened())
                for other in self._spools()
                if other is not spool
            ]
            for other in others:
                files.enter_context(other.file)
                for row in list(other.rows_of(batch.stated)):
                    if other.is_sound(row):
                        batch.stated[row.url].spans.append(other.span(row))
                    else:
                        batch.leave_out(row.url)
            _add_stated_graphs(batch, (own, *others))
            batch.files = files.pop_all()
            return batch


def _add_stated_graphs(batch: _Batch, spools: Sequence[OpenSpool]) -> None:
    """Add the other graphs in which documents have statements."""
    stated: set[str] = set()
    for spool in spools:
        if not spool.has_contributions():
            continue
        for url, graph in spool.contributions_of(batch.stated):
            document = batch.stated[url]
            spans = [span for span in document.spans if span.file is spool.file]
            if spans:
                document.graphs.setdefault(graph, []).extend(spans)
                stated.add(graph)
    if stated:
        batch.addresses = frozenset().union(*(spool.documents(stated) for spool in spools))


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
