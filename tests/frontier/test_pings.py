"""Pings: addresses that are submitted to a running crawl, on either backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from harvest.runs import Run, Started, start_harvest
from pipelines.servers import free_port
from served_redis import ServedRedis

from semcrawl.spiders.submitting import CallerLimits, addresses_in
from tests.waiting import until


class Site(ThreadingHTTPServer):
    """A page with a thousand links, and documents that nothing links to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/hidden"):
            kind, body = "text/turtle", f"<> <http://v.example/p> '{self.path}' .".encode()
        else:
            links = "".join(f'<a href="/page/{n}">{n}</a>' for n in range(1000))
            kind, body = "text/html", f"<html>{links}{self.path}</html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    server = Site()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def crawl(site: Site, tmp_path: Path) -> Iterator[Callable[..., tuple[Started, str]]]:
    """Starts a harvest that takes pings, and returns it and its address."""
    started: list[Started] = []

    def start(*settings: str, bounds: Sequence[str] = (), **variables: str) -> tuple[Started, str]:
        options = [part for setting in settings for part in ("-s", setting)]
        run = start_harvest(
            *(
                f"{site.base}/",
                "-s",
                "SEMCRAWL_CRAWL_DELAY=0.1",
                "-s",
                f"SEMCRAWL_PING_PORT={free_port()}",
            ),
            *options,
            *(f"bound:{bound}" for bound in bounds),
            folder=tmp_path / "out",
            **variables,
        )
        started.append(run)
        log = tmp_path / "out" / "crawl.log"
        until(lambda: log.exists() and "Pings are taken on " in log.read_text())
        until(lambda: len(site.asked) > 3)
        return run, log.read_text().partition("Pings are taken on ")[2].split()[0]

    yield start
    for run in started:
        run.kill()
        run.process.communicate()


def ended(run: Started) -> Run:
    run.interrupt()
    return run.wait()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "redis"])
def test_an_address_that_is_pinged_is_asked_for_before_all_others(
    site: Site,
    crawl: Callable[..., tuple[Started, str]],
    start_served: Callable[..., ServedRedis],
    engine: str,
) -> None:
    run, address = crawl(REDIS_URL=start_served().url if engine == "redis" else "")
    answer = requests.post(address, f"{site.base}/hidden/1\n", timeout=30)
    place = len(site.asked)
    assert answer.status_code == 202
    assert answer.text == f"{site.base}/hidden/1: will be fetched soon\n"
    until(lambda: "/hidden/1" in site.asked)
    assert site.asked.index("/hidden/1") < place + 5, "few had been taken already"

    form = requests.post(address, {"url": f"{site.base}/hidden/2"}, timeout=30)
    assert form.status_code == 202
    until(lambda: {f"{site.base}/hidden/{n}" for n in (1, 2)} <= _recorded(run))
    over = ended(run)
    (record,) = [r for r in over.records if r["url"].endswith("/hidden/1")]
    assert (record["outcome"], record["found_by"]) == ("fetched-rdf", "seed")
    over.is_calm()


def _recorded(run: Started) -> set[str]:
    return {record["url"] for record in Run(0, "", "", run.folder).records}


@pytest.mark.slow
def test_a_known_page_that_is_pinged_is_visited_again_but_not_too_often(
    site: Site, crawl: Callable[..., tuple[Started, str]]
) -> None:
    run, address = crawl()
    known = f"{site.base}/"
    first = requests.post(address, known, timeout=30)
    assert "will be fetched soon" in first.text
    until(lambda: site.asked.count("/") == 2)
    again = requests.post(address, known, timeout=30)
    assert "was submitted before" in again.text
    requests.post(address, f"{site.base}/hidden/last", timeout=30)
    until(lambda: "/hidden/last" in site.asked)
    ended(run)
    assert site.asked.count("/") == 2


@pytest.mark.slow
def test_pings_that_may_not_be_are_refused_in_a_line_each(
    site: Site, crawl: Callable[..., tuple[Started, str]]
) -> None:
    run, address = crawl(
        "SEMCRAWL_EXCLUDE=/private*", bounds=["spiders.submitting:PingOptions.per_minute=20"]
    )
    for body, status, words in (
        ("http://10.0.0.1/", 422, "private address"),
        ("http://localhost.localdomain/", 422, "private address"),
        ("http://elsewhere.example/", 422, "not on the sites"),
        (f"{site.base}/private/1", 422, "patterns"),
        ("ftp://x.example/", 422, "not an http"),
        ("sparql+http://127.0.0.1/sparql", 422, "not an http"),
        ("", 400, "0 addresses"),
        ("\n".join(f"{site.base}/{n}" for n in range(101)), 400, "101 addresses"),
        ("x" * 70_000, 413, "bytes"),
    ):
        answer = requests.post(address, body, timeout=30)
        assert (answer.status_code, words in answer.text) == (status, True), answer.text
    headers = {"Origin": "http://evil.example"}
    assert requests.post(address, site.base, headers=headers, timeout=30).status_code == 403
    many = "\n".join(f"{site.base}/hidden/{n}" for n in range(20))
    limited = [requests.post(address, many, timeout=30) for _ in range(2)][-1]
    assert limited.status_code == 429
    assert int(limited.headers["Retry-After"]) > 0
    assert "Submit addresses" in requests.get(address, timeout=30).text
    ended(run).is_calm()
    assert not [path for path in site.asked if path.startswith("/private")]


def test_a_ping_is_lines_or_a_form() -> None:
    both = ["http://a/", "http://b/"]
    assert addresses_in("text/plain", b"http://a/\r\n# no\n\nhttp://b/\nhttp://a/") == both
    form = "application/x-www-form-urlencoded; charset=utf-8"
    assert addresses_in(form, b"url=http%3A%2F%2Fa%2F&x=1&url=http://b/") == both


def test_a_caller_submits_so_many_addresses_a_minute() -> None:
    limits = CallerLimits(10)
    assert limits.wait("a", 4) == 0
    assert limits.wait("a", 6) == 0
    assert 5 < limits.wait("a", 1) < 7
    assert limits.wait("b", 10) == 0
    assert CallerLimits(10).wait("a", 50) == 0, "a large ping passes when nothing came before"
    assert CallerLimits(0).wait("a", 10**6) == 0
