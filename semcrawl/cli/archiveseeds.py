"""Finds seeds for ``semcrawl seeds`` in the indexes of web archives."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

from semcrawl.config.extras import install_hint
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.sources.seedlists import Seed
from semcrawl.terminal.messages import complain
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, RDF_MEDIA_TYPES

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
