"""A worker's connection to the command that started it.

The command writes lines to the worker's standard input: the task as JSON, then ``go`` and ``stop``.
The worker answers on its standard output by JSON text sequences (RFC 7464): lines that begin with
the character RS. The command prints all other lines.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import UsageError
from semcrawl.extensions.progress import figures_of
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
            self.task: Mapping[str, Any] = json.loads(_first_line())
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


def _first_line() -> bytes:
    # byte by byte: what follows the line must not be buffered here
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) and byte != b"\n":
        line += byte
    return bytes(line)


def _stop() -> None:
    """End this process's crawl by SIGTERM; the second one does not wait for requests."""
    os.kill(os.getpid(), signal.SIGTERM)
