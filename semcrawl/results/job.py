"""Gives access to a job folder: documents, records, quads, index, profile, queries."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyoxigraph
from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from semcrawl.config.extras import install_hint
from semcrawl.errors import StoreError, UsageError, existing_folder
from semcrawl.items import FAILED, FetchOutcome
from semcrawl.metadata.database import CRAWL_DB
from semcrawl.metadata.records import Document, Fetch, Term, TermUse
from semcrawl.metadata.summary import MISSED_WORDS, is_robots, why_missed
from semcrawl.metadata.termindex import write_terms
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE
from semcrawl.rdf.shortnames import INDEXED_TERMS, TermCounter
from semcrawl.results.finding import Found, find_term
from semcrawl.results.profiling import Profile, profile_of
from semcrawl.results.quadsource import QuadSource, store_errors
from semcrawl.results.querystore import held_store

if TYPE_CHECKING:
    import pandas as pd
    import rdflib

    from semcrawl.results.reporting.findings import Report


#: documents indexed in one transaction, which blocks a running crawl
_BATCH = 200
_WAITING = (
    Document.gone_at.is_(None),
    Document.length > 0,
    Document.terms_complete.is_(None),
)

T = TypeVar("T", Document, Fetch)
#: hosts that a notebook shows
_HOSTS = 10
_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Failure:
    """An address whose last attempt failed."""

    url: str
    #: in words
    reason: str
    #: see ``semcrawl.items.FetchOutcome``
    outcome: str
    #: of HTTP; ``None`` without an answer
    status: int | None
    error: str
    #: attempts in a row that failed
    attempts: int


class Job:
    """The results of a finished or running crawl.

    Documents whose lines are damaged are left out; :attr:`damaged` names them.
    Methods raise ``StoreError`` for what cannot be read at all.
    """

    def __init__(self, folder: Path) -> None:
        """Open the folder; see :func:`semcrawl.results.open`."""
        self.folder = existing_folder(folder)
        if not (folder / CRAWL_DB).is_file():
            raise UsageError(f"{folder} is not a job folder: it has no {CRAWL_DB}")
        self._exit = ExitStack()
        #: quads of RDF documents, then those embedded in pages
        self.sources: list[QuadSource] = []
        for name, ledger in ((QUADS_FILE, CRAWL_DB), (EMBEDDED_FILE, EMBEDDED_LEDGER)):
            if (folder / ledger).is_file():
                source = QuadSource(folder, name, ledger)
                self._exit.callback(source.close)
                self.sources.append(source)

    def __repr__(self) -> str:
        """Return ``Job('FOLDER')``."""
        return f"Job({str(self.folder)!r})"

    def __enter__(self) -> Self:
        """Return the job."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the job."""
        self.close()

    def close(self) -> None:
        """Close the databases."""
        self._exit.close()

    @property
    def damaged(self) -> list[str]:
        """Addresses of the documents that were left out so far, as their lines are damaged."""
        return list(dict.fromkeys(url for source in self.sources for url in source.damaged))

    def records(self) -> Iterator[Fetch]:
        """Yield a row for each attempt, in order of their ends (columns: ``semcrawl.items``)."""
        yield from self._rows(self.sources[0], Fetch)

    def documents(self, *, gone: bool = False) -> Iterator[Document]:
        """Yield a row for each RDF document, then for each page with data (format ``embedded``).

        With ``gone``, also those that a re-visit found gone.
        """
        for source in self.sources:
            for document in self._rows(source, Document):
                if gone or document.gone_at is None:
                    yield document

    def quads(self) -> Iterator[pyoxigraph.Quad]:
        """Yield every quad, those embedded in pages last, with the documents' graph names."""
        for source in self.sources:
            with source.snapshot() as snapshot:
                for span in snapshot.spans():
                    for lines in snapshot.lines(span):
                        yield from pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS)

        if damaged := self.damaged:
            warnings.warn(
                f"{len(damaged)} documents of {self.folder} are left out, as their lines are "
                "damaged: see Job.damaged",
                stacklevel=2,
            )

    def dataset(self) -> rdflib.Dataset:
        """Return all quads as an ``rdflib.Dataset``, which takes some 1 KB of memory a quad.

        The default graph is the union of all graphs.
        """
        from semcrawl.results._inrdflib import dataset_of  # importing rdflib is slow

        return dataset_of(self.quads())

    def find(self, term: str, limit: int | None = None) -> Found:
        """Return the documents that use a class or a property; see :func:`find_term`."""
        self.index()
        return find_term([source.engine for source in self.sources], term, limit)

    def index(self, starting: Callable[[int], None] = lambda documents: None) -> None:
        """Index the documents that are not indexed; see :func:`index_documents`."""
        for source in self.sources:
            index_documents(source, INDEXED_TERMS, starting)

    def profile(self) -> Profile:
        """Return figures about the quads, counted in one pass."""
        return profile_of(self.sources)

    def failures(self) -> list[Failure]:
        """Return the addresses whose last attempt failed, retries included, and why.

        What was left out on purpose is none: by robots.txt, scope, patterns, topic.
        ``pandas.DataFrame(job.failures())`` makes a table of them.
        """
        last: dict[str, Failure] = {}
        for record in self.records():
            if is_robots(record.url, record.outcome):
                continue  # what it holds back failed too
            known = last.pop(record.url, None)
            reason = why_missed(record.outcome, record.status, record.errors)
            if reason and (reason == FAILED or FetchOutcome(record.outcome).means.problem):
                last[record.url] = Failure(
                    record.url,
                    MISSED_WORDS[reason],
                    record.outcome,
                    record.status,
                    record.errors,
                    known.attempts + 1 if known else 1,
                )
        return list(last.values())

    def _repr_html_(self) -> str:
        """Return a table of the last run's summary, as notebooks show it."""
        summary: dict[str, Any] = {}
        with suppress(OSError, ValueError):  # none yet
            summary = json.loads((self.folder / "summary.json").read_text("utf-8"))
        hosts = summary.get("hosts", {})
        totals = [
            (name.replace("_", " "), f"{summary[name]:,}")
            for name in ("requests", "rdf_documents", "html_documents", "quads", "embedded_quads")
            if isinstance(summary.get(name), int)
        ]
        rows = [
            (host, *(f"{of.get(name, 0):,}" for name in ("requests", "rdf_documents", "quads")))
            for host, of in list(hosts.items())[:_HOSTS]
        ]
        more = f"<p>… and {len(hosts) - _HOSTS:,} more hosts</p>" if len(hosts) > _HOSTS else ""
        head = f"<p><b>{escape(str(self.folder))}</b></p>"
        if not summary:
            return f"{head}<p>no summary yet: the harvest still runs, or was killed</p>"
        heading = ("host", "requests", "RDF documents", "quads")
        return f"{head}{_html(totals)}{_html(rows, heading)}{more}"

    def report(
        self, hosts: Collection[str] = (), since: float | None = None, shapes: bytes = b""
    ) -> Report:
        """Return the faults of what was harvested; see :func:`report_of`."""
        from semcrawl.results.reporting.making import report_of  # it opens jobs itself

        return report_of(self, hosts, since, shapes)

    def query(
        self, sparql: str
    ) -> pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean | pyoxigraph.QueryTriples:
        """Answer a SPARQL query over the union of all graphs; common prefixes are declared.

        It has no time limit, unlike ``semcrawl query``. Raises ``UsageError`` for an invalid query
        and for ``SERVICE``.
        """
        from semcrawl.results.queries import evaluate

        with held_store(self.folder, self.sources) as store:
            return evaluate(str(store), sparql)

    def frame(self, name: str) -> pd.DataFrame:
        """Return ``records``, ``documents`` or ``terms`` as a pandas data frame.

        Raises ``UsageError`` for another name, and without pandas.
        """
        return frame_of(self, name)

    def _rows(self, source: QuadSource, table: type[T]) -> Iterator[T]:
        with store_errors(source.ledger), Session(source.engine) as session:
            session.connection(execution_options={"read_only": True})
            yield from session.scalars(select(table).order_by(table.id)).yield_per(_ROWS)


def _html(rows: Sequence[Sequence[str]], heading: Sequence[str] = ()) -> str:
    """Return a table in which all texts are escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in (head, *lines) if line)
    return f"<table>{body}</table>"


def index_documents(
    source: QuadSource, limit: int, starting: Callable[[int], None] = lambda documents: None
) -> None:
    """Index the documents that are not indexed, each with at most ``limit`` terms.

    Calls ``starting`` with their number if there are any. Raises ``StoreError`` if the ledger
    cannot be written then.
    """
    with store_errors(source.ledger), source.engine.connect() as connection:
        waiting = connection.scalar(select(func.count()).select_from(Document).where(*_WAITING))
    if not waiting:
        return
    if not source.is_writable:
        raise StoreError(
            f"{waiting:,} documents of {source.path} are not indexed, and {source.ledger} is "
            "read-only: copy the folder, or use `semcrawl query`, which needs no index"
        )
    starting(waiting)
    while _index_some(source, limit):
        pass


def _index_some(source: QuadSource, limit: int) -> bool:
    """Index a batch; return whether there was one."""
    with store_errors(source.path), source.change() as snapshot:
        counters: dict[int, TermCounter] = {}
        for span in list(islice(snapshot.spans(unindexed=True), _BATCH)):
            counter = counters[span.id] = TermCounter(limit)
            for lines in snapshot.lines(span):
                counter.add(lines)
        write_terms(snapshot.connection, counters)
        for complete in (True, False):
            ids = [number for number, c in counters.items() if c.is_complete is complete]
            snapshot.connection.execute(
                update(Document).where(Document.id.in_(ids)).values(terms_complete=complete)
            )
    return bool(counters)


#: columns in seconds since the epoch
_TIMES = ("started_at", "fetched_at", "first_seen_at", "last_seen_at", "gone_at")
_TERMS: Any = (
    select(Document.url, Document.format, Term.kind, Term.iri, TermUse.count)
    .join(TermUse, TermUse.document_id == Document.id)
    .join(Term, Term.id == TermUse.term_id)
    .where(Document.gone_at.is_(None))
    .order_by(Document.id)
)
#: name → query, and whether it also reads the ledger of embedded data
FRAMES: dict[str, tuple[Select[Any], bool]] = {
    "records": (select(Fetch.__table__).order_by(Fetch.id), False),
    "documents": (
        select(Document.__table__).where(Document.gone_at.is_(None)).order_by(Document.id),
        True,
    ),
    "terms": (_TERMS, True),
}


def frame_of(job: Job, name: str) -> pd.DataFrame:
    """Return a table of the job, with times in UTC."""
    if name not in FRAMES:
        raise UsageError(f"there is no frame {name}; there are {', '.join(FRAMES)}")
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise UsageError(f"data frames need pandas: {install_hint('frames')}") from None
    if name == "terms":
        job.index()
    query, of_pages = FRAMES[name]
    sources = job.sources if of_pages else job.sources[:1]
    columns = [column.name for column in query.selected_columns]
    frame = pd.DataFrame.from_records(_rows(sources, query), columns=columns)
    for column in _TIMES:
        if column in frame:
            frame[column] = pd.to_datetime(frame[column], unit="s", utc=True)
    return frame


def _rows(sources: list[QuadSource], query: Select[Any]) -> Iterator[tuple[Any, ...]]:
    for source in sources:
        with store_errors(source.ledger), source.engine.connect() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield tuple(row)
