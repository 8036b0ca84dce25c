"""Several workers of one harvest on this machine: processes, what they tell, how they end.

A worker's connection to the command that started it.
The command writes lines to the worker's standard input: the task as JSON, then ``go`` and ``stop``.
The worker answers on its standard output by JSON text sequences (RFC 7464): lines that begin with
the character RS. The command prints all other lines.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from semcrawl.commandline import signals_call
from semcrawl.commands._run import RunResult
from semcrawl.config.checks import worker_count
from semcrawl.crawl.dispatch import Outlook
from semcrawl.crawl.progress import Display, Figures, figures_of, progress_interval, progress_mode
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError, UsageError
from semcrawl.frontier.backends import visited_frontier
from semcrawl.logformat import log_file
from semcrawl.web.hosts import pay_level_domain

#: begins a line that is a message
RS = "\x1e"
#: seconds between two reports of figures
_INTERVAL = 0.5


class WorkerLine:
    """The worker's end of the connection."""

    def __init__(self) -> None:
        """Read the task. Raises ``UsageError`` if no command is at the other end."""
        try:
            self.task: Mapping[str, Any] = json.loads(first_line())
            self.number = int(self.task["number"])
        except (ValueError, KeyError, TypeError, OSError):
            raise UsageError("--worker is for the processes that --workers starts") from None
        self._go = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def apply(self, settings: BaseSettings) -> None:
        """Apply the settings of the command."""
        for name, value in self.task["settings"].items():
            settings.set(name, value, "cmdline")

    def await_start(self) -> None:
        """Report that all is loaded, and wait until the worker may begin."""
        self.send("ready")
        pay_level_domain("example.org")  # loads the list of public suffixes meanwhile
        self._go.wait()

    def report_on(self, crawler: Crawler) -> asyncio.Task[None]:
        """Report the figures of a crawl regularly until the task is cancelled."""
        session: CrawlSession = crawler.spider.session  # type: ignore[union-attr]
        return asyncio.ensure_future(self._report(session))

    def send(self, kind: str, **content: Any) -> None:
        """Send a message, if the command still listens."""
        line = f"{RS}{json.dumps({'kind': kind, **content})}\n"
        with suppress(OSError, ValueError):
            sys.stdout.write(line)
            sys.stdout.flush()

    async def _report(self, session: CrawlSession) -> None:
        await session.begun.wait()
        self.send("planted")
        while True:
            self.send("figures", figures=(await figures_of(session)).as_dict())
            await asyncio.sleep(_INTERVAL)

    def _listen(self) -> None:
        """Obey the command; stop when it is gone."""
        buffer = b""
        while data := os.read(sys.stdin.fileno(), 4096):
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                if line == b"stop":
                    _stop()
                elif line == b"go":
                    self._go.set()
        _stop()


def settings_to_pass(settings: BaseSettings) -> dict[str, Any]:
    """Return the settings of the command line, or set by the command, as JSON values."""
    said = SETTINGS_PRIORITIES["cmdline"]
    return {
        str(name): _plain(value)
        for name, value in settings.items()
        if (settings.getpriority(name) or 0) >= said
    }


def _plain(value: Any) -> Any:
    if isinstance(value, BaseSettings):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def first_line() -> bytes:
    """Read the first line of standard input, and nothing beyond it."""
    # byte by byte: what follows the line must not be buffered here
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) and byte != b"\n":
        line += byte
    return bytes(line)


def _stop() -> None:
    """End this process's crawl by SIGTERM; the second one does not wait for requests."""
    os.kill(os.getpid(), signal.SIGTERM)


#: how often a worker that dies is started again
RESTARTS = 3
#: longest message in bytes
_LONGEST = 1 << 24
#: seconds for which another worker's same line is not shown again
_SAME = 30.0
#: seconds until workers are killed after the second request to stop
_PATIENCE = 15.0


@dataclass
class Worker:
    """One worker, across all its processes."""

    number: int
    #: figures of the current process, and of those that died
    figures: Figures = field(default_factory=Figures)
    former: list[Figures] = field(default_factory=list)
    #: its result, once it has finished
    result: Mapping[str, Any] | None = None
    #: how often it died
    deaths: int = 0
    #: whether it is not restarted
    given_up: bool = False
    process: Process | None = None
    #: whether the current process has loaded everything
    ready: bool = False

    @property
    def requests(self) -> int:
        """Requests of the processes that died."""
        return sum(figures.requests for figures in self.former)


class Workers:
    """The workers of a command; :meth:`run` runs them to their end.

    ``task`` returns a worker's task by its number and the requests that it has sent so far, or
    ``None``. The others begin when the first has added the seeds to the frontier.
    """

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        task: Callable[[int, int], Mapping[str, Any] | None],
        *,
        budget: int | None,
        display: Display,
        interval: float | None,
        quiet: bool,
    ) -> None:
        """Start ``count`` processes of ``command``; show progress every ``interval`` seconds.

        ``budget`` is the number of requests that all may send together.
        """
        self.workers = [Worker(number) for number in range(1, count + 1)]
        #: workers that have finished, in order
        self.ended: list[Worker] = []
        #: how often they were asked to stop
        self.stopped = 0
        self._command = command
        self._task = task
        self._budget = budget
        self._display = display
        self._interval = interval
        self._quiet = quiet
        self._begun = asyncio.Event()
        self._said: dict[str, tuple[int, float]] = {}

    async def run(self) -> None:
        """Run all workers until each has finished or is given up."""
        loop = asyncio.get_running_loop()
        with signals_call(lambda: loop.call_soon_threadsafe(self.stop)):
            shown = asyncio.create_task(self._show()) if self._interval else None
            try:
                await asyncio.gather(*(self._keep(worker) for worker in self.workers))
            finally:
                if shown is not None:
                    shown.cancel()
                for worker in self.workers:
                    if worker.process is not None and worker.process.returncode is None:
                        worker.process.kill()

    def stop(self) -> None:
        """Ask all workers to finish their requests and stop; the second time to stop at once."""
        self.stopped += 1
        self._begun.set()
        if self.stopped == 1 and not self._quiet:
            self._say("stopping after the requests under way; Ctrl-C again stops at once")
        for worker in self.workers:
            self._tell(worker, "stop")
        if self.stopped > 1:
            asyncio.get_running_loop().call_later(_PATIENCE, self._kill)

    async def _keep(self, worker: Worker) -> None:
        """Run a worker, and restart it when it dies, up to the limit."""
        try:
            await self._keep_alive(worker)
        finally:
            if worker.number == 1:
                self._begun.set()  # the others must not wait forever

    async def _keep_alive(self, worker: Worker) -> None:
        while not self.stopped:
            task = self._task(worker.number, worker.requests)
            if task is None:
                return
            status = await self._run_once(worker, task)
            if worker.result is not None:
                self.ended.append(worker)
                return
            worker.former.append(worker.figures)
            worker.figures = Figures()
            if self.stopped or (status > 0 and not worker.ready):
                worker.given_up = not self.stopped
                return  # it has reported why it cannot begin
            if not self._note_death(worker, status):
                return

    def _note_death(self, worker: Worker, status: int) -> bool:
        """Report a worker that died; return whether it is restarted."""
        worker.deaths += 1
        worker.given_up = worker.deaths > RESTARTS
        how = f"was killed ({_signal_name(-status)})" if status < 0 else f"died (status {status})"
        then = "is not started again" if worker.given_up else "is started again"
        self._say(f"worker {worker.number} {how} and {then}")
        return not worker.given_up

    async def _run_once(self, worker: Worker, task: Mapping[str, Any]) -> int:
        """Run a worker's process to its end; return its status."""
        process = worker.process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=_LONGEST,
            **APART,
        )
        worker.ready = False
        self._tell(worker, json.dumps(task))
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        starting = asyncio.create_task(self._let_begin(worker))
        if self.stopped:
            self._tell(worker, "stop")
        try:
            await asyncio.gather(
                self._read_messages(worker, process.stdout),
                self._read_lines(worker, process.stderr),
            )
            return await process.wait()
        finally:
            starting.cancel()

    async def _let_begin(self, worker: Worker) -> None:
        if worker.number > 1:
            await self._begun.wait()
        self._tell(worker, "go")

    async def _read_messages(self, worker: Worker, output: asyncio.StreamReader) -> None:
        async for raw in output:
            line = raw.decode("utf-8", "replace")
            if not line.startswith(RS):
                sys.stdout.write(line)
                continue
            with suppress(ValueError, KeyError, TypeError):  # from a process that died meanwhile
                message = json.loads(line.removeprefix(RS))
                self._take(worker, message)

    def _take(self, worker: Worker, message: Mapping[str, Any]) -> None:
        match message["kind"]:
            case "ready":
                worker.ready = True
            case "planted":
                self._begun.set()
            case "figures":
                worker.figures = Figures.of(message["figures"])
            case "result":
                worker.result = message["result"]

    async def _read_lines(self, worker: Worker, output: asyncio.StreamReader) -> None:
        """Show a worker's standard error, but equal lines of several workers once."""
        async for raw in output:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            now = time.monotonic()
            by, last = self._said.get(line, (worker.number, 0.0))
            if by == worker.number or now - last > _SAME:
                self._said[line] = (worker.number, now)
                self._display.say(line)
            if len(self._said) > 1000:
                self._said.clear()

    def _tell(self, worker: Worker, line: str) -> None:
        process = worker.process
        if process is not None and process.stdin is not None and process.returncode is None:
            with suppress(OSError, RuntimeError):
                process.stdin.write(line.encode() + b"\n")

    async def _show(self) -> None:
        interval = self._interval or 1.0
        while True:
            if not self._display.is_live:
                await asyncio.sleep(interval)
            self._display.show(self.figures())
            if self._display.is_live:
                await asyncio.sleep(interval)

    def figures(self) -> Figures:
        """Return the figures of all workers together."""
        parts = [each for worker in self.workers for each in (*worker.former, worker.figures)]
        total = Figures.added(parts, self._budget)
        running = [w for w in self.workers if w.process and w.process.returncode is None]
        total.workers = len(running)
        if not self._begun.is_set():
            total.url = "the workers are starting"
        return total

    def _say(self, message: str) -> None:
        self._display.say(f"semcrawl: {message}")

    def _kill(self) -> None:
        for worker in self.workers:
            if worker.process is not None and worker.process.returncode is None:
                worker.process.kill()


#: arguments that keep the terminal's Ctrl-C from the workers
APART: dict[str, Any] = (
    {"process_group": 0} if sys.platform != "win32" else {"creationflags": 0x200}
)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def check_workers(settings: BaseSettings) -> int:
    """Return the number of workers of a harvest; raise ``UsageError`` for too many."""
    count = worker_count(settings)
    if (pages := settings.getint("SEMCRAWL_PAGES")) > 0:
        count = min(count, pages)
    if count > 1 and "stdout:" in settings.getdict("FEEDS"):
        raise UsageError("only one worker can write a feed to standard output")
    settings.set("SEMCRAWL_WORKERS", count, "cmdline")
    return count


def harvest_together(
    settings: BaseSettings, folder: Path, count: int, seeds: str | None, opts: argparse.Namespace
) -> tuple[RunResult, Outlook]:
    """Run ``count`` workers on a job folder until the crawl has ended or is interrupted."""
    result = _harvest(settings, folder, count, seeds, opts)
    return result, asyncio.run(_look_back(settings, folder))


def _harvest(
    settings: BaseSettings, folder: Path, count: int, seeds: str | None, opts: argparse.Namespace
) -> RunResult:
    passed = settings_to_pass(settings)
    pages = settings.getint("SEMCRAWL_PAGES")

    def task(number: int, sent: int) -> Mapping[str, Any] | None:
        own = passed | {
            "SEMCRAWL_PROGRESS": "off",
            "LOG_FILE": log_file(settings),
            "LOG_ENABLED": True,
            "LOG_FILE_APPEND": True,
            "LOG_FORMAT": settings.get("LOG_FORMAT").replace(
                "%(asctime)s", f"%(asctime)s [worker {number}]"
            ),
        }
        if pages:
            left = pages // count + (number <= pages % count) - sent
            if left < 1:
                return None
            own["SEMCRAWL_PAGES"] = left
        if number > 1:  # only the first re-visits and receives pings
            own |= {"SEMCRAWL_REVISIT": False, "SEMCRAWL_PING_PORT": 0}
        return {
            "number": number,
            "settings": own,
            "seeds": seeds if number == 1 else None,
            "verbose": opts.verbose,
        }

    mode = progress_mode(settings)
    with Display(live=mode == "live") as display:
        workers = Workers(
            [sys.executable, "-m", "semcrawl", "harvest", "--worker"],
            count,
            task,
            budget=pages or None,
            display=display,
            interval=progress_interval(settings) if mode != "off" else None,
            quiet=opts.quiet,
        )
        asyncio.run(workers.run())
    return summed(workers, pages)


def summed(workers: Workers, pages: int) -> RunResult:
    """Add up the results of the workers, which together may send ``pages`` requests."""
    total = RunResult()
    for worker in workers.ended:
        total.add(RunResult.read(worker.result or {}))
    total.requests += sum(worker.requests for worker in workers.workers)
    total.failed = total.failed or any(worker.given_up for worker in workers.workers)
    restarted = sum(worker.deaths - worker.given_up for worker in workers.workers if worker.deaths)
    lost = sum(worker.given_up for worker in workers.workers)
    total.workers = {"started": len(workers.workers), "restarted": restarted, "lost": lost}
    if total.limit == "pages" and total.requests < pages:
        total.limit = ""  # only some have sent their share
    if not workers.ended and not workers.stopped:
        total.failure = "no worker could finish its work"
    return total


async def _look_back(settings: BaseSettings, folder: Path) -> Outlook:
    """Return what is left in the frontier, if it can be reached."""
    outlook = Outlook(None, 0)
    try:
        async with visited_frontier(settings, folder) as frontier:
            await outlook.look_back(frontier)
    except (FrontierError, UsageError):
        pass  # a worker has reported the problem
    return outlook
