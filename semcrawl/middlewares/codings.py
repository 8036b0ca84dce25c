"""Decodes bodies with a ``Content-Encoding``, within bounds; keeps wrong ones as they are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from contextvars import ContextVar
from io import BytesIO
from math import inf
from typing import Any

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http import Request, Response

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import ROBOTS
from semcrawl.crawl.downloadhandler import spool_folder
from semcrawl.rdf.detection import Compression, coding_of
from semcrawl.rdf.limits import Budget
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.packed import unpack_into
from semcrawl.rdf.streams import SafeFile
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import BODY_FILE, BodyFile

logger = logging.getLogger(__name__)

#: most bytes that a body may have when it is decoded in the event loop
_AT_ONCE = 1 << 20
#: most bytes to decode now; 0: as many as bodies may have
_MOST: ContextVar[int] = ContextVar("_MOST", default=0)
#: takes the file of a body that is too large for memory; ``None``: it stays in memory
_FILES: ContextVar[list[BodyFile] | None] = ContextVar("_FILES", default=None)


class _LongBodyError(Exception):
    """A body has more bytes than are decoded at once."""


class ForgivingCompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware, but a body that cannot be decoded keeps its bytes.

    Some servers and proxies decode bodies and keep the header, or set it for files that are not
    encoded. The reader detects the type by the content anyway.

    Large bodies, and those encoded more than once, are decoded in a thread, one at a time and piece
    by piece: a few bytes may become a hundred megabytes. Above ``SEMCRAWL_MAX_SIZE_IN_MEMORY`` the
    body is then in a file, as one that came in that size.
    """

    def __init__(self, *, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self._thread_above = fill(TransferOptions, crawler.settings).thread_above
        self._disk_above = fill(TransferOptions, crawler.settings).in_memory
        self._folder = spool_folder(crawler.settings)
        self._turn = asyncio.Lock()

    def process_response(  # type: ignore[override]  # Scrapy awaits what is awaitable
        self, request: Request, response: Response, spider: object = None
    ) -> Request | Response | Coroutine[Any, Any, Request | Response]:
        """Decode the body; one that is not encoded as its header says keeps its bytes."""
        codings = response.headers.getlist(b"Content-Encoding")
        if not codings:
            return response
        if len(response.body) <= self._thread_above and len(b",".join(codings).split(b",")) == 1:
            now = _MOST.set(_AT_ONCE)
            try:
                return self._unpacked(request, response)
            except _LongBodyError:
                pass
            finally:
                _MOST.reset(now)
        return self._unpacked_in_thread(request, response)

    async def _unpacked_in_thread(self, request: Request, response: Response) -> Request | Response:
        async with self._turn:
            return await asyncio.to_thread(self._in_file, request, response)

    def _in_file(self, request: Request, response: Response) -> Request | Response:
        """Decode a body, into a file if it is large."""
        files: list[BodyFile] = []
        # of a robots.txt only the beginning is read
        _FILES.set(None if ROBOTS in request.meta else files)
        plain = self._unpacked(request, response)
        if files:
            request.meta[BODY_FILE] = files[0]
        return plain

    def _handle_encoding(
        self, body: bytes, content_encoding: list[bytes], max_size: int
    ) -> tuple[bytes, list[bytes]]:
        """Undo codings; raise :class:`_LongBodyError` if that takes too long to be done now."""
        most, files = _MOST.get(), _FILES.get()
        if most and not 0 < max_size <= most:
            try:
                return super()._handle_encoding(body, content_encoding, most)
            except ValueError:  # Scrapy's error is private
                raise _LongBodyError from None
        names = b",".join(content_encoding).decode("latin-1").split(",")
        kinds = [kind for kind in map(coding_of, names) if kind]
        if files is not None and len(kinds) == len(names):
            file = self._unpacked_to_file(body, kinds, max_size)
            if file is not None and file.size <= self._disk_above:
                return file.head(file.size), []
            if file is not None:
                files.append(file)
                return b"", []
        return super()._handle_encoding(body, content_encoding, max_size)

    def _unpacked_to_file(
        self, body: bytes, kinds: Sequence[Compression], most: int
    ) -> BodyFile | None:
        """Undo codings, the last first; ``None`` for a body that Scrapy must look at."""
        most = most or 1 << 62
        bound = ReadOptions(max_unpacked_bytes=most * len(kinds), max_ratio=inf, max_seconds=inf)
        budget, file = Budget(bound), BodyFile(self._folder)
        try:
            packed = SafeFile(BytesIO(body), budget, counted=False)
            is_whole = unpack_into(file, packed, kinds, budget)
        except ImportError:  # the package for it is missing
            return None
        if file.size > most or budget.unpacked > bound.max_unpacked_bytes:
            raise DownloadCancelledError(f"more than {most} bytes (DOWNLOAD_MAXSIZE) decoded")
        # the beginning of a gzip that is cut off is as good here as elsewhere
        is_begun = file.size > 0 and set(kinds) == {Compression.GZIP}
        return file if is_whole or is_begun else None

    def _unpacked(self, request: Request, response: Response) -> Request | Response:
        try:
            return super().process_response(request, response)
        except (_LongBodyError, DownloadCancelledError):
            raise
        except IgnoreRequest as error:  # too large
            if error.__cause__ is not None:
                # its frames hold the bytes decoded so far
                error.__cause__.__traceback__ = None
            raise
        except Exception as error:
            packed = response.headers.pop(b"Content-Encoding", None)
            logger.debug("%s is not packed as %s: %s", response.url, packed, error)
            return response
