"""Bodies whose ``Content-Encoding`` is wrong."""

from __future__ import annotations

import logging

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

logger = logging.getLogger(__name__)


class ForgivingCompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but a body that cannot be unpacked keeps its bytes.

    Some servers and proxies unpack bodies and leave the header, or set it for files that are not
    packed. The reader detects the type by the content anyway.
    """

    def process_response(
        self, request: Request, response: Response, spider: object = None
    ) -> Request | Response:
        """Unpack the body; one that is not packed as its header says keeps its bytes."""
        try:
            return super().process_response(request, response)
        except IgnoreRequest:  # too large
            raise
        except Exception as error:
            packed = response.headers.pop(b"Content-Encoding", None)
            logger.debug("%s is not packed as %s: %s", response.url, packed, error)
            return response
