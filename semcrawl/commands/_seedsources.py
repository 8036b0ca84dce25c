"""Where a harvest gets its seeds: arguments, files, sitemaps, archives of the Web."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from semcrawl import rdf
from semcrawl.config.extras import install_hint
from semcrawl.crawl.filefetching import Fetcher
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.metadata.database import CRAWL_DB, opened, readable_db_url
from semcrawl.metadata.seedfates import HubBook
from semcrawl.sources.catalogues import NEXT, form_of
from semcrawl.sources.catalogues import read_list as read_data_list
from semcrawl.sources.endpoints import ENDPOINT_PROPERTIES, SEED_PREFIX
from semcrawl.sources.seedlists import (
    SearchService,
    Seed,
    read_description,
    read_list,
    read_results,
    searxng,
)
from semcrawl.sources.sitemaps import Entry, EntryKind, named_sitemaps, read_sitemap
from semcrawl.terminal import complain
from semcrawl.web.hosts import netloc_of
from semcrawl.web.robots import plain_rules
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, RDF_FIRST, RDF_MEDIA_TYPES, Kind

#: called with a line for each failed source
Complain = Callable[[str], None]

#: most sitemaps read, and most pages of results
_MOST_SITEMAPS, _MOST_PAGES = 100, 20
#: kinds of sitemap entries, the most important first
_ORDER = [EntryKind.DUMP, EntryKind.ENDPOINT, EntryKind.SAMPLE, EntryKind.URL, EntryKind.ALTERNATE]
#: ``Accept`` headers
_RESULTS = "application/json, application/rss+xml, application/atom+xml"
_DESCRIPTION = "application/opensearchdescription+xml, */*"
#: properties of a catalogue in RDF whose values are seeds, and what they lead to
_LEADS = {
    "http://www.w3.org/ns/dcat#downloadURL": "download",
    "http://rdfs.org/ns/void#dataDump": "dump",
    "http://rdfs.org/ns/void#rootResource": "root resource",
    "http://rdfs.org/ns/void#exampleResource": "example",
    "http://www.w3.org/ns/dcat#accessURL": "distribution",
    "http://www.w3.org/ns/dcat#landingPage": "landing page",
    **dict.fromkeys(ENDPOINT_PROPERTIES, "SPARQL endpoint"),
}


def from_jobs(folders: Sequence[str]) -> Iterator[Seed]:
    """Yield the hubs of earlier jobs, the best first."""
    book = HubBook()
    for folder in folders:
        if not (Path(folder) / CRAWL_DB).is_file():
            raise UsageError(f"{folder} holds no {CRAWL_DB}")
        with opened(readable_db_url(Path(folder))) as engine:
            book.add(engine)
    for hub in book.best():
        yield Seed(hub.url, f"{hub.worth:.2f} documents per request: {hub.why}")


def from_sitemaps(places: Sequence[str], fetcher: Fetcher, complain: Complain) -> Iterator[Seed]:
    """Yield the entries of hosts' sitemaps: data sets first, then pages by priority."""
    entries: list[Entry] = []
    for place in places:
        url = place if "://" in place else f"https://{place}/"
        fetcher.name(url)
        try:
            waiting = deque([url] if urlsplit(url).path.strip("/") else _sitemaps_of(url, fetcher))
        except SemcrawlError as error:
            complain(str(error))
            continue
        seen = set(waiting)
        while waiting:
            address = waiting.popleft()
            try:
                body, _, address = fetcher.get(address)
            except SemcrawlError as error:
                complain(str(error))
                continue
            listed = read_sitemap([body])
            for fault in listed.faults:
                complain(f"{address}: {fault}")
            for entry in listed.entries:
                if entry.kind not in (EntryKind.SITEMAP, EntryKind.NEXT):
                    entries.append(entry)
                elif entry.address not in seen and len(seen) < _MOST_SITEMAPS:
                    seen.add(entry.address)
                    waiting.append(entry.address)
    entries.sort(key=lambda e: (_ORDER.index(e.kind), not _is_rdf(e), -e.priority))
    for entry in entries:
        prefix = SEED_PREFIX if entry.kind is EntryKind.ENDPOINT else ""
        priority = f", priority {entry.priority:g}" if entry.priority >= 0 else ""
        yield Seed(prefix + entry.address, f"{entry.kind} of a sitemap{priority}")


def _is_rdf(entry: Entry) -> bool:
    """Whether an entry is RDF by its type or extension."""
    return entry.type in RDF_MEDIA_TYPES or extension_of(path_of(entry.address)) in RDF_EXTENSIONS


def _sitemaps_of(url: str, fetcher: Fetcher) -> list[str]:
    """Return the sitemaps that a host's robots.txt names, else ``/sitemap.xml``."""
    try:
        body, _, _ = fetcher.get(urljoin(url, "/robots.txt"))
        named = [urljoin(url, one) for one in named_sitemaps(plain_rules(body)[0])]
    except SemcrawlError as error:
        if "status" not in str(error):
            raise
        named = []
    return named or [urljoin(url, "/sitemap.xml")]


def from_lists(places: Sequence[str], fetcher: Fetcher, complain: Complain) -> Iterator[Seed]:
    """Yield the addresses in published lists, files or URLs, of any known form."""
    for place in places:
        try:
            if "://" in place:
                fetcher.name(place)
                body, media_type, url = fetcher.get(place, f"{RDF_FIRST}, application/json;q=0.9")
            else:
                body, media_type = Path(place).read_bytes(), ""
                url = Path(place).absolute().as_uri()
            if form := form_of(body, media_type):
                yield from _in_catalogue(form, body, url, fetcher)
            elif rdf.detect(body, media_type or None, url).kind is Kind.RDF:
                yield from _in_rdf(body, media_type, url)
            else:
                yield from read_list(body)
        except (SemcrawlError, ValueError) as error:
            complain(str(error) if isinstance(error, SemcrawlError) else f"{place}: {error}")
        except OSError as error:
            raise UsageError(f"cannot read {place}: {error.strerror}") from None


def _in_catalogue(form: str, body: bytes, url: str, fetcher: Fetcher) -> Iterator[Seed]:
    """Yield the entries of a catalogue (CKAN, ``data.json``, OAI-PMH, linksets), page by page."""
    for _ in range(_MOST_PAGES):
        links = read_data_list(body, form, url).links
        for link in links:
            if link.rel != NEXT:
                yield Seed(link.url, f"{link.title or link.type or 'entry'} ({form})")
        following = next((link.url for link in links if link.rel == NEXT), "")
        if not following:
            return
        body, media_type, url = fetcher.get(following, "application/json, text/xml")
        form = form_of(body, media_type)
        if not form:
            return


def _in_rdf(body: bytes, media_type: str, url: str) -> Iterator[Seed]:
    """Yield the entries of a catalogue in RDF; of other RDF the IRIs that a crawl would follow.

    Raises ``ValueError`` for broken RDF without either.
    """
    for properties in frozenset(_LEADS), frozenset[str]():
        options = rdf.ReadOptions(link_properties=properties, max_links=1_000_000)
        reading = rdf.read(body, url, media_type or None, options)
        for link in reading.links:
            prefix = SEED_PREFIX if link.predicate in ENDPOINT_PROPERTIES else ""
            is_subject = link.position is rdf.Position.SUBJECT
            what = "subject" if is_subject else _LEADS.get(link.predicate, link.predicate)
            yield Seed(prefix + link.iri, f"{what} in {url}")
        if reading.links:
            return
    if reading.errors:
        first = reading.errors[0]
        raise ValueError(f"line {first.line}, column {first.column}: {first.message}")


def from_search(words: str, engine: str, fetcher: Fetcher, limit: int) -> Iterator[Seed]:
    """Yield the first results of a search service, like SkyReach (sources.md S)."""
    fetcher.name(engine)
    service, start = _service(engine, fetcher), 0
    for page in range(_MOST_PAGES):
        try:
            url = service.url(words, page, start, limit)
            body, _, _ = fetcher.get(url, _RESULTS)
            results = read_results(body, service)
        except ValueError as error:
            raise SemcrawlError(f"{engine}: {error}") from None
        yield from (Seed(r.url, f"result {start + n}: {r.why}") for n, r in enumerate(results, 1))
        start += len(results)
        if not results or start >= limit or not service.has_pages:
            return


def _service(engine: str, fetcher: Fetcher) -> SearchService:
    """Return the service at an address: by its OpenSearch description, else as a SearXNG."""
    try:
        body, media_type, url = fetcher.get(engine, _DESCRIPTION)
    except SemcrawlError:
        return searxng(engine)  # its pages may be blocked or elsewhere
    if b"OpenSearchDescription" not in body[:4096] and "opensearch" not in media_type:
        return searxng(engine)
    try:
        return read_description(body, url)
    except ValueError as error:
        raise SemcrawlError(f"{engine}: {error}") from None


def distinct(seeds: Iterator[Seed], spelled: Callable[[str], str | None], limit: int) -> list[Seed]:
    """Return the first ``limit`` seeds with valid addresses, normalised, each once."""
    found: dict[str, Seed] = {}
    for seed in seeds:
        url = spelled(seed.url)
        if url is not None and url not in found:
            found[url] = Seed(url, seed.why)
            if len(found) >= limit:
                break
    return list(found.values())


#: name of the thread that queries an index
_THREAD = "semcrawl-archive"
#: bytes that are read of an answer at a time
_PIECE = 1 << 16
#: most pages of an index that are read one after the other without a capture
_MOST_EMPTY_PAGES = 1000
#: pages without a capture after which a line says so
_TOLD_EVERY = 100


class Bounds(NamedTuple):
    """What an answer of an index may take."""

    seconds: float
    #: 0 = any size
    bytes: int


class _BoundedRequests:
    """The module ``requests`` for a package that reads answers of any size; bounds them."""

    def __init__(self, requests: Any, bounds: Bounds, given_up: threading.Event) -> None:
        # an earlier pattern in this process may have installed a wrapper
        self._requests = getattr(requests, "_requests", requests)
        self._bounds = bounds
        self._given_up = given_up
        self._has_answered = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._requests, name)

    def get(self, url: str, **options: Any) -> Any:
        """Return a response whose body is read; raise ``ValueError`` for one beyond the bounds.

        Raises it too if the first request has no connection, and once nobody waits any more: the
        package would repeat its requests for hours.
        """
        if self._given_up.is_set():
            raise ValueError("given up")
        try:
            response = self._requests.get(url, stream=True, **options)
        except self._requests.exceptions.ConnectionError:
            if self._has_answered:
                raise  # the package tries again
            raise ValueError(f"cannot connect to {netloc_of(url)}") from None
        self._has_answered = True
        body, end = bytearray(), time.monotonic() + self._bounds.seconds
        with response:
            for piece in response.iter_content(_PIECE):
                body += piece
                if 0 < self._bounds.bytes < len(body):
                    raise ValueError(f"an answer of more than {self._bounds.bytes:,} bytes")
                if time.monotonic() > end:
                    raise ValueError(f"an answer of more than {self._bounds.seconds:g} seconds")
        response._content = bytes(body)
        return response


#: path of the list of indexes of Common Crawl and its mirrors
_COLLECTIONS = "/collinfo.json"


def from_archive(
    patterns: Sequence[str],
    index: str,
    types: Sequence[str],
    extensions: Sequence[str],
    limit: int,
    bounds: Bounds,
    crawls: int,
) -> Iterator[Seed]:
    """Yield a web archive's captures of address patterns (``example.org/*``).

    They are filtered by media types, then by extensions; by default by those of RDF. Only the
    newest ``crawls`` of Common Crawl are queried. An index that fails later keeps what it gave.
    Raises ``SemcrawlError`` if it gave nothing.
    """
    if find_spec("cdx_toolkit") is None:
        raise UsageError(f"seeds from archives: {install_hint('archives')}")
    if not (types or extensions):
        types, extensions = sorted(RDF_MEDIA_TYPES), sorted(RDF_EXTENSIONS)
    regex = "" if index == "ia" else "~"  # the Wayback Machine always takes regular expressions
    filters = []
    if types:
        filters.append(f"{regex}mime:({'|'.join(map(re.escape, types))})")
    if extensions:
        named = "|".join(map(re.escape, extensions))
        filters.append(rf"{regex}url:.*\.({named})(\.(gz|bz2|xz))?$")
    status = "status:200" if index == "ia" else "=status:200"
    found = 0
    for pattern, each in product(patterns, filters):
        try:
            for capture in _captures(index, pattern, [status, each], limit, bounds, crawls):
                when = str(capture.get("timestamp", ""))[:8]
                what = capture.get("mime", "") or "unknown"
                yield Seed(str(capture.get("url", "")), f"{what}, archived {when}")
                found += 1
        except SemcrawlError as error:
            if not found:
                raise
            complain(f"{error}; what it gave before is kept")
            return


def _captures(
    index: str, pattern: str, filters: list[str], limit: int, bounds: Bounds, crawls: int
) -> Iterator[dict[str, Any]]:
    """Query the index in a thread, as the package waits hours for an unreachable server.

    Raises ``SemcrawlError`` if no page of the index comes in time, one is too large, or too many
    have no capture.
    """
    os.environ.setdefault("CDXT_MAX_ERRORS", "1")  # read at import
    found: queue.Queue[Any] = queue.Queue(maxsize=1000)
    over = object()
    given_up = threading.Event()
    mirror = index.removesuffix(_COLLECTIONS) if index.endswith(_COLLECTIONS) else None

    def ask() -> None:
        import cdx_toolkit
        from cdx_toolkit import myrequests

        myrequests.requests = _BoundedRequests(myrequests.requests, bounds, given_up)
        try:
            source = "cc" if mirror else index
            # the default is all of them, more than a hundred
            newest = [str(crawls)] if source == "cc" else None
            fetcher = cdx_toolkit.CDXFetcher(source=source, crawl=newest, cc_mirror=mirror)
            next_page = fetcher.get_for_iter

            def get_page(*args: Any, **options: Any) -> Any:
                found.put(None)  # a sign of life: many pages may have no match
                return next_page(*args, **options)

            fetcher.get_for_iter = get_page
            for capture in fetcher.iter(pattern, filter=filters, limit=limit):
                found.put(dict(capture.data))
            found.put(over)
        except Exception as error:  # the package may raise anything
            found.put(error)

    threading.Thread(target=ask, name=_THREAD, daemon=True).start()
    empty_pages = 0
    try:
        while True:
            item = found.get(timeout=bounds.seconds)
            if item is over:
                return
            if isinstance(item, Exception):
                reason = " ".join(str(item).split())[:200] or type(item).__name__
                raise SemcrawlError(f"the index {index} cannot be read: {reason}")
            if item is not None:
                empty_pages = 0
                yield item
                continue
            empty_pages += 1
            if empty_pages % _TOLD_EVERY == 0:
                complain(f"the index {index}: {empty_pages} pages without a capture so far")
            if empty_pages > _MOST_EMPTY_PAGES:
                raise SemcrawlError(
                    f"the index {index} gave {_MOST_EMPTY_PAGES:,} pages without a capture: "
                    "name a part of the site, such as example.org/data/*"
                )
    except queue.Empty:
        raise SemcrawlError(
            f"the index {index} gave no answer in {bounds.seconds:g} seconds"
        ) from None
    finally:
        given_up.set()
