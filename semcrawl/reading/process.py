"""The process that reads documents which may take too long: ``python -m semcrawl.reading.process``.

It takes tasks from the socket whose number is its first argument; on Windows its standard input
describes the socket. The second is the most memory that it may take. Where the system has alarms,
each task has one that kills the process: nothing else stops a hanging parser in C or Rust. The
process ends when the crawl closes its end of the socket.
"""

from __future__ import annotations

import gc
import pickle
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeVar, cast

from semcrawl.processes import bound_memory, give_back
from semcrawl.rdf import Reading, ReadOptions, read_embedded
from semcrawl.web.bodies import BodyStream

T = TypeVar("T")

_LENGTH = 8
#: whether a process can receive open files and be killed by an alarm; not so on Windows
SENDS_FILES = hasattr(socket, "recv_fds")
HAS_ALARMS = hasattr(signal, "setitimer")
#: longest alarm in seconds: a year, which every system accepts
_LONGEST = 3.2e7

#: seconds, a function of this module, its arguments
Task = tuple[float, Callable[..., Any], tuple[Any, ...]]


def read_shared_file(descriptor: int, size: int, read: Callable[[IO[bytes]], T]) -> T:
    """Call ``read`` with an open file of the crawl."""
    with open(descriptor, "rb") as file:
        return read(cast(IO[bytes], BodyStream(file.fileno(), _SharedFile(size))))


def read_page(
    body: bytes,
    url: str,
    content_type: str | None,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None = None,
) -> Reading:
    """Read the data embedded in a page."""
    return read_embedded(body, url, content_type, options, contexts=contexts)


def read_copied_file(data: bytes, read: Callable[[IO[bytes]], T]) -> T:
    """Call ``read`` with a temporary file that holds ``data``."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return read(file)


@dataclass
class _SharedFile:
    size: int


def send(connection: socket.socket, message: Any, descriptor: int | None = None) -> None:
    """Send an object, and maybe an open file."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    length = len(data).to_bytes(_LENGTH, "big")
    if descriptor is None:
        connection.sendall(length)
    else:
        socket.send_fds(connection, [length], [descriptor])
    connection.sendall(data)


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Return the next object and its open files.

    Raises ``EOFError`` when the other end is closed. Both ends are the crawl's own processes.
    """
    descriptors: list[int] = []
    if SENDS_FILES:
        length, descriptors, _, _ = socket.recv_fds(connection, _LENGTH, 1)
        length += _exactly(connection, _LENGTH - len(length))
    else:
        length = _exactly(connection, _LENGTH)
    data = _exactly(connection, int.from_bytes(length, "big"))
    return pickle.loads(data), descriptors  # noqa: S301 - our own process


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = connection.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return bytes(data)


def serve(connection: socket.socket) -> None:
    """Run tasks until the other end closes; nothing of a document stays until the next."""
    gc.freeze()  # what was imported need not be looked at after each task
    while True:
        try:
            task, descriptors = receive(connection)
        except (EOFError, OSError):
            return
        seconds, function, arguments = cast(Task, task)
        _set_alarm(min(seconds, _LONGEST))
        try:
            result = (True, function(*descriptors, *arguments))
        except Exception as error:
            result = (False, f"{type(error).__name__}: {error}")
        _set_alarm(0)
        send(connection, result)
        del task, function, arguments, result
        gc.collect()  # trees of large pages are cycles
        give_back()


def _set_alarm(seconds: float) -> None:
    if HAS_ALARMS:
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl ends this process
    if HAS_ALARMS:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if memory := int(sys.argv[2]):
        bound_memory(memory)
    if sys.platform == "win32":
        serve(socket.fromshare(sys.stdin.buffer.read()))
    else:
        serve(socket.socket(fileno=int(sys.argv[1])))
