"""The downloader that calls middlewares at less cost does as Scrapy's does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scrapy import Spider
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from semcrawl.download.downloader import Downloader
from semcrawl.extensions.statscollector import StatsCollector

URL = "http://d.example/"
CALLED: list[str] = []


class Middleware:
    """Answers requests or responses with what it is given."""

    def __init__(self, name: str, **answers: Any) -> None:
        self._name, self._answers = name, answers

    def _answer(self, kind: str, usual: Any) -> Any:
        CALLED.append(f"{kind} {self._name}")
        answer = self._answers.get(kind, usual)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def process_request(self, request: Request) -> Any:
        return self._answer("request", None)

    def process_response(self, request: Request, response: Response) -> Any:
        return self._answer("response", response)

    def process_exception(self, request: Request, exception: Exception) -> Any:
        return self._answer("exception", None)


class AsyncMiddleware(Middleware):
    async def process_request(self, request: Request) -> Any:
        await asyncio.sleep(0)
        return self._answer("request", None)

    async def process_response(self, request: Request, response: Response) -> Any:
        await asyncio.sleep(0)
        return self._answer("response", response)


def crawler_for() -> Crawler:
    crawler = Crawler(Spider, Settings({"DOWNLOADER_MIDDLEWARES_BASE": {}}))
    crawler.spider = Spider("s")
    return crawler


def outcome_of(manager: DownloaderMiddlewareManager) -> tuple[str, list[str]]:
    """Return what a request ends in, and which methods were called."""

    async def download(request: Request) -> Response:
        CALLED.append("sent")
        return Response(request.url, status=200)

    CALLED.clear()
    try:
        result = repr(asyncio.run(manager.download_async(download, Request(URL))))
    except Exception as error:
        result = type(error).__name__
    return result, list(CALLED)


CHAINS = {
    "nothing": {},
    "a response instead": {"request": Response(URL, status=201)},
    "another request": {"request": Request(URL + "a")},
    "refused": {"request": IgnoreRequest()},
    "a wrong answer": {"request": 1},
    "another response": {"response": Response(URL, status=202)},
    "sent again": {"response": Request(URL + "b")},
    "a response lost": {"response": None},
    "a wrong response": {"response": "text"},
    "a response refused": {"response": IgnoreRequest()},
    "saved": {"request": IgnoreRequest(), "exception": Response(URL, status=203)},
}


@pytest.mark.parametrize("kind", [Middleware, AsyncMiddleware])
@pytest.mark.parametrize("answers", CHAINS.values(), ids=CHAINS)
def test_requests_end_as_with_scrapys_own(kind: type[Middleware], answers: dict[str, Any]) -> None:
    crawler = crawler_for()
    chain = Middleware("first"), kind("middle", **answers), AsyncMiddleware("last")
    ours = type(Downloader(crawler).middleware)(*chain, crawler=crawler)
    scrapys = DownloaderMiddlewareManager(*chain, crawler=crawler)
    assert type(ours) is not type(scrapys)
    assert outcome_of(ours) == outcome_of(scrapys)


def test_stats_are_those_of_scrapys_collector() -> None:
    collected = []
    for kind in (StatsCollector, MemoryStatsCollector):
        stats = kind(crawler_for())
        stats.inc_value("a")
        stats.inc_value("a", 2, start=5)
        stats.max_value("b", 3)
        stats.min_value("b", 2)
        stats.set_value("c", "text")
        collected.append(stats.get_stats())
    assert collected == [{"a": 3, "b": 2, "c": "text"}] * 2
