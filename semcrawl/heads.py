"""How much a server may say before the body of its answer."""

from __future__ import annotations

from typing import Any

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS, ParseError


class HeadersTooLargeError(Exception):
    """An answer has more headers, interim answers (1xx) included, than are read."""


class _Parser(_LenientHTTPClientParser):
    """Refuses status codes that are none: no database has room for some of them."""

    def statusReceived(self, status: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read the first line of an answer."""
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not 100 <= self.response.code <= 999:
            raise ParseError("no status code", status)  # type: ignore[no-untyped-call]


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Gives a connection up whose headers do not end.

    Twisted keeps any number of headers, but refuses single ones of more than 16 KiB, as if the
    server had closed the connection; here all of them together count.
    """

    limit: int
    _received = 0

    def request(self, request: Any) -> Any:
        """Send a request, and begin to count."""
        self._received = 0
        answer = super().request(request)
        self._parser.__class__ = _Parser  # (as its base class does)
        # (one that came in pieces and is longer must be told by us)
        self._parser.MAX_LENGTH = 2 * self.limit + (1 << 20)  # type: ignore[union-attr]
        return answer

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take what came, as long as the headers may go on."""
        parser = self._parser
        if parser is not None and parser.state in (STATUS, HEADER):
            if self._received > self.limit:
                problem = HeadersTooLargeError(f"headers of more than {self.limit} bytes")
                self._giveUp(Failure(problem))  # type: ignore[no-untyped-call]
                return
            self._received += len(data)
        super().dataReceived(data)  # type: ignore[no-untyped-call]


class BoundedFactory(_LenientHTTP11ClientFactory):
    """Makes connections whose answers have headers of ``limit`` bytes at most."""

    def __init__(self, limit: int, *args: Any) -> None:
        super().__init__(*args)  # type: ignore[no-untyped-call]
        self._limit = limit

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        """Make the protocol of a connection."""
        protocol = _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
        protocol.limit = self._limit
        return protocol


def server_closes(connection: _LenientHTTP11ClientProtocol) -> bool:
    """Tell whether the server closes a connection whose answer has just ended (RFC 9112, 9.3)."""
    parser = connection._parser
    if parser is None:
        return True
    values = b",".join(parser.connHeaders.getRawHeaders(b"Connection", [])).lower()
    options = {value.strip() for value in values.split(b",")}
    return b"close" in options or (
        parser.response.version < (b"HTTP", 1, 1) and b"keep-alive" not in options
    )
