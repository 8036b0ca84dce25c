"""Files that a command fetches itself come in time, and never from private addresses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from semcrawl.crawl.downloadhandler import PublicResolver
from semcrawl.crawl.failures import AddressRefused
from semcrawl.crawl.filefetching import Fetcher
from semcrawl.errors import SemcrawlError

AGENT = "tester"
PUBLIC = "93.184.215.14"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@contextmanager
def dripping(beginning: bytes, drop: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers with a beginning and then drops without end; what it was asked."""
    asked: list[bytes] = []
    over = threading.Event()

    def answer(line: socket.socket) -> None:
        with line:
            try:
                asked.append(line.recv(4096))
                line.sendall(beginning)
                while not over.wait(0.05):
                    line.sendall(drop)
            except OSError:
                return

    def accept(server: socket.socket) -> None:
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/list.txt", asked
        over.set()
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (HEAD, b"X: y\r\n"),
        (HEAD + b"Content-Length: 100000\r\n\r\n", b"x"),
        (HEAD + b"\r\n", b"x"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["header", "headers", "body", "body without length", "chunks"],
)
def test_an_answer_that_drips_is_given_up_in_time(beginning: bytes, drop: bytes) -> None:
    with dripping(beginning, drop) as (url, _):
        fetcher = Fetcher(AGENT, seconds=0.5)
        fetcher.name(url)
        with pytest.raises(SemcrawlError, match=r"cannot fetch .*: not there after 0\.5 seconds"):
            fetcher.get(url)


class NameServer:
    """Answers for one name: with the public address as often as said, then with a private one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self._times = times
        self._system = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self.answer)

    def answer(self, host: str, *arguments: object, **options: object) -> object:
        if host != "turns.example":
            return self._system(host, *arguments, **options)
        self._times -= 1
        address = PUBLIC if self._times >= 0 else "127.0.0.1"
        return self._system(address, *arguments, **options)


def test_a_name_that_turns_private_after_it_was_checked_is_asked_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    NameServer(monkeypatch, times=1)
    with dripping(HEAD, b"\r\n") as (url, asked):
        with pytest.raises(SemcrawlError, match=r"turns\.example is at a private address"):
            Fetcher(AGENT, seconds=5).get(url.replace("127.0.0.1", "turns.example"))
        assert asked in ([], [b""])


async def test_a_name_that_turns_private_in_a_crawl_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    NameServer(monkeypatch, times=1)
    resolver = PublicResolver(lambda name: False, timeout=10)
    assert (await resolver.resolve("turns.example", 80))[0]["host"] == PUBLIC
    with pytest.raises(AddressRefused, match="has the private address 127"):
        await resolver.resolve("turns.example", 80)
    await resolver.close()
