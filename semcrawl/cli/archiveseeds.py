"""Finds seeds for ``semcrawl seeds`` in the indexes of web archives."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from semcrawl.config.extras import install_hint
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.sources.seedlists import Seed
from semcrawl.web.vocabulary import RDF_EXTENSIONS, RDF_MEDIA_TYPES

#: bytes that are read of an answer at a time
_PIECE = 1 << 16


class Bounds(NamedTuple):
    """What an answer of an index may take."""

    seconds: float
    #: 0 = any size
    bytes: int


class _BoundedRequests:
    """The module ``requests`` for a package that reads answers of any size; bounds them."""

    def __init__(self, requests: Any, bounds: Bounds) -> None:
        # an earlier pattern in this process may have installed a wrapper
        self._requests = getattr(requests, "_requests", requests)
        self._bounds = bounds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._requests, name)

    def get(self, url: str, **options: Any) -> Any:
        """Return a response whose body is read; raise ``ValueError`` for one beyond the bounds."""
        response = self._requests.get(url, stream=True, **options)
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
    newest ``crawls`` of Common Crawl are queried.
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
    for pattern in patterns:
        for each in filters:
            for capture in _captures(index, pattern, [status, each], limit, bounds, crawls):
                when = str(capture.get("timestamp", ""))[:8]
                what = capture.get("mime", "") or "unknown"
                yield Seed(str(capture.get("url", "")), f"{what}, archived {when}")


def _captures(
    index: str, pattern: str, filters: list[str], limit: int, bounds: Bounds, crawls: int
) -> Iterator[dict[str, Any]]:
    """Query the index in a thread, as the package waits hours for an unreachable server.

    Raises ``SemcrawlError`` if no page of the index comes in time, or one is too large.
    """
    os.environ.setdefault("CDXT_MAX_ERRORS", "1")  # read at import
    found: queue.Queue[Any] = queue.Queue(maxsize=1000)
    over = object()
    mirror = index.removesuffix(_COLLECTIONS) if index.endswith(_COLLECTIONS) else None

    def ask() -> None:
        import cdx_toolkit
        from cdx_toolkit import myrequests

        myrequests.requests = _BoundedRequests(myrequests.requests, bounds)
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

    threading.Thread(target=ask, daemon=True).start()
    while True:
        try:
            item = found.get(timeout=bounds.seconds)
        except queue.Empty:
            raise SemcrawlError(
                f"the index {index} gave no answer in {bounds.seconds:g} seconds"
            ) from None
        if item is over:
            return
        if item is None:
            continue
        if isinstance(item, Exception):
            reason = " ".join(str(item).split())[:200] or type(item).__name__
            raise SemcrawlError(f"the index {index} cannot be read: {reason}")
        yield item
