"""Connections of ``requests`` that are checked before use and cut when their time is over."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class GuardedAdapter(HTTPAdapter):
    """Connects as ``requests`` does; calls ``check`` with host and address of each connection.

    ``check`` runs before anything is sent, and may raise. Connections to proxies are not checked.
    """

    def __init__(self, check: Callable[[str, str], None]) -> None:
        self._check = check
        self._connections: list[socket.socket] = []
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Make the pools use connections of our own."""
        super().init_poolmanager(*arguments, **options)
        connected = self._connected

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return connected(self.host, super()._new_conn())

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return connected(self.host, super()._new_conn())

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}

    @contextmanager
    def cut_after(self, seconds: float) -> Iterator[Callable[[], bool]]:
        """Cut the connections that the context makes, after ``seconds``.

        The context yields a function that tells whether that happened. Unlike a timeout for each
        read, this also ends headers and bodies that arrive byte by byte.
        """
        late: list[bool] = []

        def cut() -> None:
            late.append(True)
            for connection in tuple(self._connections):
                with suppress(OSError):  # it is closed already
                    connection.shutdown(socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield lambda: bool(late)
        finally:
            timer.cancel()
            while self._connections:
                self._connections.pop().close()
            self.poolmanager.clear()

    def _connected(self, host: str, connection: socket.socket) -> socket.socket:
        """Check a new connection, and remember it."""
        try:
            self._check(host, str(connection.getpeername()[0]))
        except BaseException:
            connection.close()
            raise
        # keep a duplicate: TLS detaches the original socket
        self._connections.append(connection.dup())
        return connection
