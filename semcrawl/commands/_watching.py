"""The page that ``semcrawl harvest --watch`` serves, in a process of its own.

So it takes nothing of the crawl's event loop. The harvest writes to its standard input what to
show, and it ends with that pipe.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.commandline import serve_until_stopped
from semcrawl.commands._workers import APART, first_line, settings_to_pass
from semcrawl.config.environment import asks_for_telemetry
from semcrawl.config.options import ReaderOptions
from semcrawl.errors import UsageError
from semcrawl.settings.reader import fill
from semcrawl.terminal import complain
from semcrawl.topics import threshold

#: seconds for which the page's process may show the crawl's end
_LAST_WORD = 5.0


def port_of(text: str, option: str) -> int:
    """Read a port; raise ``UsageError`` if there is no such one."""
    if not (text.isascii() and text.isdigit() and int(text[:9]) <= 65535):
        raise UsageError(f"{option} must be a port from 0 to 65535, not {text}")
    return int(text)


def take_redis(args: list[str], settings: BaseSettings) -> None:
    """Make the address of a Redis, if it is the first argument, the setting ``REDIS_URL``."""
    if args and args[0].partition("://")[0].partition("+")[0] in ("redis", "rediss", "unix"):
        settings.set("REDIS_URL", args.pop(0), "cmdline")


@contextmanager
def watched(settings: BaseSettings, folder: Path, port: int | None) -> Iterator[None]:
    """Serve the page of a harvest for the block, unless ``port`` is ``None``.

    The process that does so also sends the figures to a collector, with or without a page. Raises
    ``UsageError`` if the port is taken.
    """
    if port is None and not asks_for_telemetry():
        yield
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "semcrawl", "watch", "--of-harvest"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **APART,
    )
    passed = settings_to_pass(settings)
    if url := settings.get("REDIS_URL"):
        passed["REDIS_URL"] = url
    task = {"settings": passed, "folder": str(folder), "port": port}
    assert process.stdin is not None  # noqa: S101
    assert process.stdout is not None  # noqa: S101
    with suppress(OSError):
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
    kind, _, told = process.stdout.readline().strip().partition(" ")
    if kind != "at":
        process.stdin.close()
        process.wait()
        raise UsageError(told or "the page to watch could not be served")
    if port is not None:
        complain(f"watch the crawl at {told}")
    try:
        yield
    finally:
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_LAST_WORD)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def serve_for_harvest(settings: BaseSettings) -> None:
    """Serve the page of the harvest at the other end of standard input, until that is closed.

    Without a port it only sends figures.
    """
    from semcrawl.localpages import LOOPBACK
    from semcrawl.watch import CrawlView
    from semcrawl.watch.telemetry import send_figures
    from semcrawl.watch.watchpages import serve_watch

    try:
        task: dict[str, Any] = json.loads(first_line())
        port, folder = task["port"], Path(task["folder"])
        for name, value in task["settings"].items():
            settings.set(name, value, "cmdline")
    except (ValueError, KeyError, TypeError, OSError):
        raise UsageError("--of-harvest is for the process that `harvest --watch` starts") from None
    targets = fill(ReaderOptions, settings).targets
    view = CrawlView(settings, folder, targets=targets, threshold=threshold(settings), begins=True)

    async def serve(stopped: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()

        def await_end() -> None:
            while os.read(sys.stdin.fileno(), 4096):
                pass
            with suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(stopped.set)

        threading.Thread(target=await_end, daemon=True).start()
        if port is None:
            _say("")
            try:
                await send_figures(view.look, stopped)
            finally:
                await view.close()
        else:
            await serve_watch(view, int(port), _say, stopped, bind=LOOPBACK)

    try:
        serve_until_stopped(serve, port or 0)
    except UsageError as error:
        print("not", error, flush=True)


def _say(address: str) -> None:
    print("at", address, flush=True)
