"""The source of deliveries: a file of quads, and the ledger of its documents.

An older version of semcrawl noted no owners of graphs: its documents replaced whatever graphs they
stated. From now on, a document owns the graphs that it made under names that it may keep. All
documents are delivered again, each to its own graphs. Graphs under other names stay as they are, as
their owners are not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, delete, func, insert, select, update

from semcrawl.machine.filelocks import lock
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.models import Contribution, Delivery, Document, Refusal, url_key
from semcrawl.metadata.rows import in_parts
from semcrawl.pipelines.soundness import is_lost, is_sound
from semcrawl.pipelines.stores.naming import GraphNaming
from semcrawl.pipelines.stores.owners import Made, Owners
from semcrawl.pipelines.stores.spans import Span
from semcrawl.rdf.quadlines import iri

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

    def undelivered(self, limit: int) -> Sequence[Any]:
        """Return rows of ``document`` that wait for delivery to the store, oldest change first."""
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
            .where(Document.revision > _delivered(self._connection, self._target))
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
