"""Worlds out of recorded crawls.

A recorded crawl as a world: its pages answer as they did then, without the network.
Reads what ``semcrawl harvest --record`` keeps: WARC files in the job's folder. Needs ``warcio``
(``pip install semcrawl[warc]``).
"""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from semcrawl.errors import UsageError
from semcrawl.items import FetchOutcome
from semcrawl.lab.worlds import REDIRECTS, Answer
from semcrawl.pipelines.warcrecords import content_of, warcio
from semcrawl.rdf import detect
from semcrawl.sources.endpoints import CUT_OFF, SEED_PREFIX, endpoint_of_query
from semcrawl.sources.negotiation import address_of, as_rdf, prefers_rdf
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import normalise, path_of, resolve
from semcrawl.web.vocabulary import FoundBy

_ROOTS = (
    "SELECT url, final_url, outcome, {found_by} FROM fetch "
    "WHERE depth = 0 AND parent_url IS NULL ORDER BY started_at"
)
_ASKED = "SELECT url, parent_url, outcome FROM fetch WHERE found_by = 'endpoint'"
#: outcomes of queries that leave no recorded answer
_UNANSWERED = (FetchOutcome.TIMEOUT, FetchOutcome.TOO_LARGE)


class _Root(NamedTuple):
    """The record of a URL that no document links to."""

    url: str
    final_url: str | None
    outcome: str
    found_by: str | None


@dataclass(frozen=True, slots=True)
class JobRecords:
    """The records that the recording of a job needs; empty if they cannot be read."""

    roots: tuple[_Root, ...] = ()
    #: addresses whose answers led to queries to them
    asking: frozenset[str] = frozenset()
    #: queries that timed out, or whose answers were too large
    unanswered: frozenset[str] = field(default=frozenset())

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the records in a job's folder."""
        file = folder / "crawl.db"
        if not file.is_file():
            return cls()
        try:
            connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
            try:
                columns = {row[1] for row in connection.execute("PRAGMA table_info(fetch)")}
                known = "found_by" in columns  # older jobs have no such column
                query = _ROOTS.format(found_by="found_by" if known else "NULL")
                roots = tuple(_Root(*row) for row in connection.execute(query))
                asked = connection.execute(_ASKED).fetchall() if known else []
            finally:
                connection.close()
        except sqlite3.Error:
            return cls()
        return cls(
            roots,
            frozenset(parent for url, parent, _ in asked if parent == endpoint_of_query(url)),
            frozenset(url for url, _, outcome in asked if outcome in _UNANSWERED),
        )

    def starts(self, recorded: Collection[str]) -> tuple[str, ...]:
        """Return the seeds with a ``recorded`` answer, and all endpoints in the form of seeds."""
        onward = {r.url: r.final_url for r in self.roots if r.outcome == FetchOutcome.REDIRECTED}
        led_to = set(onward.values())
        found = []
        for root in self.roots:
            if root.outcome == FetchOutcome.FETCHED_ROBOTS or root.url in led_to:
                continue
            if root.found_by == FoundBy.ENDPOINT:
                # its address was also a seed for a page
                found.append(SEED_PREFIX + endpoint_of_query(root.url))
            elif self._is_endpoint(root.url, onward):
                found.append(SEED_PREFIX + root.url)
            elif address_of(root.url) in recorded:
                found.append(root.url)
        return tuple(dict.fromkeys(found))

    def _is_endpoint(self, url: str, onward: dict[str, str | None]) -> bool:
        """Whether the answer to an address, possibly after redirects, led to queries."""
        last: str | None = url
        for _ in range(len(onward) + 1):
            if last is None or last in self.asking:
                return last is not None
            last = onward.get(last)
        return False


#: statuses of content, and of permanently moved or missing content
_LASTING = frozenset({200, 301, 308, 404, 410})
_ROBOTS = "/robots.txt"
_HEAD = 16_384  # bytes by which a body's type is detected
#: headers with links or forms, and those that mark truncated bodies
_KEPT_HEADERS = {
    name.lower() for name in ("Link", "Alternates", "Vary", "Refresh", "X-Robots-Tag", *CUT_OFF)
}


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a response in a file."""

    file: Path
    offset: int
    answer: Answer
    #: time of the request (ISO 8601)
    date: str = ""

    @property
    def rank(self) -> tuple[int, str]:
        """The rank among responses to one URL; the largest counts."""
        if self.answer.status in _LASTING:
            return 2, self.date
        return int(self.answer.redirect), self.date


class RecordedWorld:
    """The pages of a recorded crawl; all other URLs answer 404.

    Of several responses to one URL, the last with content, a permanent redirect, 404 or 410 counts;
    else the last other redirect. A re-visit's 304 and transient failures do not count. Bodies are
    read from the files on request. ``unanswered`` are queries to endpoints that answer 504.
    """

    def __init__(
        self,
        name: str,
        places: dict[str, _Place],
        starts: tuple[str, ...],
        unanswered: Collection[str] = (),
    ) -> None:
        self.name = name
        self._unanswered = frozenset(unanswered)
        self._places = places
        self._starts = starts
        asked = [(address_of(url), place.answer) for url, place in places.items()]
        documents = {
            netloc_of(url)
            for url, answer in asked
            if answer.status == 200 and path_of(url) != _ROBOTS
        }
        # hosts that redirect to documents, as those of identifiers do, belong to the scope
        self._hosts = frozenset(documents) | {
            netloc_of(url)
            for url, answer in asked
            if answer.redirect and netloc_of(answer.location) in documents
        }

    @classmethod
    def load(cls, paths: Sequence[Path]) -> Self:
        """Index WARC files; a truncated record at the end of a file is skipped.

        The seeds come from the crawl's records beside the files; without records, the first URL is
        the only seed. Raises ``UsageError`` if files cannot be read or hold no response.
        """
        places: dict[str, _Place] = {}
        first = ""
        for path in paths:
            try:
                with path.open("rb") as file:
                    for url, offset, answer, date in _responses(file):
                        if not first and path_of(url) != _ROBOTS:
                            first = address_of(url)
                        place = _Place(path, offset, answer, date)
                        if url not in places or place.rank >= places[url].rank:
                            places[url] = place
            except OSError as error:
                raise UsageError(f"{path}: {error.strerror or error}") from None
        if not first:
            raise UsageError(f"no response is recorded in {', '.join(map(str, paths))}")
        folder = paths[0].resolve().parent
        records = JobRecords.read(folder)
        starts = records.starts({address_of(url) for url in places})
        return cls(folder.name, places, starts or (first,), records.unanswered)

    @property
    def hosts(self) -> frozenset[str]:
        """Hosts that served a document, or redirected to such a host."""
        return self._hosts

    @property
    def starts(self) -> tuple[str, ...]:
        """The crawl's seeds."""
        return self._starts

    def robots(self, host: str) -> str:
        """Return the recorded robots.txt."""
        for scheme in ("http", "https"):
            url = f"{scheme}://{host}{_ROBOTS}"
            if self.fetch(url).status == 200:
                return self._read(url).decode("utf-8", "replace")
        return ""

    def form_of(self, url: str, *, rdf_first: bool) -> str:
        """Return the name of the answer to a request for RDF first, or for a page."""
        other = as_rdf(url)
        if other not in self._places or (not rdf_first and url in self._places):
            return url
        return other

    def fetch(self, url: str) -> Answer:
        """Answer as the server did; if only the RDF form is recorded, answer with that."""
        place = self._places.get(url) or self._places.get(as_rdf(url))
        if place is not None:
            return place.answer
        return Answer(504 if url in self._unanswered else 404, "text/html")

    def body(self, url: str) -> bytes:
        """Read the body from its file."""
        return self._read(url) if self.fetch(url).kind is not None else b""

    def _read(self, url: str) -> bytes:
        place = self._places.get(url) or self._places[as_rdf(url)]
        with place.file.open("rb") as file:
            file.seek(place.offset)
            for record, _ in _records(file):
                return b"".join(iter(partial(content_of(record).read, 1 << 16), b""))
        return b""


def _responses(file: BinaryIO) -> Iterator[tuple[str, int, Answer, str]]:
    """Yield the name, offset, answer and date of every complete response.

    The name is the address, with ``#as-rdf`` if the request prefers RDF.
    """
    found: list[tuple[set[str], str, int, Answer, str]] = []
    rdf_first: set[str] = set()
    for record, offset in _records(file):
        headers = record.rec_headers
        url = normalise(headers.get_header("WARC-Target-URI") or "")
        # request and response refer to each other in one direction or both
        ids = {headers.get_header(name) or "" for name in ("WARC-Record-ID", "WARC-Concurrent-To")}
        ids.discard("")
        if url is None or not record.http_headers:
            continue
        if record.rec_type == "request":
            if prefers_rdf(record.http_headers.get_header("Accept") or ""):
                rdf_first |= ids
            continue
        if record.rec_type != "response":
            continue
        answer = _answer(record, url)
        while record.raw_stream.read(1 << 16):
            pass
        if record.raw_stream.limit > 0:  # cut off
            break
        found.append((ids, url, offset, answer, headers.get_header("WARC-Date") or ""))
    for ids, url, offset, answer, date in found:
        yield (as_rdf(url) if ids & rdf_first else url), offset, answer, date


def _records(file: BinaryIO) -> Iterator[tuple[Any, int]]:
    """Yield records with their offsets, up to the first broken one."""
    archiveiterator, exceptions = warcio("archiveiterator"), warcio("exceptions")
    iterator = archiveiterator.ArchiveIterator(file)
    try:
        for record in iterator:
            yield record, iterator.offset
    except (exceptions.ArchiveLoadFailed, EOFError, ValueError, gzip.BadGzipFile):
        return


def _answer(record: Any, url: str) -> Answer:
    """Return the answer in a recorded response."""
    http = record.http_headers
    try:
        status = int(http.get_statuscode())
    except ValueError:
        status = 0
    content_type = http.get_header("Content-Type") or ""
    if status in REDIRECTS:
        named = http.get_header("Location") or ""
        location = (resolve(url, named) or "") if named else ""
        return Answer(status, content_type, location=location, headers=_headers(http))
    if not 200 <= status < 300:
        return Answer(status, content_type, headers=_headers(http))
    digest = hashlib.sha256()
    stream = content_of(record)
    head = piece = stream.read(_HEAD)
    while piece:
        digest.update(piece)
        piece = stream.read(1 << 16)
    return Answer(
        status,
        content_type,
        detect(head, content_type, url).kind,
        # the same bytes under another URL are the same document
        document=digest.hexdigest() if head else url,
        headers=_headers(http),
    )


def _headers(http: Any) -> tuple[tuple[str, str], ...]:
    return tuple((n, v) for n, v in http.headers if n.lower() in _KEPT_HEADERS)
