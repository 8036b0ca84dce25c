"""Statistics of downloads: the sums are Scrapy's."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from semcrawl.config.components import install
from semcrawl.middlewares.attempts import DownloadStats

REQUESTS = [
    Request("http://a.example"),
    Request("https://a.example:8080/x/y.html?q=1&r=%C3%A4", headers={"Accept": "text/html"}),
    Request("http://a.example/x;y?", method="POST", body=b"abc", headers={"A": "b", "C": "d"}),
    Request("http://münchen.example/ö?ü", headers={"Accept": ["text/turtle", "text/html"]}),
    Request("http://[::1]:8000/#part", method="HEAD"),
]
RESPONSES = [
    Response("http://a.example/", body=b"abc"),
    Response("http://a.example/", status=404, headers={"Content-Type": "text/html"}),
    Response("http://a.example/", status=299, headers={"Link": ["<a>", "<b>"], "Vary": "Accept"}),
]


def counted(kind: type[DownloaderStats]) -> dict[str, Any]:
    """Return what a middleware counts."""
    crawler = get_crawler()
    crawler._apply_settings()
    middleware = kind.from_crawler(crawler)
    for request in REQUESTS:
        middleware.process_request(request)
        middleware.process_exception(request, OSError())
    for response in RESPONSES:
        assert middleware.process_response(REQUESTS[0], response) is response
    assert crawler.stats is not None
    return crawler.stats.get_stats()


def test_the_sums_are_scrapys() -> None:
    """Requests, responses and bytes are counted as Scrapy counts them."""
    ours = counted(DownloadStats)
    assert ours == counted(DownloaderStats)
    assert ours["downloader/request_count"] == len(REQUESTS)
    assert ours["downloader/response_bytes"] > 0


def test_scrapys_setting_switches_it_off() -> None:
    """As it does with Scrapy's own middleware."""
    with pytest.raises(NotConfigured):
        DownloadStats.from_crawler(get_crawler(settings_dict={"DOWNLOADER_STATS": False}))


@pytest.mark.parametrize("order", [850, None])
def test_a_project_that_orders_scrapys_own_keeps_it(order: int | None) -> None:
    """Both together would count everything twice."""
    scrapys = "scrapy.downloadermiddlewares.stats.DownloaderStats"
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {scrapys: order}}, "project")
    install(settings)
    placed = settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert placed[scrapys] == order
    assert not any("downloadstats" in name for name in placed)
