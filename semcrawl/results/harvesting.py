"""Harvests that a program or a notebook starts: each runs in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.metadata.database import CRAWL_DB
from semcrawl.results import open as open_job
from semcrawl.results.job import Job

#: how lines of the progress begin
_FIGURES = "requests "
_OURS = "semcrawl: "
#: longest line that the process may print, in bytes
_LONGEST = 1 << 20


def harvest(
    seeds: str | Iterable[str] = (),
    *,
    out: str | Path = "harvest",
    progress: bool | Callable[[str], object] = True,
    **keys: Any,
) -> Job:
    """Harvest, and return the results when the crawl has ended.

    ``keys`` are those of a job file with underscores: ``pages=200, crawl_delay=2,
    about=["keywords:fish"], scrapy={"DOWNLOAD_TIMEOUT": 30}``. The folder ``out`` is made, or gone
    on with. ``progress``: whether lines on standard error tell of it, or what is called with each.
    It works where an event loop runs too, such as in notebooks. An interrupt ends the crawl after
    the requests under way, and is raised then.

    Raises ``UsageError`` for wrong keys and values, and ``SemcrawlError`` for a crawl that cannot
    begin; what fails later is a warning.
    """
    with _prepared(seeds, out, progress, keys) as run:
        process = subprocess.Popen(  # noqa: S603 - our own program
            run.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **_APART
        )
        assert process.stderr is not None  # noqa: S101
        try:
            for line in process.stderr:
                run.take(line)
            process.stderr.close()
            return run.results(process.wait())
        except BaseException:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.communicate()  # reads on, so that it can end
            raise


async def aharvest(
    seeds: str | Iterable[str] = (),
    *,
    out: str | Path = "harvest",
    progress: bool | Callable[[str], object] = True,
    **keys: Any,
) -> Job:
    """Harvest as :func:`harvest` does, while other tasks of the event loop go on.

    If the task is cancelled, the crawl ends after the requests under way.
    """
    with _prepared(seeds, out, progress, keys) as run:
        process = await asyncio.create_subprocess_exec(
            *run.command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            limit=_LONGEST,
            **_APART,
        )
        assert process.stderr is not None  # noqa: S101
        try:
            async for line in process.stderr:
                run.take(line)
            return run.results(await process.wait())
        except BaseException:
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                await process.communicate()
            raise


#: arguments that leave it to us to pass on interrupts
_APART: dict[str, Any] = {"process_group": 0} if sys.platform != "win32" else {}


@dataclass
class _Run:
    """A harvest in a process."""

    command: list[str]
    folder: Path
    #: the job file, which messages do not name
    job: Path
    tell: Callable[[str], object]
    #: what the process complained of
    problems: list[str] = field(default_factory=list)

    def take(self, raw: bytes) -> None:
        """Take a line of the process's standard error."""
        line = raw.decode("utf-8", "replace").rstrip("\n").replace(f"{self.job}: ", "")
        if line.startswith(_OURS):
            self.problems.append(line.removeprefix(_OURS))
        elif line:
            self.tell(line)

    def results(self, status: int) -> Job:
        """Open the results after the process has ended; raise, or warn, of its problems."""
        text = "; ".join(self.problems)
        if status == 2:
            raise UsageError(text or "the harvest was refused")
        if status and not (self.folder / CRAWL_DB).is_file():
            raise SemcrawlError(text or f"the harvest ended with status {status}")
        if status < 0:
            raise SemcrawlError(
                f"the harvest was killed (signal {-status}); call it again to go on"
            )
        for problem in self.problems:
            warnings.warn(problem, stacklevel=3)
        return open_job(self.folder)


@contextmanager
def _prepared(
    seeds: str | Iterable[str],
    out: str | Path,
    progress: bool | Callable[[str], object],
    keys: Mapping[str, Any],
) -> Iterator[_Run]:
    """Write the job for the process into a private folder. Raises ``UsageError``."""
    given = {key.replace("_", "-"): value for key, value in keys.items() if value is not None}
    job = {"seeds": [seeds] if isinstance(seeds, str) else list(map(str, seeds)), **given}
    try:
        text = tomli_w.dumps({key: _plain(value) for key, value in job.items()})
    except TypeError as error:
        raise UsageError(f"a value is none that a job may have: {error}") from None
    with tempfile.TemporaryDirectory(prefix="semcrawl-") as folder:
        path = Path(folder) / "job.toml"
        path.write_text(text, "utf-8", "surrogateescape")
        shown = "lines" if progress else "off"
        command = [sys.executable, "-X", "utf8", "-m", "semcrawl", "harvest", str(path)]
        command += ["--out", os.fspath(out), "-s", f"SEMCRAWL_PROGRESS={shown}"]
        yield _Run(command, Path(out), path, progress if callable(progress) else _tell)


def _plain(value: Any) -> Any:
    """Return a value as TOML holds it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset | tuple | list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _tell(line: str) -> None:
    """Show a line; one of figures replaces the last, as terminals and notebooks understand it."""
    if line.startswith(_FIGURES):
        sys.stderr.write(f"\r{line}")
    else:
        sys.stderr.write(f"\n{line}\n")
    sys.stderr.flush()
