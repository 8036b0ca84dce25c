"""Which hosts rest, since when and until when."""

from __future__ import annotations

import pytest
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from semcrawl.middlewares.health import HostHealthMiddleware
from semcrawl.spiders.failures import HostDown

A, B = Request("http://a.example/1"), Request("http://b.example/1")
REST = 60.0


class Hosts:
    """The middleware with a clock that the test turns on; a host rests after three failures."""

    def __init__(self, limit: int = 3) -> None:
        self.now = 1000.0
        self.crawler = get_crawler()
        self.middleware = HostHealthMiddleware(self.crawler, limit, REST, lambda: self.now)

    def fail(self, request: Request, times: int = 1, error: Exception | None = None) -> None:
        for _ in range(times):
            self.middleware.process_exception(request, error or DownloadTimeoutError())

    def answer(self, request: Request, status: int) -> None:
        response = Response(request.url, status=status)
        assert self.middleware.process_response(request, response) is response

    def rests(self, request: Request) -> bool:
        try:
            self.middleware.process_request(request)
        except HostDown:
            return True
        return False

    @property
    def counted(self) -> int:
        assert self.crawler.stats is not None
        return int(self.crawler.stats.get_value("semcrawl/hosts_down", 0))


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


def test_a_host_rests_after_so_many_failures_in_a_row_and_no_other_does(hosts: Hosts) -> None:
    hosts.fail(A, 2)
    assert not hosts.rests(A)
    hosts.fail(A)
    assert hosts.rests(Request("http://a.example/other"))
    assert not hosts.rests(B)
    assert not hosts.rests(Request("https://a.example/1"))
    assert not hosts.rests(Request("http://a.example:8080/1"))


def test_any_answer_ends_the_row(hosts: Hosts) -> None:
    """An error, and a body that broke off or is too large, are answers too."""
    for answered in (
        lambda: hosts.answer(A, 500),
        lambda: hosts.fail(A, error=ResponseDataLossError()),
        lambda: hosts.fail(A, error=DownloadCancelledError()),
    ):
        hosts.fail(A, 2)
        answered()
        hosts.fail(A, 2)
        assert not hosts.rests(A)
        hosts.answer(A, 200)


def test_what_was_not_sent_is_no_failure_and_no_answer(hosts: Hosts) -> None:
    hosts.fail(A, 2)
    hosts.fail(A, 9, IgnoreRequest("theirs"))
    assert not hosts.rests(A)
    hosts.fail(A)
    assert hosts.rests(A)


def test_after_its_rest_one_more_failure_is_enough(hosts: Hosts) -> None:
    """It counts as one host that is down."""
    hosts.fail(A, 3)
    hosts.now += REST - 1
    assert hosts.rests(A)
    hosts.now += 1
    assert not hosts.rests(A)
    hosts.fail(A)
    assert hosts.rests(A)
    assert hosts.counted == 1
    hosts.answer(A, 200)
    assert not hosts.rests(A)
    hosts.fail(A, 3)
    assert hosts.counted == 2


def test_refusals_count_but_those_that_come_together_once(hosts: Hosts) -> None:
    """What was in flight together is refused together."""
    for _ in range(5):
        hosts.answer(A, 429)
        hosts.now += 0.5
    assert not hosts.rests(A)
    for _ in range(2):
        hosts.now += 1.0
        hosts.answer(A, 429)
    assert hosts.rests(A)


def test_no_host_rests_when_that_is_switched_off() -> None:
    hosts = Hosts(limit=0)
    hosts.fail(A, 20)
    hosts.answer(A, 429)
    assert not hosts.rests(A)
