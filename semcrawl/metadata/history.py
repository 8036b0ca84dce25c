"""Keeps the table ``document`` up to date: first visits, re-visits, documents that are gone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    and_,
    bindparam,
    case,
    delete,
    distinct,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.orm import aliased

from semcrawl.config.revisit import Revisit, RevisitOptions, Visited, due
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import opened
from semcrawl.metadata.records import (
    Document,
    Fetch,
    document_row,
    in_parts,
    insert_rows,
    url_key,
)
from semcrawl.metadata.termindex import forget_terms, ids_of, write_terms
from semcrawl.rdf.shortnames import TermCounter
from semcrawl.terminal import amount
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import FoundBy, Kind

#: stores the content of a document, counts its terms, and returns the row's ``offset``, ``length``,
#: ``checksum`` and ``revision``
Place = Callable[[TermCounter], dict[str, Any]]
#: whether the lines at an offset, of a length and with a checksum, are in the file
Holds = Callable[[int, int, str | None], bool]
#: keeps a document, named by its key, before a change: with the checksum of its new lines (``None``
#: if it is gone) and the time of the change
Keep = Callable[[str, str | None, float], None]


#: columns of a document whose lines the file has lost; the next run reads it again
LOST: dict[str, Any] = {
    "offset": 0,
    "length": 0,
    "checksum": None,
    "etag": "",
    "last_modified": "",
    "content_hash": "",
}


def unknown_row(url: str) -> dict[str, Any]:
    """Return the row of a document of which only the address is known."""
    return {
        **document_row(RdfDocument(url, quads=1)),
        **LOST,
        "revision": 0,
        "visits": 0,
        "changes": 0,
        "gone_at": None,
        "terms_complete": None,
    }


class Written(StrEnum):
    """What an item changed in the table."""

    NEW = "new"  #: a new document
    DUPLICATE = "duplicate"  #: the table already had its final URL
    REPLACED = "replaced"  #: a re-visit found other content, which counts now
    UNCHANGED = "unchanged"  #: a re-visit found the same content, or got a 304
    GONE = "gone"  #: a re-visit found that the document no longer exists
    NOTHING = "nothing"  #: a record that says nothing about a document


class DocumentHistory:
    """Writes a batch of items into the table ``document``, with one look-up and one insertion.

    Use it in one transaction: :meth:`note_document` or :meth:`note_record` for each item of the
    batch, then :meth:`flush`.
    """

    def __init__(
        self,
        connection: Connection,
        items: Iterable[RdfDocument | FetchRecord],
        *,
        pages: bool = False,
        terms: int = 0,
        holds: Holds = lambda offset, length, checksum: True,
        elsewhere: Callable[[str], bool] = lambda key: False,
        keep: Keep = lambda key, checksum, until: None,
    ) -> None:
        """Look up the rows of the items' documents.

        ``pages``: the table lists pages with data, not RDF documents. ``terms``: most terms to
        index of each document; 0 = none. A re-visit finds a document unchanged only if the file
        still ``holds`` its lines. ``elsewhere`` says whether another worker delivered the document
        with a key: if it is gone, it gets a row here, so that this worker's delivery drops it.
        ``keep`` is called before a change of a document that has a row.
        """
        self._keep = keep
        self._holds = holds
        self._elsewhere = elsewhere
        self._connection = connection
        self._limit = terms
        self._pages = pages
        keys = {
            url_key(item.url) for item in items if isinstance(item, RdfDocument) or item.revisit
        }
        self._known: dict[str, _Known] = {}
        if keys:
            for row in connection.execute(_LOOK_UP, {"keys": sorted(keys)}):
                self._known[row.url_key] = _Known(*row[1:])
        self._new: list[dict[str, Any]] = []
        #: by ``url_key``, the terms to write
        self._terms: dict[str, TermCounter] = {}

    def note_document(self, document: RdfDocument, place: Place) -> Written:
        """Note a document; call ``place`` if its content is to be stored."""
        key = url_key(document.url)
        known = self._known.get(key)
        if known is None:
            row = document_row(document)
            placed = self._placed(key, place)
            self._new.append({**row, **placed, "visits": 1, "changes": 0, "gone_at": None})
            place_now = (placed["offset"], placed["length"], placed["checksum"])
            self._known[key] = _Known(
                document.content_hash, None, document.fetched_at, 1, 0, *place_now
            )
            return Written.NEW
        if not document.revisit:
            return Written.DUPLICATE
        self.flush()
        row = document_row(document)
        known.visits += document.fetched_at > known.last_seen_at
        known.last_seen_at = document.fetched_at
        visit = {
            "visits": known.visits,
            "last_seen_at": known.last_seen_at,
            "etag": row["etag"],
            "last_modified": row["last_modified"],
        }
        is_same = known.gone_at is None and known.content_hash == document.content_hash != ""
        if is_same and self._is_held(known):
            self._update(key, visit)
            return Written.UNCHANGED
        row.pop("first_seen_at")
        known.content_hash, known.gone_at = document.content_hash, None
        known.changes += 1
        placed = self._placed(key, place)
        known.offset, known.length = placed["offset"], placed["length"]
        known.checksum = placed["checksum"]
        self._keep(key, placed["checksum"], document.fetched_at)
        self._update(key, {**row, **placed, **visit, "changes": known.changes, "gone_at": None})
        return Written.REPLACED

    def _is_held(self, known: _Known) -> bool:
        return self._holds(known.offset, known.length, known.checksum)

    def _placed(self, key: str, place: Place) -> dict[str, Any]:
        """Store the content and count its terms; return the columns about both."""
        counter = TermCounter(self._limit)
        placed = place(counter)
        # even without an index: this deletes the rows of an older version of the document
        self._terms[key] = counter
        return {**placed, "terms_complete": counter.is_complete if counter.is_on else None}

    def note_record(self, record: FetchRecord, revision: Callable[[], int]) -> Written:
        """Apply a re-visit's record to a document; ``revision`` numbers a change."""
        if not record.revisit:
            return Written.NOTHING
        key = url_key(record.url)
        known = self._known.get(key)
        # if a page has become an RDF document, the page's data are gone
        is_gone = means_gone(record.outcome, record.status)
        is_gone |= self._pages and record.outcome is FetchOutcome.FETCHED_RDF
        if known is None and is_gone and self._elsewhere(key):
            self.flush()
            values = {**unknown_row(record.url), "gone_at": record.started_at}
            times = {"first_seen_at": record.started_at, "last_seen_at": record.started_at}
            values |= {**times, "visits": 1, "changes": 1, "revision": revision()}
            insert_rows(self._connection, Document, [values])
            self._known[key] = _Known(
                content_hash="",
                gone_at=record.started_at,
                last_seen_at=record.started_at,
                visits=1,
                changes=1,
                offset=0,
                length=0,
                checksum=None,
            )
            return Written.GONE
        if (
            known is None
            or record.started_at <= known.last_seen_at
            or not (is_gone or record.outcome is FetchOutcome.NOT_MODIFIED)
        ):
            return Written.NOTHING
        self.flush()
        known.visits += 1
        known.last_seen_at = record.started_at
        seen: dict[str, Any] = {"visits": known.visits, "last_seen_at": known.last_seen_at}
        if known.gone_at is not None or not is_gone:
            if known.gone_at is None and not self._is_held(known):
                # the server says that nothing has changed, but the file has lost it
                seen |= LOST
            self._update(key, seen)
            return Written.NOTHING if known.gone_at is not None else Written.UNCHANGED
        known.gone_at = record.started_at
        known.changes += 1
        self._keep(key, None, record.started_at)
        gone = {"gone_at": known.gone_at, "changes": known.changes, "revision": revision()}
        self._update(key, {**seen, **gone})
        forget_terms(self._connection, [number for _, number in ids_of(self._connection, [key])])
        return Written.GONE

    def flush(self) -> None:
        """Insert the rows of new documents, then the terms of all documents."""
        insert_rows(self._connection, Document, self._new)
        self._new = []
        if self._terms:
            ids = ids_of(self._connection, list(self._terms))
            write_terms(self._connection, {number: self._terms[key] for key, number in ids})
            self._terms = {}

    def _update(self, key: str, values: dict[str, Any]) -> None:
        self._connection.execute(update(Document).where(Document.url_key == key).values(**values))


@dataclass(slots=True)
class _Known:
    """A document's state in the table."""

    content_hash: str
    gone_at: float | None
    last_seen_at: float
    visits: int
    changes: int
    offset: int
    length: int
    checksum: str | None


_LOOK_UP = select(
    Document.url_key,
    Document.content_hash,
    Document.gone_at,
    Document.last_seen_at,
    Document.visits,
    Document.changes,
    Document.offset,
    Document.length,
    Document.checksum,
).where(Document.url_key.in_(bindparam("keys", expanding=True)))


def means_gone(outcome: str, status: int | None) -> bool:
    """Whether an attempt with this outcome means that a URL gives no wanted RDF any more.

    Passing failures do not: network errors, timeouts, other HTTP errors, robots.txt.
    """
    if outcome == FetchOutcome.HTTP_ERROR:
        return status in (404, 410)
    if outcome == FetchOutcome.REDIRECTED:
        return status in (301, 308)
    no_rdf = (
        FetchOutcome.FETCHED_HTML,
        FetchOutcome.FETCHED_OTHER,
        FetchOutcome.FILTERED_TYPE,
        FetchOutcome.OFF_TOPIC,
    )
    return outcome in no_rdf


@dataclass(slots=True)
class Changes:
    """Addresses of documents and pages with data, by what became of them since a moment."""

    #: seconds since the epoch
    since: float
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    #: visited, and the same as before
    unchanged: int = 0
    #: had before, and not visited since
    unvisited: int = 0

    def __str__(self) -> str:
        """Return the numbers: ``3 new, 1 changed, 1 gone, 12 unchanged``."""
        parts = [f"{len(self.new):,} new", f"{len(self.changed):,} changed"]
        parts += [f"{len(self.gone):,} gone", f"{self.unchanged:,} unchanged"]
        return ", ".join(parts)

    @property
    def nothing_before(self) -> bool:
        """Whether nothing had been had before."""
        return not (self.changed or self.gone or self.unchanged or self.unvisited)

    def as_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def changes_since(engines: Sequence[Engine], since: float, hosts: Collection[str] = ()) -> Changes:
    """Return what became of the documents of ledgers since a moment; raise SQLAlchemy's errors.

    ``hosts`` (with their ports): of these alone. A document that went and came back is
    changed. The last state counts.
    """
    found = Changes(since)
    columns = (
        Document.url, Document.first_seen_at, Document.last_seen_at, Document.fetched_at,
        Document.gone_at,
    )  # fmt: skip
    for engine in engines:
        with engine.execution_options(read_only=True).connect() as connection:
            rows = connection.execution_options(yield_per=1000).execute(
                select(*columns).order_by(Document.id)
            )
            for url, first, last, fetched, gone in rows:
                if hosts and netloc_of(url) not in hosts:
                    continue
                if gone is not None:
                    found.gone += [url] if gone >= since else []
                elif first >= since:
                    found.new.append(url)
                elif fetched >= since:
                    found.changed.append(url)
                elif last >= since:
                    found.unchanged += 1
                else:
                    found.unvisited += 1
    return found


def change_line(changes: Changes) -> str:
    """Return a line for the summary of a run that began then; empty for the first run."""
    if changes.nothing_before:
        return ""
    rest = f"; {amount(changes.unvisited, 'document')} not visited" if changes.unvisited else ""
    return f"Since the run before: {changes}{rest}."


def forget_attempts(engine: Engine, before: float) -> int:
    """Delete the records of attempts that began before a moment; return their number.

    Of each address the first one stays, which names its parent, and the last one with each
    outcome, by which re-visits and reports know what it is. Raises SQLAlchemy's errors.
    """
    old = Fetch.started_at < before
    firsts = select(func.min(Fetch.id)).group_by(Fetch.url)
    lasts = select(func.max(Fetch.id)).group_by(Fetch.url, Fetch.outcome)
    query = select(Fetch.id).where(old, Fetch.id.not_in(firsts), Fetch.id.not_in(lasts))
    with engine.execution_options(read_only=True).connect() as connection:
        if connection.scalar(select(Fetch.id).where(old).limit(1)) is None:
            return 0
        ids = connection.scalars(query).all()
    for part in in_parts(ids):  # other workers write in between
        with engine.begin() as connection:
            connection.execute(delete(Fetch).where(Fetch.id.in_(part)))
    return len(ids)


def due_revisits(
    url: str,
    options: RevisitOptions,
    now: float,
    files: Collection[str] = (),
    *,
    images: bool = False,
    broken: Collection[str] = (),
) -> list[Revisit]:
    """Return the re-visits that are due at ``now`` by the database at ``url``, most urgent first.

    ``files``: URLs of kept files that are neither RDF nor pages. ``images``: include images that
    were kept. ``broken``: URLs of broken images, which may work now. Raises ``UsageError`` and
    ``StoreError`` as :func:`semcrawl.metadata.database.connect` does.
    """
    with opened(url) as engine:
        return due(visited_documents(engine, files, images=images, broken=broken), options, now)


def read_sitemaps(url: str) -> list[tuple[str, str | None, int, str]]:
    """Return address, parent, depth and rules of each sitemap that was read, oldest first.

    ``url`` is that of the database. Raises as :func:`due_revisits` does.
    """
    place = case((Fetch.final_url != "", Fetch.final_url), else_=Fetch.url)
    query = (
        select(place, Fetch.parent_url, Fetch.depth, Fetch.rules)
        .where(Fetch.outcome == FetchOutcome.FETCHED_SITEMAP)
        .order_by(Fetch.id)
    )
    with opened(url) as engine, engine.connect() as connection:
        found = {row[0]: tuple(row) for row in connection.execute(query)}
    return list(found.values())


def visited_documents(
    engine: Engine,
    files: Collection[str] = (),
    *,
    images: bool = False,
    broken: Collection[str] = (),
) -> Iterator[Visited]:
    """Yield every RDF document that is not gone, every page that was read, ``files``, images.

    They include addresses that answered 404, and ``broken`` images, as these may come back.
    """
    with engine.execution_options(read_only=True).connect() as connection:
        found: dict[str | None, int] = {}
        was_missing = and_(Fetch.outcome == FetchOutcome.HTTP_ERROR, Fetch.status == 404)
        is_wanted = or_(
            Document.gone_at.is_(None), Document.url.in_(select(Fetch.url).where(was_missing))
        )
        # answers of an endpoint are no documents of their own: a new job reads the endpoint again
        is_wanted = and_(is_wanted, Document.found_by != FoundBy.ENDPOINT)
        for row in connection.execute(select(Document).where(is_wanted)):
            found[row.parent_url] = found.get(row.parent_url, 0) + (row.gone_at is None)
            missing = row.gone_at is not None
            yield _visited(row, Kind.RDF, row.changes, richness=row.quads, missing=missing)
        url = case((Fetch.final_url != "", Fetch.final_url), else_=Fetch.url)
        read = [FetchOutcome.FETCHED_HTML]
        read += [FetchOutcome.FETCHED_OTHER] if files or broken else []
        read += [FetchOutcome.FETCHED_IMAGE] if files or images else []
        is_read = Fetch.outcome.in_(read)
        content = case((and_(is_read, Fetch.content_hash != ""), Fetch.content_hash))
        pages = (
            select(
                url.label("url"),
                func.count().label("visits"),
                func.min(Fetch.id).label("first"),
                func.max(case((is_read, Fetch.id))).label("last_read"),
                func.max(case((was_missing, Fetch.id), else_=0)).label("last_missing"),
                func.count(distinct(content)).label("contents"),
                func.min(Fetch.started_at).label("first_seen_at"),
                func.max(Fetch.started_at).label("last_seen_at"),
            )
            .where(
                or_(
                    Fetch.outcome.in_((*read, FetchOutcome.NOT_MODIFIED)),
                    was_missing,
                )
            )
            .group_by(url)
            .having(func.max(case((is_read, 1), else_=0)) == 1)
            .subquery()
        )
        # an address may have given a document once and a page later: it counts as a document
        documents = select(Document.url).where(is_wanted)
        first, last = aliased(Fetch), aliased(Fetch)
        rows = connection.execute(
            select(
                pages,
                first.parent_url,
                first.depth,
                first.label,
                first.rules,
                first.found_by,
                last.outcome,
                last.etag,
                last.last_modified,
                last.content_hash,
                last.relevance,
            )
            .join(first, first.id == pages.c.first)
            .join(last, last.id == pages.c.last_read)
            .where(pages.c.url.not_in(documents))
        )
        for row in rows:
            is_page = row.outcome == FetchOutcome.FETCHED_HTML
            is_broken = row.url in broken and row.outcome == FetchOutcome.FETCHED_OTHER
            is_image = is_broken or (images and row.outcome == FetchOutcome.FETCHED_IMAGE)
            if not (is_page or is_image or row.url in files):
                continue
            yield _visited(
                row,
                Kind.HTML if is_page else Kind.OTHER,
                max(0, row.contents - 1),
                richness=found.get(row.url, 0),
                missing=is_broken or row.last_missing > row.last_read,
                image=is_image,
                near_text=row.relevance if is_image else None,
            )


def _visited(row: Any, kind: Kind, changes: int, **others: Any) -> Visited:
    """Make the history of a row; ``others``: further fields."""
    return Visited(
        url=row.url,
        kind=kind,
        etag=row.etag,
        last_modified=row.last_modified,
        visits=row.visits,
        changes=changes,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
        parent_url=row.parent_url,
        depth=row.depth,
        label=row.label,
        rules=tuple(row.rules.split()),
        found_by=FoundBy.read(row.found_by),
        content=row.content_hash,
        **others,
    )
