"""Decodes bodies with a ``Content-Encoding``, within bounds; keeps wrong ones as they are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

logger = logging.getLogger(__name__)


class ForgivingCompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware, but a body that cannot be decoded keeps its bytes.

    Some servers and proxies decode bodies and keep the header, or set it for files that are not
    encoded. The reader detects the type by the content anyway.

    Large bodies, and those encoded more than once, are decoded in a thread, one at a time: a few
    bytes that are compressed several times may become a hundred megabytes.
    """

    def __init__(self, *, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self._thread_above = crawler.settings.getint("SEMCRAWL_READ_IN_THREAD_ABOVE")
        self._turn = asyncio.Lock()

    def process_response(  # type: ignore[override]  # Scrapy awaits what is awaitable
        self, request: Request, response: Response, spider: object = None
    ) -> Request | Response | Coroutine[Any, Any, Request | Response]:
        """Decode the body; one that is not encoded as its header says keeps its bytes."""
        codings = response.headers.getlist(b"Content-Encoding")
        if not codings:
            return response
        if len(response.body) > self._thread_above or len(b",".join(codings).split(b",")) > 1:
            return self._unpacked_in_thread(request, response)
        return self._unpacked(request, response)

    async def _unpacked_in_thread(self, request: Request, response: Response) -> Request | Response:
        async with self._turn:
            return await asyncio.to_thread(self._unpacked, request, response)

    def _unpacked(self, request: Request, response: Response) -> Request | Response:
        try:
            return super().process_response(request, response)
        except IgnoreRequest as error:  # too large
            if error.__cause__ is not None:
                # its frames hold the bytes decoded so far
                error.__cause__.__traceback__ = None
            raise
        except Exception as error:
            packed = response.headers.pop(b"Content-Encoding", None)
            logger.debug("%s is not packed as %s: %s", response.url, packed, error)
            return response
