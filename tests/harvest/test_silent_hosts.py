"""A host that never answered has less time than one that did, and gets it whole once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from semcrawl.crawl.dispatch import FirstAnswers

from .runs import harvest

A, B, C = "http://a.example", "http://b.example", "http://c.example"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_silent_server_gets_the_full_time_once() -> None:
    answers = FirstAnswers(10, 60, concurrency=16, clock=Clock())
    assert answers.limit(A) == 10
    answers.silent(A)
    assert answers.limit(A) == 0  # no bound
    answers.silent(A)
    assert 0 < answers.limit(A) < 10


def test_few_servers_have_the_full_time_at_once() -> None:
    """An eighth of the slots; one that is over makes room."""
    clock = Clock()
    answers = FirstAnswers(10, 60, concurrency=8, clock=clock)
    for server in (A, B, C):
        answers.silent(server)
    assert answers.limit(A) == 0
    assert answers.limit(B) > 0
    answers.answered(A)
    assert answers.limit(B) == 0
    clock.now = 61.0
    assert answers.limit(C) == 0


def test_where_most_are_silent_others_have_less_time() -> None:
    """A fifth at least, and more again as some answer."""
    answers = FirstAnswers(10, 60, concurrency=16, clock=Clock())
    for number in range(100):
        answers.silent(f"{A}:{number}")
    assert answers.limit(B) == pytest.approx(2)
    for number in range(20):
        answers.answered(f"{C}:{number}")
    assert answers.limit(B) > 8


@pytest.mark.parametrize(("limit", "full"), [(0, 60), (60, 60), (90, 60)])
def test_without_a_shorter_time_there_is_no_bound(limit: float, full: float) -> None:
    answers = FirstAnswers(limit, full, concurrency=16)
    assert answers.limit(A) == 0


@contextmanager
def slow_site(seconds: float) -> Iterator[str]:
    """A site whose document needs so long; where a body begins it pauses as long once more."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1]
        body = b"<#it> <http://v.example/is> 'slow' .\n"
        if path != b"/x.ttl":
            writer.write(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        else:
            await asyncio.sleep(seconds)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/turtle\r\nConnection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n" % len(body))
            await writer.drain()
            await asyncio.sleep(seconds)
            writer.write(body)
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1"))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x.ttl"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.close()


@pytest.mark.slow
def test_a_slow_document_is_asked_for_again_and_had(tmp_path: Path) -> None:
    """The first request ends soon, the second one waits; a body may pause."""
    settings = ("FIRST_ANSWER_TIMEOUT=0.5", "UNTRIED_HOST_PATIENCE=1", "CRAWL_DELAY=0")
    options = [word for name in settings for word in ("-s", f"SEMCRAWL_{name}")]
    with slow_site(1.2) as url:
        run = harvest(url, *options, folder=tmp_path / "out")
    outcomes = [record["outcome"] for record in run.records if record["url"] == url]
    assert outcomes == ["timeout", "fetched-rdf"]
    first = next(record for record in run.records if record["outcome"] == "timeout")
    assert "did not answer within 0.5 seconds" in first["errors"]
    assert first["elapsed"] < 1.2
