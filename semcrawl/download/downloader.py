"""Scrapy's downloader, which awaits a middleware only where it has something to await."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, cast

from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Request, Response
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name


class Downloader(ScrapyDownloader):
    """Sends requests through the middlewares in Scrapy's order and by its rules.

    Scrapy itself makes a coroutine of each answer, ``None`` included, and looks up the middleware's
    full name for a warning. Both cost more than most middlewares do.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.middleware = _Middlewares(*self.middleware.middlewares, crawler=crawler)


class _Middlewares(DownloaderMiddlewareManager):
    """Calls the middlewares of a downloader."""

    async def _process_request(
        self,
        request: Request,
        download_func: Callable[[Request], Coroutine[Any, Any, Response]],
    ) -> Response | Request:
        for method in cast("list[Callable[..., Any]]", self.methods["process_request"]):
            answer = self._handle_mw_method(method, request=request)
            if answer is not None:
                answer = await _awaited(method, answer)
            if answer is not None:
                return _checked(method, answer)
        return await download_func(request)

    async def _process_response(
        self, response: Response | Request, request: Request
    ) -> Response | Request:
        for method in cast("list[Callable[..., Any]]", self.methods["process_response"]):
            if isinstance(response, Request):
                break
            answer = self._handle_mw_method(method, request=request, response=response)
            if not isinstance(answer, Response):
                answer = await _awaited(method, answer)
            response = _checked(method, answer)
        return response


def _awaited(method: Callable[..., Any], answer: Any) -> Any:
    return ensure_awaitable(answer, _warn=global_object_name(method))


def _checked(method: Callable[..., Any], answer: Any) -> Response | Request:
    """Return the answer of a middleware; raise Scrapy's error for one of a wrong type."""
    if isinstance(answer, Response | Request):
        return answer
    kind = type(answer).__name__
    raise _InvalidOutput(f"{method.__qualname__} must return a Response or a Request, not {kind}")
