"""Keeping a Redis server of our own alive for as long as we are."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from semcrawl.errors import FrontierUnavailable

logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
#: a server that ends sooner than this after its start (seconds) …
_QUICK_CRASH = 5.0
#: … more often than this in a row is not started any more
_QUICK_CRASHES = 3


class ServerSupervisor(threading.Thread):
    """Runs the server, and runs it again when it crashes.

    A thread, because the kernel ends the server when the *thread* that started it ends.
    """

    def __init__(self, command: list[str], path: Path, log: Path, lock: IO[str]) -> None:
        super().__init__(name="redis-keeper", daemon=True)
        self.pid: int | None = None
        self.given_up = False
        self._command = command
        self._socket = path
        self._log = log
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None
        self._error: OSError | None = None
        self._stopping = threading.Event()
        self._turn = threading.Lock()

    def run(self) -> None:
        """Start the server, wait for its end, and again, until stopped or it keeps crashing."""
        crashes = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                process = self._launch()
            except OSError as error:
                self._error = error
                break
            if process is None:
                return
            code = process.wait()
            if self._stopping.is_set():
                return
            crashes = crashes + 1 if time.monotonic() - began < _QUICK_CRASH else 1
            if crashes > _QUICK_CRASHES:
                break
            logger.warning(
                "The frontier's Redis server ended by itself (%s); starting it again",
                f"signal {-code}" if code < 0 else f"status {code}",
            )
        self.given_up = True

    def await_server(self, deadline: float) -> None:
        """Return when the server answers; raise what prevents it."""
        # (a quick server answers before its process id is known here)
        while self.pid is None or not answers(self._socket):
            if self._error is not None:
                raise self._error
            late = time.monotonic() > deadline and not loads(self._socket)
            if self.given_up or late:
                self.stop(1.0)
                raise FrontierUnavailable(
                    f"the Redis server in {self._log.parent} does not start:"
                    f" {_last_words(self._log)}"
                )
            time.sleep(0.005)

    def stop(self, timeout: float) -> None:
        """End the server, by force after ``timeout`` seconds, and let go of the folder."""
        with self._turn:
            self._stopping.set()
            process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        atexit.unregister(self._at_exit)
        self._lock.close()

    def _at_exit(self) -> None:
        self.stop(5.0)

    def _launch(self) -> subprocess.Popen[bytes] | None:
        with self._turn, self._log.open("ab") as output:
            if self._stopping.is_set():
                return None
            self._socket.unlink(missing_ok=True)
            atexit.unregister(self._at_exit)
            atexit.register(self._at_exit)
            self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(self._lock.fileno(),),
                # a group of its own: Ctrl-C is for the crawler, which still needs the server
                start_new_session=True,
                preexec_fn=_die_with_parent(os.getpid()) if sys.platform == "linux" else None,
            )
            self.pid = self._process.pid
            return self._process


def _ping(path: Path) -> bytes:
    """Return the answer of the server on the socket to a PING; empty when there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1.0)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64)
        except OSError:
            return b""


def answers(path: Path) -> bool:
    """Whether the server on the socket is ready."""
    return _ping(path).startswith(b"+PONG")


def loads(path: Path) -> bool:
    """Whether the server on the socket is still reading its data, however long that takes."""
    return _ping(path).startswith(b"-LOADING")


def _last_words(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


def _die_with_parent(parent: int) -> Callable[[], None]:
    """Make the function that has the kernel end the server when its parent ends."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
