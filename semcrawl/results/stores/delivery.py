"""Delivery of a crawl's documents to a triple store, in turns, whatever fails between them.

The source of deliveries: a file of quads, and the ledger of its documents.
An older version of semcrawl noted no owners of graphs: its documents replaced whatever graphs they
stated. From now on, a document owns the graphs that it made under names that it may keep. All
documents are delivered again, each to its own graphs. Graphs under other names stay as they are, as
their owners are not known.

Delivers the documents of a job folder to a triple store, each once, in order of revisions.

``quads.nq`` with its ledger is one spool, ``embedded.nq`` with its ledger another. The ledger's
table ``delivery`` names the last revision that a store has; documents with a larger one wait. A
delivery replaces a document's graphs, so it can be repeated after a crash or a lost response
without duplicates. If both files have statements of a URL, its graph holds both. Only graphs that a
document made, according to the ledger, are replaced (:mod:`~semcrawl.results.stores.naming`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname
from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.filelocks import lock
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url, one_line
from semcrawl.metadata.records import (
    Contribution,
    Delivery,
    Document,
    Refusal,
    in_parts,
    storable,
    url_key,
)
from semcrawl.pipelines.quadsfile import (
    EMBEDDED_FILE,
    EMBEDDED_LEDGER,
    QUADS_FILE,
    is_lost,
    is_sound,
)
from semcrawl.rdf.sink import iri
from semcrawl.results.stores.contract import GraphContent, GraphStore, Span, StoreRefused, holds
from semcrawl.results.stores.naming import (
    Claimed,
    Claims,
    GraphNaming,
    Made,
    Owners,
    StatedDocument,
)

if TYPE_CHECKING:
    from semcrawl.results.stores._provenance import Provenance

#: prefix that older versions gave on servers to graphs named by blank nodes
_BLANK_NAME = "urn:semcrawl:graph:"


class Spool:
    """A file of quads in the job folder. Not thread-safe.

    Raises SQLAlchemy's errors and ``OSError``.
    """

    def __init__(self, folder: Path, name: str, ledger: str, target: str) -> None:
        """Read the file ``name``, whose documents ``ledger`` lists, for the store ``target``."""
        self.name = name
        self._path = folder / name
        self._lock_path = folder / f".{name}.lock"
        self.engine = connect(crawl_db_url(folder, ledger))
        self._reading = self.engine.execution_options(read_only=True)
        #: names the store in the ledger
        self.target = target

    @contextmanager
    def opened(self) -> Iterator[OpenSpool]:
        """Open file and ledger while they agree; the caller must close the file."""
        # the lock keeps out a compaction between reading the ledger and opening the file
        with self._lock_path.open("ab") as file:
            lock(file, shared=True)
            with self._reading.begin() as connection:
                yield OpenSpool(connection, self._path.open("rb"), self.target)

    def waiting(self) -> int:
        """Return how many documents wait for delivery to the store."""
        with self._reading.begin() as connection:
            return connection.execute(
                select(func.count())
                .select_from(Document)
                .where(Document.revision > _delivered(connection, self.target))
            ).scalar_one()

    def has_older_delivery(self) -> bool:
        """Whether a version that noted no owners delivered documents to the store."""
        with self._reading.begin() as connection:
            query = select(Delivery.has_owners).where(Delivery.target == self.target)
            return connection.execute(query).scalar() is False

    def delivered(self) -> list[tuple[str, list[str]]]:
        """Return the URLs of documents whose graphs the store may have, with their other graphs.

        These are all documents that were delivered, including those that have changed since.
        """
        with self._reading.begin() as connection:
            revision = _delivered(connection, self.target)
            is_told = Document.gone_at.is_(None) & (Document.revision <= revision)
            has_changed = (Document.revision > revision) & (Document.changes > 0)
            found: dict[str, tuple[str, list[str]]] = {
                key: (url, [])
                for key, url in connection.execute(
                    select(Document.url_key, Document.url).where(is_told | has_changed)
                )
            }
            for key, graph in connection.execute(
                select(Contribution.document_key, Contribution.graph)
            ):
                if key in found:
                    found[key][1].append(graph)
        return list(found.values())

    def start_again(self) -> None:
        """Forget all deliveries."""
        with self.engine.begin() as connection:
            connection.execute(delete(Delivery).where(Delivery.target == self.target))

    def note_delivered(self, revision: int, refused: Sequence[dict[str, object]]) -> None:
        """Note that the store has taken or refused all documents up to a revision."""
        with self.engine.begin() as connection:
            changed = connection.execute(
                update(Delivery).where(Delivery.target == self.target).values(revision=revision)
            )
            if not changed.rowcount:
                row = {"target": self.target, "revision": revision, "has_owners": True}
                connection.execute(insert(Delivery).values(row))
            if refused:
                connection.execute(
                    insert(Refusal), [{"target": self.target, **row} for row in refused]
                )

    def renew(self, urls: Collection[str]) -> None:
        """Give documents that the store has new revisions, so that they wait for delivery."""
        with self.engine.begin() as connection:
            last = connection.execute(select(func.max(Document.revision))).scalar() or 0
            for revision, url in enumerate(urls, last + 1):
                connection.execute(
                    update(Document)
                    .where(Document.url_key == url_key(url), Document.gone_at.is_(None))
                    .values(revision=revision)
                )

    def close(self) -> None:
        """Close the ledger."""
        self.engine.dispose()


class OpenSpool:
    """The state of a spool at one moment."""

    def __init__(self, connection: Connection, file: IO[bytes], target: str) -> None:
        """Read the ledger through ``connection``."""
        self._connection = connection
        self._target = target
        #: the quads; the caller closes it after using the spans
        self.file = file
        self._spans: dict[str, Span] = {}

    def delivered(self) -> int:
        """Return the last revision that the store has; documents with a larger one wait."""
        return _delivered(self._connection, self._target)

    def changed(self, after: int, limit: int) -> Sequence[Any]:
        """Return rows of ``document`` with a later revision, oldest change first."""
        return self._connection.execute(
            select(
                Document.url,
                Document.revision,
                Document.quads,
                Document.offset,
                Document.length,
                Document.checksum,
                Document.gone_at,
            )
            .where(Document.revision > after)
            .order_by(Document.revision)
            .limit(limit)
        ).all()

    def span(self, row: Any) -> Span:
        """Return the place of a document's lines, one object for all its graphs."""
        span = self._spans.get(row.url)
        if span is None:
            span = Span(self.file, row.url, row.offset, row.length, row.quads)
            self._spans[row.url] = span
        return span

    def is_sound(self, row: Any) -> bool:
        """Whether a document's lines are in the file as they were written, or it is gone."""
        if row.gone_at is not None:
            return True
        is_there = not is_lost(row._mapping)
        return is_there and is_sound(self.file, row.offset, row.length, row.checksum)

    def has_contributions(self) -> bool:
        """Whether any document has statements in graphs other than its own."""
        found = self._connection.execute(select(Contribution.id).limit(1)).first()
        return found is not None

    def contributions_of(self, urls: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the other graphs in which documents have statements, as (URL, graph)."""
        keys = {url_key(url): url for url in urls}
        for part in in_parts(list(keys)):
            rows = self._connection.execute(
                select(Contribution.document_key, Contribution.graph).where(
                    Contribution.document_key.in_(part)
                )
            )
            for key, graph in rows:
                yield keys[key], graph

    def documents(self, graphs: Collection[str]) -> set[str]:
        """Return which of the graphs have addresses of documents in this spool."""
        urls = [graph[1:-1] for graph in graphs if graph.startswith("<")]
        return {f"<{row.url}>" for row in self.rows_of(urls)}

    def rows_of(self, urls: Collection[str]) -> Iterator[Any]:
        """Yield the rows of documents with these URLs, except those that are gone."""
        for part in in_parts([url_key(url) for url in urls]):
            yield from self._connection.execute(
                select(
                    Document.url,
                    Document.revision,
                    Document.offset,
                    Document.length,
                    Document.quads,
                    Document.checksum,
                    Document.gone_at,
                ).where(Document.url_key.in_(part), Document.gone_at.is_(None))
            )


def _delivered(connection: Connection, target: str) -> int:
    found = connection.execute(select(Delivery.revision).where(Delivery.target == target)).scalar()
    return int(found or 0)


def take_over_delivery(spool: Spool, owners: Owners, naming: GraphNaming) -> None:
    """Note, once, the owners of graphs that an older version delivered.

    Raises SQLAlchemy's errors.
    """
    if not spool.has_older_delivery():
        return
    made = {each.name: each for each in _made(spool, naming)}
    known = owners.taken(made)
    owners.claim(each for name, each in made.items() if name not in known)
    spool.start_again()


def _made(spool: Spool, naming: GraphNaming) -> Iterator[Made]:
    """Yield the graphs that documents made; for each name the last one counts.

    That is the graph of the document with this address, if there is one.
    """
    is_server = not spool.target.startswith("embedded:")
    own: list[Made] = []
    for url, graphs in spool.delivered():
        key = url_key(url)
        own.append(Made(key, iri(url), iri(url), ""))
        for graph in graphs:
            if graph.startswith("_:"):
                name = f"<{_BLANK_NAME}{graph[2:]}>" if is_server else graph
                yield Made(key, graph, name, "")
            elif graph and naming.may_keep(url, graph):
                yield Made(key, graph, graph, "")
    yield from own


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
        records: str = "",
    ) -> None:
        """Deliver to ``store`` in batches of at most so many documents and bytes of N-Quads.

        ``embedded``: also deliver the data embedded in pages. ``naming`` says which graph names
        documents may keep. ``adopting``: replace graphs under documents' addresses, whoever made
        them. ``shared``: the URL of the database that lists the graphs of all workers of a crawl;
        without it, the folder's own ledger does. ``records``: the URL of the database with the
        attempts, if the store is to be told where documents come from; else empty.
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
        self._documents = spool.engine
        if shared:
            self._documents = connect(shared)
            self._owners = Owners(self._documents, self._target)
            # revisions are numbered by folder
            self._versions = url_key(f"{gethostname()}:{folder.resolve()}")[:12] + " "
            with self._ledger("write"):
                self._owners.take_over(own)
        self._is_shared = bool(shared)
        self._naming = naming
        self._claims = Claims(self._owners, store, naming, adopting=adopting)
        self._take_over(spool)
        self._provenance: Provenance | None = None
        self._records: Engine | None = None
        if records:
            from semcrawl.results.stores._provenance import Provenance

            self._records = connect(records)
            self._provenance = Provenance(store, self._target, self._owners, self._records)

    def tell(self) -> int:
        """Tell the store where its documents come from, if it is to know; return their number.

        Call it when no document waits. Raises ``StoreUnavailable`` and ``StoreRefused``.
        """
        if self._provenance is None:
            return 0
        with self._ledger("write"):
            return self._provenance.tell(self._ledgers())

    def _ledgers(self) -> dict[str, Engine]:
        _, *pages = self._spools()
        return {"document": self._documents} | ({"page": pages[0].engine} if pages else {})

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
            if self._provenance is not None:
                for ledger in self._ledgers().values():
                    self._provenance.forget(ledger)

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
        if self._records is not None:
            self._records.dispose()
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

    def differing(self) -> Iterator[str]:
        """Yield addresses of delivered documents whose graphs in the store are not as delivered.

        Documents with a change that waits for delivery are left out. Raises ``StoreUnavailable``.
        """
        for spool in self._spools():
            after = 0
            while True:
                with self._ledger("read"):
                    batch = self._next_batch(spool, after)
                if batch is None:
                    break
                after = batch.revision
                with batch.files:
                    with self._ledger("write"):
                        claims = self._claims.claim(list(batch.stated.values()), batch.addresses)
                    for url, _, _ in batch.documents:
                        contents = claims[url].contents
                        if not all(holds(self._store, content) for content in contents):
                            yield url

    def deliver_again(self, urls: Collection[str]) -> None:
        """Have these documents delivered once more, by a change of theirs that has no content."""
        for spool in self._spools():
            with self._ledger("write"):
                spool.renew(urls)

    def _next_batch(self, spool: Spool, after: int | None = None) -> _Batch | None:
        """Return documents that wait for delivery; or delivered ones ``after`` a revision."""
        with ExitStack() as files, ExitStack() as looks:
            own = looks.enter_context(spool.opened())
            files.enter_context(own.file)
            last = own.delivered()
            rows = own.changed(last if after is None else after, self._batch_documents)
            if after is not None:
                rows = [row for row in rows if row.revision <= last]
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
                    if after is not None and row.revision > other.delivered():
                        batch.leave_out(row.url)
                    elif other.is_sound(row):
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
