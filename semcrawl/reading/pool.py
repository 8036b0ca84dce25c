"""A pool of reading processes, which are killed when a document takes too long.

Only that stops a parser in C or Rust. An element with a million attributes, or JSON-LD with a
million contexts, would occupy a thread for hours. The processes are shared by the owners of the
documents, so that no owner's documents hold those of all others up.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TypeVar, cast

from semcrawl.rdf import Reading
from semcrawl.rdf.sink import spool_prefix
from semcrawl.reading import process as worker
from semcrawl.web.bodies import BodyFile

T = TypeVar("T")


#: signals by which processes end that nobody but the document can have ended: an alarm, and what
#: follows a parser that overflows its stack or has no memory left
_OF_DOCUMENTS = frozenset(
    number for number in signal.Signals
    if number.name in ("SIGALRM", "SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE")
)  # fmt: skip
#: seconds after which half of the time that an owner has used is forgotten
_FORGET = 60.0
#: most owners whose used time is remembered
_MOST_OWNERS = 10_000
#: seconds that a process may take to end once its connection has ended
_PATIENCE = 5.0
AT_END = "the crawl is at its end"


class ReadingLost(Exception):  # noqa: N818 - an event, not an error of the program
    """A document was not read; the message says why.

    If that is ``ours`` (a killed process, the crawl's end), it says nothing about the document.
    """

    def __init__(self, reason: str, *, ours: bool = False) -> None:
        """Give the reason, and whether it lies with this program or its machine."""
        super().__init__(reason)
        self.ours = ours


@dataclass(slots=True, eq=False)
class _Wish:
    """A document that waits for a process."""

    owner: str
    #: whether no other document may be read at the same time
    alone: bool
    granted: asyncio.Future[None]


class Shares:
    """Shares a number of places among owners.

    While there are several places, no owner has all of them. A free place goes to the owner that
    has used the least time lately, and among its documents to the first.
    """

    def __init__(self, places: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Share ``places`` places."""
        self._places = places
        self._share = max(1, places - 1)
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._alone = False
        self._wishes: list[_Wish] = []
        #: seconds used by each owner, and when that was counted
        self._used: dict[str, tuple[float, float]] = {}

    @asynccontextmanager
    async def place(self, owner: str, *, alone: bool = False) -> AsyncIterator[None]:
        """Wait for a place, and hold it; ``alone``: when no other is in use."""
        wish = _Wish(owner, alone, asyncio.get_running_loop().create_future())
        self._wishes.append(wish)
        self._grant()
        try:
            await wish.granted
        except asyncio.CancelledError:
            if wish in self._wishes:
                self._wishes.remove(wish)
                self._grant()
            elif not wish.granted.cancelled():
                self._free(wish, 0.0)
            raise
        began = self._clock()
        try:
            yield
        finally:
            self._free(wish, self._clock() - began)

    def used(self, owner: str) -> float:
        """Return the seconds that an owner has used lately."""
        seconds, at = self._used.get(owner, (0.0, -inf))
        return float(seconds * 0.5 ** ((self._clock() - at) / _FORGET))

    def _free(self, wish: _Wish, seconds: float) -> None:
        self._running[wish.owner] -= 1
        if not self._running[wish.owner]:
            del self._running[wish.owner]
        self._alone = self._alone and not wish.alone
        used = self.used(wish.owner) + seconds
        self._used.pop(wish.owner, None)
        self._used[wish.owner] = (used, self._clock())
        if len(self._used) > _MOST_OWNERS:
            del self._used[next(iter(self._used))]
        self._grant()

    def _grant(self) -> None:
        """Give the free places to those whose turn it is."""
        self._wishes = [wish for wish in self._wishes if not wish.granted.cancelled()]
        while self._wishes and not self._alone and self._running.total() < self._places:
            if (lonely := next((wish for wish in self._wishes if wish.alone), None)) is not None:
                if self._running:
                    return
                wish = lonely
            else:
                able = [w for w in self._wishes if self._running[w.owner] < self._share]
                if not able:
                    return
                wish = min(able, key=lambda wish: self.used(wish.owner))
            self._wishes.remove(wish)
            self._running[wish.owner] += 1
            self._alone = wish.alone
            wish.granted.set_result(None)


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    connection: socket.socket
    #: spool files that it has passed to the crawl
    delivered: set[Path] = field(default_factory=set)

    def close(self) -> int:
        """Kill the process; return its status."""
        self.connection.close()
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


class ReadingProcesses:
    """At most ``count`` processes, started on demand and reused."""

    def __init__(
        self, count: int, seconds: float, spool_dir: Path | None = None, memory: int = 0
    ) -> None:
        """Kill a task some time after ``seconds``, the reader's own limit, which keeps its quads.

        The spool files of killed tasks are deleted from ``spool_dir``. A process that needs more
        than ``memory`` bytes ends; 0: as many as there are.
        """
        self._seconds = seconds
        self._memory = memory
        self._spool_dir = spool_dir or Path(tempfile.gettempdir())
        self._shares = Shares(count)
        self._idle: list[_Child] = []
        self._all: list[_Child] = []
        self._closed = False

    async def run(
        self,
        function: Callable[..., T],
        *arguments: object,
        file: BodyFile | None = None,
        owner: str = "",
        seconds: float = inf,
    ) -> T:
        """Call a function of :mod:`semcrawl.reading.process` in a process.

        With a ``file``, its descriptor and size precede ``arguments``. Where a process cannot be
        given open files, ``read_copied_file`` gets the content. ``owner`` is whose document it is,
        ``seconds`` the limit of this task if it is less than that of all. A task whose process
        something else ends is tried once more, alone. Raises :class:`ReadingLost`.
        """
        limit = min(seconds, self._seconds)
        try:
            async with self._shares.place(owner):
                return await asyncio.to_thread(self._call, function, arguments, file, limit)
        except ReadingLost as lost:
            if not lost.ours or self._closed:
                raise
        async with self._shares.place(owner, alone=True):
            return await asyncio.to_thread(self._call, function, arguments, file, limit)

    def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call an importable function in a process, and block until it returns.

        One thread at a time may call it. Raises :class:`ReadingLost`.
        """
        return self._call(function, arguments, None, self._seconds)

    def close(self) -> None:
        """Kill all processes; their tasks are lost."""
        self._closed = True
        for child in tuple(self._all):  # waiting threads remove theirs
            child.process.kill()
        while self._idle:
            self._idle.pop().close()

    def _call(
        self,
        function: Callable[..., T],
        arguments: tuple[object, ...],
        file: BodyFile | None,
        limit: float,
    ) -> T:
        descriptor = None
        if file is not None and worker.SENDS_FILES:
            descriptor, arguments = file.fileno(), (file.size, *arguments)
        elif file is not None:
            function = cast(Callable[..., T], worker.read_copied_file)
            arguments = (file.stream().read(), *arguments)
        longest = 1.1 * limit + 1.0
        task: worker.Task = (longest, function, arguments)
        child = self._take(task, descriptor)
        try:
            if not worker.HAS_ALARMS:
                child.connection.settimeout(longest)
            (good, result), _ = worker.receive(child.connection)
        except (EOFError, OSError):
            raise self._loss(child, limit) from None
        if isinstance(result, Reading) and result.spool is not None:
            child.delivered.add(result.spool)
        self._idle.append(child)
        if not good:
            raise ReadingLost(str(result))
        return cast(T, result)

    def _take(self, task: worker.Task, descriptor: int | None) -> _Child:
        """Give a task to an idle process, or to a new one."""
        while not self._closed:
            used = bool(self._idle)
            child = self._idle.pop() if used else self._start()
            try:
                worker.send(child.connection, task, descriptor)
            except OSError:
                self._end(child)
                if not used and not self._closed:
                    raise ReadingLost("no reading process can be started", ours=True) from None
            else:
                return child
        raise ReadingLost(AT_END, ours=True)

    def _start(self) -> _Child:
        ours, theirs = socket.socketpair()
        path = os.pathsep.join(folder for folder in sys.path if folder)
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", worker.__name__, str(theirs.fileno()), str(self._memory)],
                pass_fds=() if sys.platform == "win32" else (theirs.fileno(),),
                stdin=subprocess.PIPE if sys.platform == "win32" else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
            if sys.platform == "win32" and process.stdin is not None:
                with process.stdin as description:
                    description.write(theirs.share(process.pid))
        child = _Child(process, ours)
        self._all.append(child)
        if self._closed:  # meanwhile
            process.kill()
        return child

    def _end(self, child: _Child) -> int:
        """End a process and delete its spool files; return its status."""
        status = child.close()
        self._all.remove(child)
        for path in self._spool_dir.glob(f"{spool_prefix(child.process.pid)}*"):
            if path not in child.delivered:
                path.unlink(missing_ok=True)
        return status

    def _loss(self, child: _Child, limit: float) -> ReadingLost:
        """End a process that gave no answer; say why it gave none."""
        late = not worker.HAS_ALARMS and child.process.poll() is None
        try:
            status = 0 if late else child.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            status = 0
        self._end(child)
        if self._closed:
            return ReadingLost(AT_END, ours=True)
        if late or (worker.HAS_ALARMS and status == -signal.SIGALRM):
            return ReadingLost(f"not finished after {limit:g} seconds")
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        if self._memory and -status == signal.SIGABRT:  # so end parsers in Rust and C
            name += f" (it may take {self._memory} bytes of memory)"
        ours = -status not in _OF_DOCUMENTS
        return ReadingLost(f"the process that read it ended: {name}", ours=ours)
