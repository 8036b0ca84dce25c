"""Requests to a store over connections that it may close at any moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from semcrawl.results.stores.contract import StoreUnavailable
from semcrawl.results.stores.sparql import Sender

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class OneAnswerEach:
    """Answers the first request of each connection, and closes it at the second."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self.heard = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                for answer in (ANSWER, b""):
                    if not connection.recv(1 << 16):
                        break
                    self.heard += 1
                    connection.sendall(answer)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def server() -> Iterator[OneAnswerEach]:
    server = OneAnswerEach()
    yield server
    server.close()


def test_what_changes_nothing_is_sent_once_more_and_all_else_is_not(server: OneAnswerEach) -> None:
    """Statements with blank nodes sent twice would be there twice."""
    sender = Sender("the store", "", "", "basic", 10)
    assert sender.send("GET", server.url, {}) == "ok"
    assert sender.send("GET", server.url, {}, again=True) == "ok"
    assert server.heard == 3
    with pytest.raises(StoreUnavailable, match="closed connection"):
        sender.send("GET", server.url, {})
    assert server.heard == 4
    sender.close()
