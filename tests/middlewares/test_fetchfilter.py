"""Bodies that are not downloaded, as their headers say what they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Request, Response
from scrapy.utils.test import get_crawler

from semcrawl.crawl.attempt import ATTEMPT, FILTERED, Attempt
from semcrawl.frontier.contract import Entry, Lease
from semcrawl.middlewares.fetchfilter import FetchFilterMiddleware

URL = "http://a.example/x"


class Filter:
    def __init__(self, **settings: object) -> None:
        self.crawler = get_crawler(settings_dict={"SEMCRAWL_TARGETS": "rdf", **settings})
        self.middleware = FetchFilterMiddleware.from_crawler(self.crawler)

    def stops(self, request: Request, length: int | None = None, **headers: str) -> bool:
        sent = Headers({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            self.middleware.headers_received(sent, length, request)
        except StopDownload as stop:
            return not stop.fail
        return False

    def stat(self, name: str) -> int:
        assert self.crawler.stats is not None
        return int(self.crawler.stats.get_value(f"semcrawl/filtered/{name}", 0))


def request(label: str = "H") -> Request:
    lease = Lease("lease", Entry(URL, "a.example", "html", "g", 0.0, label=label))
    return Request(URL, meta={ATTEMPT: Attempt(lease)})


@pytest.mark.parametrize(
    ("label", "headers", "stopped"),
    [
        ("H", {"Content_Type": "image/png"}, True),
        ("R", {"Content_Type": "image/png"}, False),
        ("H", {"Content_Type": "text/html; charset=x"}, False),
        ("H", {}, False),
        ("H", {"Content_Type": "text/xml"}, False),
        ("H", {"Content_Type": "text/csv"}, True),
    ],
)
def test_a_download_is_stopped_by_type_and_label(
    label: str, headers: dict[str, str], stopped: bool
) -> None:
    fetch_filter = Filter(SEMCRAWL_AMBIGUOUS_TYPES="text/x, TEXT/XML")
    assert fetch_filter.stops(request(label), **headers) == stopped


def test_media_types_that_are_targets_are_downloaded() -> None:
    """Where the type is vague the name tells it."""
    fetch_filter = Filter(SEMCRAWL_TARGETS=["rdf", "text/csv"], SEMCRAWL_AMBIGUOUS_TYPES=[])
    named = {"Content_Disposition": 'attachment; filename="t.csv"'}
    assert not fetch_filter.stops(request(), Content_Type="text/csv")
    assert fetch_filter.stops(request(), Content_Type="image/png", **named)
    assert fetch_filter.stops(request(), Content_Type="application/octet-stream")
    assert not fetch_filter.stops(request(), Content_Type="application/octet-stream", **named)


def test_requests_that_are_no_links_are_let_through() -> None:
    """A robots.txt or a JSON-LD context is judged by who asked for it."""
    assert not Filter().stops(Request(URL), Content_Type="image/png")


def test_the_answers_of_endpoints_are_read_whatever_their_type() -> None:
    """One without a description may answer with results; its graphs are asked for all the same."""
    asked = request()
    state = asked.meta[ATTEMPT].link_state
    asked.meta[ATTEMPT].link_state = replace(state, query="description")
    assert not Filter().stops(asked, Content_Type="application/sparql-results+json")


@pytest.mark.parametrize(("status", "filtered"), [(200, True), (299, True), (404, False)])
def test_only_a_success_is_a_filtered_response(status: int, filtered: bool) -> None:
    """The headers arrive without their status; what is saved is saved."""
    fetch_filter, asked = Filter(), request()
    assert fetch_filter.stops(asked, 1000, Content_Type="image/png")
    response = Response(URL, status=status, body=b"x" * 100, flags=["download_stopped"])
    fetch_filter.middleware.process_response(asked, response)
    assert asked.meta.get(FILTERED, False) == filtered
    assert (fetch_filter.stat("responses"), fetch_filter.stat("bytes_saved")) == (1, 900)


def test_of_a_body_without_a_length_nothing_counts_as_saved() -> None:
    fetch_filter, asked = Filter(), request()
    assert fetch_filter.stops(asked, Content_Type="image/png")
    response = Response(URL, body=b"x" * 100, flags=["download_stopped"])
    fetch_filter.middleware.process_response(asked, response)
    assert (fetch_filter.stat("responses"), fetch_filter.stat("bytes_saved")) == (1, 0)


def test_a_whole_response_is_not_filtered() -> None:
    fetch_filter, asked = Filter(), request()
    fetch_filter.middleware.process_response(asked, Response(URL))
    assert FILTERED not in asked.meta
    assert fetch_filter.stat("responses") == 0
